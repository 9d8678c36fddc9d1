package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

const (
	secret = "the webhook's secret"
	commit = "5907854b1f3a4c9d8e7f60123456789abcdef012"
	key    = "acme/api@" + commit
)

// setup is a service on a fake, and what its chat and its log got.
type setup struct {
	*service
	fake  *mintlifytest.Service
	store once.Store
	texts []string
	log   strings.Builder

	chatIsDown bool
}

func newSetup(t *testing.T, store once.Store) *setup {
	t.Helper()
	s := &setup{fake: mintlifytest.NewService(), store: store}
	s.restart(t)
	return s
}

// restart makes a new service, as a new process has it, on the same store.
func (s *setup) restart(t *testing.T) {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(&s.log, nil))
	s.service = &service{secret: []byte(secret), logger: logger}
	s.post = func(_ context.Context, text string) error {
		if s.chatIsDown {
			return errors.New("the chat is down")
		}
		s.texts = append(s.texts, text)
		return nil
	}
	require.NoError(t, s.start(s.fake.Client(mintlifytest.WithRealSchedule()), s.store))
}

// workFor works for a time, and then until a send in progress is recorded.
func (s *setup) workFor(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	require.ErrorIs(t, s.runner.Run(ctx), context.DeadlineExceeded)
}

// deliver delivers the event of a pull request.
func (s *setup) deliver(t *testing.T, payload string) *httptest.ResponseRecorder {
	t.Helper()
	return s.deliverEvent(t, "pull_request", payload)
}

func (s *setup) deliverEvent(t *testing.T, event, payload string) *httptest.ResponseRecorder {
	t.Helper()
	request, err := newDelivery(t.Context(), event, payload, []byte(secret))
	require.NoError(t, err)
	return s.serve(request)
}

func (s *setup) serve(request *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	s.routes().ServeHTTP(recorder, request)
	return recorder
}

func merge(description string) string { return fmt.Sprintf(demoEvent, commit, description) }

func TestMergeDeliveredTwiceIsOneJobAndOneLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := once.NewDir(t.TempDir())
		require.NoError(t, err)
		s := newSetup(t, store)
		for range 2 {
			assert.Equal(t, http.StatusAccepted, s.deliver(t, merge("It prints JSON.")).Code)
			s.workFor(t, time.Minute)
		}

		assert.Len(t, s.fake.Jobs(), 1)
		assert.Equal(t, []string{"Docs for " + key + ": done https://github.com/example/docs/pull/1"}, s.texts)
		response := s.deliver(t, merge("It prints JSON."))
		assert.Equal(t, "done https://github.com/example/docs/pull/1\n", response.Body.String())
	})
}

func TestShutdownEndsThoughAClientSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, oncetest.NewStore())
		conn, stop, ended := s.runInMemory(t)
		request := begin(t, conn)
		stop()

		assert.Equal(t, "HTTP/1.1 401 Unauthorized", request.status(t))
		require.NoError(t, <-ended)
		assertNothingStored(t, s.store)
	})
}

// hangingStore stores each record after a minute, even if its context has ended.
type hangingStore struct{ once.Store }

func (h hangingStore) Put(ctx context.Context, r once.Record) error {
	time.Sleep(time.Minute)
	return h.Store.Put(ctx, r)
}

func TestShutdownHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, hangingStore{oncetest.NewStore()})
		conn, stop, ended := s.runInMemory(t)
		request := begin(t, conn)
		_, err := io.WriteString(conn, request.body)
		require.NoError(t, err)
		began := time.Now()
		stop()

		require.ErrorContains(t, <-ended, "requests were interrupted: look for failed deliveries")
		assert.Equal(t, shutdownTime, time.Since(began))
		require.NoError(t, conn.Close())
		time.Sleep(time.Minute) // until the store is done
	})
}

// unlistedStore is a store that cannot list its records, such as a commit's statuses.
type unlistedStore struct{ once.Store }

func (unlistedStore) List(context.Context, ...once.State) ([]once.Record, error) {
	return nil, errors.ErrUnsupported
}

func TestServiceThatCannotWorkDoesNotServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, unlistedStore{oncetest.NewStore()})
		conn, stop, ended := s.runInMemory(t)
		defer stop()

		err := <-ended
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, "work: ")
		require.NoError(t, conn.Close())
	})
}

// runInMemory runs the service until stop is called, and returns a connection to it.
func (s *setup) runInMemory(t *testing.T) (conn net.Conn, stop func(), ended <-chan error) {
	t.Helper()
	client, server := net.Pipe()
	listener := pipe{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	listener.conns <- server
	t.Cleanup(func() { client.Close() })

	ctx, stop := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- s.run(ctx, listener) }()
	return client, stop, result
}

// pending is a webhook whose header the service has, and whose body it waits for.
type pending struct {
	conn     net.Conn
	response *bufio.Reader
	body     string
}

// begin sends the header of a webhook, and waits until the service reads the body.
func begin(t *testing.T, conn net.Conn) pending {
	t.Helper()
	payload := merge("It prints JSON.")
	request, err := newDelivery(t.Context(), "pull_request", payload, []byte(secret))
	require.NoError(t, err)
	request.Header.Set("Expect", "100-continue")
	var whole strings.Builder
	require.NoError(t, request.Write(&whole))

	header, body, found := strings.Cut(whole.String(), "\r\n\r\n")
	require.True(t, found)
	_, err = io.WriteString(conn, header+"\r\n\r\n")
	require.NoError(t, err)
	p := pending{conn, bufio.NewReader(conn), body}
	require.Equal(t, "HTTP/1.1 100 Continue", p.status(t))
	require.Empty(t, p.status(t), "the end of the header")
	return p
}

// finish sends the body, and returns the line with the response's status.
func (p pending) finish(t *testing.T) string {
	t.Helper()
	_, err := io.WriteString(p.conn, p.body)
	require.NoError(t, err)
	return p.status(t)
}

func (p pending) status(t *testing.T) string {
	t.Helper()
	line, err := p.response.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// pipe listens in memory: the clock of a bubble stops while a real socket is in use.
type pipe struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipe) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipe) Close() error {
	close(p.closed)
	return nil
}

func (p pipe) Addr() net.Addr { return &net.TCPAddr{} }

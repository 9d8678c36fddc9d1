package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v92/github"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

func TestOnlyGitHubIsServed(t *testing.T) {
	setHeader := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	ofAnother := newSignature(t, "guess")
	for name, test := range map[string]struct {
		change func(*http.Request)
		status int
		says   string
	}{
		"no signature":   {setHeader(github.SHA256SignatureHeader, ""), 401, "WEBHOOK_SECRET: "},
		"another secret": {setHeader(github.SHA256SignatureHeader, ofAnother), 401, "WEBHOOK_SECRET: "},
		"another body":   {func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("{}")) }, 401, "signature check failed"},
		"half a body":    {func(r *http.Request) { r.Body = io.NopCloser(halfABody{}) }, 401, "not a whole event"},
		"another type":   {setHeader("Content-Type", "text/plain"), 401, "text/plain"},
		"another event":  {setHeader(github.EventTypeHeader, "ping"), 200, "not a pull request or a comment"},
		"another method": {func(r *http.Request) { r.Method = http.MethodGet }, 405, "Method Not Allowed"},
		"another path":   {func(r *http.Request) { r.URL.Path = "/" }, 404, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup(t, oncetest.NewStore())
			request, err := newDelivery(t.Context(), "pull_request", merge("It prints JSON."), []byte(secret))
			require.NoError(t, err)
			test.change(request)

			response := s.serve(request)
			assert.Equal(t, test.status, response.Code)
			assert.Contains(t, response.Body.String(), test.says)
			assertNothingStored(t, s.store)
		})
	}
}

// newSignature returns the signature of a merge by another secret.
func newSignature(t *testing.T, secret string) string {
	t.Helper()
	request, err := newDelivery(t.Context(), "pull_request", merge("It prints JSON."), []byte(secret))
	require.NoError(t, err)
	return request.Header.Get(github.SHA256SignatureHeader)
}

// halfABody is the body of a client that went away.
type halfABody struct{}

func (halfABody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestEventsThatCannotBeUsed(t *testing.T) {
	for name, test := range map[string]struct {
		payload string
		status  int
		says    string
	}{
		"not JSON":      {"merged", 400, "the event cannot be read"},
		"no pull":       {"{}", 200, "not merged"},
		"no commit":     {strings.Replace(merge(""), commit, "", 1), 200, "no merge commit"},
		"no repository": {strings.Replace(merge(""), "acme/api", "", 1), 200, "no repository"},
		"white space":   {strings.Replace(merge(""), commit, "5907 854", 1), 422, "white space"},
		"over 1 MiB":    {merge(strings.Repeat("x", 1<<20)), 401, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup(t, oncetest.NewStore())
			response := s.deliver(t, test.payload)
			assert.Equal(t, test.status, response.Code)
			assert.Contains(t, response.Body.String(), test.says)
			assertNothingStored(t, s.store)
		})
	}
}

// fullStore is a store on a full disk.
type fullStore struct{ once.Store }

func (fullStore) Put(context.Context, once.Record) error {
	return errors.New("no space left on device")
}

func TestMergeThatIsNotStoredIsNotAccepted(t *testing.T) {
	s := newSetup(t, fullStore{oncetest.NewStore()})
	response := s.deliver(t, merge("It prints JSON."))
	assert.Equal(t, http.StatusServiceUnavailable, response.Code)
	assert.Contains(t, response.Body.String(), "redeliver it later")
	assert.Contains(t, response.Body.String(), "no space left on device")
	assert.Contains(t, s.log.String(), "no space left on device")
}

func TestMergeIsStoredThoughTheClientHasHungUp(t *testing.T) {
	s := newSetup(t, oncetest.NewStore())
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	request, err := newDelivery(ctx, "pull_request", merge("It prints JSON."), []byte(secret))
	require.NoError(t, err)
	assert.Equal(t, http.StatusAccepted, s.serve(request).Code)
	record, err := s.store.Get(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, once.Pending, record.State)
}

func assertNothingStored(t *testing.T, store once.Store) {
	t.Helper()
	all, err := store.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
}

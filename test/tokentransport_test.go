package test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
	"github.com/mintlify-community/mintlify-go/internal/testkit"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// tokenTransport makes requests of its own under the context of each request, as transports
// for gateways, signatures and resolvers do.
type tokenTransport struct {
	base *http.Transport
	url  string // of the token
	own  int    // requests of its own
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	for range t.own {
		if err := t.fetch(r.Context()); err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
	}
	return t.base.RoundTrip(r)
}

func (t *tokenTransport) fetch(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url, nil)
	if err != nil {
		return err
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// tokenSetup is a service, over real sockets, behind a transport that needs tokens.
type tokenSetup struct {
	transport *tokenTransport
	client    *mintlify.Client
	refuse    atomic.Int32 // connections to the service to refuse
}

func newTokenSetup(t *testing.T, own int, svc *mintlifytest.Service) *tokenSetup {
	t.Helper()
	s := new(tokenSetup)
	api := httptest.NewServer(svc)
	t.Cleanup(api.Close)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "token")
	}))
	t.Cleanup(tokens.Close)

	base := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == api.Listener.Addr().String() && s.refuse.Add(-1) >= 0 {
				return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(base.CloseIdleConnections)
	s.transport = &tokenTransport{base: base, url: tokens.URL, own: own}
	s.client = svc.Client(testkit.Through(s.transport), mintlify.WithBaseURL(api.URL))
	return s
}

func TestCreateArrivesOverATransportThatFetchesATokenFirst(t *testing.T) {
	for _, own := range []int{1, 5} {
		svc := operations.NewService()
		s := newTokenSetup(t, own, svc)
		for range 5 {
			job, err := testkit.Create(t.Context(), s.client)
			require.NoError(t, err)
			assert.NotEmpty(t, job.ID)
		}
		assert.Len(t, svc.Requests(), 5)
	}
}

func TestLostConnectionIsUnknownOverATransportThatFetchesATokenFirst(t *testing.T) {
	svc := failingFake(mintlifytest.Fault{Drop: true})
	_, err := testkit.Create(t.Context(), newTokenSetup(t, 1, svc).client)
	assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.Len(t, svc.Requests(), 1)
}

func TestRefusedConnectionIsRetriedOverATransportThatFetchesATokenFirst(t *testing.T) {
	svc := operations.NewService()
	s := newTokenSetup(t, 1, svc)
	s.refuse.Store(2)
	_, err := testkit.Create(t.Context(), s.client)
	require.NoError(t, err)

	s.refuse.Store(1000)
	s.transport.base.CloseIdleConnections()
	_, err = testkit.Create(t.Context(), s.client)
	assert.ErrorContains(t, err, "connection refused")
	assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	_, ok := mintlify.RetryAfter(err)
	assert.True(t, ok)
	assert.Len(t, svc.Requests(), 1)
}

package test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
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

// newTokenClient returns a client of svc, over real sockets, behind a transport that needs tokens.
func newTokenClient(t *testing.T, own int, svc *mintlifytest.Service) *mintlify.Client {
	t.Helper()
	api := httptest.NewServer(svc)
	t.Cleanup(api.Close)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "token")
	}))
	t.Cleanup(tokens.Close)

	base := new(http.Transport)
	t.Cleanup(base.CloseIdleConnections)
	rt := &tokenTransport{base: base, url: tokens.URL, own: own}
	return svc.Client(kit.Through(rt), mintlify.WithBaseURL(api.URL))
}

func TestCreateArrivesOverATransportThatFetchesATokenFirst(t *testing.T) {
	for _, own := range []int{1, 5} {
		svc := operations.NewService()
		client := newTokenClient(t, own, svc)
		for range 5 {
			job, err := kit.Create(t.Context(), client)
			require.NoError(t, err)
			assert.NotEmpty(t, job.ID)
		}
		assert.Len(t, svc.Requests(), 5)
	}
}

package test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

// refuseTunnels is a proxy that responds to each CONNECT with a status. It returns its address and
// a transport that uses it.
func refuseTunnels(t *testing.T, status int) (string, *http.Transport) {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http.MethodConnect, r.Method)
		assert.NotContains(t, r.Header, "Authorization")
		assert.NotContains(t, fmt.Sprint(r.RequestURI, r.Header), kit.Key[5:])
		w.WriteHeader(status)
	}))
	t.Cleanup(proxy.Close)
	address := proxy.Listener.Addr().String()

	viaProxy := mintlify.NewTransport()
	viaProxy.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("http://user:hunter2@" + address) }
	t.Cleanup(viaProxy.CloseIdleConnections)
	return address, viaProxy
}

func TestProxyThatRefusesATunnelIsNamed(t *testing.T) {
	for status, tc := range map[int]struct {
		text     string
		attempts int
	}{
		400: {"400 Bad Request", 1},
		403: {"403 Forbidden", 1},
		404: {"404 Not Found", 1},
		407: {"407 Proxy Authentication Required", 1},
		408: {"408 Request Timeout", 4},
		425: {"425 Too Early", 4},
		429: {"429 Too Many Requests", 4},
		470: {"470", 1},
		502: {"502 Bad Gateway", 4},
		503: {"503 Service Unavailable", 4},
	} {
		for _, op := range operations.All() {
			address, viaProxy := refuseTunnels(t, status)
			attempts := 0
			client := newSocketClient(t, "https://api.example.com", kit.Through(viaProxy), kit.CountAttempts(&attempts))
			err := op.Do(t.Context(), client)
			require.ErrorContains(t, err, ": the proxy "+address+" responded "+tc.text+" to CONNECT", op)
			assert.NotContains(t, err.Error(), "hunter2")
			kit.AssertReadable(t, err)

			assert.Empty(t, kit.KindsOf(err), "%s: %v", op, err)
			assert.False(t, errors.As(err, new(*mintlify.APIError)))
			assert.Equal(t, tc.attempts, attempts, "%s: %v", op, err)
			_, ok := mintlify.RetryAfter(err)
			assert.Equal(t, tc.attempts > 1, ok, "%s: %v", op, err)
		}
	}
}

func TestHookOfTheCallersForAProxyStays(t *testing.T) {
	_, viaProxy := refuseTunnels(t, 403)
	own := errors.New("ask the network team")
	viaProxy.OnProxyConnectResponse = func(context.Context, *url.URL, *http.Request, *http.Response) error { return own }
	_, err := kit.Create(t.Context(), newSocketClient(t, "https://api.example.com", kit.Through(viaProxy)))
	assert.ErrorIs(t, err, own)

	standard := http.DefaultTransport
	defer func() { http.DefaultTransport = standard }()
	http.DefaultTransport = viaProxy
	_, err = kit.Create(t.Context(), newSocketClient(t, "https://api.example.com"))
	assert.ErrorIs(t, err, own, "the SDK's own transport is a clone of this one")
}

func TestTunnelThatTheProxyOpensWorks(t *testing.T) {
	svc := operations.NewService()
	service := httptest.NewTLSServer(svc)
	t.Cleanup(service.Close)
	proxy := httptest.NewServer(tunnelTo(service.Listener.Addr().String()))
	t.Cleanup(proxy.Close)

	viaProxy := mintlify.NewTransport()
	viaProxy.TLSClientConfig = service.Client().Transport.(*http.Transport).TLSClientConfig
	viaProxy.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	t.Cleanup(viaProxy.CloseIdleConnections)
	_, err := kit.Create(t.Context(), svc.Client(kit.Through(viaProxy), mintlify.WithBaseURL(service.URL)))
	assert.NoError(t, err)
	assert.True(t, strings.HasPrefix(svc.Requests()[0].Path, "/v2/"))
}

// tunnelTo is a proxy that opens each tunnel to address.
func tunnelTo(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		service, err := net.Dial("tcp", address)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer service.Close()

		w.WriteHeader(http.StatusOK)
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer client.Close()
		go io.Copy(service, client)
		io.Copy(client, service)
	}
}

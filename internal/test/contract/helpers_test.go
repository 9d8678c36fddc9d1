package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// startProxy puts a proxy before the service, both on sockets. A violation that
// the test does not take fails it.
func startProxy(t *testing.T, service http.Handler) (proxy *Proxy, baseURL string) {
	t.Helper()
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)

	proxy, err := NewProxy(server.URL)
	require.NoError(t, err)
	t.Cleanup(func() { assert.Empty(t, proxy.Violations()) }) // when the last request is through

	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	return proxy, front.URL
}

// newClient returns a client of the service at baseURL that waits for nothing.
func newClient(t *testing.T, baseURL, key string) *mintlify.Client {
	t.Helper()
	client, err := mintlify.NewClient(key, mintlifytest.ProjectID, mintlify.WithBaseURL(baseURL),
		mintlify.WithMaxRetries(0), mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, 0)))
	require.NoError(t, err)
	return client
}

// startFake is startProxy before a new fake, with a client that talks through the proxy.
func startFake(t *testing.T) (*mintlifytest.Service, *Proxy, *mintlify.Client) {
	t.Helper()
	svc := mintlifytest.NewService()
	proxy, baseURL := startProxy(t, svc)
	return svc, proxy, newClient(t, baseURL, mintlifytest.APIKey)
}

// rawRequest is a request that the SDK would not send.
type rawRequest struct {
	target      string // method, path and query
	key         string // "" is the fake's, "none" none
	contentType string // "" is JSON, if there is a body
	body        string
}

// send returns the status of the response.
func (r rawRequest) send(t *testing.T, baseURL string) int {
	t.Helper()
	method, path, _ := strings.Cut(r.target, " ")
	request, err := http.NewRequestWithContext(t.Context(), method, baseURL+path, strings.NewReader(r.body))
	require.NoError(t, err)

	switch r.key {
	case "":
		request.Header.Set("Authorization", "Bearer "+mintlifytest.APIKey)
	case "none":
	default:
		request.Header.Set("Authorization", "Bearer "+r.key)
	}
	if r.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.contentType != "" {
		request.Header.Set("Content-Type", r.contentType)
	}

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	return response.StatusCode
}

// visitors returns n rows.
func visitors(n int) []mintlify.Visitor {
	rows := make([]mintlify.Visitor, n)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: "/" + strings.Repeat("p", i%7), Human: int64(i), AI: 1, Total: int64(i) + 1}
	}
	return rows
}

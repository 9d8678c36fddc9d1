package mintlifytest_test

import (
	"fmt"
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

// testRequest is a request that the SDK might not send.
type testRequest struct {
	method, path string
	key          string // "": none
	contentType  string // "": none
	body         string
}

func getRequest(path string) testRequest {
	return testRequest{method: "GET", path: path, key: mintlifytest.APIKey}
}

func postRequest(path, body string) testRequest {
	return testRequest{
		method:      "POST",
		path:        path,
		key:         mintlifytest.APIKey,
		contentType: "application/json",
		body:        body,
	}
}

// as returns the request with another content type.
func (r testRequest) as(contentType string) testRequest {
	r.contentType = contentType
	return r
}

// get sends a GET with the key to the service in memory, and returns status and body.
func get(t *testing.T, svc *mintlifytest.Service, path string) (int, string) {
	t.Helper()
	return send(t, svc, "https://api.example.com", getRequest(path))
}

// send sends a request, and returns status and body.
func send(t *testing.T, transport http.RoundTripper, base string, request testRequest) (int, string) {
	t.Helper()
	body := strings.NewReader(request.body)
	r, err := http.NewRequestWithContext(t.Context(), request.method, base+request.path, body)
	require.NoError(t, err)
	if request.key != "" {
		r.Header.Set("Authorization", "Bearer "+request.key)
	}
	r.Header.Set("Content-Type", request.contentType)

	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
	return response.StatusCode, string(text)
}

// onSocket returns a client without retries that talks to the service over a socket.
func onSocket(t *testing.T, server *httptest.Server) *mintlify.Client {
	t.Helper()
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID,
		mintlify.WithBaseURL(server.URL), mintlify.WithMaxRetries(0))
	require.NoError(t, err)
	return client
}

func poll(t *testing.T, client *mintlify.Client, id string) *mintlify.Job {
	t.Helper()
	job, err := client.Jobs.Get(t.Context(), id)
	require.NoError(t, err)
	return job
}

func statuses(t *testing.T, client *mintlify.Client, id string, n int) []string {
	t.Helper()
	var reported []string
	for range n {
		reported = append(reported, string(poll(t, client, id).Status))
	}
	return reported
}

func visitorRows(n int) []mintlify.Visitor {
	rows := make([]mintlify.Visitor, n)
	for i := range rows {
		human := int64(i)
		rows[i] = mintlify.Visitor{Path: fmt.Sprint("/guides/page-", i), Human: human, AI: 2, Total: human + 2}
	}
	return rows
}

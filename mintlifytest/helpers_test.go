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

func send(t *testing.T, rt http.RoundTripper, method, url, key, contentType, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	r.Header.Set("Content-Type", contentType)
	response, err := rt.RoundTrip(r)
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
		rows[i] = mintlify.Visitor{Path: fmt.Sprint("/guides/page-", i), Human: int64(i), AI: 2, Total: int64(i) + 2}
	}
	return rows
}

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/performance.md says so.
func TestCurlMakesDuplicatesWhereTheSDKMakesOneJob(t *testing.T) {
	skipWithoutCurl(t)
	if testing.Short() {
		t.Skip("takes seconds")
	}
	table, err := measure(t.Context())
	require.NoError(t, err)

	header := "| | `curl --retry 2 --max-time 2`: requests | jobs | exit status | SDK: requests | jobs | error |\n"
	assert.Equal(t, header+`|---|---|---|---|---|---|---|
| nothing goes wrong | 1 | 1 | 0 | 1 | 1 | nil |
| each response takes too long, its job is made | 3 | 3 | 28 | 1 | 1 | ErrOutcomeUnknown |
| a gateway responds 504 once the job is made | 2 | 2 | 0 | 1 | 1 | ErrOutcomeUnknown |
| the connection is lost once the job is made | 1 | 1 | 52 | 1 | 1 | ErrOutcomeUnknown |
| 429, no job is made | 2 | 1 | 0 | 2 | 1 | nil |
| 503, no job is made | 2 | 1 | 0 | 1 | 0 | ErrOutcomeUnknown |
`, table)
}

func TestMissingCurlIsAnError(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := curl(t.Context(), "http://127.0.0.1:1")
	assert.ErrorIs(t, err, exec.ErrNotFound)
}

func TestCurlThatIsKilledIsAnError(t *testing.T) {
	skipWithoutCurl(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or its end would not be seen
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()

	_, err := curl(ctx, server.URL)
	assert.ErrorContains(t, err, "killed")
}

func skipWithoutCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
}

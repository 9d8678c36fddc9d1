package mintlifytest_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// keepsBody is a transport that keeps the body of the last response.
type keepsBody struct {
	base http.RoundTripper
	last string
}

func (k *keepsBody) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := k.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}

	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	k.last = string(body)
	return resp, nil
}

// leftOut are fields of a deployment that the fake has no value for.
var leftOut = []string{
	"author.avatarUrl", "author.githubUserId", "commit.filesChanged.added", "commit.filesChanged.removed",
	"screenshot", "screenshotDark", "screenshotLight",
}

func TestEveryOperationIsServed(t *testing.T) {
	for _, op := range operations.All() {
		svc := operations.NewService()
		rt := &keepsBody{base: svc}
		client := svc.Client(mintlify.WithHTTPClient(&http.Client{Transport: rt}), mintlify.WithMaxRetries(0))

		require.NoError(t, op.Do(t.Context(), client), "add a route for %s to mintlifytest", op)
		requests := svc.Requests()
		require.Len(t, requests, 1, op)
		assert.Equal(t, op.Name, requests[0].Operation)
		assert.Equal(t, op.Method, requests[0].Method, op)
		assert.True(t, requests[0].Acted, op)

		want, err := operations.Fields(op.Body)
		require.NoError(t, err, op)
		sent, err := operations.Fields(rt.last)
		require.NoError(t, err, op)
		for _, field := range want {
			if op.Name != mintlify.OpGetDeployment || !slices.Contains(leftOut, field) {
				assert.Contains(t, sent, field, "%s: have mintlifytest send %s", op, field)
			}
		}

		svc.FailNext(op.Name, 1, mintlifytest.Fault{Status: 503})
		assert.ErrorIs(t, op.Do(t.Context(), client), mintlify.ErrServer, op)
		toService := mintlify.WithHTTPClient(&http.Client{Transport: svc})
		other, err := mintlify.NewClient("mint_wrong", mintlifytest.ProjectID, toService)
		require.NoError(t, err)
		assert.ErrorIs(t, op.Do(t.Context(), other), mintlify.ErrUnauthorized, op)
	}
}

func TestRangesAndWaitsOfEveryOperationAreServed(t *testing.T) {
	for _, op := range operations.All() {
		svc := operations.NewService()
		if op.Rows != nil {
			_, err := op.Rows(t.Context(), svc.Client())
			require.NoError(t, err, op)
			assert.Len(t, svc.Requests(), 1, op)
		}
		if op.Wait != nil {
			_, err := op.Wait(t.Context(), svc.Client())
			require.NoError(t, err, op)
		}
	}
}

package mintlify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

func TestPagesOfAnExportByCursorThatAreNotWhatTheInterfacePromises(t *testing.T) {
	for body, reason := range map[string]string{
		`{"feedback":[{"id":"f"}],"hasMore":true}`:                     "missing nextCursor, though hasMore is true",
		`{"feedback":[{"id":"f"}],"hasMore":true,"nextCursor":null}`:   "missing nextCursor, though hasMore is true",
		`{"feedback":[{"id":"f"}],"nextCursor":"c"}`:                   "missing hasMore",
		`{"feedback":null,"hasMore":false}`:                            "missing feedback",
		`{"feedback":{},"hasMore":false}`:                              "expected a JSON array",
		`{"feedback":[],"hasMore":"no"}`:                               "invalid JSON for a page of feedback",
		`{"feedback":[{"helpful":"yes"}],"hasMore":false}`:             "invalid JSON for a page of feedback",
		`{"feedback":[{"id":"f","path":"/a"}],"hasMore":false,"next":`: "truncated after 60 bytes",
	} {
		client := kit.NewClient(t, kit.RespondWith(200, body), mintlify.WithMaxRetries(0))
		_, err := client.Analytics.GetFeedbackPage(t.Context(), mintlify.FeedbackParams{})
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse, "%.80s", body)
		assert.ErrorContains(t, err, reason)
		kit.AssertReadable(t, err)
	}
}

package mintlify_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func TestTurnsOfOneConversationAreRowsOfTheirOwn(t *testing.T) {
	const body = `{"conversations":[{"id":"c","timestamp":"2026-03-05T12:%02d:00Z","query":"how?"}],` +
		`"hasMore":%t,"nextCursor":"after-%d"}`
	page := 0
	rt := transport(func(*http.Request) (*http.Response, error) {
		page++ // the same conversation, a minute later
		return response(200, fmt.Sprintf(body, page, page < 4, page)), nil
	})

	rows, err := mintlify.Collect(newClient(t, rt).Analytics.Conversations(t.Context(), mintlify.ConversationsParams{}))
	require.NoError(t, err)
	assert.Len(t, rows, 4)
}

func TestCallerStatsWithoutACountAreMalformed(t *testing.T) {
	for _, missing := range []string{"web", "api", "other", "total"} {
		body := strings.Replace(`{"web":1,"api":2,"other":3,"total":6}`, missing, "new", 1)
		client := newClient(t, respondWith(200, body))
		_, err := client.Analytics.GetCallerStats(t.Context(), mintlify.CallerStatsParams{})
		assert.ErrorIs(t, err, mintlify.ErrMalformedResponse, body)
	}
}

package mintlify_test

import (
	"fmt"
	"net/http"
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

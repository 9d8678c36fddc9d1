package mintlify_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

func TestTurnsOfOneConversationAreRowsOfTheirOwn(t *testing.T) {
	const body = `{"conversations":[{"id":"c","timestamp":"2026-03-05T12:%02d:00Z","query":"how?"}],` +
		`"hasMore":%t,"nextCursor":"after-%d"}`
	page := 0
	rt := kit.Transport(func(*http.Request) (*http.Response, error) {
		page++ // the same conversation, a minute later
		return kit.Response(200, fmt.Sprintf(body, page, page < 4, page)), nil
	})

	export := kit.NewClient(t, rt).Analytics.Conversations(t.Context(), mintlify.ConversationsParams{})
	rows, err := mintlify.Collect(export)
	require.NoError(t, err)
	assert.Len(t, rows, 4)
}

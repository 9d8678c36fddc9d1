package mintlify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

func TestLongCursorIsCutInMessagesAndKeptInTheError(t *testing.T) {
	cursor := strings.Repeat("c", 5000)
	client := kit.NewClient(t, kit.RespondWith(414, ""))
	_, err := mintlify.Collect(client.Analytics.Searches(t.Context(), mintlify.SearchesParams{Cursor: cursor}))
	assert.Equal(t, cursor, kit.RequireAs[*mintlify.ExportError](t, err).Cursor)
	kit.AssertReadable(t, err)
}

// Without it nobody can tell whether this is the last page.
func TestSearchesWithoutANextCursorAreMalformed(t *testing.T) {
	client := kit.NewClient(t, kit.RespondWith(200, `{"totalSearches":9,"searches":[{"searchQuery":"auth"}]}`))
	_, err := mintlify.Collect(client.Analytics.Searches(t.Context(), mintlify.SearchesParams{}))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "missing nextCursor")
}

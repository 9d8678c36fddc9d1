//go:build unix

package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func syncs(t *testing.T, where string) {
	s := open(t, where)
	require.NoError(t, s.Take(t.Context()))
	at := time.Now().Truncate(time.Millisecond).UTC()
	first := store.Sync{Project: "docs", At: at, Missing: 7}
	last := store.Sync{Project: "docs", At: at, Problem: "a problem"}
	other := store.Sync{Project: "api", At: at}
	for _, ended := range []store.Sync{first, other, last} {
		require.NoError(t, s.SaveSync(t.Context(), ended))
	}

	all, err := s.Syncs(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []store.Sync{other, last}, all)

	_, found, err := s.Newest(t.Context(), "docs", store.Day)
	require.NoError(t, err)
	assert.False(t, found)

	save(t, s, window, store.Visitors, page("/a", 0, 3, false))
	newest, found, err := s.Newest(t.Context(), "docs", store.Day)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, window, newest.Window)
}

// A failure is known until the export goes on.
func troubles(t *testing.T, where string) {
	s := open(t, where)
	failed, err := beginOf(s, window, store.Searches, time.Now())
	require.NoError(t, err)
	require.NoError(t, s.Fail(t.Context(), failed, "500\x00"))

	refused, err := beginOf(s, window, store.FeedbackByPage, time.Now())
	require.NoError(t, err)
	require.NoError(t, s.Refuse(t.Context(), refused, "403"))

	all, err := s.Troubles(t.Context(), "docs")
	require.NoError(t, err)
	assert.Equal(t, []store.Trouble{
		{Kind: store.FeedbackByPage, Exports: 1, Newest: window, Problem: "403"},
		{Kind: store.Searches, Exports: 1, Newest: window, Problem: "500\uFFFD"},
	}, all)

	_, begun, err := s.Find(t.Context(), window, store.Searches)
	require.NoError(t, err)
	assert.Equal(t, "500\uFFFD", begun.Problem)
	assert.WithinDuration(t, time.Now(), begun.FailedAt, time.Minute)

	again, err := beginOf(s, window, store.Searches, time.Time{})
	require.NoError(t, err)
	_, err = s.Append(t.Context(), again, &store.Page{Next: 100, More: true})
	require.NoError(t, err)

	all, err = s.Troubles(t.Context(), "docs")
	require.NoError(t, err)
	assert.Len(t, all, 1)
}

// What was loaded of a list outlives that the service refuses it later.
func refusedReload(t *testing.T, where string) {
	s := open(t, where)
	save(t, s, window, store.FeedbackByPage, &store.Page{Rows: []any{mintlify.FeedbackCount{Path: "/a", Total: 9}}, Last: true})

	reloaded, err := beginOf(s, window, store.FeedbackByPage, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.NoError(t, s.Refuse(t.Context(), reloaded, "403\x00"))

	list, rows, err := store.List[mintlify.FeedbackCount](t.Context(), s, window, store.FeedbackByPage)
	require.NoError(t, err)
	assert.Equal(t, store.Loaded, list.State)
	assert.Equal(t, []mintlify.FeedbackCount{{Path: "/a", Total: 9}}, rows)

	all, err := s.Troubles(t.Context(), "docs")
	require.NoError(t, err)
	assert.Equal(t, []store.Trouble{{Kind: store.FeedbackByPage, Exports: 1, Newest: window, Problem: "403\uFFFD"}}, all)
}

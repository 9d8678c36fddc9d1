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
	assert.Equal(t, map[string]store.Sync{"docs": last, "api": other}, all)
}

// A failure is known until the export goes on.
func troubles(t *testing.T, where string) {
	s := open(t, where)
	broken, err := beginOf(s, window, store.Searches, time.Now())
	require.NoError(t, err)
	fail(t, s, broken, store.Begun, "500\x00")

	refused, err := beginOf(s, window, store.FeedbackByPage, time.Now())
	require.NoError(t, err)
	fail(t, s, refused, store.Refused, "403")

	assert.Len(t, failed(t, s), 2)
	complete, _ := find(t, s, window, store.FeedbackByPage)
	assert.Equal(t, "403", complete.Problem)
	_, begun := find(t, s, window, store.Searches)
	assert.Equal(t, "500\uFFFD", begun.Problem)
	assert.WithinDuration(t, time.Now(), begun.FailedAt, time.Minute)

	again, err := beginOf(s, window, store.Searches, time.Time{})
	require.NoError(t, err)
	_, err = s.Append(t.Context(), again, &store.Page{Next: 100, More: true})
	require.NoError(t, err)

	assert.Len(t, failed(t, s), 1)
}

// What was loaded of a list outlives that the service refuses it later.
func refusedReload(t *testing.T, where string) {
	s := open(t, where)
	save(t, s, window, store.FeedbackByPage, &store.Page{Rows: []any{mintlify.FeedbackCount{Path: "/a", Total: 9}}, Last: true})

	reloaded, err := beginOf(s, window, store.FeedbackByPage, time.Now().Add(time.Hour))
	require.NoError(t, err)
	fail(t, s, reloaded, store.Refused, "403\x00")

	list, rows, err := store.List[mintlify.FeedbackCount](t.Context(), s, window, store.FeedbackByPage)
	require.NoError(t, err)
	assert.Equal(t, store.Loaded, list.State)
	assert.Equal(t, []mintlify.FeedbackCount{{Path: "/a", Total: 9}}, rows)

	all := failed(t, s)
	require.Len(t, all, 1)
	assert.Equal(t, store.FeedbackByPage, all[0].Kind)
	assert.Equal(t, window, all[0].Window)
	assert.Equal(t, "403\uFFFD", all[0].Problem)
}

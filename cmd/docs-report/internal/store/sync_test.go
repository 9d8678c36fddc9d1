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
	last := store.Sync{Project: "docs", At: at, Problem: "a problem", Failing: []store.FailingList{
		{Kind: store.Searches, Times: 2, Problem: "500\u2028"},
	}}
	other := store.Sync{Project: "api", At: at}
	for _, ended := range []store.Sync{first, other, last} {
		require.NoError(t, s.SaveSync(t.Context(), ended))
	}

	all, err := s.Syncs(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]store.Sync{"docs": last, "api": other}, all)
}

// The moves that a sync has found replace the earlier ones of its project.
func moves(t *testing.T, where string) {
	s := open(t, where)
	require.NoError(t, s.Take(t.Context()))
	older := store.Move{From: "/a", To: "/b", Day: mintlify.Day(2026, time.March, 1)}
	newer := store.Move{From: "/0", To: "/c", Day: mintlify.Day(2026, time.March, 2)}
	require.NoError(t, s.SaveMoves(t.Context(), "docs", []store.Move{{From: "/gone", To: "/x", Day: older.Day}}))
	require.NoError(t, s.SaveMoves(t.Context(), "docs", []store.Move{newer, older}))
	require.NoError(t, s.SaveMoves(t.Context(), "api", nil))

	all, err := s.Moves(t.Context(), "docs")
	require.NoError(t, err)
	assert.Equal(t, []store.Move{older, newer}, all)
}

// A day's pages come whatever their names are, and a day without any does, too.
func pagesByDay(t *testing.T, where string) {
	s := open(t, where)
	names := []string{"/a b 7", "/two\nlines", "/\x1e1 2", "", "7 8 /x"}
	next := store.Window{Project: "docs", From: window.To, To: window.To.AddDays(1)}
	for _, w := range []store.Window{window, next} {
		e, err := beginOf(s, w, store.Visitors, time.Now())
		require.NoError(t, err)
		last := &store.Page{Last: true}
		for _, name := range names {
			last.Visitors = append(last.Visitors, mintlify.Visitor{Path: name, Human: 3, AI: 4, Total: 7})
		}
		_, err = s.Append(t.Context(), e, last)
		require.NoError(t, err)
		names = nil
	}

	found := map[string][]string{}
	err := s.DayPages(t.Context(), "docs", window.From, func(day mintlify.Date, pages []mintlify.Visitor) {
		found[day.String()] = []string{}
		for _, row := range pages {
			assert.Equal(t, mintlify.Visitor{Path: row.Path, Human: 3, AI: 4}, row)
			found[day.String()] = append(found[day.String()], row.Path)
		}
	})
	require.NoError(t, err)
	assert.Len(t, found, 2)
	assert.Empty(t, found[next.From.String()])
	assert.Subset(t, found[window.From.String()], []string{"/a b 7", "/two\nlines", "/", "", "7 8 /x"})

	require.NoError(t, s.DayPages(t.Context(), "docs", next.To, func(mintlify.Date, []mintlify.Visitor) {
		t.Error("a day before the first")
	}))
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

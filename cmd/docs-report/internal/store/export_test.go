//go:build unix

package store_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func roundTrip(t *testing.T, where string) {
	s := open(t, where)
	first := page("/a", 0, 250, true)
	first.Visitors[0].Path = "/nul\x00\xff"
	first.Visitors[1].Path = "/'\"; DROP TABLE docs_visitors; --"
	first.Visitors[2].Path = "/" + strings.Repeat("long", 5000)
	first.Visitors[3].Path = ""
	first.Visitors[4].Human = -1

	begun, err := s.Append(t.Context(), begin(t, s), first)
	require.NoError(t, err)
	assert.Equal(t, 250, begun.Offset)
	_, err = s.Append(t.Context(), begun, page("/a", 250, 7, false))
	require.NoError(t, err)

	again := open(t, where)
	complete, rows, err := again.Visitors(t.Context(), window)
	require.NoError(t, err)
	assert.Equal(t, first.Totals, complete.Totals)
	assert.Equal(t, 257, complete.Kept)

	want := slices.Concat(first.Visitors, page("/a", 250, 7, false).Visitors)
	want[0].Path = "/nul\uFFFD\uFFFD"
	assert.Equal(t, want, rows, "in order, and a path many times")

	save(t, s, window, store.Visitors, page("/a", 0, 0, false))
	complete, rows, err = s.Visitors(t.Context(), window)
	require.NoError(t, err)
	assert.Empty(t, rows)
	assert.Equal(t, store.Loaded, complete.State, "complete, and without rows")
}

func listRoundTrip(t *testing.T, where string) {
	s := open(t, where)
	begun, err := beginOf(s, window, store.Searches, time.Now())
	require.NoError(t, err)
	want := []mintlify.SearchTerm{
		{
			Query:          `a\u0000b` + "\x00",
			Hits:           7,
			CTR:            1.5,
			LastSearchedAt: time.Date(2026, 3, 1, 2, 3, 4, 0, time.UTC),
		},
		{Query: "b"},
	}

	begun, err = s.Append(t.Context(), begun, &store.Page{
		Rows:   []any{want[0]},
		Next:   100,
		Cursor: "two",
		More:   true,
	})
	require.NoError(t, err)

	_, none, err := store.List[mintlify.SearchTerm](t.Context(), s, window, store.Searches)
	require.NoError(t, err)
	assert.Empty(t, none, "it is not complete")

	_, err = s.Append(t.Context(), begun, &store.Page{
		Rows:   []any{want[1]},
		Next:   200,
		Cursor: "three",
		More:   true,
		Last:   true,
		Totals: mintlify.VisitorTotals{Total: 99},
	})
	require.NoError(t, err)

	list, rows, err := store.List[mintlify.SearchTerm](t.Context(), s, window, store.Searches)
	require.NoError(t, err)

	want[0].Query = `a\ufffdb` + "\uFFFD"
	assert.Equal(t, want, rows)
	assert.Equal(t, int64(99), list.Totals.Total)
	assert.True(t, list.Truncated)
	assert.Equal(t, 2, list.Kept)

	begun, err = beginOf(s, window, store.FeedbackByPage, time.Now())
	require.NoError(t, err)
	fail(t, s, begun, store.Refused, "403")
	list, _, err = store.List[mintlify.FeedbackCount](t.Context(), s, window, store.FeedbackByPage)
	require.NoError(t, err)
	assert.Equal(t, "403", list.Problem)
}

// Rolling windows that no report compares with are deleted, with their rows.
func rolling(t *testing.T, where string) {
	s := open(t, where)
	period := store.LastWeeks("docs", 4, mintlify.Day(2026, time.November, 17))

	windows := []store.Window{
		period,
		period.Before(),
		{Project: "docs", From: period.From.AddDays(-35), To: period.From.AddDays(-7)},
	}

	month := store.Window{
		Project: "docs",
		From:    mintlify.Day(2027, time.February, 1),
		To:      mintlify.Day(2027, time.March, 1),
	}
	february := store.Window{
		Project: "docs",
		From:    mintlify.Day(2038, time.February, 1),
		To:      mintlify.Day(2038, time.March, 1),
	}
	assert.Equal(t, store.Month, month.Span(), "four weeks, too")

	week := store.Window{Project: "docs", From: period.From.AddDays(-70), To: period.From.AddDays(-63)}

	for _, w := range append(windows, month, week) {
		for _, kind := range []store.Kind{store.Visitors, store.Searches} {
			p := page("/a", 0, 1, false)
			if kind == store.Searches {
				p.Visitors = nil
				p.Rows = []any{mintlify.SearchTerm{Query: "x"}}
			}
			save(t, s, w, kind, p)
		}
	}

	require.NoError(t, s.Prune(t.Context(), period, window.From, window.From))
	require.NoError(t, s.Prune(t.Context(), february, window.From, window.From), "it is four weeks, too, and no month goes")
	lastWeek := store.LastWeeks("docs", 1, period.To)
	require.NoError(t, s.Prune(t.Context(), lastWeek, window.From, window.From), "weeks do not roll")

	for i, w := range append(windows, month, week) {
		export, rows, err := s.Visitors(t.Context(), w)
		require.NoError(t, err)
		assert.Equal(t, i == 2, export.State == store.Missing, "%v", w)
		assert.Equal(t, i == 2, len(rows) == 0)
	}

	var rows int
	raw := rawDatabase(t, where)
	err := raw.QueryRowContext(t.Context(),
		`SELECT (SELECT COUNT(*) FROM docs_rows) + (SELECT COUNT(*) FROM docs_visitors)`).Scan(&rows)
	require.NoError(t, err)
	assert.Equal(t, 8, rows)
}

// The README's queries run as they stand, on what they ask about.
func readme(t *testing.T, where string) {
	s := open(t, where)
	from := mintlify.Day(2026, time.October, 1)
	for _, span := range []store.Span{store.Day, store.Week, store.Month} {
		for _, w := range store.Windows("docs", span, from, from.AddDays(31)) {
			for kind, p := range map[store.Kind]*store.Page{
				store.Visitors: page("/a", 0, 3, false),
				store.Searches: {
					Rows: []any{mintlify.SearchTerm{Query: "x", Hits: 12}},
					Last: true,
				},
				store.Feedback: {
					Rows: []any{
						mintlify.Feedback{ID: "1", Contact: "jo@example.com"},
						mintlify.Feedback{ID: "2", Contact: "al@example.com"},
					},
					Last: true,
				},
			} {
				save(t, s, w, kind, p)
			}
		}
	}

	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, queries, 3)

	all := len(store.Windows("docs", store.Day, from, from.AddDays(31))) + 3 + 1 // days, weeks, the month
	// A reader's rows, weeks, and a range to load anew.
	for i, want := range []int{all, 3, 0} {
		rows, err := rawDatabase(t, where).QueryContext(t.Context(), queries[i][1])
		require.NoError(t, err, queries[i][1])

		count := 0
		for rows.Next() {
			count++
		}

		require.NoError(t, rows.Err())
		assert.Equal(t, want, count, queries[i][1])
	}
}

// What failed before the range goes, apart from the last months. What is loaded stays.
func pruneFailed(t *testing.T, where string) {
	s := open(t, where)
	from := mintlify.Day(2026, time.March, 9)
	february := store.Window{
		Project: "docs",
		From:    mintlify.Day(2026, time.February, 1),
		To:      mintlify.Day(2026, time.March, 1),
	}
	january := february.MonthBefore()
	week := store.Window{Project: "docs", From: from.AddDays(-7), To: from}
	inRange := store.Window{Project: "docs", From: from, To: from.AddDays(1)}

	save(t, s, window, store.Visitors, page("/a", 0, 3, false))
	for _, failed := range []struct {
		window store.Window
		kind   store.Kind
	}{
		{window, store.Visitors}, // the reload of a day
		{week, store.Visitors},
		{january, store.Visitors},
		{february, store.Visitors},
		{february, store.Searches},
		{inRange, store.Visitors},
	} {
		begun, err := beginOf(s, failed.window, failed.kind, time.Now().Add(time.Hour))
		require.NoError(t, err)
		fail(t, s, begun, store.Begun, "500")
	}
	refused, err := beginOf(s, week, store.FeedbackByPage, time.Now())
	require.NoError(t, err)
	fail(t, s, refused, store.Refused, "403")

	require.NoError(t, s.Prune(t.Context(), store.LastWeeks("docs", 4, from), from, february.From))

	left := failed(t, s)
	require.Len(t, left, 2)
	assert.Equal(t, inRange, left[0].Window, "a day of the range, the newest first")
	assert.Equal(t, february, left[1].Window, "one of the last months")
	for _, e := range left {
		assert.Equal(t, store.Visitors, e.Kind)
		assert.Equal(t, "500", e.Problem)
	}
	assert.Len(t, rowsOf(t, s), 3)
}

func seenWhole(t *testing.T, where string) {
	s := open(t, where)
	save(t, s, window, store.Visitors, page("/old", 0, 3, false))

	begun, err := s.Append(t.Context(), begin(t, s), page("/new", 0, 250, true))
	require.NoError(t, err)
	assert.Equal(t, page("/old", 0, 3, false).Visitors, rowsOf(t, s))

	complete, running := find(t, s, window, store.Visitors)
	assert.Equal(t, 3, complete.Kept)
	assert.Equal(t, 250, running.Offset)

	_, err = s.Append(t.Context(), begun, page("/new", 250, 1, false))
	require.NoError(t, err)
	assert.Len(t, rowsOf(t, s), 251)
	_, running = find(t, s, window, store.Visitors)
	assert.Zero(t, running)
}

// The response to a commit may be lost: then the run appends the page again.
func writtenOnce(t *testing.T, where string) {
	s := open(t, where)
	begun := begin(t, s)
	next, err := s.Append(t.Context(), begun, page("/a", 0, 250, true))
	require.NoError(t, err)
	_, err = s.Append(t.Context(), begun, page("/a", 0, 250, true))
	require.ErrorIs(t, err, store.ErrGone)

	_, err = s.Append(t.Context(), next, page("/a", 250, 2, false))
	require.NoError(t, err)
	_, err = s.Append(t.Context(), next, page("/a", 250, 2, false))
	require.ErrorIs(t, err, store.ErrGone)
	assert.Len(t, rowsOf(t, s), 252)
}

// The first page of a run may repeat rows that are stored: each is left out as often as it is there.
func comeAgain(t *testing.T, where string) {
	s := open(t, where)
	row := func(path string, human int64) mintlify.Visitor { return mintlify.Visitor{Path: path, Human: human} }
	pages := [][]mintlify.Visitor{
		{row("/a", 1), row("/b", 1), row("/b", 1), row("", 1), row("/\x00", 1)},
		{row("/b", 1), row("/b", 1), row("/b", 1), row("", 1), row("/\x00", 1), row("/a", 2), row("/c", 1)},
	}
	want := []mintlify.Visitor{
		row("/a", 1), row("/b", 1), row("/b", 1), row("", 1), row("/\uFFFD", 1),
		row("/b", 1), row("", 1), row("/a", 2), row("/c", 1),
	}

	begun := begin(t, s)
	for i, rows := range pages {
		p := &store.Page{Visitors: rows, Next: 5 * (i + 1), More: i == 0, Last: i == 1, IsResumed: i == 1}
		var err error
		begun, err = s.Append(t.Context(), begun, p)
		require.NoError(t, err)
		assert.Equal(t, i+1, begun.Pages)
	}
	assert.Equal(t, want, rowsOf(t, s))
}

// Days lose their pages, and keep their counts. No other span does, nor a day that is to be kept.
func expiredDays(t *testing.T, where string) {
	s := open(t, where)
	week := store.WeekOf(window.From)
	week.Project = "docs"
	kept := store.Window{Project: "docs", From: window.From.AddDays(-1), To: window.From}
	later := store.Window{Project: "docs", From: window.To, To: window.To.AddDays(1)}
	for _, w := range []store.Window{window, week, kept, later} {
		save(t, s, w, store.Visitors, page("/a", 0, 3, false))
	}

	require.NoError(t, s.ExpireDays(t.Context(), "docs", window.To, []mintlify.Date{kept.From}))
	for w, want := range map[store.Window]int{window: 0, week: 3, kept: 3, later: 3} {
		export, rows, err := s.Visitors(t.Context(), w)
		require.NoError(t, err)
		assert.Len(t, rows, want, w)
		assert.Equal(t, 3, export.Kept, w)
	}

	days, err := s.Series(t.Context(), store.Day, store.Window{Project: "docs"})
	require.NoError(t, err)
	assert.Len(t, days, 3, "the counts stay")
	days, err = s.PageSeries(t.Context(), "docs", store.Day, []string{"/a", "/b"})
	require.NoError(t, err)
	assert.Len(t, days, 2, "a page does not have 0 visitors on a day whose pages are gone")
}

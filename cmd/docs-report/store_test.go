//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
)

const source = "a test"

var window = store.Window{
	Project: "docs",
	From:    mintlify.Day(2026, time.March, 1),
	To:      mintlify.Day(2026, time.March, 2),
}

// Both databases keep the same promises. newDatabase returns the address of a new one.
func TestSQLite(t *testing.T) {
	promises(t, func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "with space?&%41.db") })
}

func TestPostgres(t *testing.T) {
	server := startPostgres(t)
	promises(t, server.Database)
}

// startPostgres returns a server that ends with the test.
func startPostgres(t *testing.T) *processtest.Postgres {
	t.Helper()
	server := &processtest.Postgres{}
	t.Cleanup(server.Close)
	return server
}

func promises(t *testing.T, newDatabase func(*testing.T) string) {
	for name, test := range map[string]func(t *testing.T, where string){
		"rows and totals come back": roundTrip,
		"a list comes back":         listRoundTrip,
		"a window is seen whole":    seenWhole,
		"a slow writer is refused":  overtaken,
		"a lease":                   lease,
		"many at once":              manyAtOnce,
		"opened by many at once":    openedByMany,
		"the budget":                budget,
		"the service's block":       block,
		"a clock that was ahead":    clockAhead,
		"rolling windows":           rolling,
		"another source":            otherSource,
		"a newer version":           newerVersion,
		"an older version":          olderVersion,
		"what is forgotten":         forgotten,
		"nothing to read":           nothingToRead,
		"a statement that fails":    failing,
		"the queries of the README": readme,
	} {
		t.Run(name, func(t *testing.T) { test(t, newDatabase(t)) })
	}
}

func open(t *testing.T, where string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), where, source)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// page returns a page of rows with paths that begin with name.
func page(name string, offset, rows int, more bool) *store.Page {
	p := &store.Page{
		Next:   offset + 250,
		More:   more,
		Last:   !more,
		Totals: mintlify.VisitorTotals{Human: 1 << 40, AI: 2, Total: 3},
	}
	for i := range rows {
		p.Visitors = append(p.Visitors, mintlify.Visitor{Path: name, Human: int64(offset + i), AI: 1, Total: 1 << 60})
	}
	return p
}

func never(store.Export) bool { return false }

func claim(s *store.Store, kind store.Kind, freshSince time.Time) (store.Export, error) {
	export, _, err := s.Claim(context.Background(), window, kind, freshSince, never)
	return export, err
}

func begin(t *testing.T, s *store.Store) store.Export {
	t.Helper()
	export, err := claim(s, store.Visitors, time.Now().Add(time.Hour))
	require.NoError(t, err)
	return export
}

func rowsOf(t *testing.T, s *store.Store) []mintlify.Visitor {
	t.Helper()
	_, rows, err := s.Visitors(t.Context(), window)
	require.NoError(t, err)
	return rows
}

func roundTrip(t *testing.T, where string) {
	s := open(t, where)
	first := page("/a", 0, 250, true)
	first.Visitors[0].Path = "/nul\x00\xff"
	first.Visitors[1].Path = "/'\"; DROP TABLE docs_visitors; --"
	first.Visitors[2].Path = "/" + strings.Repeat("long", 5000)

	export, err := s.Append(t.Context(), begin(t, s), first)
	require.NoError(t, err)
	assert.Equal(t, 250, export.Offset)
	_, err = s.Append(t.Context(), export, page("/a", 250, 7, false))
	require.NoError(t, err)

	again := open(t, where)
	complete, rows, err := again.Visitors(t.Context(), window)
	require.NoError(t, err)
	assert.Equal(t, first.Totals, complete.Totals)
	assert.Equal(t, 257, complete.Kept)

	want := slices.Concat(first.Visitors, page("/a", 250, 7, false).Visitors)
	want[0].Path = "/nul\uFFFD\uFFFD"
	assert.Equal(t, want, rows, "in order, and a path many times")

	size, known, err := again.Size(t.Context(), "docs", store.Visitors, store.Month)
	require.NoError(t, err)
	assert.True(t, known)
	assert.Equal(t, 257, size)

	_, known, err = again.Size(t.Context(), "other", store.Visitors, store.Day)
	require.NoError(t, err)
	assert.False(t, known)

	require.NoError(t, again.SetSize(t.Context(), "other", 7))
	size, _, err = again.Size(t.Context(), "other", store.Visitors, store.Day)
	require.NoError(t, err)
	assert.Equal(t, 7, size)

	_, err = s.Append(t.Context(), begin(t, s), page("/a", 0, 0, false))
	require.NoError(t, err)
	complete, rows, err = s.Visitors(t.Context(), window)
	require.NoError(t, err)
	assert.Empty(t, rows)
	assert.False(t, complete.At.IsZero(), "complete, and without rows")
}

func listRoundTrip(t *testing.T, where string) {
	s := open(t, where)
	export, err := claim(s, store.Searches, time.Now())
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

	export, err = s.Append(t.Context(), export, &store.Page{
		Rows:   []any{want[0]},
		Next:   100,
		Cursor: "two",
		More:   true,
	})
	require.NoError(t, err)

	_, none, err := store.List[mintlify.SearchTerm](t.Context(), s, window, store.Searches)
	require.NoError(t, err)
	assert.Empty(t, none, "it is not complete")

	_, err = s.Append(t.Context(), export, &store.Page{
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

	export, err = claim(s, store.Views, time.Now())
	require.NoError(t, err)
	require.NoError(t, s.EndWith(t.Context(), export, "403"))
	list, _, err = store.List[mintlify.View](t.Context(), s, window, store.Views)
	require.NoError(t, err)
	assert.Equal(t, "403", list.Problem)
}

func seenWhole(t *testing.T, where string) {
	s := open(t, where)
	_, err := s.Append(t.Context(), begin(t, s), page("/old", 0, 3, false))
	require.NoError(t, err)

	export, err := s.Append(t.Context(), begin(t, s), page("/new", 0, 250, true))
	require.NoError(t, err)
	assert.Equal(t, page("/old", 0, 3, false).Visitors, rowsOf(t, s))

	complete, running, err := s.Find(t.Context(), window, store.Visitors)
	require.NoError(t, err)
	assert.Equal(t, 3, complete.Kept)
	assert.Equal(t, 250, running.Offset)

	_, err = s.Append(t.Context(), export, page("/new", 250, 1, false))
	require.NoError(t, err)
	assert.Len(t, rowsOf(t, s), 251)
	_, running, err = s.Find(t.Context(), window, store.Visitors)
	require.NoError(t, err)
	assert.Zero(t, running)
}

func overtaken(t *testing.T, where string) {
	slow := open(t, where)
	fast := open(t, where)
	export := begin(t, slow)

	// Both are of this process, so that the other is taken for dead.
	taken, err := claim(fast, store.Visitors, time.Now().Add(-time.Hour))
	require.NoError(t, err)

	_, err = slow.Append(t.Context(), export, page("/slow", 0, 250, true))
	require.ErrorIs(t, err, store.ErrOvertaken, "another run has it")

	next, err := fast.Append(t.Context(), taken, page("/fast", 0, 250, true))
	require.NoError(t, err)
	_, err = fast.Append(t.Context(), taken, page("/fast", 0, 250, true))
	require.ErrorIs(t, err, store.ErrOvertaken, "a page is written once")

	_, err = fast.Append(t.Context(), next, page("/fast", 250, 2, false))
	require.NoError(t, err)
	_, err = fast.Append(t.Context(), next, page("/fast", 250, 2, false))
	require.ErrorIs(t, err, store.ErrOvertaken, "completed")
	assert.Len(t, rowsOf(t, fast), 252)
}

func lease(t *testing.T, where string) {
	s := open(t, where)
	export := begin(t, s)

	raw := rawDatabase(t, where)
	exec := func(statement string, args ...any) {
		_, err := raw.ExecContext(t.Context(), statement, args...)
		require.NoError(t, err)
	}

	exec(`UPDATE docs_exports SET holder = 'elsewhere 1 abc'`)
	_, err := claim(s, store.Visitors, time.Time{})
	var held *store.HeldError
	require.ErrorAs(t, err, &held)
	assert.Equal(t, "elsewhere 1 abc", held.Holder)
	assert.WithinDuration(t, time.Now().Add(3*time.Minute), held.Until, 10*time.Second)

	require.NoError(t, s.Lease(t.Context(), export, time.Now()), "not its own")
	_, err = claim(s, store.Visitors, time.Time{})
	require.ErrorAs(t, err, &held)

	exec(`UPDATE docs_exports SET held_until = $1`, time.Now().Add(-time.Second).UnixMilli())
	_, err = claim(s, store.Visitors, time.Time{})
	require.NoError(t, err, "it has ended")

	ahead := time.Now().Add(48 * time.Hour)
	exec(`UPDATE docs_exports SET holder = 'elsewhere 1 abc', held_until = $1`, ahead.UnixMilli())
	_, err = claim(s, store.Visitors, time.Time{})
	require.NoError(t, err, "of a clock that was ahead")

	host, err := os.Hostname()
	require.NoError(t, err)
	exec(`UPDATE docs_exports SET holder = $1`, host+" 999999999 abc")
	_, err = claim(s, store.Visitors, time.Time{})
	require.NoError(t, err, "its process is gone")

	exec(`UPDATE docs_exports SET holder = $1`, host+" 1 abc")
	_, err = claim(s, store.Visitors, time.Time{})
	require.ErrorAs(t, err, &held, "its process is there")
}

// Many writers take one export to its end, over and over: each page is written once,
// none waits for another for ever, and a reader sees the rows of one export only.
func manyAtOnce(t *testing.T, where string) {
	const writers, pages, exports = 4, 3, 5
	var completed, conflicts atomic.Int64
	var all sync.WaitGroup

	for range writers {
		s := open(t, where)
		all.Go(func() {
			for completed.Load() < exports {
				finished, err := takeFurther(t.Context(), s, pages)
				if finished {
					completed.Add(1)
				}
				if errors.Is(err, store.ErrOvertaken) {
					conflicts.Add(1)
				} else if !assert.NoError(t, err) {
					return
				}

				rows := rowsOf(t, s)
				assert.True(t, len(rows) == 0 || len(rows) == pages*250, "%d rows", len(rows))
				for i, row := range rows {
					if !assert.Equal(t, int64(i), row.Human) {
						return
					}
				}
			}
		})
	}

	all.Wait()
	t.Logf("%d conflicts", conflicts.Load())
}

func takeFurther(ctx context.Context, s *store.Store, pages int) (finished bool, err error) {
	export, err := claim(s, store.Visitors, time.Time{})
	if err != nil {
		return false, err
	}

	more := export.Offset < (pages-1)*250
	_, err = s.Append(ctx, export, page("/a", export.Offset, 250, more))
	return err == nil && !more, err
}

func openedByMany(t *testing.T, where string) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := store.Open(t.Context(), where, source)
			if assert.NoError(t, err) {
				s.Close()
			}
		})
	}
	all.Wait()
}

// Of many who want the last request of the budget at once, one has it.
func budget(t *testing.T, where string) {
	const runs, rounds = 6, 15
	var stores []*store.Store
	for range runs {
		stores = append(stores, open(t, where))
	}

	for budget := 1; budget <= rounds; budget++ {
		var reserved atomic.Int64
		var all sync.WaitGroup

		for _, s := range stores {
			all.Go(func() {
				left, err := s.Reserve(t.Context(), budget)
				if quota, ok := errors.AsType[*store.QuotaError](err); ok {
					assert.WithinDuration(t, time.Now().Add(time.Hour), quota.Until, time.Minute)
					return
				}
				assert.NoError(t, err)
				assert.Zero(t, left)
				reserved.Add(1)
			})
		}

		all.Wait()
		require.Equal(t, int64(1), reserved.Load())
	}

	left, err := stores[0].Left(t.Context(), rounds+3)
	require.NoError(t, err)
	assert.Equal(t, 3, left)
}

func block(t *testing.T, where string) {
	s := open(t, where)
	until := time.Now().Add(50 * time.Minute).Truncate(time.Millisecond).UTC()
	require.NoError(t, s.Block(t.Context(), until))
	require.NoError(t, s.Block(t.Context(), until.Add(-time.Minute)), "the later one stands")

	_, err := s.Reserve(t.Context(), 90)
	var quota *store.QuotaError
	require.ErrorAs(t, err, &quota)
	assert.Equal(t, until, quota.Until)

	left, err := s.Left(t.Context(), 90)
	require.NoError(t, err)
	assert.Zero(t, left)
}

// Whatever a clock that was ahead has recorded counts from now on, and not from then.
func clockAhead(t *testing.T, where string) {
	s := open(t, where)
	_, err := s.Append(t.Context(), begin(t, s), page("/a", 0, 1, false))
	require.NoError(t, err)
	_, err = s.Reserve(t.Context(), 90)
	require.NoError(t, err)

	ahead := time.Now().Add(1000 * time.Hour)
	require.NoError(t, s.Block(t.Context(), ahead))

	raw := rawDatabase(t, where)
	for _, statement := range []string{
		`UPDATE docs_exports SET fetched_at = $1`,
		`UPDATE docs_requests SET sent_at = $1`,
	} {
		_, err := raw.ExecContext(t.Context(), statement, ahead.UnixMilli())
		require.NoError(t, err)
	}

	_, err = s.Reserve(t.Context(), 2)
	require.NoError(t, err, "the block was of that clock")
	_, err = s.Reserve(t.Context(), 2)
	var quota *store.QuotaError
	require.ErrorAs(t, err, &quota)
	assert.WithinDuration(t, time.Now().Add(time.Hour), quota.Until, time.Minute)

	complete, _, err := open(t, where).Find(t.Context(), window, store.Visitors)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), complete.At, time.Minute)
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
	assert.Equal(t, store.Month, month.Span(), "four weeks, too")

	week := store.Window{Project: "docs", From: period.From.AddDays(-70), To: period.From.AddDays(-63)}

	for _, w := range append(windows, month, week) {
		for _, kind := range []store.Kind{store.Visitors, store.Searches} {
			export, _, err := s.Claim(t.Context(), w, kind, time.Time{}, never)
			require.NoError(t, err)

			p := page("/a", 0, 1, false)
			if kind == store.Searches {
				p.Visitors = nil
				p.Rows = []any{mintlify.SearchTerm{Query: "x"}}
			}

			_, err = s.Append(t.Context(), export, p)
			require.NoError(t, err)
		}
	}

	require.NoError(t, s.Prune(t.Context(), period))

	for i, w := range append(windows, month, week) {
		export, rows, err := s.Visitors(t.Context(), w)
		require.NoError(t, err)
		assert.Equal(t, i == 2, export.At.IsZero(), "%v", w)
		assert.Equal(t, i == 2, len(rows) == 0)
	}

	var rows int
	raw := rawDatabase(t, where)
	err := raw.QueryRowContext(t.Context(),
		`SELECT (SELECT COUNT(*) FROM docs_rows) + (SELECT COUNT(*) FROM docs_visitors)`).Scan(&rows)
	require.NoError(t, err)
	assert.Equal(t, 8, rows)
}

func otherSource(t *testing.T, where string) {
	open(t, where)
	_, err := store.Open(t.Context(), where, "another")
	require.ErrorIs(t, err, store.ErrSetup)
	assert.ErrorContains(t, err, source)
	assert.ErrorContains(t, err, "another")
}

func newerVersion(t *testing.T, where string) {
	open(t, where)
	_, err := rawDatabase(t, where).ExecContext(t.Context(), `UPDATE docs_service SET version = 7`)
	require.NoError(t, err)

	_, err = store.Open(t.Context(), where, source)
	require.ErrorIs(t, err, store.ErrSetup)
	require.ErrorContains(t, err, "update docs-report")
	_, err = store.Read(t.Context(), where)
	require.ErrorContains(t, err, "update docs-report")
}

// A database of version 1 is upgraded by the next run that writes.
func olderVersion(t *testing.T, where string) {
	schema, err := os.ReadFile("testdata/schema1.sql")
	require.NoError(t, err)

	raw := rawDatabase(t, where)
	statements := string(schema) + ";\n" +
		"INSERT INTO docs_service (version, source, blocked_until) VALUES (1, '" + source + "', 0)"
	for statement := range strings.SplitSeq(statements, ";\n") {
		_, err := raw.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}

	_, err = store.Read(t.Context(), where)
	require.ErrorIs(t, err, store.ErrSetup)
	require.ErrorContains(t, err, "sync upgrades it")

	s := open(t, where)
	_, err = s.Append(t.Context(), begin(t, s), page("/a", 0, 1, false))
	require.NoError(t, err)
	_, err = s.ForgetRows(t.Context(), store.AllProjects, store.Feedback, "x")
	require.NoError(t, err)

	open(t, where) // once
	assert.Len(t, rowsOf(t, s), 1)
}

// Rows that are forgotten by their id do not come back, and texts leave counts behind.
func forgotten(t *testing.T, where string) {
	s := open(t, where)

	turn := func(id string) mintlify.Conversation {
		return mintlify.Conversation{
			ID:            id,
			Query:         "secret " + id,
			Response:      "secret",
			QueryCategory: "Billing",
			PageURL:       "https://docs.example.com/a?who=secret",
		}
	}

	load := func(freshSince time.Time) {
		export, err := claim(s, store.Conversations, freshSince)
		require.NoError(t, err)
		_, err = s.Append(t.Context(), export, &store.Page{
			Rows:  []any{turn("a"), turn("b"), turn("a")},
			IDs:   []string{"a", "b", "a"},
			Last:  true,
			Texts: true,
		})
		require.NoError(t, err)
	}

	list := func() []mintlify.Conversation {
		_, rows, err := store.List[mintlify.Conversation](t.Context(), s, window, store.Conversations)
		require.NoError(t, err)
		return rows
	}

	load(time.Now())
	rows, err := s.ForgetRows(t.Context(), "other", store.Conversations, "a")
	require.NoError(t, err)
	assert.Zero(t, rows, "of another project")

	load(time.Now().Add(time.Hour))
	assert.Len(t, list(), 3)

	rows, err = s.ForgetRows(t.Context(), "docs", store.Conversations, "a")
	require.NoError(t, err)
	assert.Equal(t, 2, rows)
	load(time.Now().Add(time.Hour))
	require.Len(t, list(), 1)
	assert.Equal(t, "b", list()[0].ID)

	hasTexts, err := s.HasTexts(t.Context(), []string{"docs"})
	require.NoError(t, err)
	assert.True(t, hasTexts)

	export, err := claim(s, store.Feedback, time.Now()) // is under way
	require.NoError(t, err)

	export, err = s.Append(t.Context(), export, &store.Page{
		Rows: []any{mintlify.Feedback{ID: "f", Comment: "secret"}},
		IDs:  []string{"f"},
		Next: 100,
		More: true,
	})
	require.NoError(t, err)

	rows, err = s.ForgetTexts(t.Context(), store.AllProjects)
	require.NoError(t, err)
	assert.Equal(t, 1, rows)

	_, err = s.Append(t.Context(), export, &store.Page{Next: 200, Last: true})
	require.ErrorIs(t, err, store.ErrOvertaken, "that run has to begin anew")
	assert.Equal(t, []mintlify.Conversation{{QueryCategory: "Billing", PageURL: "https://docs.example.com/a"}}, list())

	hasTexts, err = s.HasTexts(t.Context(), []string{"docs"})
	require.NoError(t, err)
	assert.False(t, hasTexts)

	var left int
	err = rawDatabase(t, where).QueryRowContext(t.Context(),
		`SELECT COUNT(*) FROM docs_rows WHERE CAST(data AS TEXT) LIKE '%secret%'`).Scan(&left)
	require.NoError(t, err)
	assert.Zero(t, left)
}

// A report makes no database.
func nothingToRead(t *testing.T, where string) {
	_, err := store.Read(t.Context(), where)
	require.Error(t, err)
	if path, isSQLite := strings.CutPrefix(where, "sqlite:"); isSQLite {
		assert.NoFileExists(t, path)
	} else {
		require.ErrorContains(t, err, "docs-report sync")
	}

	open(t, where)
	s, err := store.Read(t.Context(), where)
	require.NoError(t, err)
	defer s.Close()
	assert.Equal(t, source, s.Source)

	_, err = s.Reserve(t.Context(), 1)
	if strings.HasPrefix(where, "sqlite:") {
		require.Error(t, err, "it only reads")
	}
}

func failing(t *testing.T, where string) {
	s := open(t, where)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, _, err := s.Find(ctx, window, store.Visitors)
	require.ErrorIs(t, err, context.Canceled)

	_, _, err = s.Claim(ctx, window, store.Visitors, time.Time{}, never)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, sql.ErrTxDone)

	_, err = store.Open(ctx, where, source)
	require.Error(t, err)
	begin(t, s) // and it works on
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
				store.Views: {
					Rows: []any{
						mintlify.View{Path: "/a", Total: 9},
						mintlify.View{Path: "/b", Total: 7},
					},
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
				export, _, err := s.Claim(t.Context(), w, kind, time.Time{}, never)
				require.NoError(t, err)
				_, err = s.Append(t.Context(), export, p)
				require.NoError(t, err)
			}
		}
	}

	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, queries, 6)

	all := len(store.Windows("docs", store.Day, from, from.AddDays(31))) + 3 + 1 // days, weeks, the month
	// A reader's rows, weeks, pages, terms, views, and a range to load anew.
	for i, want := range []int{all, 3, 1, 1, 1, 0} {
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

// A run that finds the database gone waits for it.
func TestADatabaseThatGoesAwayIsWaitedFor(t *testing.T) {
	server := startPostgres(t)
	s := open(t, server.Database(t))

	told := make(chan string, 10)
	s.Log = func(format string, args ...any) {
		told <- format
		assert.NoError(t, server.Start())
	}

	export := begin(t, s)
	server.Stop()
	next, err := s.Append(t.Context(), export, page("/a", 0, 250, true))
	require.NoError(t, err)
	assert.Contains(t, <-told, "waiting")

	_, err = s.Append(t.Context(), next, page("/a", 250, 1, false))
	require.NoError(t, err)
	assert.Len(t, rowsOf(t, s), 251)
}

// In any order of libpq's words, and without a password in an error.
func TestAddressesOfPostgres(t *testing.T) {
	server := startPostgres(t)
	address, err := url.Parse(server.Database(t))
	require.NoError(t, err)
	open(t, "dbname="+strings.TrimPrefix(address.Path, "/")+" user=postgres host="+address.Query().Get("host"))

	for _, where := range []string{
		"postgres://someone:secret@127.0.0.1:1/none",
		"postgres://someone:secret@:/%zz",
		"password=secret host=127.0.0.1 port=1",
		"password='secret secret' port=x",
		"mysql://someone:secret@host/none",
		"secret.db",
		"",
		"sqlite:",
		"Password=secret",
	} {
		_, err = store.Open(t.Context(), where, source)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "secret")
	}
}

//go:build unix

package store_test

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

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/postgrestest"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const source = "a test"

var window = store.Window{Project: "docs", From: mintlify.Day(2026, time.March, 1), To: mintlify.Day(2026, time.March, 2)}

// The same promises of both databases. newDatabase says where a new one is.
func TestSQLite(t *testing.T) {
	promises(t, func(t *testing.T) string { return filepath.Join(t.TempDir(), "with space?&%41.db") })
}

func TestPostgres(t *testing.T) {
	server := postgrestest.Start(t)
	promises(t, server.Database)
}

func promises(t *testing.T, newDatabase func(*testing.T) string) {
	for name, test := range map[string]func(t *testing.T, where string){
		"rows and totals come back": roundTrip,
		"a window is seen whole":    seenWhole,
		"a slow writer is refused":  overtaken,
		"many at once":              manyAtOnce,
		"opened by many at once":    openedByMany,
		"the budget":                budget,
		"the service's block":       block,
		"another source":            otherSource,
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
func page(name string, offset, rows int, more bool) *mintlify.VisitorPage {
	p := &mintlify.VisitorPage{Offset: offset, NextOffset: offset + 250, HasMore: more, Totals: mintlify.VisitorTotals{Human: 1 << 40, AI: 2, Total: 3}}
	for i := range rows {
		p.Visitors = append(p.Visitors, mintlify.Visitor{Path: name, Human: int64(offset + i), AI: 1, Total: 1 << 60})
	}
	return p
}

func begin(t *testing.T, s *store.Store) *store.Export {
	t.Helper()
	state, err := s.State(t.Context(), window)
	require.NoError(t, err)
	export, err := s.Begin(t.Context(), window, state)
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
	export := begin(t, s)
	first := page("/a", 0, 250, true)
	first.Visitors[0].Path, first.Visitors[1].Path = "/nul\x00\xff", "/'\"; DROP TABLE mintlify_visitors; --"
	first.Visitors[2].Path = "/" + strings.Repeat("long", 5000)
	export, err := s.Append(t.Context(), window, export, first)
	require.NoError(t, err)
	assert.Equal(t, 250, export.Offset)
	last, err := s.Append(t.Context(), window, export, page("/a", 250, 7, false))
	require.NoError(t, err)
	assert.Nil(t, last)

	again := open(t, where)
	counts, rows, err := again.Visitors(t.Context(), window)
	require.NoError(t, err)
	assert.Equal(t, first.Totals, counts.Totals)
	assert.Equal(t, 257, counts.Pages)
	want := slices.Concat(first.Visitors, page("/a", 250, 7, false).Visitors)
	want[0].Path = "/nul\uFFFD\uFFFD"
	assert.Equal(t, want, rows, "in order, and a path many times")

	pages, known, err := again.Pages(t.Context(), "docs")
	require.NoError(t, err)
	assert.True(t, known)
	assert.Equal(t, 257, pages)
	_, known, err = again.Pages(t.Context(), "other")
	require.NoError(t, err)
	assert.False(t, known)

	export = begin(t, s)
	_, err = s.Append(t.Context(), window, export, page("/a", 0, 0, false))
	require.NoError(t, err)
	counts, rows, err = s.Visitors(t.Context(), window)
	require.NoError(t, err)
	assert.Empty(t, rows)
	assert.NotNil(t, counts, "complete, and without rows")
}

func seenWhole(t *testing.T, where string) {
	s := open(t, where)
	counts, _, err := s.Visitors(t.Context(), window)
	require.NoError(t, err)
	assert.Nil(t, counts)
	_, err = s.Append(t.Context(), window, begin(t, s), page("/old", 0, 3, false))
	require.NoError(t, err)
	export, err := s.Append(t.Context(), window, begin(t, s), page("/new", 0, 250, true))
	require.NoError(t, err)
	assert.Equal(t, page("/old", 0, 3, false).Visitors, rowsOf(t, s))
	state, err := s.State(t.Context(), window)
	require.NoError(t, err)
	assert.Equal(t, 3, state.Complete.Pages)
	assert.Equal(t, 250, state.Export.Offset)
	_, err = s.Append(t.Context(), window, export, page("/new", 250, 1, false))
	require.NoError(t, err)
	assert.Len(t, rowsOf(t, s), 251)
	state, err = s.State(t.Context(), window)
	require.NoError(t, err)
	assert.Nil(t, state.Export)
}

func overtaken(t *testing.T, where string) {
	slow, fast := open(t, where), open(t, where)
	export := begin(t, slow)
	next, err := fast.Append(t.Context(), window, export, page("/fast", 0, 250, true))
	require.NoError(t, err)
	_, err = slow.Append(t.Context(), window, export, page("/slow", 0, 250, true))
	require.ErrorIs(t, err, store.ErrOvertaken, "taken further")

	old, err := slow.State(t.Context(), window)
	require.NoError(t, err)
	anew := begin(t, fast)
	_, err = slow.Append(t.Context(), window, next, page("/slow", 250, 1, false))
	require.ErrorIs(t, err, store.ErrOvertaken, "begun anew")
	_, err = slow.Begin(t.Context(), window, old)
	require.ErrorIs(t, err, store.ErrOvertaken, "begun anew once, not twice")
	_, err = slow.Begin(t.Context(), window, store.State{})
	require.ErrorIs(t, err, store.ErrOvertaken, "there is one")
	_, err = fast.Append(t.Context(), window, anew, page("/fast", 0, 2, false))
	require.NoError(t, err)
	_, err = slow.Append(t.Context(), window, anew, page("/slow", 0, 2, false))
	require.ErrorIs(t, err, store.ErrOvertaken, "completed")
	assert.Equal(t, page("/fast", 0, 2, false).Visitors, rowsOf(t, fast))
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
	state, err := s.State(ctx, window)
	if err != nil {
		return false, err
	}
	export := state.Export
	if export == nil {
		if export, err = s.Begin(ctx, window, state); err != nil {
			return false, err
		}
	}
	more := export.Offset < (pages-1)*250
	_, err = s.Append(ctx, window, export, page("/a", export.Offset, 250, more))
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
				var quota *store.QuotaError
				if errors.As(err, &quota) {
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
	until := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
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

func otherSource(t *testing.T, where string) {
	open(t, where)
	_, err := store.Open(t.Context(), where, "another")
	require.ErrorIs(t, err, store.ErrOtherSource)
	assert.ErrorContains(t, err, source)
	assert.ErrorContains(t, err, "another")
}

func failing(t *testing.T, where string) {
	s := open(t, where)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.State(ctx, window)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Begin(ctx, window, store.State{})
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, sql.ErrTxDone)
	_, err = store.Open(ctx, where, source)
	require.Error(t, err)
	begin(t, s) // and it works on
}

func readme(t *testing.T, where string) {
	s := open(t, where)
	export := begin(t, s)
	_, err := s.Append(t.Context(), window, export, page("/a", 0, 3, false))
	require.NoError(t, err)
	driver := "sqlite"
	if strings.HasPrefix(where, "postgres:") {
		driver = "pgx"
	} else {
		where = "file:" + (&url.URL{Path: where}).EscapedPath()
	}
	db, err := sql.Open(driver, where)
	require.NoError(t, err)
	defer db.Close()

	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, queries, 2)
	for _, query := range queries {
		here := strings.NewReplacer("date_to IN ('2026-10-12'", "date_to IN ('2026-03-02'", "'2026-10-01'", "'2026-03-01'", "'2026-11-01'", "'2026-03-02'").Replace(query[1])
		require.NotEqual(t, query[1], here)
		rows, err := db.QueryContext(t.Context(), here)
		require.NoError(t, err, here)
		count := 0
		for rows.Next() {
			count++
		}
		require.NoError(t, rows.Err())
		assert.Equal(t, 1, count, here)
	}
}

func TestADatabaseThatCannotBeReached(t *testing.T) {
	_, err := store.Open(t.Context(), "postgres://someone:secret@127.0.0.1:1/none", source)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
	_, err = store.Open(t.Context(), "postgres://someone:secret@:/%zz", source)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
}

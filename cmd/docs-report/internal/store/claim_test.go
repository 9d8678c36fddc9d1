//go:build unix

package store_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// A run that is slow between its look at an export and its claim must not load again what
// another run has loaded meanwhile: each page costs a request of the hour's quota. SQLite
// lets no other run write meanwhile.
func TestAnExportThatAnotherRunCompletesMeanwhileIsNotClaimed(t *testing.T) {
	where := startPostgres(t).Database(t)
	slow := open(t, where)
	fast := open(t, where)

	looked := false
	isEnough := func(complete store.Export) bool {
		if looked {
			return complete.State == store.Loaded
		}
		looked = true

		export := begin(t, fast)
		_, err := export.Append(t.Context(), page("whole", 0, 3, false))
		require.NoError(t, err)
		return false
	}
	wanted := store.Export{Window: window, Kind: store.Visitors}
	_, _, err := slow.Claim(t.Context(), wanted, window.From.Time(), isEnough)

	require.ErrorIs(t, err, store.ErrOvertaken)
	assert.Len(t, rowsOf(t, slow), 3)
	_, running, err := slow.Find(t.Context(), window, store.Visitors)
	require.NoError(t, err)
	assert.Zero(t, running, "nothing is left of the claim")
}

func seenWhole(t *testing.T, where string) {
	s := open(t, where)
	save(t, s, window, store.Visitors, page("/old", 0, 3, false))

	claimed, err := begin(t, s).Append(t.Context(), page("/new", 0, 250, true))
	require.NoError(t, err)
	assert.Equal(t, page("/old", 0, 3, false).Visitors, rowsOf(t, s))

	complete, running, err := s.Find(t.Context(), window, store.Visitors)
	require.NoError(t, err)
	assert.Equal(t, 3, complete.Kept)
	assert.Equal(t, 250, running.Rows)

	_, err = claimed.Append(t.Context(), page("/new", 250, 1, false))
	require.NoError(t, err)
	assert.Len(t, rowsOf(t, s), 251)
	_, running, err = s.Find(t.Context(), window, store.Visitors)
	require.NoError(t, err)
	assert.Zero(t, running)
}

func overtaken(t *testing.T, where string) {
	slow := open(t, where)
	fast := open(t, where)
	claimed := begin(t, slow)

	// Both are of this process, so that the other is taken for dead.
	taken, err := claim(fast, store.Visitors, time.Now().Add(-time.Hour))
	require.NoError(t, err)

	_, err = claimed.Append(t.Context(), page("/slow", 0, 250, true))
	require.ErrorIs(t, err, store.ErrOvertaken, "another run has it")

	next, err := taken.Append(t.Context(), page("/fast", 0, 250, true))
	require.NoError(t, err)
	_, err = taken.Append(t.Context(), page("/fast", 0, 250, true))
	require.ErrorIs(t, err, store.ErrOvertaken, "a page is written once")

	_, err = next.Append(t.Context(), page("/fast", 250, 2, false))
	require.NoError(t, err)
	_, err = next.Append(t.Context(), page("/fast", 250, 2, false))
	require.ErrorIs(t, err, store.ErrOvertaken, "completed")
	assert.Len(t, rowsOf(t, fast), 252)
}

func lease(t *testing.T, where string) {
	s := open(t, where)
	claimed := begin(t, s)

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

	require.NoError(t, claimed.Release(t.Context()), "not its own")
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
	claimed, err := claim(s, store.Visitors, time.Time{})
	if err != nil {
		return false, err
	}

	more := claimed.Offset() < (pages-1)*250
	_, err = claimed.Append(ctx, page("/a", claimed.Offset(), 250, more))
	return err == nil && !more, err
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

	for _, kind := range []store.Kind{store.Visitors, store.Views} {
		begun, err := claim(s, kind, time.Now().Add(time.Hour))
		require.NoError(t, err)
		for i, rows := range pages {
			p := &store.Page{Visitors: rows, Next: 5 * (i + 1), More: i == 0, Last: i == 1, IsResumed: i == 1}
			if kind == store.Views {
				p.Visitors = nil
				for _, row := range rows {
					p.Rows = append(p.Rows, mintlify.View(row))
				}
			}

			begun, err = begun.Append(t.Context(), p)
			require.NoError(t, err)
			assert.Equal(t, i+1, begun.Pages())
		}
	}

	assert.Equal(t, want, rowsOf(t, s))
	_, views, err := store.List[mintlify.Visitor](t.Context(), s, window, store.Views)
	require.NoError(t, err)
	assert.Equal(t, want, views)
}

//go:build unix

package queue

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/once"
)

var testPostgres processes.Postgres

func TestMain(m *testing.M) {
	code := m.Run()
	testPostgres.Close()
	os.Exit(code)
}

// eachDatabase runs f with two machines on an empty database.
func eachDatabase(t *testing.T, f func(t *testing.T, a, b Queue)) {
	for name, url := range map[string]string{
		"postgres": testPostgres.Database(t),
		"sqlite":   "sqlite:" + filepath.Join(inMemory(t), "fleet.db"),
	} {
		t.Run(name, func(t *testing.T) { f(t, open(t, url), open(t, url)) })
	}
}

// inMemory returns a folder whose files wait for no disk, if this machine has one.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "fleet-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func open(t *testing.T, url string) Queue {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	db, err := database.Open(t.Context(), url, database.Options{Create: true, Busy: time.Minute, Logger: quiet})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	store := database.Store{DB: db, SendTime: time.Minute, Logger: quiet, Calm: quiet}
	return Queue{Store: store, Settings: Production}
}

func add(t *testing.T, s Queue, project string, n int) []string {
	t.Helper()
	prompts := make([]database.Prompt, n)
	keys := make([]string, n)
	for i := range prompts {
		keys[i] = fmt.Sprintf("%s-%03d", project, i)
		prompts[i] = database.Prompt{Key: keys[i], Project: project, Prompt: "x", Priority: 2}
	}
	_, err := s.Enqueue(t.Context(), prompts...)
	require.NoError(t, err)
	return keys
}

// claim claims the prompt of a turn, as package once does.
func claim(ctx context.Context, s Queue, t turn) (once.Record, error) {
	record, err := s.Records().Get(ctx, t.key)
	if err != nil {
		return record, err
	}
	record.Version++
	record.State = once.Sending
	record.Sends++
	record.Deadline = time.Now().Add(time.Minute)
	return record, s.RecordsOfTurn(t.id).Put(ctx, record)
}

// unclaim has the prompt of a turn queued again.
func unclaim(ctx context.Context, s Queue, record once.Record) error {
	record.Version++
	record.State = once.Pending
	return s.Records().Put(ctx, record)
}

// TestOneTurnAtATime: two machines that look at a project at once, with many looks each, never have two turns, and no
// turn begins with a prompt that was not the first of the queue then.
func TestOneTurnAtATime(t *testing.T) {
	eachDatabase(t, func(t *testing.T, a, b Queue) {
		keys := add(t, a, "p", 40)
		var turns atomic.Int32
		var mu sync.Mutex
		var order []string
		var looks sync.WaitGroup
		for i := range 8 {
			s := []Queue{a, b}[i%2]
			looks.Go(func() {
				for {
					turn, err := s.admit(t.Context(), "p")
					if !assert.NoError(t, err) {
						return
					}
					if turn.id == "" {
						if countQueued(t, s) == 0 {
							return
						}
						continue
					}

					assert.EqualValues(t, 1, turns.Add(1))
					mu.Lock()
					order = append(order, turn.key)
					mu.Unlock()
					record, err := claim(t.Context(), s, turn)
					assert.NoError(t, err)
					record.State = once.Running
					record.Version++
					assert.NoError(t, s.RecordsOfTurn(turn.id).Put(t.Context(), record))
					turns.Add(-1)
					assert.NoError(t, s.endTurn(t.Context(), turn, result{record: record, posted: true}))
				}
			})
		}
		looks.Wait()
		assert.Equal(t, keys, order)
	})
}

func countQueued(t *testing.T, s Queue) int64 {
	n, err := sqldb.Number(t.Context(), s.DB, "SELECT count(*) FROM fleet_prompts WHERE state = 'pending'")
	require.NoError(t, err)
	return n
}

// TestTurnsWithAWrongClock: a machine whose clock is behind by decades gets no turn beside another's, and takes none
// away.
func TestTurnsWithAWrongClock(t *testing.T) {
	url := testPostgres.Database(t)
	right := open(t, url)
	add(t, right, "p", 2)
	held, err := right.admit(t.Context(), "p")
	require.NoError(t, err)
	require.NotEmpty(t, held.id)

	behind := func(check func(t *testing.T, wrong Queue)) {
		synctest.Test(t, func(t *testing.T) { check(t, open(t, url)) })
	}
	behind(func(t *testing.T, wrong Queue) {
		turn, err := wrong.admit(t.Context(), "p")
		require.NoError(t, err)
		assert.Empty(t, turn.id)
	})
	require.NoError(t, right.endTurn(t.Context(), held, result{}))

	behind(func(t *testing.T, wrong Queue) {
		turn, err := wrong.admit(t.Context(), "p")
		require.NoError(t, err)
		assert.NotEmpty(t, turn.id)
	})
	turn, err := right.admit(t.Context(), "p")
	require.NoError(t, err)
	assert.Empty(t, turn.id)
}

// TestEndOfALostTurn changes nothing.
func TestEndOfALostTurn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, a, b Queue) {
		add(t, a, "p", 1)
		lost, err := a.admit(t.Context(), "p")
		require.NoError(t, err)
		_, err = a.ExecContext(t.Context(), "UPDATE fleet_projects SET turn_until = 0")
		require.NoError(t, err)
		current, err := b.admit(t.Context(), "p")
		require.NoError(t, err)
		require.NotEmpty(t, current.id)

		before, err := a.Projects(t.Context())
		require.NoError(t, err)
		_, err = claim(t.Context(), a, lost)
		require.ErrorIs(t, err, database.ErrNoTurn)
		require.NoError(t, a.endTurn(t.Context(), lost, posted(once.Unknown, 503, 0)))
		after, err := a.Projects(t.Context())
		require.NoError(t, err)
		for i := range after {
			after[i].Now = before[i].Now
		}
		assert.Equal(t, before, after)
	})
}

// TestStopBesideLooks: once the command says that it is paused, no prompt is claimed, whatever is stopped.
func TestStopBesideLooks(t *testing.T) {
	all := func(s Queue) error { return s.Stop(context.Background(), "", "jane") }
	project := func(s Queue) error { return s.Stop(context.Background(), "p", "jane") }
	repository := func(s Queue) error { return s.StopRepository(context.Background(), "acme/api", "jane") }

	eachDatabase(t, func(t *testing.T, a, b Queue) {
		add(t, a, "p", 3)
		_, err := a.ExecContext(t.Context(), "UPDATE fleet_prompts SET repository = 'acme/api'")
		require.NoError(t, err)
		var claims, looks atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		for range 4 {
			running.Go(func() {
				for ctx.Err() == nil {
					lookAndClaim(ctx, t, b, &claims)
					looks.Add(1)
					time.Sleep(rand.N(10 * time.Millisecond)) // else the one lock of SQLite is never free
				}
			})
		}

		for i := range 12 {
			before := claims.Load()
			for claims.Load() == before {
				time.Sleep(time.Millisecond)
			}
			require.NoError(t, []func(Queue) error{all, project, repository}[i%3](a))
			_, err := a.VoidTurns(t.Context(), database.Choice{})
			require.NoError(t, err)

			seen := claimed(t, a)
			for until := looks.Load() + 20; looks.Load() < until; {
				time.Sleep(time.Millisecond)
			}
			assert.Equal(t, seen, claimed(t, a))
			for _, name := range []string{"", "p"} {
				_, err = a.Resume(t.Context(), name)
				require.NoError(t, err)
			}
			_, err = a.ResumeRepository(t.Context(), "acme/api")
			require.NoError(t, err)
		}
	})
}

// claimed counts the claims that are stored: who has just made one may not have counted it yet.
func claimed(t *testing.T, s Queue) int64 {
	t.Helper()
	n, err := sqldb.Number(t.Context(), s.DB, "SELECT CAST(sum(sends) AS BIGINT) FROM fleet_prompts")
	require.NoError(t, err)
	return n
}

// lookAndClaim claims a prompt, if there is a turn, has it queued again, and ends the turn.
func lookAndClaim(ctx context.Context, t *testing.T, s Queue, claims *atomic.Int64) {
	turn, err := s.admit(ctx, "p")
	if err != nil || turn.id == "" {
		return
	}

	record, err := claim(context.WithoutCancel(ctx), s, turn)
	if err == nil {
		claims.Add(1)
		assert.NoError(t, unclaim(context.WithoutCancel(ctx), s, record))
	}
	assert.NoError(t, s.endTurn(ctx, turn, result{}))
}

// TestStopsAreNotLost beside ends of turns, which change the same rows, and neither are the ends.
func TestStopsAreNotLost(t *testing.T) {
	eachDatabase(t, func(t *testing.T, a, b Queue) {
		for _, project := range []string{"p", "q"} {
			add(t, a, project, 1)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		var ends atomic.Int64
		for _, project := range []string{"p", "q"} {
			running.Go(func() {
				for ctx.Err() == nil {
					turn, err := b.admit(t.Context(), project)
					if err != nil || turn.id == "" {
						continue
					}
					r := asked(once.Pending, 503, time.Second)
					if !assert.NoError(t, b.endTurn(ctx, turn, r)) {
						return
					}
					ends.Add(1)
				}
			})
		}

		for stops := 0; stops < 50 || ends.Load() < 10; stops++ {
			require.NoError(t, a.Stop(t.Context(), "", "jane"))
			assert.False(t, rowOf(t, a, "").Stopped.IsZero())
			lifted, err := a.Resume(t.Context(), "")
			require.NoError(t, err)
			assert.NotZero(t, lifted)
			assert.True(t, rowOf(t, a, "").Stopped.IsZero())
		}
		stop()
		running.Wait()
		for _, name := range []string{"", "p", "q"} {
			assert.True(t, rowOf(t, a, name).turnUntil.IsZero(), "%q has a turn", name)
		}
	})
}

func rowOf(t *testing.T, s Queue, project string) Project {
	t.Helper()
	rows, err := s.Projects(t.Context())
	require.NoError(t, err)
	i := slices.IndexFunc(rows, func(p Project) bool { return p.Name == project })
	return rows[i]
}

// TestPollEndsThePauseOfAQuestion of its project, and of all, once it has lasted for 10 s, and no other.
func TestPollEndsThePauseOfAQuestion(t *testing.T) {
	eachDatabase(t, func(t *testing.T, a, _ Queue) {
		isPausedAfter := func(age time.Duration, asked int, name string) bool {
			for _, name := range []string{"p", "q"} {
				_, err := a.ExecContext(t.Context(), "INSERT INTO fleet_projects (project) VALUES ($1) ON CONFLICT DO NOTHING", name)
				require.NoError(t, err)
			}
			now := rowOf(t, a, "").Now
			_, err := a.ExecContext(t.Context(), "UPDATE fleet_projects SET asked = $1, paused_since = $2, paused_until = $3",
				asked, now.Add(-age).UnixMilli(), now.Add(time.Hour).UnixMilli())
			require.NoError(t, err)
			require.NoError(t, a.endAsked(t.Context(), "p"))
			return rowOf(t, a, name).IsPaused()
		}
		for _, name := range []string{"", "p"} {
			assert.True(t, isPausedAfter(9*time.Second, 1, name))
			assert.True(t, isPausedAfter(time.Minute, 0, name))
			assert.False(t, isPausedAfter(11*time.Second, 1, name))
		}
		assert.True(t, isPausedAfter(11*time.Second, 1, "q"))
	})
}

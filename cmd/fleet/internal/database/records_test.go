//go:build unix

package database

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

func open(t *testing.T, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, quietly())
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

func TestRecordsAreAStore(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		oncetest.TestStore(t, func(t *testing.T) once.Store { return open(t, testPostgres.Database(t)).Records() })
	})
	t.Run("sqlite", func(t *testing.T) {
		oncetest.TestStore(t, func(t *testing.T) once.Store {
			return open(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db")).Records()
		})
	})
}

// TestWhatRecordsRefuse: a claim that could be rolled back, and any write once a newer fleet has changed the tables,
// but for what came of a send.
func TestWhatRecordsRefuse(t *testing.T) {
	for name, url := range map[string]string{
		"postgres": testPostgres.Database(t),
		"sqlite":   "sqlite:" + filepath.Join(t.TempDir(), "fleet.db"),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			db := open(t, url)
			record := once.Record{Task: once.Task{Key: "k", Prompt: "a\x00b\xff"}, Version: 1, State: once.Pending}
			records := db.Records()
			require.NoError(t, records.Put(ctx, record))
			got, err := records.Get(ctx, "k")
			require.NoError(t, err)
			assert.Equal(t, "a\uFFFDb\uFFFD", got.Prompt)

			claim := record
			claim.Version = 2
			claim.State = once.Sending
			tx, err := db.BeginTx(ctx, nil)
			require.NoError(t, err)
			require.ErrorContains(t, db.RecordsIn(tx).Put(ctx, claim), "rolled back")
			require.NoError(t, tx.Rollback())
			require.NoError(t, records.Put(ctx, claim))

			require.NoError(t, sqldb.Exec(ctx, db, []string{"UPDATE fleet_schema SET version = version + 1"}))
			sender := db.RecordsOfTurn("t")
			outcome := claim
			outcome.Version = 3
			outcome.State = once.Running
			again := claim
			again.Version = 3
			another := record
			another.Key = "l"
			require.ErrorIs(t, records.Put(ctx, outcome), ErrNewer)
			require.ErrorIs(t, sender.Put(ctx, again), ErrNewer)
			require.ErrorIs(t, records.Put(ctx, another), ErrNewer)
			require.NoError(t, sender.Put(ctx, outcome))
			require.ErrorIs(t, sender.Put(ctx, outcome), once.ErrConflict)
		})
	}
}

func TestThreadsAndWhatIsUnreported(t *testing.T) {
	ctx := t.Context()
	records := open(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db")).Records()
	keys := func(all []once.Record, err error) []string {
		require.NoError(t, err)
		found := []string{}
		for _, r := range all {
			found = append(found, r.Key)
		}
		return found
	}

	for _, r := range []once.Record{
		{Task: once.Task{Key: "first"}, State: once.Done},
		{Task: once.Task{Key: "m", After: "first"}, Thread: "first", State: once.Running},
		{Task: once.Task{Key: "told"}, State: once.Failed, Reported: once.Failed},
		{Task: once.Task{Key: "problem"}, State: once.Running, Problem: "404"},
		{Task: once.Task{Key: "canceled"}, State: once.Canceled},
	} {
		r.Version = 1
		require.NoError(t, records.Put(ctx, r))
	}
	assert.ElementsMatch(t, []string{"first", "m"}, keys(records.ListThread(ctx, "first")))
	assert.Equal(t, []string{"told"}, keys(records.ListThread(ctx, "told")))
	assert.ElementsMatch(t, []string{"first", "problem"}, keys(records.ListUnreported(ctx)))
}

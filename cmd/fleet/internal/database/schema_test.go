//go:build unix

package database

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
	"github.com/mintlify-community/mintlify-go/once"
)

var testPostgres processtest.Postgres

func TestMain(m *testing.M) {
	code := m.Run()
	testPostgres.Close()
	os.Exit(code)
}

// TestMakeTables has several programs start at once on an empty database.
func TestMakeTables(t *testing.T) {
	for name, url := range map[string]string{
		"postgres": testPostgres.Database(t),
		"sqlite":   "sqlite:" + filepath.Join(t.TempDir(), "fleet.db"),
	} {
		t.Run(name, func(t *testing.T) { openAtOnce(t, url) })
	}
}

func quietly() Options {
	return Options{Create: true, Busy: 30 * time.Second, Logger: slog.New(slog.DiscardHandler)}
}

func openAtOnce(t *testing.T, url string) {
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			db, err := Open(t.Context(), url, quietly())
			if assert.NoError(t, err) {
				db.Close()
			}
		})
	}
	all.Wait()
}

// TestUpgradeFromVersion3 has several programs upgrade at once. Pull requests become rows, what was told stays so,
// and the history keeps its lines.
func TestUpgradeFromVersion3(t *testing.T) {
	for name, url := range map[string]string{
		"postgres": testPostgres.Database(t),
		"sqlite":   "sqlite:" + filepath.Join(t.TempDir(), "fleet.db"),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			quiet := slog.New(slog.DiscardHandler)
			address, err := sqldb.ParseAddress(url)
			require.NoError(t, err)
			db, err := connect(ctx, address, quietly())
			require.NoError(t, err)
			defer db.Close()
			require.NoError(t, db.migrateRiver(ctx))
			require.NoError(t, once.NewSQL(db).CreateTable(ctx))
			for version := int64(1); version <= 3; version++ {
				require.NoError(t, db.makeVersion(ctx, version))
			}

			runner, err := once.New(nil, once.NewSQL(db))
			require.NoError(t, err)
			for i, pulls := range []string{"acme/api#7 acme/api#8", ""} {
				key := fmt.Sprintf("acme/api@%d", i)
				_, _, err := runner.Add(ctx, once.Task{Key: key, Prompt: "x", ProjectID: "p"})
				require.NoError(t, err)
				_, err = db.ExecContext(ctx, `INSERT INTO fleet_prompts (key, project, pulls, priority, added, told)
VALUES ($1, 'p', $2, 2, 1, $3)`, key, pulls, 1-i)
				require.NoError(t, err)
				_, err = db.ExecContext(ctx, `INSERT INTO fleet_history (key, version, at, state, job, problem, who)
VALUES ($1, 1, 1, 'pending', '', '', 'jane')`, key)
				require.NoError(t, err)
			}

			for _, message := range [][2]string{{"m1", "acme/api@0"}, {"m2", "m1"}} {
				key, follows := message[0], message[1]
				_, _, err := runner.Add(ctx, once.Task{Key: key, Prompt: "x", After: follows})
				require.NoError(t, err)
				_, err = db.ExecContext(ctx, `INSERT INTO fleet_prompts (key, project, pulls, priority, added, follows)
VALUES ($1, 'p', '', 2, 2, $2)`, key, follows)
				require.NoError(t, err)
			}

			openAtOnce(t, url)
			require.NoError(t, db.CheckVersion(ctx))
			s := Store{DB: db, Logger: quiet, Calm: quiet}
			first, err := s.Row(ctx, "acme/api@0")
			require.NoError(t, err)
			assert.Equal(t, "acme/api#7 acme/api#8", first.Pulls)
			assert.Equal(t, "acme/api", first.Repository)

			told, err := sqldb.Strings(ctx, db, "SELECT told FROM fleet_prompts ORDER BY key")
			require.NoError(t, err)
			assert.Equal(t, []string{"pending", "", "", ""}, told)

			thread, err := s.ThreadOf(ctx, "m2")
			require.NoError(t, err)
			require.Len(t, thread, 3)
			assert.Equal(t, "acme/api@0", thread[0].Key)

			lines, err := sqldb.Number(ctx, db, "SELECT count(*) FROM fleet_history WHERE who = 'jane'")
			require.NoError(t, err)
			assert.EqualValues(t, 2, lines)
		})
	}
}

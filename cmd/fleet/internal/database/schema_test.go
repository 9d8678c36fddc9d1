//go:build unix

package database

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/test/processes"
)

var testPostgres processes.Postgres

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

// TestSilence: a statement ends although another process locks what it needs, and the error says so.
func TestSilence(t *testing.T) {
	for name, url := range map[string]string{
		"postgres": testPostgres.Database(t),
		"sqlite":   "sqlite:" + filepath.Join(t.TempDir(), "fleet.db"),
	} {
		t.Run(name, func(t *testing.T) {
			maker := open(t, url)
			options := quietly()
			options.Create = false
			options.Busy = time.Millisecond
			options.Statement = 500 * time.Millisecond
			db, err := Open(t.Context(), url, options)
			require.NoError(t, err)
			defer db.Close()

			lock, err := maker.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			if name == "postgres" {
				_, err = lock.ExecContext(t.Context(), "LOCK TABLE fleet_prompts IN ACCESS EXCLUSIVE MODE")
				require.NoError(t, err)
			}

			const statement = "UPDATE fleet_prompts SET looked = 1"
			_, err = db.ExecContext(t.Context(), statement)
			require.ErrorContains(t, ExplainSilence(err, time.Second), "the database does not answer within 1s: a table")
			require.NoError(t, lock.Rollback())
			_, err = db.ExecContext(t.Context(), statement)
			require.NoError(t, ExplainSilence(err, time.Second))
		})
	}
}

//go:build unix

package database

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
)

var testPostgres processtest.Postgres

func TestMain(m *testing.M) {
	code := m.Run()
	testPostgres.Close()
	os.Exit(code)
}

// TestUpgrade has several programs start at once on an empty database, and on the tables of the version before. Each
// change is made once.
func TestUpgrade(t *testing.T) {
	first := schema
	later := sqldb.Schema{FS: fstest.MapFS{
		"schema/1.sql": {Data: []byte(schema.Statements(1))},
		"schema/2.sql": {Data: []byte("INSERT INTO fleet_commits (commit_key, key) VALUES ('x', 'y')")},
	}}

	for name, url := range map[string]string{
		"postgres": testPostgres.Database(t),
		"sqlite":   "sqlite:" + filepath.Join(t.TempDir(), "fleet.db"),
	} {
		t.Run(name, func(t *testing.T) {
			openAtOnce(t, url)
			db, err := Open(t.Context(), url, false, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			defer db.Close()

			schema = later
			schemaVersion = later.Version()
			defer func() {
				schema = first
				schemaVersion = first.Version()
			}()
			require.ErrorContains(t, db.CheckVersion(t.Context()), "run fleet init")

			openAtOnce(t, url)
			require.NoError(t, db.CheckVersion(t.Context()))

			made, err := sqldb.Number(t.Context(), db, "SELECT count(*) FROM fleet_commits")
			require.NoError(t, err)
			assert.EqualValues(t, 1, made)
		})
	}
}

// openAtOnce opens a database six times, and makes the tables that are missing.
func openAtOnce(t *testing.T, url string) {
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			db, err := Open(t.Context(), url, true, slog.New(slog.DiscardHandler))
			if assert.NoError(t, err) {
				db.Close()
			}
		})
	}
	all.Wait()
}

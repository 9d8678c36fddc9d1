//go:build unix

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
)

// testPostgres is the Postgres that the tests share, started by the first that needs it.
var testPostgres processtest.Postgres

// eachDatabase runs f on a Postgres database and on an SQLite file, both empty, beside other tests.
func eachDatabase(t *testing.T, f func(t *testing.T, url string)) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, testPostgres.Database(t))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, "sqlite:"+sqliteFile(t))
	})
}

// sqliteFile is the name of a file that is not there yet: in memory where Linux has it,
// so that tests at the same time do not wait for one disk.
func sqliteFile(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "fleet-")
	if err != nil {
		return filepath.Join(t.TempDir(), "fleet.db")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "fleet.db")
}

func openStore(t *testing.T, url string) queue.Queue {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	db, err := database.Open(context.Background(), url, true, quiet)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return queue.Queue{Store: database.Store{DB: db, SendTime: queue.Production.SendTime, Logger: quiet, Calm: quiet}, Settings: queue.Production}
}

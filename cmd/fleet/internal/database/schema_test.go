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

	"github.com/mintlify-community/mintlify-go/internal/processtest"
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

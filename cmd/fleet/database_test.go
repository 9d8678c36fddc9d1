//go:build unix

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// testPostgres is the Postgres that the tests share, started by the first that needs it.
var testPostgres postgresServer

type postgresServer struct {
	once      sync.Once
	dir       string
	cmd       *exec.Cmd
	err       error
	databases atomic.Int32
}

// url returns the URL of a database of its own for a test.
func (s *postgresServer) url(t *testing.T) string {
	s.once.Do(func() { s.err = s.start() })
	if s.err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no Postgres in CI: %v", s.err)
		}
		t.Skipf("no Postgres: %v", s.err)
	}
	name := fmt.Sprint("test", s.databases.Add(1))
	admin, err := openPool(t.Context(), s.urlOf("postgres"))
	require.NoError(t, err)
	defer admin.Close()
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	return s.urlOf(name)
}

func (s *postgresServer) urlOf(name string) string {
	return "postgres:///" + name + "?user=postgres&host=" + s.dir
}

// start makes a cluster in a folder of its own and serves it on a Unix socket there.
func (s *postgresServer) start() error {
	initdb, err := findPostgres("initdb")
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "fleet-pg-"); err != nil { // a short path: a socket's has 107 bytes at most
		return err
	}
	attributes, err := s.unprivileged()
	if err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	cmd := exec.Command(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
	cmd.SysProcAttr, cmd.Dir = attributes, s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return s.run(filepath.Join(filepath.Dir(initdb), "postgres"), attributes)
}

// run serves the cluster, again if it was stopped.
func (s *postgresServer) run(postgres string, attributes *syscall.SysProcAttr) error {
	s.cmd = exec.Command(postgres, "-D", filepath.Join(s.dir, "data"), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=300")
	s.cmd.SysProcAttr, s.cmd.Dir = attributes, s.dir
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for range 300 {
		pool, err := openPool(context.Background(), s.urlOf("postgres"))
		if err == nil {
			pool.Close()
			return nil
		}
		_ = exec.Command("sleep", "0.1").Run()
	}
	return fmt.Errorf("postgres does not come up in %s", s.dir)
}

// unprivileged makes root somebody else, and the folder theirs: Postgres refuses root.
func (s *postgresServer) unprivileged() (*syscall.SysProcAttr, error) {
	attributes := dyingWithParent()
	if os.Getuid() != 0 {
		return attributes, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attributes, os.Chown(s.dir, uid, gid)
}

func (s *postgresServer) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		_ = s.cmd.Wait()
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// findPostgres looks where distributions put what is not in PATH.
func findPostgres(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.EvalSymlinks(path)
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/", "/usr/pgsql-*/bin/", "/opt/homebrew/opt/postgresql*/bin/"} {
		if found, _ := filepath.Glob(pattern + name); len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", fmt.Errorf("%s is neither in PATH nor where distributions put it", name)
}

// eachDatabase runs f on a Postgres database and on an SQLite file, both empty.
func eachDatabase(t *testing.T, f func(t *testing.T, url string)) {
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, testPostgres.url(t))
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

func openStore(t *testing.T, url string) store {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	db, err := openDatabase(context.Background(), url, true, quiet)
	require.NoError(t, err)
	t.Cleanup(db.close)
	return store{db, production, quiet, quiet}
}

//go:build unix

package oncetest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
	"github.com/stretchr/testify/require"
)

// server is the Postgres that the tests share, started by the first that needs it.
var server postgresServer

type postgresServer struct {
	once      sync.Once
	dir       string
	cmd       *exec.Cmd
	err       error
	databases atomic.Int32
}

// url returns the URL of an empty database.
func (s *postgresServer) url(t *testing.T) string {
	s.once.Do(func() { s.err = s.start() })
	if s.err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no Postgres in CI: %v", s.err)
		}
		t.Skipf("no Postgres: %v", s.err)
	}
	name := fmt.Sprint("test", s.databases.Add(1))
	admin, err := sql.Open("pgx", s.urlOf("postgres"))
	require.NoError(t, err)
	defer admin.Close()
	_, err = admin.ExecContext(t.Context(), "CREATE DATABASE "+name)
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
	if s.dir, err = os.MkdirTemp("", "once-pg-"); err != nil { // a socket's path has at most 107 bytes
		return err
	}
	attributes, err := unprivileged(s.dir)
	if err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	cmd := exec.Command(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
	cmd.SysProcAttr, cmd.Dir = attributes, s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	s.cmd = exec.Command(filepath.Join(filepath.Dir(initdb), "postgres"), "-D", data, "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=300")
	s.cmd.SysProcAttr, s.cmd.Dir = attributes, s.dir
	if err := s.cmd.Start(); err != nil {
		return err
	}
	db, err := sql.Open("pgx", s.urlOf("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	for range 300 {
		if err = db.PingContext(context.Background()); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("postgres does not come up in %s: %w", s.dir, err)
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

// unprivileged has a process that root starts run as nobody, whose dir then is: Postgres
// refuses root.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
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
	return attributes, os.Chown(dir, uid, gid)
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

//go:build unix

// Package processes starts processes for tests: a Postgres server, and others that end with
// the test.
package processes

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Postgres is a server on a Unix socket in a folder of its own. The zero value works: the
// first Database starts it.
type Postgres struct {
	once       sync.Once
	err        error // of the first start
	program    string
	folder     string
	attributes *syscall.SysProcAttr
	process    *exec.Cmd
	databases  atomic.Int32
}

// Database returns the URL of a new database for the driver "pgx", which the caller imports.
// If Postgres is not installed, the test is skipped, or fails in CI.
func (p *Postgres) Database(t *testing.T) string {
	t.Helper()
	p.once.Do(func() { p.err = p.create() })
	if errors.Is(p.err, exec.ErrNotFound) && os.Getenv("CI") == "" {
		t.Skip(p.err)
	}
	require.NoError(t, p.err)

	db, err := sql.Open("pgx", p.url("postgres"))
	require.NoError(t, err)
	defer func() { _ = db.Close() }()

	name := fmt.Sprint("test", p.databases.Add(1))
	_, err = db.ExecContext(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	return p.url(name)
}

func (p *Postgres) url(database string) string {
	return "postgres:///" + database + "?user=postgres&host=" + p.folder
}

// create makes a cluster and starts its server.
func (p *Postgres) create() error {
	initdb, err := findProgram("initdb")
	if err != nil {
		return err
	}
	p.program = filepath.Join(filepath.Dir(initdb), "postgres")
	p.attributes = DyingWithParent()

	p.folder, err = os.MkdirTemp("", "pg-") // short: a socket's path has at most 107 bytes
	if err != nil {
		return err
	}
	if err := p.leaveRoot(); err != nil {
		return err
	}

	cmd := p.command(initdb, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return p.Start()
}

// leaveRoot runs the server as nobody if root runs the tests: Postgres refuses root.
func (p *Postgres) leaveRoot() error {
	if os.Getuid() != 0 {
		return nil
	}

	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	p.attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(p.folder, uid, gid)
}

func (p *Postgres) command(program string, args ...string) *exec.Cmd {
	args = append([]string{"-D", filepath.Join(p.folder, "data")}, args...)
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.SysProcAttr = p.attributes
	cmd.Dir = p.folder
	cmd.Env = append(os.Environ(), "LC_ALL=C") // the environment's locale may not be installed
	return cmd
}

// Start starts the server again after Stop.
func (p *Postgres) Start() error {
	p.process = p.command(p.program,
		"-k", p.folder,
		"-c", "listen_addresses=",
		"-c", "fsync=off",
		"-c", "max_connections=300")
	log, err := p.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.process.Start(); err != nil {
		return err
	}

	var lines []string
	scanner := bufio.NewScanner(log)
	for scanner.Scan() {
		line := scanner.Text()
		if strings.Contains(line, "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return nil
		}
		lines = append(lines, line)
	}
	return fmt.Errorf("Postgres did not start:\n%s", strings.Join(lines, "\n"))
}

// Stop ends the server and its connections. The databases stay.
func (p *Postgres) Stop() {
	if p.process != nil && p.process.Process != nil {
		_ = p.process.Process.Signal(syscall.SIGINT)
		_ = p.process.Wait()
	}
}

// Close stops the server and removes its folder.
func (p *Postgres) Close() {
	p.Stop()
	if p.folder != "" {
		_ = os.RemoveAll(p.folder)
	}
}

// findProgram looks in PATH and where distributions put the programs of the server.
func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.EvalSymlinks(path)
	}

	folders := []string{
		"/usr/lib/postgresql/*/bin/",
		"/usr/pgsql-*/bin/",
		"/opt/homebrew/opt/postgresql*/bin/",
	}
	for _, pattern := range folders {
		if found, _ := filepath.Glob(pattern + name); len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", fmt.Errorf("%s is missing, on Debian apt-get install postgresql: %w", name, exec.ErrNotFound)
}

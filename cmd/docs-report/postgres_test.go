//go:build unix

package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"
)

// postgres is a server on a Unix socket in a folder of its own.
type postgres struct {
	folder      string
	databases   int
	stop, start func()
}

// startPostgres starts a server that ends with the test. If Postgres is not installed, the
// test is skipped, or fails in CI.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	bin := binaries()
	if bin == "" && os.Getenv("CI") != "" {
		t.Fatal("there is no Postgres: apt-get install postgresql")
	}
	if bin == "" {
		t.Skip("there is no Postgres")
	}
	folder, err := os.MkdirTemp("", "pg") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	as := unprivileged(t, folder)

	data := filepath.Join(folder, "data")
	initdb := exec.CommandContext(t.Context(), filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = as, folder
	output, err := initdb.CombinedOutput()
	require.NoError(t, err, "%s", output)

	var server *exec.Cmd
	start := func() {
		server = exec.CommandContext(context.Background(), filepath.Join(bin, "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off")
		server.SysProcAttr, server.Dir = as, folder
		log, err := server.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, server.Start())
		awaitReady(t, log)
	}
	stop := func() {
		_ = server.Process.Signal(syscall.SIGINT) // connections end at once
		_ = server.Wait()
	}
	start()
	t.Cleanup(func() { stop() })
	return &postgres{folder: folder, stop: stop, start: start}
}

// awaitReady reads the log until the server takes connections, and drains the rest.
func awaitReady(t *testing.T, log io.Reader) {
	t.Helper()
	var lines []string
	for scanner := bufio.NewScanner(log); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if strings.Contains(scanner.Text(), "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return
		}
	}
	t.Fatalf("Postgres did not start:\n%s", strings.Join(lines, "\n"))
}

// database returns the URL of a new database.
func (s *postgres) database(t *testing.T) string {
	t.Helper()
	db, err := sql.Open("pgx", s.url("postgres"))
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	s.databases++
	name := fmt.Sprintf("docs%d", s.databases)
	_, err = db.ExecContext(context.Background(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	return s.url(name)
}

func (s *postgres) url(database string) string {
	return "postgres:///" + database + "?user=postgres&host=" + url.QueryEscape(s.folder)
}

// binaries returns the folder of the server's programs; "" if there is none.
func binaries() string {
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && isProgram(filepath.Join(filepath.Dir(path), "postgres")) {
			return filepath.Dir(path)
		}
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/postgres", "/usr/pgsql-*/bin/postgres", "/opt/homebrew/opt/postgresql*/bin/postgres"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return filepath.Dir(found[len(found)-1])
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

// unprivileged returns how to run the server, which refuses to run as root, and gives
// it the folder.
func unprivileged(t *testing.T, folder string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(account.Uid)
		require.NoError(t, err)
		gid, err := strconv.Atoi(account.Gid)
		require.NoError(t, err)
		require.NoError(t, os.Chown(folder, uid, gid))
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	t.Fatal("there is no unprivileged user to run Postgres as")
	return nil
}

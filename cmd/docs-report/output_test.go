//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/test/processes"
)

func writeText(path, text string) error { return writeFile(path, nil, []byte(text)) }

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Mode()
}

func TestAFileKeepsItsModeAndUmaskIsHonoured(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)

	folder := t.TempDir()
	path := filepath.Join(folder, "page.html")

	require.NoError(t, writeText(path, "one"))
	assert.Equal(t, os.FileMode(0o640), mode(t, path))

	require.NoError(t, os.Chmod(path, 0o604))
	reader, err := os.Open(path)
	require.NoError(t, err)
	defer reader.Close()
	require.NoError(t, writeText(path, "two"))
	assert.Equal(t, os.FileMode(0o604), mode(t, path))
	whole, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Equal(t, "one", string(whole), "nobody sees half a page, also if the disk is full")

	hard := filepath.Join(t.TempDir(), "hard.html")
	require.NoError(t, os.Link(path, hard))
	require.NoError(t, writeText(hard, "both"))
	assert.Equal(t, "both", read(t, path), "a file of two names stays one")
	require.NoError(t, os.Remove(hard))

	link := filepath.Join(t.TempDir(), "link.html")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, writeText(link, "three"))
	assert.NotZero(t, mode(t, link)&os.ModeSymlink, "a link stays one")
	assert.Equal(t, "three", read(t, path))

	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, files, 1, "nothing is left behind")

	require.Error(t, writeText(folder, "x"))
	require.Error(t, writeText(filepath.Join(folder, "no", "such.html"), "x"))
}

func TestADeviceAndAFIFOAreWrittenInto(t *testing.T) {
	require.NoError(t, writeText(os.DevNull, "x"))
	assert.NotZero(t, mode(t, os.DevNull)&os.ModeCharDevice)

	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))

	got := make(chan string)
	go func() {
		file, err := os.Open(fifo)
		if err != nil {
			got <- err.Error()
			return
		}
		defer file.Close()
		text, _ := io.ReadAll(file)
		got <- string(text)
	}()

	require.NoError(t, writeText(fifo, "through"))
	assert.Equal(t, "through", <-got)
	assert.NotZero(t, mode(t, fifo)&os.ModeNamedPipe)
}

func TestTheDatabaseIsNotOverwritten(t *testing.T) {
	r := newRig(t, site(3))
	folder := t.TempDir()
	path := filepath.Join(folder, "docs.db")
	r.db = "sqlite:" + path

	r.synced("-demo", "-db", r.db)
	database := read(t, path)

	link := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.Symlink(path, link))
	hard := filepath.Join(folder, "hard.html")
	require.NoError(t, os.Link(path, hard))

	t.Chdir(folder)

	for _, args := range [][]string{
		{"-o", path},
		{"-o", "docs.db"},
		{"-csv", "./docs.db"},
		{"-o", link},
		{"-csv", hard},
		{"-o", "docs.db", "-demo"},
	} {
		assert.Equal(t, exitUsage, r.run(t.Context(), append([]string{"report"}, args...)...), args)
		assert.Contains(t, r.messages, "names the database's file")
	}
	assert.Equal(t, database, read(t, path))

	for _, args := range [][]string{
		{"-o", "x.html", "-csv", "./x.html"},
		{"-o", "-", "-csv", "-"},
		{"-o", ".", "-csv", "demo.html"},
	} {
		assert.Equal(t, exitUsage, r.run(t.Context(), append([]string{"report"}, args...)...), args)
		assert.Contains(t, r.messages, "name the same file")
		assert.Empty(t, r.stdout)
		assert.NoFileExists(t, "x.html")
	}
}

// A result that stdout does not take is a failure, and said.
func TestAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full")
	}
	defer full.Close()

	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer stderr.Close()

	p := program{
		getenv:    func(string) string { return "" },
		demoPages: 20,
		stdout:    full,
		stderr:    stderr,
	}

	for _, args := range [][]string{
		{"digest", "-demo"},
		{"report", "-demo", "-o", "-"},
		{"--version"},
		{"-h"},
		{"sync", "-h"},
	} {
		assert.Equal(t, exitFailed, p.run(context.Background(), args), args)
	}
	assert.Equal(t, 5, strings.Count(read(t, stderr.Name()), "no space left on device"))
}

// A page that does not fit on the disk leaves the one of last week, and nothing beside it.
func TestAPageThatDoesNotFit(t *testing.T) {
	r := newRig(t, site(3))
	r.synced("-demo", "-db", r.db)
	folder := t.TempDir()
	path := filepath.Join(folder, "page.html")
	require.NoError(t, writeText(path, "last week"))

	command := processes.Self(t)
	command.Args = []string{"sh", "-c", `ulimit -f 40 && exec "$0"`, command.Path} // 20 kB a file
	command.Path = "/bin/sh"
	command.Env = append(os.Environ(), asProcess+"="+strings.Join([]string{"report", "-db", r.db, "-o", path}, "\n"))
	output, err := command.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, exitFailed, command.ProcessState.ExitCode())
	assert.Contains(t, string(output), "page.html is as it was: ")
	assert.Equal(t, "last week", read(t, path))
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, files, 1)
}

// A report reads a database in a folder that its user may not write.
func TestAFolderThatMayNotBeWritten(t *testing.T) {
	r := newRig(t, site(3))
	folder, err := os.MkdirTemp("", "docs-report-test")
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = os.Chmod(folder, 0o755)
		_ = os.RemoveAll(folder)
	})

	path := filepath.Join(folder, "docs.db")
	db := "sqlite:" + path
	r.synced("-demo", "-db", db)
	require.NoError(t, os.Chmod(path, 0o644)) // sync lets only its own user read it

	executable, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(folder, "docs-report")
	binary, err := os.ReadFile(executable)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, binary, 0o755))

	require.NoError(t, os.Chmod(folder, 0o555))

	command := exec.Command(program)
	command.Dir = "/"
	command.Env = append(os.Environ(), asProcess+"=digest\n-db\n"+db)
	if os.Getuid() == 0 { // who may write everywhere
		const nobody = 65534
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), "made-up numbers")
}

func TestJunkIsNotADatabase(t *testing.T) {
	r := newRig(t, site(3))
	path := filepath.Join(t.TempDir(), "junk.db")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("This is a letter, and no database. ", 100)), 0o600))

	for _, args := range [][]string{{"digest"}, {"report", "-o", "-"}, {"sync"}} {
		assert.Equal(t, exitUsage, r.run(t.Context(), append(args, "-db", "sqlite:"+path)...), args)
		assert.Contains(t, r.messages, "not a database")
	}
}

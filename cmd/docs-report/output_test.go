//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	require.NoError(t, writeText(path, "two"))
	assert.Equal(t, os.FileMode(0o604), mode(t, path))

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

package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// zipModule writes what of a working tree belongs to its root module as a module's zip.
func zipModule(t *testing.T, root, prefix, path string) {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var nested []string
	for _, name := range names {
		if dir, base := filepath.Split(name); base == "go.mod" && dir != "" {
			nested = append(nested, dir)
		}
	}
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	archive := zip.NewWriter(file)
next:
	for _, name := range names {
		for _, dir := range nested {
			if strings.HasPrefix(name, dir) {
				continue next
			}
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted in the working tree
		}
		require.NoError(t, err)
		entry, err := archive.Create(prefix + "/" + name)
		require.NoError(t, err)
		_, err = entry.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
}

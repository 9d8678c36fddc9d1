package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
)

// TestTheActionRunsTheSnapshot has the action download what goreleaser built into the
// folder MINTLIFY_SNAPSHOT, as it downloads a release.
func TestTheActionRunsTheSnapshot(t *testing.T) {
	snapshot := os.Getenv("MINTLIFY_SNAPSHOT")
	if snapshot == "" {
		t.Skip("MINTLIFY_SNAPSHOT has no folder: .ci/check-snapshot makes one")
	}
	w := merged(t)
	a := w.action()
	a.Env = append(a.Env, "RUNNER_OS="+map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS],
		"RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH])
	clear(a.Files)
	archives, err := fs.Glob(os.DirFS(snapshot), "docs-on-merge_*.tar.gz")
	require.NoError(t, err)
	require.Len(t, archives, 1)
	archive := archives[0]
	for _, file := range []string{archive, "checksums.txt"} {
		a.Files[file] = []byte(citest.Read(t, filepath.Join(snapshot, file)))
	}
	cmd, log := a.Command(t, w.dir, "INPUT_DRY_RUN=true")
	require.Zero(t, exitCode(t, cmd.Run()), log)
	assert.Contains(t, log.String(), "Add the flag --json", "the prompt")

	a.Files[archive] = append(a.Files[archive], 0)
	cmd, log = a.Command(t, w.dir, "INPUT_DRY_RUN=true")
	assert.Equal(t, 2, exitCode(t, cmd.Run()), log)
	assert.Contains(t, log.String(), "the sha256 of "+archive+" is ")
}

package citest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// Action is an action on a runner: bash with the action's script, and a server with a
// release of the program.
type Action struct {
	// Env is the environment of the step.
	Env []string
	// Files are the files of the release, by name.
	Files map[string][]byte

	prefix string // of a file's path on the server
	script string // the path of the action's script
}

// NewAction returns the action of an action.yml. The program of its release is a script
// of sh.
func NewAction(t *testing.T, action, name, program string) *Action {
	t.Helper()
	path, err := filepath.Abs(filepath.Dir(action))
	require.NoError(t, err)
	shared := Read(t, filepath.Join(path, "../internal/ci/action.sh"))
	version := regexp.MustCompile(`(?m)^version=(\S+)`).FindStringSubmatch(shared)
	require.NotNil(t, version, "the version stands in the script")
	a := &Action{Files: map[string][]byte{}, prefix: "/v" + version[1] + "/", script: Script(t, action)}

	stem := name + "_" + version[1] + "_"
	files := fstest.MapFS{name: {Data: []byte(program), Mode: 0o755}}
	tarred := tarOf(t, files)
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_arm64"} {
		a.Files[stem+platform+".tar.gz"] = tarred
	}
	a.Files[stem+"windows_amd64.zip"] = zipOf(t, files)

	var sums strings.Builder
	for file, content := range a.Files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), file)
	}
	a.Files["checksums.txt"] = []byte(sums.String())

	a.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"RUNNER_TEMP=" + t.TempDir(),
		"RUNNER_OS=Linux",
		"RUNNER_ARCH=X64",
		"GITHUB_ACTIONS=true",
		"GITHUB_ACTION_PATH=" + path,
	}
	return a
}

// zipOf returns a zip archive of files.
func zipOf(t *testing.T, files fs.FS) []byte {
	t.Helper()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	require.NoError(t, z.AddFS(files))
	require.NoError(t, z.Close())
	return archive.Bytes()
}

// tarOf returns a compressed tar archive of files.
func tarOf(t *testing.T, files fs.FS) []byte {
	t.Helper()
	var archive bytes.Buffer
	g := gzip.NewWriter(&archive)
	w := tar.NewWriter(g)
	require.NoError(t, w.AddFS(files))
	require.NoError(t, w.Close())
	require.NoError(t, g.Close())
	return archive.Bytes()
}

// Command returns the step with inputs, as a runner starts it, and its log.
func (a *Action) Command(t *testing.T, dir string, env ...string) (*exec.Cmd, *Buffer) {
	t.Helper()
	files := fstest.MapFS{}
	for file, content := range a.Files {
		files[file] = &fstest.MapFile{Data: content}
	}
	server := httptest.NewServer(http.StripPrefix(a.prefix, http.FileServerFS(files)))
	t.Cleanup(server.Close)

	log := new(Buffer)
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", a.script)
	cmd.Dir = dir
	cmd.Env = slices.Concat(a.Env, []string{"MINTLIFY_GO_RELEASES=" + server.URL}, env)
	cmd.Stdout = log
	cmd.Stderr = log
	return cmd, log
}

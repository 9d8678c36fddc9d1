package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
)

// repo is a world's repository. Most of what git says of it is asked again and again: it
// is remembered until the repository changes, since starting git is what takes the time.
type repo struct {
	dir   string
	mu    sync.Mutex
	known *sync.Map // what git has said, by its arguments; shared by copies of an original
}

// changed forgets what git has said.
func (r *repo) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = new(sync.Map)
}

// exec runs git, unless it is known what it would say.
func (r *repo) exec(cmd *exec.Cmd) error {
	args := cmd.Args[1:]
	for args[0] == "-c" { // a setting of the program's
		args = args[2:]
	}
	memorable := []string{"rev-parse", "rev-list", "log", "diff", "cat-file", "describe", "merge-base", "hash-object"}
	harmless := []string{"ls-remote", "remote", "fetch", "push", "commit-tree"}
	isMemorable := slices.Contains(memorable, args[0])
	isOfARead := strings.HasPrefix(args[len(args)-1], "refs/docs-on-merge-read/")
	switch {
	case cmd.Dir != r.dir, slices.Contains(args, "--show-toplevel"): // of another repository, or of this copy
		return cmd.Run()
	case !isMemorable && !isOfARead && !slices.Contains(harmless, args[0]):
		defer r.changed()
	}

	r.mu.Lock()
	known := r.known
	r.mu.Unlock()
	key := strings.Join(args, "\x00")
	if out, ok := known.Load(key); ok && isMemorable {
		_, err := cmd.Stdout.Write(out.([]byte))
		return err
	}

	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(cmd.Stdout, &out)
	err := cmd.Run()
	if err == nil && isMemorable {
		known.Store(key, out.Bytes())
	}
	return err
}

// original is a repository that is made once, and copied for each test.
type original struct {
	once  sync.Once
	dir   string
	known sync.Map
}

var (
	originals    sync.Map // by name
	originalsDir string
)

// copied gives the world a copy of the repository that build makes, once for each name.
func (w *world) copied(name string, build func()) {
	w.t.Helper()
	w.repo = &repo{dir: w.dir, known: new(sync.Map)}
	found, _ := originals.LoadOrStore(name, new(original))
	made := found.(*original)
	made.once.Do(func() {
		build()
		made.dir = filepath.Join(originalsDir, name)
		require.NoError(w.t, os.CopyFS(made.dir, os.DirFS(w.dir)))
	})
	require.NotEmpty(w.t, made.dir, "the repository %s could not be made", name)
	require.NoError(w.t, os.RemoveAll(w.dir))
	require.NoError(w.t, os.CopyFS(w.dir, os.DirFS(made.dir)))
	w.repo.known = &made.known
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
)

// promptIn returns the prompt of a dry run in a folder of the repository.
func (w *world) promptIn(folder string, args ...string) string {
	w.t.Helper()
	var stdout, log citest.Buffer
	p := w.program(w.env, &stdout, &log)
	p.git.dir = filepath.Join(w.dir, folder)
	require.Zero(w.t, p.run(w.t.Context(), append(args, "-dry-run")), log.String())
	return stdout.String()
}

func TestTheUsersConfigurationChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("old", "algorithm.txt", "d\n}\ne\n{\na\n") // of which patience makes another diff
	w.commit("old", "context.txt", strings.Repeat("a line\n\n", 12))
	base := w.git("rev-parse", "HEAD")
	w.commit("in a folder", "sub/c.go", "package c\n\n// C is new.\n")
	w.commit("new", "algorithm.txt", "b\n{\n{\n}\nc\n")
	w.commit("new", "context.txt", "new\n"+strings.Repeat("a line\n\n", 12)+"new\n")
	w.commit("beside it: für 日本語", "b.go", "package b\n")
	w.git("update-index", "--add", "--cacheinfo", "160000,"+base+",module")
	w.git("commit", "--quiet", "--message=a submodule")
	w.git("mv", "a.go", "z.go")
	w.git("commit", "--quiet", "--message=renamed")

	plain := w.promptIn("sub", "-base", base)
	assert.Contains(t, plain, "b.go")
	assert.Contains(t, plain, "> beside it: für 日本語\n")
	assert.Contains(t, plain, "sub/c.go")
	assert.Contains(t, plain, "> diff --git a/module b/module\n")
	assert.Contains(t, plain, "> +Subproject commit "+base)

	order := filepath.Join(t.TempDir(), "order")
	require.NoError(t, os.WriteFile(order, []byte("z*\n"), 0o600))
	for _, setting := range []string{
		"diff.relative=true", "diff.submodule=log", "diff.submodule=diff", "diff.noPrefix=true",
		"diff.mnemonicPrefix=true", "diff.context=0", "diff.interHunkContext=90", "diff.orderFile=" + order,
		"diff.renames=false", "diff.ignoreSubmodules=all", "diff.external=false", "color.ui=always",
		"core.quotePath=true", "log.showSignature=true", "diff.algorithm=patience", "diff.colorMoved=zebra",
		"i18n.logOutputEncoding=ISO-8859-1", "i18n.commitEncoding=EUC-JP", "diff.statNameWidth=1", "diff.dirstat=files",
	} {
		name, value, _ := strings.Cut(setting, "=")
		w.git("config", name, value)
		assert.Equal(t, plain, w.promptIn("sub", "-base", base), setting)
		w.git("config", "--unset", name)
	}
}

func TestNoTagBeforeIsSaidOnlyIfThatIsSo(t *testing.T) {
	t.Parallel()
	w := released(t)
	run := func(tag string, hook func(*exec.Cmd) error) string {
		t.Helper()
		w.onGitHub("release", publishedRelease(tag))
		var log citest.Buffer
		p := w.program(w.env, &log, &log)
		if hook != nil {
			p.git.exec = hook
		}
		assert.Equal(t, 2, p.run(t.Context(), nil))
		return log.String()
	}

	log := run("v9", nil)
	assert.Contains(t, log, `"refs/tags/v9" is not a commit of this clone`)
	assert.NotContains(t, log, "no tag before", "the release's own tag is not there")

	log = run("v1.1.0", func(*exec.Cmd) error { return &exec.Error{Name: "git", Err: exec.ErrNotFound} })
	assert.Contains(t, log, "executable file not found")
	assert.NotContains(t, log, "no tag before")

	w.git("tag", "--delete", "v1.0.0")
	assert.Contains(t, run("v1.1.0", nil), "no tag before refs/tags/v1.1.0 is in this clone")
}

// fakeDiff has git diff print the diff of many files, or of a large one. It tells how much
// memory is in use in the end.
func fakeDiff(w *world, files, lines int, line string, inUse *uint64) func(*exec.Cmd) error {
	return func(cmd *exec.Cmd) error {
		if !slices.Contains(cmd.Args, "diff") {
			return w.repo.exec(cmd)
		}

		if slices.Contains(cmd.Args, "--numstat") {
			for i := range files {
				fmt.Fprintf(cmd.Stdout, "%d\t0\tfile%06d.go\n", lines, i)
			}
			return nil
		}

		chunk := bytes.Repeat([]byte(line), max(1, 32<<10/len(line)))
		for i := range files {
			fmt.Fprintf(cmd.Stdout, "diff --git a/file%06d.go b/file%06[1]d.go\n", i)
			for left := lines * len(line); left > 0; left -= len(chunk) {
				if _, err := cmd.Stdout.Write(chunk[:min(left, len(chunk))]); err != nil {
					return err
				}
			}
		}
		*inUse = memoryInUse()
		return nil
	}
}

func memoryInUse() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func TestTextsAreCutToFit(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after []int
		limit         int
	}{
		"all fit":           {before: []int{400, 1600, 800}, limit: 2800, after: []int{400, 1600, 800}},
		"the largest":       {before: []int{400, 1600, 800}, limit: 2200, after: []int{400, 1000, 800}},
		"the two largest":   {before: []int{2000, 400, 3000}, limit: 3400, after: []int{1500, 400, 1500}},
		"the last is gone":  {before: []int{2000, 400, 3000}, limit: 1500, after: []int{1100, 400, 0}},
		"only the first":    {before: []int{2000, 400, 3000}, limit: 1000, after: []int{1000, 0, 0}},
		"part of the first": {before: []int{2000, 400}, limit: 10, after: []int{10, 0}},
		"nothing":           {before: []int{2000, 400}, limit: -5, after: []int{0, 0}},
		"no text":           {limit: 1},
	} {
		var texts []*excerpt
		for _, size := range tc.before {
			texts = append(texts, &excerpt{text: bytes.Repeat([]byte("\n"), size)})
		}
		fit(texts, tc.limit)

		var after []int
		for i, e := range texts {
			after = append(after, len(e.text))
			assert.Equal(t, len(e.text) < tc.before[i], e.isCut, name)
		}
		assert.Equal(t, tc.after, after, name)
	}
}

func TestALargeChangeTakesLittleMemory(t *testing.T) {
	w := merged(t)
	for name, tc := range map[string]struct {
		files, lines int
		line         string
	}{
		"a large file":  {files: 1, lines: 128 << 20 / 64, line: "+" + strings.Repeat("x", 62) + "\n"},
		"a line":        {files: 1, lines: 32 << 20, line: "+"},
		"large files":   {files: 400, lines: 5000, line: "+" + strings.Repeat("x", 62) + "\n"},
		"two thousand":  {files: 2000, lines: 3, line: "+a line\n"},
		"many files":    {files: 100_000, lines: 2, line: "+a line\n"},
		"file by file":  {files: 100_000, lines: 0, line: "+"},
		"as they stand": {files: 3, lines: 3, line: "+a line\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, log citest.Buffer
			p := w.program(w.env, &stdout, &log)
			var inUse uint64
			p.git.exec = fakeDiff(w, tc.files, tc.lines, tc.line, &inUse)

			before := memoryInUse()
			require.Zero(t, p.run(context.Background(), []string{"-dry-run"}), log.String())
			assert.Less(t, inUse, before+64<<20, "bytes")

			prompt := stdout.String()
			assert.LessOrEqual(t, len(prompt), 32_000)
			counts := fmt.Sprintf("files: %d, lines added: %d, removed: 0", tc.files, tc.files*tc.lines)
			assert.Contains(t, prompt, counts)
			assert.Contains(t, prompt, "> diff --git a/file000000.go b/file000000.go\n")
			isCut := name != "as they stand"
			assert.Equal(t, isCut, strings.Contains(prompt, "(truncated)"))
			if isCut {
				isUsed := len(prompt) > 30_000 || name == "a line" // of which a part tells nothing
				assert.True(t, isUsed, "what there is room for is used")
				assert.Regexp(t, `The prompt is truncated: [0-9,]+ of `+thousands(tc.files)+" files ", log.String())
			}
		})
	}
}

// Git sets GIT_DIR in hooks of worktrees and for rebase --exec.
func TestTheDemoAndTheTestsTouchNothingOfTheUsers(t *testing.T) {
	users := newWorld(t)
	before := users.git("log", "--all", "--format=%H")
	home := t.TempDir()
	hooks := filepath.Join(home, "hooks")
	require.NoError(t, os.Mkdir(hooks, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(hooks, "pre-commit"), []byte("#!/bin/sh\nexit 1\n"), 0o700))
	settings := "[core]\n\thooksPath = " + hooks + "\n[commit]\n\tgpgSign = true\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(settings), 0o600))

	temporary := t.TempDir()
	one := newWorld(t)
	for name, value := range map[string]string{
		"GIT_DIR": filepath.Join(users.dir, ".git"), "GIT_INDEX_FILE": filepath.Join(users.dir, ".git", "index"),
		"GIT_TEMPLATE_DIR": home, "HOME": home, "TMPDIR": temporary, "LC_ALL": "xx_YY.UTF-8",
		"GITHUB_OUTPUT": filepath.Join(temporary, "output"), "CI": "true", "GITLAB_CI": "true",
	} {
		t.Setenv(name, value)
	}

	r := one.runOnce("-demo")
	assert.Zero(t, r.Code, r.Log)
	one.commit("of a test", "test.go", "package test\n")
	assert.Contains(t, one.prompt(), "> of a test\n")

	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
	os.Unsetenv("GIT_DIR")
	assert.Equal(t, before, users.git("log", "--all", "--format=%H"))
}

func TestWithoutGitATestIsSkipped(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	isSkipped := false
	t.Run("skipped", func(t *testing.T) {
		defer func() { isSkipped = t.Skipped() }()
		newWorld(t)
	})
	assert.True(t, isSkipped)
}

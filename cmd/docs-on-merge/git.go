package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// git runs git in a folder until something fails: then err is why, and nothing runs
// any more.
type git struct {
	dir    string
	output func(*exec.Cmd) ([]byte, error) // runs a command
	err    error
}

func (g *git) run(ctx context.Context, args ...string) string {
	if g.err != nil {
		return ""
	}
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.quotePath=off"}, args...)...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=docs-on-merge", "GIT_AUTHOR_EMAIL=docs-on-merge@localhost", "GIT_COMMITTER_NAME=docs-on-merge", "GIT_COMMITTER_EMAIL=docs-on-merge@localhost")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := g.output(cmd)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		g.err = fmt.Errorf("git %s: %w: %s", args[0], err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// find returns the full name of the commit that ref names, or "" if there is none.
func (g *git) find(ctx context.Context, ref string) string {
	probe := *g
	return probe.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
}

// commit is find for a commit that must exist.
func (g *git) commit(ctx context.Context, ref string) string {
	name := g.find(ctx, ref)
	switch {
	case name != "" || g.err != nil:
	case g.run(ctx, "rev-parse", "--is-shallow-repository") == "true":
		g.err = fmt.Errorf("%s is not in this clone, which is shallow: fetch all of it (fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)", ref)
	case g.err == nil:
		g.err = fmt.Errorf("%q is not a commit of this clone (misspelled, not fetched, or left out by a force push): fetch all of it (fetch-depth: 0 of actions/checkout), or give another -base or -head", ref)
	}
	return name
}

// parent returns the first parent of a commit, or the empty tree if it has none.
func (g *git) parent(ctx context.Context, commit string) string {
	parents := strings.Fields(g.run(ctx, "cat-file", "-p", commit)) // "tree", its name, "parent", its name
	if len(parents) > 3 && parents[2] == "parent" {
		return g.commit(ctx, parents[3])
	}
	return g.emptyTree(ctx)
}

func (g *git) emptyTree(ctx context.Context) string {
	return g.run(ctx, "hash-object", "-w", "-t", "tree", os.DevNull)
}

// stat is how much a change touches. A binary file has no lines.
type stat struct{ files, added, removed int }

func (s stat) String() string {
	return fmt.Sprintf("files: %d, lines added: %d, removed: %d", s.files, s.added, s.removed)
}

// diff compares two commits, within the pathspecs and whatever the user's configuration: a
// line and a patch for each file, and their sum.
func (g *git) diff(ctx context.Context, base, head string, paths []string) (files string, sum stat, patches []string) {
	args := []string{"diff", "--numstat", "--patch", "--no-color", "--find-renames", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", base, head, "--"}
	counts, patch, _ := strings.Cut(g.run(ctx, append(args, paths...)...), "\n\n")
	for line := range strings.Lines(counts) {
		fields := append(strings.SplitN(strings.TrimSpace(line), "\t", 3), "", "") // added, removed, path
		added, _ := strconv.Atoi(fields[0])                                        // "-" of a binary file
		removed, _ := strconv.Atoi(fields[1])
		sum = stat{sum.files + 1, sum.added + added, sum.removed + removed}
		files += fmt.Sprintf("+%d -%d %s\n", added, removed, fields[2])
	}
	return files, sum, strings.Split("\n"+patch, "\ndiff --git ")[1:]
}

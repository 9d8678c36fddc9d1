package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// git runs git in a folder until something fails: then err is why, and nothing runs
// any more.
type git struct {
	dir string
	err error
}

const maxGitOutput = 16 << 20 // bytes

var errTooLong = errors.New("git prints too much")

// bounded is a buffer that takes no more than maxGitOutput.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxGitOutput {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

func (g *git) run(ctx context.Context, args ...string) string {
	if g.err != nil {
		return ""
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = g.dir, append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	var out, stderr bounded
	cmd.Stdout, cmd.Stderr = &out, &stderr
	switch err := cmd.Run(); {
	case err != nil && ctx.Err() != nil:
		g.err = fmt.Errorf("git %s: %w", args[0], context.Cause(ctx))
	case err != nil:
		g.err = fmt.Errorf("git %s: %w: %s", args[0], err, stderr.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// find returns the full name of the commit that ref names, or "" if there is none.
func (g *git) find(ctx context.Context, ref string) string {
	probe := git{g.dir, g.err}
	return probe.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
}

// tag returns the name of the tag that ref names, or "" if it names something else.
func (g *git) tag(ctx context.Context, ref string) string {
	if ref == "" {
		return ""
	}
	probe := git{g.dir, g.err}
	name := probe.run(ctx, "rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", ref)
	tag, ok := strings.CutPrefix(name, "refs/tags/")
	if !ok {
		return ""
	}
	return tag
}

// commit is find for a commit that must exist.
func (g *git) commit(ctx context.Context, ref string) string {
	name := g.find(ctx, ref)
	shallow := g.run(ctx, "rev-parse", "--is-shallow-repository") == "true"
	switch {
	case name != "" || g.err != nil:
	case shallow:
		g.err = fmt.Errorf("%s is not in this clone, which is shallow: fetch all of it (fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)", ref)
	default:
		g.err = fmt.Errorf("%q is not a commit of this clone (not fetched, or left out by a force push): fetch all of it (fetch-depth: 0 of actions/checkout), or say with -base where the change begins", ref)
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

// previousTag returns the nearest tag before that of a change.
func (g *git) previousTag(ctx context.Context, c change) string {
	previous := g.run(ctx, "describe", "--tags", "--abbrev=0", c.head+"^")
	if g.err != nil && ctx.Err() == nil {
		g.err = fmt.Errorf("no tag before %s is in this clone: fetch all of it with its tags (fetch-depth: 0 of actions/checkout), or say with -base where the change begins: %w", c.tag, g.err)
	}
	return g.commit(ctx, "refs/tags/"+previous)
}

// file is a file that a change touches, with its lines (none of a binary file).
type file struct {
	path           string
	added, removed int
}

// files returns what differs between two commits, within the pathspecs.
func (g *git) files(ctx context.Context, base, head string, paths []string) (files []file) {
	out := g.run(ctx, append([]string{"diff", "--numstat", "-z", "--find-renames", "--no-ext-diff", "--no-textconv", base, head, "--"}, paths...)...)
	for fields := strings.Split(out, "\x00"); len(fields) > 1; fields = fields[1:] {
		counts := append(strings.SplitN(fields[0], "\t", 3), "", "", "") // added, removed, path
		if counts[2] == "" && len(fields) > 3 {                          // the old and the new path follow
			counts[2] = fields[1] + " => " + fields[2]
			fields = fields[2:]
		}
		added, _ := strconv.Atoi(counts[0]) // "-" of a binary file
		removed, _ := strconv.Atoi(counts[1])
		files = append(files, file{counts[2], added, removed})
	}
	return files
}

// diffs returns the diff of each file between two commits, as far as it is not too much.
func (g *git) diffs(ctx context.Context, base, head string, paths []string) []string {
	args := []string{"diff", "--no-color", "--find-renames", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", base, head, "--"}
	out := "\n" + g.run(ctx, append(args, paths...)...)
	if errors.Is(g.err, errTooLong) {
		g.err = nil
	}
	return strings.Split(out, "\ndiff --git ")[1:]
}

func count(files []file) (added, removed int) {
	for _, f := range files {
		added, removed = added+f.added, removed+f.removed
	}
	return added, removed
}

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
	dir string
	// output runs a command and returns what it has printed.
	output func(*exec.Cmd) ([]byte, error)
	err    error
}

// gitEnv keeps git from translating its messages, from asking, and from needing a user.
var gitEnv = []string{
	"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
	"GIT_AUTHOR_NAME=docs-on-merge", "GIT_AUTHOR_EMAIL=docs-on-merge@localhost",
	"GIT_COMMITTER_NAME=docs-on-merge", "GIT_COMMITTER_EMAIL=docs-on-merge@localhost",
}

func (g *git) run(ctx context.Context, args ...string) string {
	if g.err != nil {
		return ""
	}

	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.quotePath=off"}, args...)...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), gitEnv...)
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

// fail has nothing run any more, unless something has failed before.
func (g *git) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// find returns the full name of the commit that ref names, or "" if there is none.
func (g *git) find(ctx context.Context, ref string) string {
	probe := *g
	return probe.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
}

// commit is find for a commit that must exist.
func (g *git) commit(ctx context.Context, ref string) string {
	name := g.find(ctx, ref)
	if name != "" || g.err != nil {
		return name
	}

	if g.run(ctx, "rev-parse", "--is-shallow-repository") == "true" {
		g.fail(fmt.Errorf("%s is not in this clone, which is shallow: fetch all of it "+
			"(fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)", ref))
	}
	g.fail(fmt.Errorf("%q is not a commit of this clone (misspelled, not fetched, or left out by a force push): "+
		"fetch all of it (fetch-depth: 0 of actions/checkout), or give another base or head", ref))
	return ""
}

// parent returns the first parent of a commit, or the empty tree if it has none.
func (g *git) parent(ctx context.Context, commit string) string {
	header := strings.Fields(g.run(ctx, "cat-file", "-p", commit)) // "tree", its name, "parent", its name
	if len(header) > 3 && header[2] == "parent" {
		return g.commit(ctx, header[3])
	}
	return g.emptyTree(ctx)
}

func (g *git) emptyTree(ctx context.Context) string {
	return g.run(ctx, "hash-object", "-w", "-t", "tree", os.DevNull)
}

// stat is how much a change touches. A binary file has no lines.
type stat struct{ files, added, removed int }

func (s stat) plus(t stat) stat {
	return stat{files: s.files + t.files, added: s.added + t.added, removed: s.removed + t.removed}
}

func (s stat) String() string {
	return fmt.Sprintf("files: %d, lines added: %d, removed: %d", s.files, s.added, s.removed)
}

// difference is what differs between two commits.
type difference struct {
	stat stat
	// files has a line for each file.
	files string
	// patches has one for each file, without the line's "diff --git ".
	patches []string
}

// diff compares two commits, within the pathspecs and whatever the user's configuration.
func (g *git) diff(ctx context.Context, base, head string, paths []string) difference {
	args := []string{"diff", "--numstat", "--patch", "--no-color", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--src-prefix=a/", "--dst-prefix=b/", base, head, "--"}
	counts, patches, _ := strings.Cut(g.run(ctx, append(args, paths...)...), "\n\n")

	var d difference
	for line := range strings.Lines(counts) {
		d.addCounts(strings.TrimSpace(line))
	}
	d.patches = strings.Split("\n"+patches, "\ndiff --git ")[1:]
	return d
}

// addCounts reads a line of --numstat: the counts of added and of removed lines, and the path.
func (d *difference) addCounts(line string) {
	addedText, rest, _ := strings.Cut(line, "\t")
	removedText, path, _ := strings.Cut(rest, "\t")
	added, _ := strconv.Atoi(addedText) // "-" of a binary file is 0
	removed, _ := strconv.Atoi(removedText)

	d.stat = d.stat.plus(stat{files: 1, added: added, removed: removed})
	d.files += fmt.Sprintf("+%d -%d %s\n", added, removed, path)
}

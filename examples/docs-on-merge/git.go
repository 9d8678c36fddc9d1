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

// git runs git in a folder.
type git struct{ dir string }

var errNoCommit = errors.New("no such commit in this clone (a force push leaves out the one before it): say with -base where the change begins")

func (g git) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = g.dir, append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// commit returns the full name of the commit that ref names.
func (g git) commit(ctx context.Context, ref string) (string, error) {
	if strings.HasPrefix(ref, "-") {
		return "", fmt.Errorf("%q: %w", ref, errNoCommit)
	}
	name, err := g.run(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err == nil {
		return name, nil
	}
	shallow, err := g.run(ctx, "rev-parse", "--is-shallow-repository")
	if shallow == "true" {
		err = fmt.Errorf("%s is not in this clone, which is shallow: fetch all of it (fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)", ref)
	} else if err == nil {
		err = fmt.Errorf("%s: %w", ref, errNoCommit)
	}
	return "", err
}

// parent returns the first parent of a commit, or the empty tree where it has none.
func (g git) parent(ctx context.Context, commit string) (string, error) {
	parent, err := g.commit(ctx, commit+"^1")
	if errors.Is(err, errNoCommit) {
		return g.emptyTree(ctx)
	}
	return parent, err
}

func (g git) emptyTree(ctx context.Context) (string, error) {
	return g.run(ctx, "hash-object", "-t", "tree", os.DevNull)
}

// file is a file that a change touches, with its lines (none of a binary file).
type file struct {
	path           string
	added, removed int
}

// files returns what differs between two commits, within the pathspecs.
func (g git) files(ctx context.Context, base, head string, paths []string) (files []file, err error) {
	out, err := g.run(ctx, append([]string{"diff", "--numstat", "-z", "--find-renames", "--no-ext-diff", "--no-textconv", base, head, "--"}, paths...)...)
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i++ {
		counts := strings.SplitN(fields[i], "\t", 3)
		if len(counts) != 3 {
			return nil, fmt.Errorf("git diff --numstat: %q is no line of it", fields[i])
		}
		f := file{path: counts[2]}
		f.added, _ = strconv.Atoi(counts[0]) // "-" of a binary file
		f.removed, _ = strconv.Atoi(counts[1])
		if f.path == "" && i+2 < len(fields) { // the old and the new path follow
			f.path = fields[i+1] + " => " + fields[i+2]
			i += 2
		}
		files = append(files, f)
	}
	return files, err
}

func count(files []file) (added, removed int) {
	for _, f := range files {
		added, removed = added+f.added, removed+f.removed
	}
	return added, removed
}

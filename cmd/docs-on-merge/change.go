package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

// change is what was merged.
type change struct {
	// repository is owner/name, or "" if nobody knows it.
	repository string
	// base and head are commits. base may be the empty tree.
	base, head string
	// tag is refs/tags/..., or "" for a merge.
	tag string
	// branch is the name of the branch that has the change, or "" if nobody knows it.
	branch string
	// title and body come from its pull requests, as far as they are known.
	title, body string
	// stat sums up the files.
	stat stat
	// files has a line for each file, and subjects one for each commit.
	files, subjects excerpt
	// patches has one for each file.
	patches []*excerpt
	// skip says why there is nothing to do. "" means that there is something.
	skip string
}

// key names the change for good, for a project. A merge and a tag on one commit are two changes. It has a hash
// of the project's id, since a status or a marker is public and the id need not be.
func (c change) key(projectID string) string {
	key := merges.Key(c.repository, c.head)
	if c.tag != "" {
		key += ":tag:" + strings.TrimPrefix(c.tag, tags)
	}
	return fmt.Sprintf("%s:%.4x", key, sha256.Sum256([]byte(projectID)))
}

// findChange finds what was merged, and reads it from the clone.
func (p *program) findChange(ctx context.Context, what occasion) (change, error) {
	g := p.git
	c := change{}
	c.tag = g.findTag(ctx, what)
	c.head = g.findHead(ctx, what, c.tag)
	c.repository = p.findRepository(ctx, g)
	c.branch = strings.TrimPrefix(what.branch, branches)
	if c.branch == "" {
		c.branch = p.defaultBranchName(ctx, g)
	}
	c.base = p.findBase(ctx, &g, what, c)

	for _, path := range p.unmatchedPaths(ctx, &g, c.head) { // else nobody sees that no merge is documented any more
		p.step.Warnf("The path %q matches no file of commit %s: was it renamed?", path, c.head)
	}

	found := p.findMerges(ctx, &g, what.pull, c)
	c.title, c.body = tell(found)

	for _, part := range c.findParts(found) {
		c.read(ctx, &g, part.base, part.head, p.options.paths, p.options.maxPrompt)
	}
	if !p.options.withDiff {
		c.patches = nil
	}

	c.subjects.limit = p.options.maxPrompt
	for _, part := range c.findTold(found) {
		g.runTo(ctx, &c.subjects, "log", "--no-show-signature", "--format=%s", "--max-count=1000",
			part.head, "^"+part.base)
	}

	if p.options.job == "" { // else a person has said what the change's job is
		c.skip = c.whySkip(found)
	}
	return c, g.err
}

// exclusion matches a pathspec that only leaves files out.
var exclusion = regexp.MustCompile(`^:([!^]|\(([^)]*,)?exclude[,)])`)

// unmatchedPaths returns each -path that matches no file of a commit.
func (p *program) unmatchedPaths(ctx context.Context, g *git, commit string) (unmatched []string) {
	for _, path := range p.options.paths {
		if exclusion.MatchString(path) {
			continue
		}
		files := g.run(ctx, "diff", "--name-only", "--no-renames", g.emptyTree(ctx), commit, "--", path)
		if files == "" && g.err == nil {
			unmatched = append(unmatched, path)
		}
	}
	return unmatched
}

// whySkip says why there is nothing to do, or returns "".
func (c change) whySkip(found []merge) string {
	if c.stat.files > 0 {
		return ""
	}

	for _, merge := range slices.Backward(found) {
		if merge.skip != "" {
			return merge.skip
		}
	}
	return "nothing relevant changed"
}

// findTag returns the tag of a release, or "" for a merge.
func (g *git) findTag(ctx context.Context, what occasion) string {
	if what.tag != "" || what.head == "" {
		return what.tag
	}

	name, isRef := strings.CutPrefix(what.head, tags)
	if isRef || g.find(ctx, tags+name) != "" {
		return tags + name
	}
	return ""
}

// findHead returns the commit after the change.
func (g *git) findHead(ctx context.Context, what occasion, tag string) string {
	head := cmp.Or(what.head, "HEAD")
	if tag != "" && g.find(ctx, what.head) == "" { // git may not have fetched the object of the tag
		head = tag
	}
	return g.commit(ctx, head)
}

// findBase returns the commit before the change. For a force push that is the commit that the
// branch had before: the change is the difference.
func (p *program) findBase(ctx context.Context, g *git, what occasion, c change) string {
	switch {
	case what.base == "" && c.tag != "":
		return p.previousTag(ctx, g, c)
	case what.base == "":
		return p.baseOf(ctx, g, what.pull, c)
	case !isZeros(what.base):
		return g.named(ctx, what.base)
	case what.branch == "":
		g.fail(errors.New("-base is all zeros, since the branch is new or nothing was pushed: " +
			"say where the change begins"))
		return ""
	}

	origin := "refs/remotes/origin/" + strings.TrimPrefix(what.defaultBranch, branches)
	g.commit(ctx, origin) // a full clone has it
	return g.run(ctx, "merge-base", origin, c.head)
}

// named returns the commit that a person or an event has named, which may be the empty tree.
func (g *git) named(ctx context.Context, name string) string {
	if found := g.find(ctx, name); found != "" {
		return found
	}
	if name == g.emptyTree(ctx) {
		return name
	}
	return g.commit(ctx, name) // its error says why the commit is missing
}

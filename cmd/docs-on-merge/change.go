package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
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
	// title and body come from its pull requests, as far as they are known.
	title, body string
	// stat sums up the files.
	stat stat
	// files has a line for each file, and subjects one for each commit.
	files, subjects excerpt
	// patches are the diffs of the files.
	patches []*excerpt
	// skip says why there is nothing to do. "" means that there is something.
	skip string
}

// key names the change for good. A merge and a tag on one commit are two changes.
func (c change) key() string {
	key := merges.Key(c.repository, c.head)
	if c.tag != "" {
		key += ":tag:" + strings.TrimPrefix(c.tag, tags)
	}
	return key
}

// findChange finds what was merged, and reads it from the clone.
func (p *program) findChange(ctx context.Context) (change, error) {
	what, err := p.findOccasion()
	if err != nil || what.skip != "" {
		return change{skip: what.skip}, err
	}
	if p.options.job != "" && p.options.again {
		return change{}, errors.New("job and again exclude each other")
	}

	g := p.git
	c := change{}
	c.tag = g.findTag(ctx, what)
	c.head = g.findHead(ctx, what, c.tag)
	c.base = p.findBase(ctx, &g, what, c)
	c.repository = p.findRepository(ctx, g)

	parts := p.findParts(ctx, &g, what.pull, &c)
	for _, part := range parts {
		p.read(ctx, &g, part, &c)
	}
	if g.err == nil && c.stat.files == 0 && c.skip == "" {
		c.skip = "nothing relevant changed"
	}
	if p.options.job != "" { // a person has said what the change's job is
		c.skip = ""
	}
	return c, g.err
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
		return what.pull.base(ctx, g, c.head)
	case !isZeros(what.base):
		return g.named(ctx, what.base)
	case what.branch == "":
		g.fail(errors.New("-base is all zeros, since the branch is new or nothing was pushed: " +
			"say where the change begins"))
		return ""
	case what.branch == what.defaultBranch:
		return g.emptyTree(ctx)
	}

	origin := "refs/remotes/origin/" + strings.TrimPrefix(what.defaultBranch, branches)
	g.commit(ctx, origin) // a full clone has it
	return g.run(ctx, "merge-base", origin, c.head)
}

// previousTag returns the commit of the nearest tag before the change's own.
func (p *program) previousTag(ctx context.Context, g *git, c change) string {
	previous := g.run(ctx, "describe", "--tags", "--abbrev=0", c.head+"^")
	hasRun := errors.As(g.err, new(*exec.ExitError))

	if c.head != "" && hasRun {
		wayOut := "say with -base where the change begins"
		if p.step.OnGitHub() {
			wayOut = `enter as base in "Run workflow" where the change begins (on a command line: -base)`
		}

		g.err = fmt.Errorf("no tag before %s is in this clone: fetch all of it with its tags "+
			"(fetch-depth: 0 of actions/checkout), or %s: %w", c.tag, wayOut, g.err)
	}
	return g.commit(ctx, tags+previous)
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

// base returns the commit before the merge: its first parent or, if GitHub has rebased the pull
// request, the parent of the first of its commits.
func (r pullRequest) base(ctx context.Context, g *git, head string) string {
	parent := g.parent(ctx, head)
	isMerge := g.find(ctx, head+"^2") != ""
	if r.Commits < 2 || isMerge {
		return parent
	}

	isSquashed := g.counts(ctx, parent, head) == stat{files: r.ChangedFiles, added: r.Additions, removed: r.Deletions}
	if isSquashed {
		return parent
	}
	return g.commit(ctx, fmt.Sprintf("%s~%d", head, r.Commits))
}

// read adds a part of the change to c.
func (p *program) read(ctx context.Context, g *git, part part, c *change) {
	room := p.options.maxPrompt
	diff := g.diff(ctx, part.base, part.head, p.options.paths, room)
	c.stat = c.stat.plus(diff.stat)
	c.files.add(diff.files, room)
	if p.options.withDiff {
		c.patches = append(c.patches, diff.patches...)
	}

	subjects := g.run(ctx, "log", "--no-show-signature", "--format=%s", "--max-count=1000",
		part.head, "^"+part.base)
	c.subjects.add(excerpt{text: []byte(subjects + "\n")}, room)
}

// maxMerges is how many merges of a change, the newest, are checked one by one.
const maxMerges = 100

// part is a part of a change, from the commit base to the commit head.
type part struct{ base, head string }

// findParts returns the change without the work of the agent and of bots. If there is none to
// leave out, the whole change is one part. It notes the titles and descriptions of the pull
// requests in c.
func (p *program) findParts(ctx context.Context, g *git, pull pullRequest, c *change) []part {
	all := part{c.base, c.head}
	if pull.Merged {
		c.title = pull.Title
		c.body = pull.Body
		c.skip = p.whySkip(ctx, g, pull, all)
		return []part{all}
	}

	var parts []part
	var skip string
	base := c.base
	noted := map[int]bool{} // by number: a rebased pull request is several merges

	for _, merge := range p.findMerges(ctx, g, all) {
		pull := p.pullRequest(ctx, c.repository, merge.head)
		why := p.whySkip(ctx, g, pull, merge)
		if why == "" {
			if !noted[pull.Number] {
				noted[pull.Number] = true
				c.title += pull.Title + "\n"
				c.body += pull.Body + "\n"
			}
			continue
		}

		p.step.Printf("Left out %s: %s", merge.head, why)
		skip = why
		if base != merge.base {
			parts = append(parts, part{base, merge.base})
		}
		base = merge.head
	}

	if base != c.head {
		return append(parts, part{base, c.head})
	}
	if len(parts) == 0 {
		c.skip = skip
	}
	return parts
}

// findMerges returns the commits that the change has added to the branch, the oldest first, each
// as a part of the change.
func (p *program) findMerges(ctx context.Context, g *git, all part) []part {
	lines := g.run(ctx, "rev-list", "--first-parent", "--parents", fmt.Sprintf("--max-count=%d", maxMerges),
		all.head, "^"+all.base)
	var found []part
	for line := range strings.Lines(lines) {
		names := strings.Fields(line) // itself, its parents
		merge := part{base: all.base, head: names[0]}
		if len(names) > 1 {
			merge.base = names[1]
		}
		found = append(found, merge)
	}

	if len(found) == maxMerges {
		p.step.Printf("Only the newest %d merges are checked one by one.", maxMerges)
	}
	slices.Reverse(found)
	return found
}

// whySkip says why a merge needs no job, or returns "". If its pull request is not known, the
// messages and authors of its commits decide.
func (p *program) whySkip(ctx context.Context, g *git, pull pullRequest, merge part) string {
	out := g.run(ctx, "log", "-z", "--no-show-signature", "--max-count=1000", "--format=%P%n%an%n%ae%n%B",
		merge.head, "^"+merge.base)
	commits := strings.Split(strings.Trim(out, "\x00"), "\x00")

	var messages strings.Builder
	var authors [][]string // names of each
	for _, commit := range commits {
		parents, rest, _ := strings.Cut(commit, "\n")
		name, rest, _ := strings.Cut(rest, "\n")
		email, message, _ := strings.Cut(rest, "\n")

		messages.WriteString(message + "\n")
		isMergeItself := strings.Contains(parents, " ") && len(commits) > 1 // its author is the person who merged
		if !isMergeItself {
			authors = append(authors, []string{name, email, merges.Login(email)})
		}
	}

	if pull.User.Login != "" {
		authors = [][]string{{pull.User.Login}}
	}
	text := cmp.Or(strings.TrimSpace(pull.Body), messages.String())
	return p.options.skip.WhySkip(text, authors...)
}

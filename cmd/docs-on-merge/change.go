package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

// change is what was merged.
type change struct {
	repository  string
	base, head  string // commits; base may be the empty tree
	tag         string // refs/tags/...; "" for a merge
	title, body string // of its pull requests, as far as they are known
	stat        stat
	files       string   // a line each
	diffs       []string // of the files
	subjects    string   // of the commits, a line each
	skip        string   // why there is nothing to do; "" if there is
}

// key names the change for good. A merge and a tag on one commit are two changes.
func (c change) key() string {
	key := merges.Key(c.repository, c.head)
	if c.tag != "" {
		key += ":tag:" + strings.TrimPrefix(c.tag, tags)
	}
	return key
}

// findChange finds what was merged: between two refs by hand, else of the event.
func (p *program) findChange(ctx context.Context) (c change, err error) {
	g, e, o := p.git, event{}, &p.options
	if name := p.step.Getenv("GITHUB_EVENT_NAME"); name != "" && o.base == "" && o.head == "" {
		if e, c.skip, err = p.readEvent(name); err != nil || c.skip != "" {
			return c, err
		}
	}
	if o.job != "" && o.again {
		return c, errors.New("job and again exclude each other")
	}
	name, isTag := strings.CutPrefix(cmp.Or(o.head, e.Ref), tags)
	if isTag || o.head != "" && g.find(ctx, tags+name) != "" {
		c.tag = tags + name
	}
	head := cmp.Or(o.head, e.After, "HEAD")
	if c.tag != "" && g.find(ctx, e.After) == "" { // a tag object need not be fetched
		head = c.tag
	}
	c.head = g.commit(ctx, head)
	c.base = p.findBase(ctx, &g, e, c)
	if c.repository = cmp.Or(o.repository, p.step.Getenv("GITHUB_REPOSITORY"), p.step.Getenv("CI_PROJECT_PATH")); c.repository == "" {
		c.repository = url.PathEscape(filepath.Base(g.run(ctx, "rev-parse", "--show-toplevel")))
	}
	for _, s := range p.findSpans(ctx, &g, e.PullRequest, &c) {
		files, sum, patches := g.diff(ctx, s[0], s[1], o.paths)
		c.files += files
		c.stat = stat{c.stat.files + sum.files, c.stat.added + sum.added, c.stat.removed + sum.removed}
		c.subjects += g.run(ctx, "log", "--no-show-signature", "--format=%s", "--max-count=1000", s[1], "^"+s[0]) + "\n"
		if o.withDiff {
			c.diffs = append(c.diffs, patches...)
		}
	}
	if g.err == nil && c.stat.files == 0 && c.skip == "" {
		c.skip = "nothing relevant changed"
	}
	return c, g.err
}

// findBase returns the commit before the change. (Before a force push, the base is what
// was there: the change is what differs.)
func (p *program) findBase(ctx context.Context, g *git, e event, c change) string {
	switch base, branch := cmp.Or(p.options.base, e.Before), e.Repository.DefaultBranch; {
	case base == "" && c.tag != "":
		previous := g.run(ctx, "describe", "--tags", "--abbrev=0", c.head+"^")
		if g.err != nil && ctx.Err() == nil {
			g.err = fmt.Errorf("no tag before %s is in this clone: fetch all of it with its tags (fetch-depth: 0 of actions/checkout), or say with -base where the change begins: %w", c.tag, g.err)
		}
		return g.commit(ctx, tags+previous)
	case base == "":
		return e.PullRequest.base(ctx, g, c.head)
	case !isZeros(base):
		if found := g.find(ctx, base); found != "" || base == g.emptyTree(ctx) {
			return cmp.Or(found, base)
		}
		return g.commit(ctx, base) // which says why it is not there
	case e.After == "":
		g.err = errors.New("-base is all zeros, since the branch is new or nothing was pushed: say where the change begins")
		return ""
	case e.Ref == "refs/heads/"+branch:
		return g.emptyTree(ctx)
	default:
		g.commit(ctx, "refs/remotes/origin/"+branch) // which a clone of all of it has
		return g.run(ctx, "merge-base", "refs/remotes/origin/"+branch, c.head)
	}
}

// base is the first parent of the merge. A rebased pull request is as many commits as it
// had: the last one alone is not all of it.
func (r pullRequest) base(ctx context.Context, g *git, head string) string {
	parent := g.parent(ctx, head)
	if r.Commits < 2 || g.find(ctx, head+"^2") != "" {
		return parent
	}
	if _, all, _ := g.diff(ctx, parent, head, nil); all == (stat{r.ChangedFiles, r.Additions, r.Deletions}) {
		return parent // squashed
	}
	return g.commit(ctx, fmt.Sprintf("%s~%d", head, r.Commits))
}

const maxMerges = 100 // of a change that are looked at one by one, the newest

// span is a part of a change, from a base to a head.
type span [2]string

// findSpans returns the parts of a change that are neither the agent's own work nor a
// bot's: all of it as one, unless something has to be left out. It notes the titles and
// descriptions of their pull requests.
func (p *program) findSpans(ctx context.Context, g *git, pull pullRequest, c *change) (spans []span) {
	if pull.Merged {
		c.title, c.body, c.skip = pull.Title, pull.Body, p.echo(ctx, g, pull, c.base, c.head)
		return []span{{c.base, c.head}}
	}
	merges := slices.Collect(strings.Lines(g.run(ctx, "rev-list", "--first-parent", "--parents", fmt.Sprintf("--max-count=%d", maxMerges), c.head, "^"+c.base)))
	if len(merges) == maxMerges {
		p.step.Printf("Of the merges only the newest %d are looked at one by one.", maxMerges)
	}
	seen, base, echo := map[int]bool{}, c.base, ""
	for _, line := range slices.Backward(merges) {
		names := append(strings.Fields(line), c.base, c.base) // itself, its parents
		merge, parent := names[0], names[1]
		pull := p.pullRequest(ctx, c.repository, merge)
		if why := p.echo(ctx, g, pull, parent, merge); why != "" {
			p.step.Printf("Left out %s: %s", merge, why)
			if base != parent {
				spans = append(spans, span{base, parent})
			}
			base, echo = merge, why
		} else if !seen[pull.Number] {
			seen[pull.Number] = true
			c.title += pull.Title + "\n"
			c.body += pull.Body + "\n"
		}
	}
	if base != c.head {
		spans = append(spans, span{base, c.head})
	} else if len(spans) == 0 {
		c.skip = echo
	}
	return spans
}

// echo returns why a merge is not worth a job, or "". What is not known of its pull
// request is looked for in its commits.
func (p *program) echo(ctx context.Context, g *git, pull pullRequest, base, head string) string {
	var messages string
	var authors [][]string // names of each
	out := g.run(ctx, "log", "-z", "--no-show-signature", "--max-count=1000", "--format=%P%n%an%n%ae%n%B", head, "^"+base)
	commits := strings.Split(strings.Trim(out, "\x00"), "\x00")
	for _, commit := range commits {
		fields := append(strings.SplitN(commit, "\n", 4), "", "", "") // parents, name, address, message
		messages += fields[3] + "\n"
		if !strings.Contains(fields[0], " ") || len(commits) == 1 { // not the merge itself
			authors = append(authors, []string{fields[1], fields[2], merges.Login(fields[2])})
		}
	}
	if pull.User.Login != "" {
		authors = [][]string{{pull.User.Login}}
	}
	return p.options.skip.WhySkip(cmp.Or(strings.TrimSpace(pull.Body), messages), authors...)
}

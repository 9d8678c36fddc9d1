package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/once"
)

// maxMerges is how many merges of a change are looked at one by one, the newest first.
const maxMerges = 100

// span is a part of a change.
type span struct{ base, head string }

// findSpans returns the parts of a change that are not the agent's own work, nor of a
// bot: all of it as one, unless something has to be left out. It notes the titles and
// descriptions of their pull requests.
func (p *program) findSpans(ctx context.Context, g *git, pull *pullRequest, c *change) (spans []span) {
	if pull != nil {
		c.title, c.body = pull.Title, pull.Body
		c.skip = p.echo(pull, g.commits(ctx, c.base, c.head))
		return []span{{c.base, c.head}}
	}
	merges := strings.Fields(g.run(ctx, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", maxMerges), c.head, "^"+c.base))
	slices.Reverse(merges)
	find := p.pullRequests(*c)
	base, whole, why, seen := c.base, true, "", map[int]bool{}
	if len(merges) == maxMerges {
		p.step.Printf("Of the merges only the newest %d are looked at one by one.", maxMerges)
	}
	for _, merge := range merges {
		parent := g.parent(ctx, merge)
		pull := find(ctx, merge)
		if echo := p.echo(pull, g.commits(ctx, parent, merge)); echo != "" {
			p.step.Printf("Left out %s: %s", merge, echo)
			if base != parent {
				spans = append(spans, span{base, parent})
			}
			base, whole, why = merge, false, echo
			continue
		}
		if pull != nil && !seen[pull.Number] {
			seen[pull.Number] = true
			c.title += pull.Title + "\n"
			c.body += pull.Body + "\n"
		}
	}
	switch {
	case whole:
		return []span{{c.base, c.head}}
	case base != c.head:
		spans = append(spans, span{base, c.head})
	case len(spans) == 0:
		c.skip = why
	}
	return spans
}

// echo returns why a merge is not worth a job, or "".
func (p *program) echo(pull *pullRequest, commits []commit) string {
	var texts, authors []string
	for _, c := range commits {
		texts = append(texts, c.message)
		if !c.isMerge || len(commits) == 1 {
			authors = append(authors, c.name, c.login())
		}
	}
	if pull != nil && pull.Body != "" {
		texts = []string{pull.Body}
	}
	for _, text := range texts {
		if key, ok := once.FindMarker(text); ok {
			return "it is the agent's own work for " + key
		}
	}
	if pull != nil && pull.User.Login != "" {
		authors = []string{pull.User.Login, pull.User.Login}
	}
	for i := 0; i < len(authors); i += 2 {
		if !p.skips(authors[i]) && !p.skips(authors[i+1]) {
			return ""
		}
	}
	if len(authors) == 0 {
		return ""
	}
	return "it is the work of " + authors[0]
}

func (p *program) skips(author string) bool {
	return slices.ContainsFunc(p.options.skipAuthors, func(login string) bool { return strings.EqualFold(login, author) })
}

// commit is what is read of a commit.
type commit struct {
	name, email, message string
	isMerge              bool
}

// login returns the login of GitHub that is in the e-mail address, or "".
func (c commit) login() string {
	user, ok := strings.CutSuffix(c.email, "@users.noreply.github.com")
	if !ok {
		return ""
	}
	return user[strings.Index(user, "+")+1:]
}

// commits returns the commits that head has and base lacks.
func (g *git) commits(ctx context.Context, base, head string) (commits []commit) {
	out := g.run(ctx, "log", "-z", "--no-show-signature", "--max-count=1000", "--format=%P%n%an%n%ae%n%B", head, "^"+base)
	for text := range strings.SplitSeq(out, "\x00") {
		if fields := strings.SplitN(text, "\n", 4); len(fields) == 4 {
			commits = append(commits, commit{fields[1], fields[2], fields[3], strings.Contains(fields[0], " ")})
		}
	}
	return commits
}

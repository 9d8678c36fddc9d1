package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

// maxCommits is how many commits of a merge are read.
const maxCommits = 1000

// commit is a commit of a merge.
type commit struct {
	name    string
	parents []string
	// author has the author's names.
	author  []string
	date    time.Time
	message string
}

func (c commit) isMerge() bool { return len(c.parents) > 1 }

// readHistory reads the commits that a merge has brought, the newest first. Of too many it returns only the merge.
func (g *git) readHistory(ctx context.Context, m part) []commit {
	commits := g.readLog(ctx, fmt.Sprintf("--max-count=%d", maxCommits), m.head, "^"+m.base)
	if len(commits) == maxCommits {
		return commits[:1]
	}
	return commits
}

// readLog returns the commits that git log lists.
func (g *git) readLog(ctx context.Context, args ...string) []commit {
	args = append([]string{"log", "-z", "--no-show-signature", "--format=%H%n%P%n%an%n%ae%n%ct%n%B"}, args...)
	out := g.run(ctx, args...)

	var commits []commit
	for text := range strings.SplitSeq(strings.Trim(out, "\x00"), "\x00") {
		fields := strings.SplitN(text, "\n", 6)
		if len(fields) < 6 {
			continue
		}

		seconds, _ := strconv.ParseInt(fields[4], 10, 64) //nolint:errcheck // git has written them
		commits = append(commits, commit{
			name:    fields[0],
			parents: strings.Fields(fields[1]),
			author:  []string{fields[2], fields[3], merges.Login(fields[3])},
			date:    time.Unix(seconds, 0),
			message: fields[5],
		})
	}
	return commits
}

// authorsOf returns the names of each author. The author of a merge commit is whoever merged.
func authorsOf(commits []commit) [][]string {
	var authors [][]string
	for _, c := range commits {
		if !c.isMerge() || len(commits) == 1 {
			authors = append(authors, c.author)
		}
	}
	return authors
}

// judge decides whether a merge is left out, or some of its commits.
func (p *program) judge(ctx context.Context, g *git, m merge) merge {
	commits := g.readHistory(ctx, m.part)
	m.skip = p.whySkip(m, commits)
	if m.skip != "" {
		return m
	}

	s := sieve{p: p, git: g, commits: commits, own: map[string]bool{}, head: m.head}
	for _, c := range commits {
		s.own[c.name] = true
	}
	kept := s.sift(ctx, m.head)
	switch {
	case s.why != "" && len(kept) == 0:
		m.skip = s.why
	case s.why != "":
		m.kept = kept
	}
	return m
}

// sieve takes commits out of a merge whose messages say so.
type sieve struct {
	p   *program
	git *git
	// commits are those that the sieve has not met yet.
	commits []commit
	// own has the names of all commits of the merge.
	own  map[string]bool
	head string
	// out counts the commits that are left out, and why is the reason of the last.
	out int
	why string
}

// sift returns the parts of a line of commits, which ends with tip, that are left.
func (s *sieve) sift(ctx context.Context, tip string) []part {
	line := s.takeLine(tip)
	if len(line) == 0 {
		return nil
	}

	var kept []part
	base := s.before(ctx, line[0])
	for _, c := range line {
		left, isWhole := s.siftCommit(ctx, c)
		if isWhole {
			continue
		}

		before := s.before(ctx, c)
		if base != before {
			kept = append(kept, part{base, before})
		}
		kept = append(kept, left...)
		base = c.name
	}

	if base != tip {
		kept = append(kept, part{base, tip})
	}
	return kept
}

// takeLine takes the commits back from tip by first parents, and returns them with the oldest first.
func (s *sieve) takeLine(tip string) []commit {
	var line []commit
	for {
		at := slices.IndexFunc(s.commits, func(c commit) bool { return c.name == tip })
		if at < 0 {
			break
		}

		c := s.commits[at]
		s.commits = slices.Delete(s.commits, at, at+1)
		line = append(line, c)
		if len(c.parents) == 0 {
			break
		}
		tip = c.parents[0]
	}

	slices.Reverse(line)
	return line
}

func (s *sieve) before(ctx context.Context, c commit) string {
	if len(c.parents) == 0 {
		return s.git.emptyTree(ctx)
	}
	return c.parents[0]
}

// siftCommit returns what is left of a commit, or reports that all of it is. A merge consists of the commits that it
// has brought. What a merge of the main branch has brought is not this merge's, so nothing is left of it.
func (s *sieve) siftCommit(ctx context.Context, c commit) (left []part, isWhole bool) {
	why := s.whyOut(c)
	if why != "" {
		s.why = why
		s.out++
		return nil, false
	}

	before := s.out
	isOwn := true
	for _, side := range c.parents[min(1, len(c.parents)):] {
		left = append(left, s.sift(ctx, side)...)
		isOwn = isOwn && s.own[side]
	}
	return left, isOwn && s.out == before
}

// whyOut says why a commit is left out, or returns "".
func (s *sieve) whyOut(c commit) string {
	line, isListed := merges.NoneLineOfCommit(c.message)
	if isListed {
		s.p.step.Warnf("The line %q of commit %s is about one of the commits that it squashes, whose part nobody can "+
			"tell: it skips nothing.", line, c.name)
	}

	why := s.p.options.skip.WhySkipCommit(c.message)
	if why == merges.None {
		s.p.quoteNone(c.name, line)
	}
	if why != "" && c.name != s.head {
		s.p.step.Printf("Left out commit %s of %s: %s", c.name, s.head, why)
	}
	return why
}

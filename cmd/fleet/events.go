package main

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

// authors lists the authors whose merges fleet leaves out.
type authors struct{ merges.Authors }

// mergeOf returns the merge that an event reports, or why there is none. The push and
// the pull request of one merge name the same commit.
func (a authors) mergeOf(event any) (m merge, why string) {
	switch e := event.(type) {
	case *github.PullRequestEvent:
		return mergeOfPullRequest(e), a.whySkipPullRequest(e)
	case *github.PushEvent:
		return a.mergeOfPush(e)
	}
	return merge{}, "neither a push nor a pull request"
}

func mergeOfPullRequest(e *github.PullRequestEvent) merge {
	pr := e.GetPullRequest()
	return merge{
		Repository: e.GetRepo().GetFullName(),
		SHA:        pr.GetMergeCommitSHA(),
		Pulls:      []int{pr.GetNumber()},
		Title:      pr.GetTitle(),
		Body:       pr.GetBody(),
	}
}

func (a authors) whySkipPullRequest(e *github.PullRequestEvent) string {
	pr := e.GetPullRequest()
	if e.GetAction() != "closed" || !pr.GetMerged() {
		return "not merged"
	}
	if pr.GetBase().GetRef() != e.GetRepo().GetDefaultBranch() {
		return "not merged into the default branch"
	}
	return a.WhySkip(pr.GetBody(), []string{pr.GetUser().GetLogin()})
}

func (a authors) mergeOfPush(e *github.PushEvent) (m merge, why string) {
	m = merge{Repository: e.GetRepo().GetFullName(), SHA: e.GetAfter()}
	if e.GetRef() != "refs/heads/"+e.GetRepo().GetDefaultBranch() {
		return m, "not a push to the default branch"
	}
	if e.GetDeleted() {
		return m, "the branch was deleted"
	}

	pushed := slices.DeleteFunc(e.Commits, func(c *github.HeadCommit) bool { return c == nil })
	commits := a.worthDocumenting(pushed)
	if len(commits) == 0 && len(pushed) > 0 {
		for _, commit := range pushed {
			m.addPull(commit)
		}
		return m, "all of it is the agent's own work, or that of authors to skip"
	}
	for _, commit := range commits {
		m.addCommit(commit)
	}
	return m, ""
}

// addCommit adds a commit of a push to m.
func (m *merge) addCommit(commit *github.HeadCommit) {
	subject, _, _ := strings.Cut(commit.GetMessage(), "\n")
	m.Commits = append(m.Commits, subject)
	m.ids = append(m.ids, commit.GetID())
	m.Files = slices.Concat(m.Files, commit.Added, commit.Modified, commit.Removed)
	m.addPull(commit)
}

// addPull adds the pull request that a commit names.
func (m *merge) addPull(commit *github.HeadCommit) {
	subject, _, _ := strings.Cut(commit.GetMessage(), "\n")
	if number := pullOf(subject); number > 0 && !slices.Contains(m.Pulls, number) {
		m.Pulls = append(m.Pulls, number)
	}
}

var namesPull = regexp.MustCompile(`^Merge pull request #(\d{1,9}) |\(#(\d{1,9})\)\s*$`)

// pullOf returns the number of the pull request that a commit's subject names, or 0.
func pullOf(subject string) int {
	found := namesPull.FindStringSubmatch(subject)
	if found == nil {
		return 0
	}
	number, _ := strconv.Atoi(found[1] + found[2]) //nolint:errcheck // one of them is digits, the other is empty
	return number
}

// worthDocumenting leaves out the work of the authors a and of the agent. That includes the
// merge commit of a pull request with nothing else in it: its author is whoever merged it.
func (a authors) worthDocumenting(commits []*github.HeadCommit) []*github.HeadCommit {
	var worth []*github.HeadCommit
	skipped := false // whether a commit since the last merge commit is left out
	own := false     // whether one is not
	for _, c := range commits {
		isMerge := strings.HasPrefix(c.GetMessage(), "Merge ")
		leave := a.whySkipCommit(c) != "" || isMerge && skipped && !own
		if !leave {
			worth = append(worth, c)
		}

		skipped = !isMerge && (skipped || leave)
		own = !isMerge && (own || !leave)
	}
	return worth
}

func (a authors) whySkipCommit(c *github.HeadCommit) string {
	login := cmp.Or(c.GetAuthor().GetLogin(), merges.Login(c.GetAuthor().GetEmail()))
	return a.WhySkip(c.GetMessage(), []string{c.GetAuthor().GetName(), login})
}

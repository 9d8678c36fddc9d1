package main

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// How much of a merge is told. How many of its commits and files is in merge.tmpl.
const (
	maxTitle  = 200  // bytes of a title, a subject, or a file's name
	maxBody   = 4000 // bytes of a pull request's description
	maxPulls  = 20   // of a merge queue's push
	maxPushed = 100  // commits of a push that are known by their id
)

// merge is what a webhook tells of a merge. All of it is text by others.
type merge struct {
	Repository string // owner/repo
	SHA        string
	Pulls      []int // numbers of the pull requests, as far as they are known
	Title      string
	Body       string
	Commits    []string // subjects
	Files      []string
	ids        []string // of the commits
}

//go:embed merge.tmpl
var mergeTemplate string

// mergePrompt writes a merge into an instruction for the agent. Text by others stands
// in it line by line behind a "> ", which the prompt says is data.
var mergePrompt = template.Must(template.New("merge.tmpl").Funcs(template.FuncMap{
	"line":  func(text string) string { return quoteLines(redact.OneLine(text, maxTitle)) },
	"lines": quoteLines,
}).Parse(mergeTemplate))

func (m merge) text(name string) (string, error) {
	var text strings.Builder
	err := mergePrompt.ExecuteTemplate(&text, name, m)
	return text.String(), err
}

func (m merge) key(sha string) string { return m.Repository + "@" + sha }

// prompt returns what is to be enqueued for m.
func (m merge) prompt(project string, priority int) (prompt, error) {
	if !repository.MatchString(m.Repository) || !isSHA(m.SHA) {
		return prompt{}, fmt.Errorf("the event's repository %.150q or commit %.80q is not one of GitHub's",
			m.Repository, m.SHA)
	}
	text, err := m.text("prompt")
	if err != nil {
		return prompt{}, err
	}
	p := prompt{Key: m.key(m.SHA), Project: project, Prompt: text, Priority: priority}
	var pulls []string
	for _, number := range m.Pulls[:min(len(m.Pulls), maxPulls)] {
		pulls = append(pulls, fmt.Sprintf("%s#%d", m.Repository, number))
	}
	p.Pull = strings.Join(pulls, " ")
	for _, id := range m.ids[:min(len(m.ids), maxPushed)] {
		if isSHA(id) && id != m.SHA {
			p.commits = append(p.commits, m.key(id))
		}
	}
	return p, p.check()
}

// addMerge adds the prompt of a merge. The merge may be known by a push of several: then p gets
// the push's key, and the push's prompt the title and description, unless it is sent already.
func (s store) addMerge(ctx context.Context, p *prompt, m merge) (added int, err error) {
	err = s.QueryRowContext(ctx, "SELECT key FROM fleet_commits WHERE commit_key = $1", p.Key).Scan(&p.Key)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		added, err = s.add(ctx, *p)
	}
	if err != nil || added > 0 {
		return added, err
	}
	text, err := m.text("pull")
	if err != nil || text == "" {
		return 0, err
	}
	r, err := s.records().Get(ctx, p.Key)
	if err != nil || r.State != once.Pending || strings.Contains(r.Prompt, text) || len(r.Prompt)+len(text) > maxPrompt {
		return 0, err
	}
	r.Prompt, r.Version, r.Updated = r.Prompt+text, r.Version+1, time.Now().UTC().Round(0)
	if err = s.records().Put(ctx, r); errors.Is(err, once.ErrConflict) {
		return 0, nil // it is being sent
	}
	return 0, err
}

func isSHA(text string) bool {
	hex := strings.Trim(text, "0123456789abcdef") == ""
	return hex && (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0") != ""
}

// authors are those whose merges are left out.
type authors struct{ merges.Authors }

// mergeOf returns the merge that an event tells of, or why there is none. The push and
// the pull request of one merge name the same commit.
func (a authors) mergeOf(event any) (m merge, why string) {
	switch e := event.(type) {
	case *github.PullRequestEvent:
		return a.mergeOfPullRequest(e)
	case *github.PushEvent:
		return a.mergeOfPush(e)
	}
	return merge{}, "neither a push nor a pull request"
}

func (a authors) mergeOfPullRequest(e *github.PullRequestEvent) (m merge, why string) {
	pr := e.GetPullRequest()
	switch why := a.WhySkip(pr.GetBody(), []string{pr.GetUser().GetLogin()}); {
	case e.GetAction() != "closed" || !pr.GetMerged():
		return merge{}, "not merged"
	case pr.GetBase().GetRef() != e.GetRepo().GetDefaultBranch():
		return merge{}, "not merged into the default branch"
	case why != "":
		return merge{}, why
	}
	return merge{Repository: e.GetRepo().GetFullName(), SHA: pr.GetMergeCommitSHA(),
		Pulls: []int{pr.GetNumber()}, Title: pr.GetTitle(), Body: pr.GetBody()}, ""
}

func (a authors) mergeOfPush(e *github.PushEvent) (m merge, why string) {
	switch {
	case e.GetRef() != "refs/heads/"+e.GetRepo().GetDefaultBranch():
		return merge{}, "not a push to the default branch"
	case e.GetDeleted():
		return merge{}, "the branch was deleted"
	}
	m = merge{Repository: e.GetRepo().GetFullName(), SHA: e.GetAfter()}
	pushed := slices.DeleteFunc(e.Commits, func(c *github.HeadCommit) bool { return c == nil })
	commits := a.worthDocumenting(pushed)
	if len(commits) == 0 && len(pushed) > 0 {
		return merge{}, "all of it is the agent's own work, or that of authors to skip"
	}
	for _, commit := range commits {
		subject, _, _ := strings.Cut(commit.GetMessage(), "\n")
		m.Commits, m.ids = append(m.Commits, subject), append(m.ids, commit.GetID())
		if number := pullOf(subject); number > 0 && !slices.Contains(m.Pulls, number) {
			m.Pulls = append(m.Pulls, number)
		}
		for _, files := range [][]string{commit.Added, commit.Modified, commit.Removed} {
			m.Files = append(m.Files, files...)
		}
	}
	return m, ""
}

var namesPull = regexp.MustCompile(`^Merge pull request #(\d{1,9}) |\(#(\d{1,9})\)\s*$`)

// pullOf returns the number of the pull request that a commit's subject names, or 0.
func pullOf(subject string) int {
	found := append(namesPull.FindStringSubmatch(subject), "", "", "")
	number, _ := strconv.Atoi(found[1] + found[2]) //nolint:errcheck // "" is 0
	return number
}

// worthDocumenting leaves out what a, or the agent, has made: also the merge commit of a
// pull request with nothing else in it, which bears the name of who merged it.
func (a authors) worthDocumenting(commits []*github.HeadCommit) (worth []*github.HeadCommit) {
	skipped, own := false, false // since the last merge commit
	for _, c := range commits {
		isMerge := strings.HasPrefix(c.GetMessage(), "Merge ")
		login := cmp.Or(c.GetAuthor().GetLogin(), merges.Login(c.GetAuthor().GetEmail()))
		why := a.WhySkip(c.GetMessage(), []string{c.GetAuthor().GetName(), login})
		leave := why != "" || isMerge && skipped && !own
		if !leave {
			worth = append(worth, c)
		}
		skipped, own = !isMerge && (skipped || leave), !isMerge && (own || !leave)
	}
	return worth
}

func quoteLines(text string) string {
	if len(text) > maxBody {
		text = strings.ToValidUTF8(text[:maxBody], "") + "\n[truncated]"
	}
	return strings.TrimSuffix(merges.Quote(strings.TrimSpace(text)), "\n")
}

package github

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// How much of a merge is told. How many of its commits and files is in merge.tmpl.
const (
	maxTitle  = 200  // bytes of a title, a subject, or a file's name
	maxBody   = 4000 // bytes of a pull request's description
	maxPulls  = 20   // pull requests in the push of a merge queue
	maxPushed = 100  // commits of a push that are known by their id
)

// Merge is a merge as a webhook reports it. All of it is text by others.
type Merge struct {
	Repository string // owner/repo
	SHA        string
	Pulls      []int // numbers of the pull requests, as far as they are known
	Title      string
	Body       string
	Commits    []string // subjects
	Files      []string
	authors    []string             // their logins
	isMerged   bool                 // into the default branch
	commits    []*github.HeadCommit // of a push
}

//go:embed merge.tmpl
var mergeTemplate string

// mergePrompt writes the instruction for the agent about a merge. Each line of text by others
// begins with "> ", and the prompt says that such lines are data.
var mergePrompt = template.Must(template.New("merge.tmpl").Funcs(template.FuncMap{
	"line":  func(text string) string { return quoteLines(safetext.OneLine(text, maxTitle)) },
	"lines": quoteLines,
}).Parse(mergeTemplate))

func quoteLines(text string) string {
	if len(text) > maxBody {
		text = strings.ToValidUTF8(text[:maxBody], "") + "\n[truncated]"
	}
	return strings.TrimSuffix(merges.Quote(strings.TrimSpace(text)), "\n")
}

func (m Merge) text(name string) (string, error) {
	var text strings.Builder
	err := mergePrompt.ExecuteTemplate(&text, name, m)
	return text.String(), err
}

func (m Merge) key(sha string) string { return database.FoldCase(m.Repository + "@" + sha) }

// Prompt returns what is to be enqueued for m.
func (m Merge) Prompt(project string, priority int) (database.Prompt, error) {
	if !database.RepositoryForm.MatchString(m.Repository) || !isSHA(m.SHA) {
		return database.Prompt{}, fmt.Errorf("the event's repository %.150q or commit %.80q is not one of GitHub's",
			m.Repository, m.SHA)
	}
	text, err := m.text("prompt")
	if err != nil {
		return database.Prompt{}, err
	}

	p := database.Prompt{
		Key:      m.key(m.SHA),
		Project:  project,
		Prompt:   text,
		Pull:     m.pulls(),
		Priority: priority,
		Commits:  m.otherCommits(),
		Authors:  m.authors,
	}
	return p, p.Check()
}

// pulls returns the pull requests of m as a prompt names them.
func (m Merge) pulls() string {
	var pulls []string
	for _, number := range m.Pulls[:min(len(m.Pulls), maxPulls)] {
		pulls = append(pulls, m.pull(number))
	}
	return strings.Join(pulls, " ")
}

func (m Merge) pull(number int) string {
	return fmt.Sprintf("%s#%d", database.FoldCase(m.Repository), number)
}

func (m Merge) otherCommits() []string {
	var keys []string
	for _, c := range m.commits[:min(len(m.commits), maxPushed)] {
		if isSHA(c.GetID()) && c.GetID() != m.SHA {
			keys = append(keys, m.key(c.GetID()))
		}
	}
	return keys
}

func isSHA(text string) bool {
	hex := strings.Trim(text, "0123456789abcdef") == ""
	return hex && (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0") != ""
}

// mergeOfPullRequest returns the merge that an event reports, or why there is none. The push and the pull request of
// one merge name the same commit.
func mergeOfPullRequest(e *github.PullRequestEvent, skip merges.Authors) (m Merge, why string) {
	pr := e.GetPullRequest()
	m = Merge{
		Repository: e.GetRepo().GetFullName(),
		SHA:        pr.GetMergeCommitSHA(),
		Pulls:      []int{pr.GetNumber()},
		Title:      pr.GetTitle(),
		Body:       pr.GetBody(),
		authors:    []string{database.FoldCase(pr.GetUser().GetLogin())},
	}

	if e.GetAction() != "closed" || !pr.GetMerged() {
		return m, "not merged"
	}
	if pr.GetBase().GetRef() != e.GetRepo().GetDefaultBranch() {
		return m, "not merged into the default branch"
	}

	m.isMerged = true
	return m, skip.WhySkip(pr.GetBody(), []string{pr.GetUser().GetLogin()})
}

func mergeOfPush(e *github.PushEvent, skip merges.Authors) (m Merge, why string) {
	m = Merge{Repository: e.GetRepo().GetFullName(), SHA: e.GetAfter()}
	if e.GetRef() != "refs/heads/"+e.GetRepo().GetDefaultBranch() {
		return m, "not a push to the default branch"
	}
	if e.GetDeleted() {
		return m, "the branch was deleted"
	}

	m.isMerged = true
	pushed := slices.DeleteFunc(e.Commits, func(c *github.HeadCommit) bool { return c == nil })
	if len(pushed) == 0 {
		m.isMerged = false
		return m, "the push has no commits"
	}

	commits := worthDocumenting(pushed, skip)
	if len(commits) == 0 {
		commits = pushed
		why = "all of it is the agent's own work, or that of authors to skip"
		saysNone := func(c *github.HeadCommit) bool { return whySkip(c, skip) == merges.None }
		if slices.ContainsFunc(pushed, saysNone) {
			why = merges.None
		}
	}

	m.setCommits(commits)
	return m, why
}

// setCommits has the merge tell of commits.
func (m *Merge) setCommits(commits []*github.HeadCommit) {
	m.commits = commits
	for _, commit := range commits {
		m.Commits = append(m.Commits, subjectOf(commit))
		m.Files = slices.Concat(m.Files, commit.Added, commit.Modified, commit.Removed)

		login := database.FoldCase(loginOf(commit))
		if !slices.Contains(m.authors, login) && len(m.authors) < maxPushed {
			m.authors = append(m.authors, login)
		}
		if number := pullOf(commit); number > 0 && !slices.Contains(m.Pulls, number) {
			m.Pulls = append(m.Pulls, number)
		}
	}
}

func subjectOf(commit *github.HeadCommit) string {
	subject, _, _ := strings.Cut(commit.GetMessage(), "\n")
	return subject
}

// pullOf returns the number of the pull request in a commit's subject, 0 if there is none.
func pullOf(commit *github.HeadCommit) int {
	found := namesPull.FindStringSubmatch(subjectOf(commit))
	if found == nil {
		return 0
	}
	number, _ := strconv.Atoi(found[1] + found[2]) //nolint:errcheck // one of them is digits, the other is empty
	return number
}

// without returns the merge that a push is, less the commits that a prompt has already; known has these prompts by the
// ids of the commits. A commit whose subject names no pull request is part of the same one as the commit after it. If
// a prompt has that commit, joins lists the key of this one under the key of the prompt.
func (m Merge) without(known map[string]database.Row) (rest Merge, joins map[string][]string) {
	joins = map[string][]string{}
	var left []*github.HeadCommit
	var owner database.Row
	for _, c := range slices.Backward(m.commits) {
		row := known[c.GetID()]
		switch number := pullOf(c); {
		case row.Key != "":
			owner = row
			continue
		case number > 0 && !slices.Contains(strings.Fields(owner.Pulls), m.pull(number)):
			owner = database.Row{}
		}

		if owner.Key == "" {
			left = append(left, c)
		} else {
			joins[owner.Key] = append(joins[owner.Key], m.key(c.GetID()))
		}
	}
	slices.Reverse(left)

	rest = Merge{Repository: m.Repository, SHA: m.SHA, isMerged: m.isMerged}
	rest.setCommits(left)
	isHeadKnown := known[m.SHA].Key != ""
	if isHeadKnown && len(left) > 0 {
		rest.SHA = left[len(left)-1].GetID()
	}
	return rest, joins
}

// namesPull matches a commit's subject with the number of its pull request.
var namesPull = regexp.MustCompile(`^Merge pull request #([1-9]\d{0,8}) |\(#([1-9]\d{0,8})\)\s*$`)

// worthDocumenting leaves out the work of authors to skip and of the agent. That includes the merge commit of a pull
// request with nothing else in it, whose author is whoever merged it, and what others have added to a branch of the
// agent.
func worthDocumenting(commits []*github.HeadCommit, skip merges.Authors) []*github.HeadCommit {
	var worth []*github.HeadCommit
	begin := 0       // in worth, of what the next merge commit may have brought
	skipped := false // whether a part of that is left out
	for _, c := range commits {
		if merges.IsOfAgentsBranch(c.GetMessage()) {
			worth = worth[:begin]
		}

		isMerge := strings.HasPrefix(c.GetMessage(), "Merge ")
		leave := whySkip(c, skip) != "" || isMerge && skipped && len(worth) == begin
		if !leave {
			worth = append(worth, c)
		}

		skipped = skipped || leave
		if isMerge || pullOf(c) > 0 { // it is a pull request of its own
			begin = len(worth)
			skipped = false
		}
	}
	return worth
}

func whySkip(c *github.HeadCommit, skip merges.Authors) string {
	return skip.WhySkipCommit(c.GetMessage(), []string{c.GetAuthor().GetName(), loginOf(c)})
}

func loginOf(c *github.HeadCommit) string {
	return cmp.Or(c.GetAuthor().GetLogin(), merges.Login(c.GetAuthor().GetEmail()))
}

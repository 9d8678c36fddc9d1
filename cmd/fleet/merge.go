package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// How much of a merge is told. How many of its commits and files is in merge.tmpl.
const (
	maxTitle  = 200  // bytes of a title, a subject, or a file's name
	maxBody   = 4000 // bytes of a pull request's description
	maxPulls  = 20   // pull requests in the push of a merge queue
	maxPushed = 100  // commits of a push that are known by their id
)

// merge is a merge as a webhook reports it. All of it is text by others.
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

// mergePrompt writes the instruction for the agent about a merge. Each line of text by others
// begins with "> ", and the prompt says that such lines are data.
var mergePrompt = template.Must(template.New("merge.tmpl").Funcs(template.FuncMap{
	"line":  func(text string) string { return quoteLines(redact.OneLine(text, maxTitle)) },
	"lines": quoteLines,
}).Parse(mergeTemplate))

func quoteLines(text string) string {
	if len(text) > maxBody {
		text = strings.ToValidUTF8(text[:maxBody], "") + "\n[truncated]"
	}
	return strings.TrimSuffix(merges.Quote(strings.TrimSpace(text)), "\n")
}

// text returns one of the texts in merge.tmpl.
func (m merge) text(name string) (string, error) {
	var text strings.Builder
	err := mergePrompt.ExecuteTemplate(&text, name, m)
	return text.String(), err
}

func (m merge) key(sha string) string { return foldCase(m.Repository + "@" + sha) }

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

	p := prompt{
		Key:      m.key(m.SHA),
		Project:  project,
		Prompt:   text,
		Pull:     m.pulls(),
		Priority: priority,
		commits:  m.otherCommits(),
	}
	return p, p.check()
}

// pulls returns the pull requests of m as a prompt names them.
func (m merge) pulls() string {
	var pulls []string
	for _, number := range m.Pulls[:min(len(m.Pulls), maxPulls)] {
		pulls = append(pulls, fmt.Sprintf("%s#%d", foldCase(m.Repository), number))
	}
	return strings.Join(pulls, " ")
}

// otherCommits returns the keys of the commits of m but its last.
func (m merge) otherCommits() []string {
	var keys []string
	for _, id := range m.ids[:min(len(m.ids), maxPushed)] {
		if isSHA(id) && id != m.SHA {
			keys = append(keys, m.key(id))
		}
	}
	return keys
}

func isSHA(text string) bool {
	hex := strings.Trim(text, "0123456789abcdef") == ""
	return hex && (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0") != ""
}

// addMerge adds the prompt of a merge, and reports whether it is new. The merge may be known by a
// push of several: then p gets the push's key, and the push's prompt the title and description.
func (s store) addMerge(ctx context.Context, p *prompt, m merge) (bool, error) {
	err := s.QueryRowContext(ctx, "SELECT key FROM fleet_commits WHERE commit_key = $1", p.Key).Scan(&p.Key)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}

	known, err := s.add(ctx, *p)
	if err != nil || len(known) == 0 {
		return err == nil, err
	}

	text, err := m.text("pull")
	if err != nil || text == "" {
		return false, err
	}
	return false, s.extendPrompt(ctx, p.Key, text)
}

// extendPrompt adds text to a prompt, unless it is sent already.
func (s store) extendPrompt(ctx context.Context, key, text string) error {
	r, err := s.records().Get(ctx, key)
	if err != nil {
		return err
	}
	if r.State != once.Pending || strings.Contains(r.Prompt, text) || len(r.Prompt)+len(text) > maxPrompt {
		return nil
	}

	r.Prompt += text
	err = s.putNext(ctx, s.DB, r, "title and description added")
	if errors.Is(err, once.ErrConflict) {
		return nil // it is being sent
	}
	return err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/once"
)

// What a run cannot do without. The finding of the record also says where it is.
const (
	aboutService = "key and project"
	aboutRecord  = "record"
)

const (
	checkedCommits = 30
	longPending    = 24 * time.Hour
)

// finding is what a check has found about one part of the set-up.
type finding struct {
	about string
	// outcome is [checked], [ci.SetUp] or [ci.NotStarted]. "" says that nothing was asked.
	outcome ci.Outcome
	// text says what was found, or why nothing was asked.
	text string
}

func (f finding) String() string {
	verdict := "not checked"
	switch f.outcome {
	case checked:
		verdict = "ok"
	case ci.SetUp:
		verdict = "wrong"
	case ci.NotStarted:
		verdict = "no response"
	}
	return f.about + ": " + verdict + ": " + f.text
}

// found is a finding whose question had an error or, without one, the response that text describes.
func found(about string, err error, text string) finding {
	if err == nil {
		return finding{about: about, outcome: checked, text: text}
	}

	outcome := ci.OutcomeOf(err)
	if errors.As(err, new(*refusal)) { // a wrong token is not an outage
		outcome = ci.SetUp
	}
	return finding{about: about, outcome: outcome, text: err.Error()}
}

func notChecked(about, why string) finding { return finding{about: about, text: why} }

// reportChecks checks the set-up instead of documenting a change, and returns the exit code.
func (p *program) reportChecks(ctx context.Context) int {
	outcome := checked
	var lines strings.Builder
	for _, f := range p.check(ctx) {
		fmt.Fprintln(&lines, f)
		if f.outcome == ci.SetUp || f.outcome == ci.NotStarted && outcome == checked {
			outcome = f.outcome
		}
	}

	text := meanings[checked].words
	if outcome != checked {
		text = "A check failed: see the lines that say wrong or no response"
	}
	return p.step.Report(ci.Result{
		Outcome: outcome,
		Text:    text,
		Outputs: [][2]string{{"outcome", string(outcome)}, {"job-id", ""}, {"pr-link", ""}},
		Stdout:  lines.String(),
		Summary: p.step.Code(lines.String()),
	})
}

// logChecks checks the set-up beside a dry run. Its error says what a run that sends the prompt would end at.
func (p *program) logChecks(ctx context.Context) error {
	var err error
	for _, f := range p.check(ctx) {
		p.step.Printf("%v", f)
		isNeeded := f.about == aboutService || strings.HasPrefix(f.about, aboutRecord)
		if isNeeded && f.outcome == ci.SetUp && err == nil {
			err = usage.Errorf("%v", f)
		}
	}
	return err
}

// check asks about each part of the set-up. It makes no job and writes no status.
func (p *program) check(ctx context.Context) []finding {
	findings := []finding{p.checkService(ctx)}

	g := p.git
	head := g.commit(ctx, "HEAD")
	if head == "" {
		return append(findings, found("clone", g.err, ""))
	}

	c := change{head: head, base: head, repository: p.findRepository(ctx, g)}
	findings = append(findings, p.checkTemplate(c), p.checkPaths(ctx, c))
	if c.repository == "" {
		return append(findings, found("repository", errNoRepository, ""))
	}
	findings = append(findings, p.checkPulls(ctx, c), p.checkDocs(ctx, c))

	records, record := p.checkRecord(ctx, c)
	findings = append(findings, record)
	if records.store == nil {
		return append(findings, notChecked("commits", "there is no record to read"))
	}
	return append(findings, p.checkCommits(ctx, c, records))
}

// checkService asks the question that package once asks before it sends a prompt.
func (p *program) checkService(ctx context.Context) finding {
	const about = aboutService
	if p.options.dryRun && usage.Keys(p.step.Getenv) != nil {
		return notChecked(about, "no key")
	}
	client, err := p.step.Connect()
	if err != nil {
		return found(about, err, "")
	}

	_, err = client.Jobs.Get(ctx, "preflight")
	var response *mintlify.APIError
	if errors.As(err, &response) && response.StatusCode == http.StatusNotFound {
		return found(about, nil, "the service knows them, as far as it tells without a job")
	}
	if err == nil {
		err = errors.New("it has a job that cannot exist, so something else must have responded: " +
			"is MINTLIFY_BASE_URL right?")
	}
	if ci.OutcomeOf(err) == ci.SetUp {
		err = fmt.Errorf("%w. Compare both with the API keys page of the dashboard: a new key ends after 90 days", err)
	}
	return found(about, err, "")
}

func (p *program) checkTemplate(c change) finding {
	if c.repository == "" {
		c.repository = exampleRepository
	}
	_, err := p.makePrompt(c)
	return found("template", err, "it makes a prompt")
}

func (p *program) checkPaths(ctx context.Context, c change) finding {
	if len(p.options.paths) == 0 {
		return notChecked("paths", "none are given")
	}

	g := p.git
	unmatched := p.unmatchedPaths(ctx, &g, c.head)
	err := g.err
	if len(unmatched) > 0 {
		err = fmt.Errorf("%q match no file of commit %s: were they renamed?", unmatched, c.head)
	}
	return found("paths", err, fmt.Sprintf("each matches files of commit %s", c.head))
}

// checkPulls asks whether the token may read pull requests, which say what is to be skipped.
func (p *program) checkPulls(ctx context.Context, c change) finding {
	lookup := p.newPulls(c.repository)
	if lookup.isBlind {
		return notChecked("pull requests", "GitHub does not run this, or GITHUB_TOKEN and -repository are not given")
	}
	_, err := lookup.ask(ctx, c.head)
	return found("pull requests", err, "the token may read those of "+c.repository)
}

// checkDocs asks whether a run can look for the pull request of a lost response.
func (p *program) checkDocs(ctx context.Context, c change) finding {
	const about = "docs-repository"
	if p.options.docsRepository == "" {
		return notChecked(about, "it is not given")
	}

	look := p.newFinder(ctx, c)
	if look == nil {
		return notChecked(about, "a run does not look there on GitLab, or without GITHUB_DOCS_TOKEN or GITHUB_TOKEN")
	}
	_, err := docspulls.Page(ctx, look.get, look.repository, 1)
	return found(about, err, "the token may read the pull requests of "+look.repository)
}

// checkRecord asks whether the record of jobs can be read, and returns its place. The place has no store if the
// record cannot be read, or does not exist yet.
func (p *program) checkRecord(ctx context.Context, c change) (place, finding) {
	about := aboutRecord + " in " + p.options.state
	if p.options.state == "" && p.fromGitHub(ctx) {
		about = aboutRecord + " in statuses"
	} else if !strings.HasPrefix(p.options.state, "git:") {
		dir, err := dirOf(p.options.state)
		if err != nil {
			return place{}, found(aboutRecord, err, "")
		}
		about = aboutRecord + " in " + dir
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return place{}, found(about, nil, "the first run makes the folder")
		}
	}

	opened, err := p.openPlace(ctx, c)
	if err == nil {
		_, err = opened.store.Get(ctx, c.recordKey(""))
	}
	if err != nil {
		return place{}, found(about, err, "")
	}
	return opened, found(about, nil, "it can be read; the first run shows whether it can be written")
}

// tally counts commits by what is on record of them.
type tally struct {
	// known are those with a record or a skip.
	known int
	// pending are those whose job should have ended long ago.
	pending []string
}

// checkCommits counts how many of the newest commits of the default branch have a record.
func (p *program) checkCommits(ctx context.Context, c change, records place) finding {
	const about = "commits"
	projectID := strings.TrimSpace(p.step.Getenv("MINTLIFY_PROJECT_ID"))
	if projectID == "" {
		return notChecked(about, "MINTLIFY_PROJECT_ID is not set")
	}

	g := p.git
	branch := p.defaultBranch(ctx, g)
	newest := fmt.Sprintf("--max-count=%d", checkedCommits)
	commits := strings.Fields(g.run(ctx, "rev-list", "--first-parent", newest, branch))
	if g.err != nil {
		return found(about, g.err, "")
	}

	var t tally
	for _, commit := range commits {
		c.head = commit
		if err := p.count(ctx, &t, c, c.recordKey(projectID), records); err != nil {
			return found(about, err, "")
		}
	}

	text := fmt.Sprintf("of the last %d of %s, %d have a record or a skip", len(commits), branch, t.known)
	switch {
	case len(t.pending) > 0:
		pending := strings.Join(t.pending, ", ")
		text += ". Pending for more than a day, so run again for: " + pending
		p.step.Warnf("Commits are pending for more than a day: run again for %s", pending)
	case t.known == 0:
		text += ". Does the step run on this branch, or was the branch renamed?"
	case t.known < len(commits):
		text += " (in the middle of a push there is none)"
	}
	return found(about, nil, text)
}

// count adds a commit to a tally.
func (p *program) count(ctx context.Context, t *tally, c change, key string, records place) error {
	var err error
	hasSkip := false
	if records.statuses != nil { // those of another commit
		records, err = p.openStatuses(c)
		if err != nil {
			return err
		}

		_, newest, err := records.statuses.readAll(ctx, key)
		if err != nil {
			return err
		}
		hasSkip = newest.Description != ""
	}

	record, err := records.store.Get(ctx, key)
	if err != nil {
		return err
	}

	if record.Version > 0 || hasSkip {
		t.known++
	}
	isAtWork := record.State == once.Running || record.State == once.Sending
	if isAtWork && time.Since(record.UpdatedAt) > longPending {
		t.pending = append(t.pending, c.head)
	}
	return nil
}

// defaultBranch returns the default branch as this clone has it, else HEAD.
func (p *program) defaultBranch(ctx context.Context, g git) string {
	name := p.step.Getenv("CI_DEFAULT_BRANCH") // GitLab's
	if e, err := readEvent(p.step.Getenv("GITHUB_EVENT_PATH")); err == nil {
		name = cmp.Or(e.Repository.DefaultBranch, name)
	}

	for _, branch := range []string{"refs/remotes/origin/" + name, "refs/remotes/origin/HEAD"} {
		if g.find(ctx, branch) != "" {
			return branch
		}
	}
	return "HEAD"
}

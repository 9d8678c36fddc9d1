package main

import (
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

var verdicts = map[ci.Outcome]string{
	checked:       "ok",
	ci.SetUp:      "wrong",
	ci.NotStarted: "no response",
	"":            "not checked",
}

func (f finding) String() string { return f.about + ": " + verdicts[f.outcome] + ": " + f.text }

// found is a finding whose question had an error or, without one, the response that text describes.
func found(about string, err error, text string) finding {
	if err == nil {
		return finding{about: about, outcome: checked, text: text}
	}

	outcome := ci.OutcomeOf(err)
	var failed *responseError
	if errors.As(err, &failed) && !failed.mayPass { // a wrong token is not an outage
		outcome = ci.SetUp
	}
	return finding{about: about, outcome: outcome, text: err.Error()}
}

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
	_, err := p.makePrompt(c)
	findings = append(findings, found("template", err, "it makes a prompt"), p.checkPaths(ctx, c))
	if c.repository == "" {
		return append(findings, found("repository", errNoRepository, ""))
	}
	findings = append(findings, p.checkPulls(ctx, c), p.checkDocs(ctx, c))

	store, record := p.checkRecord(ctx, c)
	findings = append(findings, record)
	if store == nil {
		return append(findings, finding{about: "commits", text: "there is no record to read"})
	}
	return append(findings, p.checkCommits(ctx, c, store))
}

// checkService asks the question that package once asks before it sends a prompt.
func (p *program) checkService(ctx context.Context) finding {
	if p.options.dryRun && usage.Keys(p.step.Getenv) != nil {
		return finding{about: aboutService, text: "no key"}
	}
	client, err := p.step.Connect()
	if err != nil {
		return found(aboutService, err, "")
	}

	_, err = client.Jobs.Get(ctx, "preflight")
	var response *mintlify.APIError
	switch {
	case errors.As(err, &response) && response.StatusCode == http.StatusNotFound:
		err = nil
	case err == nil:
		err = errors.New("it has a job that cannot exist, so something else must have responded: " +
			"is MINTLIFY_BASE_URL right?")
	case ci.OutcomeOf(err) == ci.SetUp:
		err = fmt.Errorf("%w. Compare both with the API keys page of the dashboard: a new key ends after 90 days", err)
	}
	return found(aboutService, err, "the service knows them, as far as it tells without a job")
}

func (p *program) checkPaths(ctx context.Context, c change) finding {
	if len(p.options.paths) == 0 {
		return finding{about: "paths", text: "none are given"}
	}

	g := p.git
	unmatched := p.unmatchedPaths(ctx, &g, c.head)
	err := g.err
	if len(unmatched) > 0 {
		err = fmt.Errorf("%q match no file of commit %s: were they renamed?", unmatched, c.head)
	}
	return found("paths", err, "each matches files of commit "+c.head)
}

// checkPulls asks whether the token may read pull requests, which say what is to be skipped.
func (p *program) checkPulls(ctx context.Context, c change) finding {
	const about = "pull requests"
	if !p.onGitHub() {
		return finding{about: about, text: "GitHub does not run this, or GITHUB_TOKEN and -repository are not given"}
	}
	_, err := p.askForPulls(ctx, c.repository, c.head)
	return found(about, err, "the token may read those of "+c.repository)
}

// checkDocs asks whether a run can look for the pull request of a lost response.
func (p *program) checkDocs(ctx context.Context, c change) finding {
	const about = "docs-repository"
	if p.options.docsRepository == "" {
		return finding{about: about, text: "it is not given"}
	}

	look := p.newFinder(ctx, c)
	if look == nil {
		const why = "a run does not look there on GitLab, or without GITHUB_DOCS_TOKEN or GITHUB_TOKEN"
		return finding{about: about, text: why}
	}
	_, err := docspulls.Page(ctx, look.api.get, look.api.repository, 1)
	return found(about, err, "the token may read the pull requests of "+look.api.repository)
}

// checkRecord asks whether the record of jobs can be read, and returns its store: nil if the record cannot be
// read, or does not exist yet.
func (p *program) checkRecord(ctx context.Context, c change) (once.Store, finding) {
	about := aboutRecord + " in " + p.options.state
	if p.options.state == "" && p.fromGitHub(ctx) {
		about = aboutRecord + " in statuses"
	} else if !strings.HasPrefix(p.options.state, "git:") {
		dir, err := p.stateDir()
		if err != nil {
			return nil, found(aboutRecord, err, "")
		}
		about = aboutRecord + " in " + dir
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return nil, found(about, nil, "the first run makes the folder")
		}
	}

	store, _, err := p.openStore(ctx, c)
	if err == nil {
		_, err = store.Get(ctx, c.key(""))
	}
	if err != nil {
		return nil, found(about, err, "")
	}
	return store, found(about, nil, "it can be read; the first run shows whether it can be written")
}

// checkCommits counts how many of the newest commits of the default branch have a record or a skip. It names those
// whose job should have ended long ago.
func (p *program) checkCommits(ctx context.Context, c change, store once.Store) finding {
	const about = "commits"
	projectID := strings.TrimSpace(p.step.Getenv("MINTLIFY_PROJECT_ID"))
	if projectID == "" {
		return finding{about: about, text: "MINTLIFY_PROJECT_ID is not set"}
	}

	g := p.git
	branch := p.defaultBranch(ctx, g)
	newest := fmt.Sprintf("--max-count=%d", checkedCommits)
	commits := strings.Fields(g.run(ctx, "rev-list", "--first-parent", newest, branch))
	if g.err != nil {
		return found(about, g.err, "")
	}

	known := 0
	var pending []string
	for _, commit := range commits {
		c.head = commit
		record, isKnown, err := p.recordOf(ctx, c, c.key(projectID), store)
		if err != nil {
			return found(about, err, "")
		}

		if isKnown {
			known++
		}
		if isLongPending(record) {
			pending = append(pending, commit)
		}
	}
	return found(about, nil, p.sayCommits(len(commits), branch, known, pending))
}

// isLongPending reports whether the job of a record should have ended long ago.
func isLongPending(r once.Record) bool {
	isAtWork := r.State == once.Running || r.State == once.Sending
	return isAtWork && time.Since(r.UpdatedAt) > longPending
}

func (p *program) sayCommits(all int, branch string, known int, pending []string) string {
	text := fmt.Sprintf("of the last %d of %s, %d have a record or a skip", all, branch, known)
	switch {
	case len(pending) > 0:
		names := strings.Join(pending, ", ")
		text += ". Pending for more than a day, so run again for: " + names
		p.step.Warnf("Commits are pending for more than a day: run again for %s", names)
	case known == 0:
		text += ". Does the step run on this branch, or was the branch renamed?"
	case known < all:
		text += " (in the middle of a push there is none)"
	}
	return text
}

// recordOf returns the record of a change, and whether there is one or a skip. Statuses are of a commit each, so for
// them store is another one.
func (p *program) recordOf(ctx context.Context, c change, key string, store once.Store) (once.Record, bool, error) {
	if p.options.state != "" || !p.fromGitHub(ctx) {
		record, err := store.Get(ctx, key)
		return record, record.Version > 0, err
	}

	s, err := p.openStatuses(c)
	if err != nil {
		return once.Record{}, false, err
	}
	versions, newest, err := s.readAll(ctx, key)
	if err != nil || len(versions) == 0 {
		return once.Record{}, newest.Description != "", err
	}
	return versions[len(versions)-1], true, nil
}

// defaultBranchName returns the name of the default branch, or "" if nobody knows it.
func (p *program) defaultBranchName(ctx context.Context, g git) string {
	e, err := readEvent(p.step.Getenv("GITHUB_EVENT_PATH"))
	if err == nil && e.Repository.DefaultBranch != "" {
		return e.Repository.DefaultBranch
	}
	if name := p.step.Getenv("CI_DEFAULT_BRANCH"); name != "" { // GitLab's
		return name
	}

	name := g.run(ctx, "rev-parse", "--abbrev-ref", "--verify", "--quiet", "refs/remotes/origin/HEAD")
	return strings.TrimPrefix(name, "origin/")
}

// defaultBranch returns the default branch as this clone has it, else HEAD.
func (p *program) defaultBranch(ctx context.Context, g git) string {
	name := p.defaultBranchName(ctx, g)
	for _, branch := range []string{"refs/remotes/origin/" + name, "refs/remotes/origin/HEAD"} {
		if g.find(ctx, branch) != "" {
			return branch
		}
	}
	return "HEAD"
}

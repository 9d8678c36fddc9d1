package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
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

// finding is what a check has found about one part of the set-up.
type finding struct {
	about string
	// outcome is [checked], [ci.SetUp], [ci.NotStarted] or, for merges that a person should see, [ci.Failed]. "" says
	// that nothing was asked.
	outcome ci.Outcome
	// text says what was found, or why nothing was asked.
	text string
}

var verdicts = map[ci.Outcome]string{
	checked:       "ok",
	ci.SetUp:      "wrong",
	ci.NotStarted: "no response",
	ci.Failed:     "look",
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
	var outcomes []ci.Outcome
	var lines strings.Builder
	for _, f := range p.check(ctx) {
		fmt.Fprintln(&lines, f)
		outcomes = append(outcomes, f.outcome)
	}

	text := meanings[checked].words
	worst := firstOf(outcomes, ci.SetUp, ci.Failed, ci.NotStarted)
	if worst != "" {
		text = "A check failed: see the lines that say wrong, look or no response"
	}

	outcome := cmp.Or(worst, checked)
	if worst == ci.Failed { // the check itself has not
		outcome = checked
	}
	return p.step.Report(ci.Result{
		Outcome: outcome,
		Like:    worst,
		Text:    text,
		Outputs: [][2]string{{"outcome", string(outcome)}, {"job-id", ""}, {"pr-link", ""}},
		Stdout:  lines.String(),
		Summary: p.step.Code(lines.String()),
	})
}

// firstOf returns the first of some outcomes, in an order, that is among all, or "".
func firstOf(all []ci.Outcome, order ...ci.Outcome) ci.Outcome {
	for _, outcome := range order {
		if slices.Contains(all, outcome) {
			return outcome
		}
	}
	return ""
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
	return append(findings, p.checkCommits(ctx, c, store)...)
}

// checkService asks the question that package once asks before it sends a prompt.
func (p *program) checkService(ctx context.Context) finding {
	if p.options.dryRun && usage.Keys(p.step.Getenv) != nil {
		return finding{about: aboutService, text: "no key"}
	}
	client, err := p.step.Client()
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

// class is a kind of record.
type class struct {
	name string
	// advice says what a person should do. It is "" if nobody needs to.
	advice string
	has    func(e entry) bool
}

const (
	longPending = time.Hour
	longRunning = 24 * time.Hour
	longAgo     = 7 * 24 * time.Hour
)

// The first class that has a record counts.
var classes = []class{
	{"unknown", "a job may exist: look for it, or give catch-up with a docs-repository", func(e entry) bool {
		return e.state() == once.Unknown
	}},
	{"not-started for more than an hour", "run again, or give catch-up", func(e entry) bool {
		isOld := time.Since(e.commit.date) > longRunning // each attempt makes the record young again
		return e.state() == once.Pending && (isOld || !e.isYoungerThan(longPending))
	}},
	{"failed within 7 days", "look at the job, then run with again", func(e entry) bool {
		return e.state() == once.Failed && e.isYoungerThan(longAgo)
	}},
	{"refused within 7 days", "mend what the log says, then run again", func(e entry) bool {
		return e.state() == once.Refused && e.isYoungerThan(longAgo)
	}},
	{"running for more than a day", "run again, or give catch-up", func(e entry) bool {
		return e.state() == once.Running && !e.isYoungerThan(longRunning)
	}},
	{"at work", "", func(e entry) bool { return e.state().IsOpen() }},
}

// checkCommits counts how many of the newest commits have a record or a skip, and names those that a person should see.
func (p *program) checkCommits(ctx context.Context, c change, store once.Store) []finding {
	const about = "commits"
	projectID := strings.TrimSpace(p.step.Getenv("MINTLIFY_PROJECT_ID"))
	if projectID == "" {
		return []finding{{about: about, text: "MINTLIFY_PROJECT_ID is not set"}}
	}

	ledgers, err := p.readLedgers(ctx, c, projectID, store)
	if err != nil {
		return []finding{found(about, err, "")}
	}

	var findings []finding
	for _, l := range ledgers {
		findings = append(findings, p.countCommits(l))
		findings = append(findings, p.classify(l)...)

		old, young, err := p.withoutRecord(ctx, l)
		if err != nil {
			findings = append(findings, found("no record", err, ""))
		}
		if len(old) > 0 {
			findings = append(findings, p.show("no record", old, "no run has seen these: run with their base and head"))
		}
		if len(young) > 0 {
			findings = append(findings, found("no record yet", nil, strings.Join(young, ", ")))
		}
	}
	return findings
}

// countCommits says how many commits of a branch have a record or a skip.
func (p *program) countCommits(l ledger) finding {
	known := 0
	for _, e := range l.commits {
		if e.isKnown {
			known++
		}
	}

	text := fmt.Sprintf("of the last %d of %s, %d have a record or a skip", len(l.commits), l.ref, known)
	if known == 0 {
		text += ". Is this the first day, does the step not run on this branch, or was the branch renamed?"
		p.warnOf("No merge has a record", text)
	}
	return found("commits", nil, text)
}

// classify returns what a person should see of the records of a branch, and a line for what is at work.
func (p *program) classify(l ledger) []finding {
	named := map[string][]string{} // by class
	for _, e := range slices.Concat(l.commits, l.tags) {
		at := slices.IndexFunc(classes, func(c class) bool { return c.has(e) })
		if at >= 0 {
			name := classes[at].name
			named[name] = append(named[name], e.name())
		}
	}

	var findings []finding
	for _, class := range classes {
		names := named[class.name]
		switch {
		case len(names) == 0:
		case class.advice == "":
			findings = append(findings, found(class.name, nil, strings.Join(names, ", ")))
		default:
			findings = append(findings, p.show(class.name, names, class.advice))
		}
	}
	return findings
}

// show warns of merges that a person should see.
func (p *program) show(about string, names []string, advice string) finding {
	text := strings.Join(names, ", ") + ": " + advice
	p.warnOf(about, text)
	return finding{about: about, outcome: ci.Failed, text: text}
}

// warnOf warns of what a check has found. A dry run is about one merge, and only logs it.
func (p *program) warnOf(about, text string) {
	if p.options.check {
		p.step.Warnf("%s: %s", about, text)
	}
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
	if err != nil || len(versions) == 0 { // a dry run, or a download that failed, leaves a status that is no skip
		return once.Record{}, strings.HasPrefix(newest.Description, meanings[skipped].words), err
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

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// row is a merge that an earlier run has left behind, and what became of it.
type row struct {
	entry  entry
	ledger ledger
	// at is the place in the ledger, or -1 for a tag.
	at int
	// result is what this run has got by sending, waiting or looking. It counts if listed is "".
	result result
	// listed says why the merge is only listed.
	listed string
}

func (r row) outcome() ci.Outcome { return outcomeOf(r.result.record, r.result.err) }

// is says what became of the merge in one word.
func (r row) is() string {
	if r.listed != "" {
		return "listed"
	}
	return string(r.outcome())
}

func (p *program) textOf(r row) string {
	if r.listed != "" {
		return r.listed
	}
	return p.explain(r.outcome(), p.step.Link(r.result.record.PRLink), r.entry.change, r.result)
}

// reportCatchUp finishes what earlier runs have left behind, and returns the exit code.
func (p *program) reportCatchUp(ctx context.Context) int {
	rows, missing, err := p.catchUp(ctx)
	if err != nil {
		return p.report(change{}, result{err: err})
	}

	var outcomes []ci.Outcome
	var listed []string
	table := "| head | base | was | is | |\n|---|---|---|---|---|\n"
	for _, r := range rows {
		name := r.entry.name()
		text := p.textOf(r)
		table += fmt.Sprintf("| %s | %s | %s | %s | %s |\n",
			p.step.Cell(name), r.entry.base, r.entry.state(), r.is(), p.step.Cell(text))

		if r.listed != "" {
			listed = append(listed, name+": "+text)
			continue
		}
		p.step.Printf("%s: %s", name, text)
		outcomes = append(outcomes, r.outcome())
	}

	if len(listed) > 0 {
		p.step.Warnf("Only listed: %s", strings.Join(listed, ", "))
	}
	return p.reportAll(table, outcomes, len(listed), missing)
}

// reportAll reports what became of all merges.
func (p *program) reportAll(table string, outcomes []ci.Outcome, listed, missing int) int {
	outcome := caughtUp
	worst := firstOf(outcomes, ci.SetUp, ci.Unknown, ci.Failed, ci.NotStarted, ci.Running)
	if worst == ci.SetUp {
		outcome = worst
	}

	return p.step.Report(ci.Result{
		Outcome: outcome,
		Like:    worst,
		Asked:   worst == ci.Running && p.options.noWait,
		Text: fmt.Sprintf("%s: %d merges sent, waited for or looked for, %d only listed, %d without a record",
			meanings[outcome].words, len(outcomes), listed, missing),
		Outputs: [][2]string{{"outcome", string(outcome)}, {"job-id", ""}, {"pr-link", ""}},
		Summary: table,
	})
}

// catchUp returns a row for each merge whose record is not at its end, the oldest first, and how many merges have no
// record. It sends all prompts before it waits for a job.
func (p *program) catchUp(ctx context.Context) ([]row, int, error) {
	var rows []row
	missing := 0
	err := p.patiently(ctx, func() (err error) {
		rows, missing, err = p.findLeftBehind(ctx)
		return err
	})
	if err != nil {
		return nil, 0, err
	}

	sent := 0
	for i := range rows {
		p.begin(ctx, &rows[i], sent)
		if rows[i].result.hasSent {
			sent++
		}
	}

	for i := range rows {
		r := &rows[i]
		isAtWork := r.listed == "" && r.result.record.State == once.Running && r.result.err == nil
		if isAtWork && !p.options.noWait {
			r.result = p.pursue(ctx, r.entry.change, "", false)
		}
	}
	return rows, missing, nil
}

// begin sends the prompt of a merge, or looks where its job is. sent is how many prompts were sent before.
func (p *program) begin(ctx context.Context, r *row, sent int) {
	if r.at >= 0 {
		r.entry.base, r.result.err = p.baseOfEntry(ctx, r.ledger, r.at)
	}

	state := r.entry.state()
	switch {
	case r.result.err != nil:
	case state == once.Failed, state == once.Refused:
		r.listed = string(state)
	case state != once.Pending:
		r.result = p.pursue(ctx, r.entry.change, "", true)

	case r.at < 0:
		r.listed = "a tag, so enter base and head"
	case r.entry.base == "":
		r.listed = "enter base and head"
	case sent >= p.options.maxJobs:
		r.listed = "not sent because of max-jobs"
	default:
		p.sendLeftBehind(ctx, r)
	}
}

// sendLeftBehind sends the prompt of a merge, unless it is skipped.
func (p *program) sendLeftBehind(ctx context.Context, r *row) {
	what := occasion{base: r.entry.base, head: r.entry.head, branch: branches + r.entry.branch}
	c, err := p.findChange(ctx, what)
	switch {
	case err != nil:
		r.result = result{err: err}
	case c.skip != "":
		r.listed = "skipped: " + c.skip
	default:
		r.entry.change = c
		r.result = p.documentPatiently(ctx, c, true)
	}
}

// findLeftBehind returns the rows of all branches, without results, and how many merges have no record.
func (p *program) findLeftBehind(ctx context.Context) ([]row, int, error) {
	client, err := p.step.Client()
	if err != nil {
		return nil, 0, err
	}

	g := p.git
	c := change{head: g.commit(ctx, "HEAD"), repository: p.findRepository(ctx, g)}
	if c.repository == "" {
		return nil, 0, errors.Join(g.err, errNoRepository)
	}
	store, _, err := p.openStore(ctx, c)
	if err != nil {
		return nil, 0, err
	}

	ledgers, err := p.readLedgers(ctx, c, client.ProjectID(), store)
	if err != nil {
		return nil, 0, err
	}

	var rows []row
	missing := 0
	for _, l := range ledgers {
		for i, e := range l.commits {
			rows = append(rows, row{entry: e, ledger: l, at: i})
		}
		for _, e := range l.tags {
			rows = append(rows, row{entry: e, at: -1})
		}

		lost, _, err := p.withoutRecord(ctx, l)
		if err != nil {
			return nil, 0, err
		}
		missing += len(lost)
	}

	rows = slices.DeleteFunc(rows, func(r row) bool { return !r.entry.isLeftBehind() })
	slices.Reverse(rows) // commits of one second stay in their order
	slices.SortStableFunc(rows, func(a, b row) int { return a.entry.commit.date.Compare(b.entry.commit.date) })
	return rows, missing, nil
}

// isLeftBehind reports whether a run that catches up tells of a record.
func (e entry) isLeftBehind() bool {
	switch e.state() {
	case once.Pending, once.Sending, once.Running, once.Unknown:
		return true
	case once.Failed, once.Refused:
		return e.isYoungerThan(longAgo)
	}
	return false
}

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// over are the states that -again begins anew from, and what they mean.
var over = map[once.State]ci.Outcome{once.Failed: ci.Failed, once.Unknown: ci.Unknown, once.Refused: ci.NotStarted, once.Canceled: ci.NotStarted}

// outcomes are what each outcome is to GitHub and to people.
var outcomes = map[ci.Outcome]struct{ state, words, hint string }{
	"pull-request":    {"success", "Pull request opened", ""},
	"no-pull-request": {"success", "No pull request needed", "nothing to change, or published without a review"},
	"skipped":         {"success", "Skipped", ""},
	ci.Failed:         {"failure", "The agent's job failed", "-again sends the prompt again"},
	ci.SetUp:          {"error", "The set-up needs a hand", ""},
	ci.Unknown:        {"error", "A job may exist: look for it", "then run with -job ID for its job or, if there is none, with -again"},
	ci.Running:        {"pending", "The agent is at work", "run again to wait for it"},
	ci.NotStarted:     {"error", "No job was made", ""},
}

// outcomeOf returns what a record means, and the error that came with it.
func outcomeOf(r once.Record, err error) ci.Outcome {
	switch {
	case r.State == once.Done && r.PRLink != "":
		return "pull-request"
	case r.State == once.Done:
		return "no-pull-request"
	case over[r.State] != "":
		return over[r.State]
	case err == nil && r.State == once.Pending:
		return ci.NotStarted
	case err == nil, (r.State == once.Running || r.State == once.Sending) && ci.OutcomeOf(err) != ci.SetUp:
		return ci.Running
	}
	return ci.OutcomeOf(err)
}

// report tells what the run came to, and returns its exit code.
func (p *program) report(err error) int {
	outcome, reason, link := outcomeOf(p.record, err), "", p.step.Link(p.record.PRLink)
	hint := outcomes[outcome].hint
	switch {
	case outcome == ci.Unknown:
		reason = fmt.Sprintf("%s: find the pull request whose description ends with %q", cmp.Or(p.record.Problem, "an earlier run's response was lost"), once.Marker(p.record.Key))
	case over[p.record.State] != "": // err speaks of package once
		reason, hint = p.record.Problem, outcomes[ci.Failed].hint
	case err != nil:
		reason = err.Error()
	case p.change.skip != "":
		outcome, reason, hint = "skipped", p.change.skip, ""
	}
	text := slices.DeleteFunc([]string{outcomes[outcome].words, reason, hint, link}, func(part string) bool { return part == "" })
	r := ci.Result{Outcome: outcome, Text: strings.Join(text, ": "), Asked: outcome == ci.Running && err == nil,
		Outputs: [][2]string{{"outcome", string(outcome)}, {"job-id", p.record.JobID}, {"pr-link", link}}}
	if link != "" {
		r.Summary = "<" + link + ">\n\n"
		p.step.Print(link)
	}
	if p.record.JobID != "" {
		r.Text += " [job " + p.record.JobID + "]"
	}
	if c := p.change; c.head != "" {
		r.Summary += p.step.Code(fmt.Sprintf("base: %s\nhead: %s\n%s", c.base, cmp.Or(c.tag, c.head), c.stat))
	}
	if p.options.dryRun {
		r.Summary += "\n" + p.step.Code(p.prompt)
	}
	return p.step.Report(r)
}

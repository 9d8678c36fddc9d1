package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// The outcomes that are a success.
const (
	pullRequestOpened ci.Outcome = "pull-request"
	noPullRequest     ci.Outcome = "no-pull-request"
	skipped           ci.Outcome = "skipped"
	rehearsed         ci.Outcome = "dry-run"
	checked           ci.Outcome = "checked"
	caughtUp          ci.Outcome = "caught-up"
)

// meaning is an outcome in the words of GitHub and of people. meanings has that of each.
type meaning struct {
	// state is the state of a commit's status.
	state string
	// words say what has happened.
	words string
}

var meanings = map[ci.Outcome]meaning{
	pullRequestOpened: {state: "success", words: "Pull request opened"},
	noPullRequest:     {state: "success", words: "No pull request needed"},
	skipped:           {state: "success", words: "Skipped"},
	rehearsed:         {state: "success", words: "Dry run: a job would be made"},
	checked:           {state: "success", words: "The set-up works, as far as it was checked"},
	caughtUp:          {state: "success", words: "Caught up"},
	ci.Failed:         {state: "failure", words: "The agent's job failed"},
	ci.SetUp:          {state: "error", words: "The set-up needs fixing"},
	ci.Unknown:        {state: "error", words: "A job may exist: look for it"},
	ci.Running:        {state: "pending", words: "The agent is at work"},
	ci.NotStarted:     {state: "error", words: "No job was made"},
}

// advise says what to do about an outcome. On GitHub it names the inputs of "Run workflow",
// elsewhere the flags.
func (p *program) advise(outcome ci.Outcome, c change, r result) string {
	again := "run with -again"
	if p.step.OnGitHub() {
		again = `use "Run workflow" with the base and head of the summary, and set the input again`
	}

	switch {
	case r.unrecorded != nil:
		return p.adviseJob(c, r)
	case outcome == ci.Running:
		return "Run again to wait for it"
	case outcome == ci.Unknown && r.finder != nil && !r.finder.isBlind:
		return "If there is one, review it, and run again: a run that finds it ends well. If there is none, " + again +
			p.adviseID(r)
	case outcome == ci.Unknown:
		return "If there is one, review it. If there is none, " + again + p.adviseID(r)
	case r.record.State == once.Refused:
		return "Once that is mended, run again"
	case needsPerson(r.record.State):
		return "To send the prompt again, " + again
	case outcome == ci.NotStarted:
		return "Run again later"
	}
	return ""
}

// adviseJob says how a run waits for a job that is not on record.
func (p *program) adviseJob(c change, r result) string {
	advice := "To wait for it, run with -base %s -head %s -job %s"
	if p.step.OnGitHub() {
		advice = `To wait for it, use "Run workflow" with base: %s head: %s job: %s`
	}
	return fmt.Sprintf(advice, c.base, cmp.Or(c.tag, c.head), r.record.JobID)
}

// adviseID says where the id of a job may be that an earlier run could not record.
func (p *program) adviseID(r result) string {
	if r.lost != nil { // this run has sent the prompt
		return ""
	}

	place := "-job"
	if p.step.OnGitHub() {
		place = "the input job"
	}
	return ". If the log of an earlier run, or its output job-id, has the job's id, give it as " + place
}

// needsPerson reports whether a person has to decide what happens next to a record.
func needsPerson(state once.State) bool {
	return slices.Contains([]once.State{once.Failed, once.Unknown, once.Refused, once.Canceled}, state)
}

// outcomeOf returns what a record means, and the error that came with it.
func outcomeOf(r once.Record, err error) ci.Outcome {
	isAtWork := r.State == once.Running || r.State == once.Sending
	switch {
	case r.State == once.Done && r.PRLink != "":
		return pullRequestOpened
	case r.State == once.Done:
		return noPullRequest
	case r.State == once.Failed:
		return ci.Failed
	case r.State == once.Unknown:
		return ci.Unknown
	case r.State == once.Refused, r.State == once.Canceled, r.State == once.Pending && err == nil:
		return ci.NotStarted
	case err == nil, isAtWork && ci.OutcomeOf(err) != ci.SetUp:
		return ci.Running
	}
	return ci.OutcomeOf(err)
}

// report tells how the run ended, and returns its exit code.
func (p *program) report(c change, r result) int {
	outcome := outcomeOf(r.record, r.err)
	isDone := r.err == nil
	switch {
	case isDone && c.skip != "":
		outcome = skipped
	case isDone && p.options.dryRun:
		outcome = rehearsed
	}
	link := p.step.Link(r.record.PRLink)

	stdout := link
	if p.options.dryRun {
		stdout = r.prompt
	}

	return p.step.Report(ci.Result{
		Outcome: outcome,
		Text:    p.explain(outcome, link, c, r),
		Asked:   outcome == ci.Running && isDone,
		Outputs: [][2]string{{"outcome", string(outcome)}, {"job-id", r.record.JobID}, {"pr-link", link}},
		Stdout:  stdout,
		Summary: p.summarize(link, c, r),
	})
}

// explain says in one line what has happened, why, and what to do.
func (p *program) explain(outcome ci.Outcome, link string, c change, r result) string {
	text := meanings[outcome].words
	if r.unrecorded != nil {
		text = "A job was made that is not on record"
	}
	for _, part := range []string{p.reason(outcome, c, r), link} {
		if part != "" {
			text += ": " + part
		}
	}

	if advice := p.advise(outcome, c, r); advice != "" {
		text += ". " + advice
	}
	if r.record.JobID != "" {
		text += " [job " + r.record.JobID + "]"
	}
	return text
}

// reason says why the run ended with an outcome, or returns "".
func (p *program) reason(outcome ci.Outcome, c change, r result) string {
	switch {
	case outcome == ci.Unknown:
		what := cmp.Or(r.record.Problem, "an earlier run's response was lost, and its log says why")
		if r.lost != nil {
			what = fmt.Sprint("the response was lost: ", r.lost)
		}
		return fmt.Sprintf("%s. %sFind the pull request whose description has the line %q",
			what, r.finder.looked(), once.Marker(r.record.Key))
	case needsPerson(r.record.State): // err speaks of package once
		return cmp.Or(r.record.Problem, "the log of the run that sent the prompt says why")
	case r.err != nil:
		return r.err.Error()
	case outcome == skipped:
		return c.skip
	case outcome == noPullRequest:
		return "nothing to change, or published without a review"
	}
	return ""
}

// summarize returns what the run's summary shows below its outcome.
func (p *program) summarize(link string, c change, r result) string {
	summary := ""
	if link != "" {
		summary = "<" + link + ">\n\n"
	}

	job := ""
	if r.unrecorded != nil {
		job = "job: " + r.record.JobID + "\n"
	}

	counts := ""
	if c.stat.files > 0 { // else the run may have ended before it counted
		counts = c.stat.String()
	}

	if c.head != "" && c.base != "" {
		summary += p.step.Code(fmt.Sprintf("base: %s\nhead: %s\n%s%s", c.base, cmp.Or(c.tag, c.head), job, counts))
	} else if c.head != "" {
		summary += p.step.Code("head: " + cmp.Or(c.tag, c.head))
	}

	switch wasSent := r.hasSent && r.record.State != once.Pending; {
	case p.options.dryRun && r.prompt != "":
		summary += "\n" + p.step.Folded("The prompt", r.prompt)
	case wasSent:
		sent := r.prompt + "\n\n" + once.Marker(r.record.Key)
		summary += "\n" + p.step.Folded("The prompt that was sent", sent)
	}
	return summary
}

// Docs-on-merge turns a merge into a pull request of the documentation: it tells the
// documentation agent what was merged, waits, and puts the link where people look. It
// makes at most one job per project and merge, however often it runs. README.md says how
// to add it to a pipeline; -demo shows it on a fake of the service.
//
// Exit codes: 0 pull request, none needed, or skipped; 1 the job failed; 2 set-up; 3
// unknown, a job may exist; 4 still running; 5 not started.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

func main() {
	ci.Main("docs-on-merge", func(ctx context.Context, step *ci.Step, args []string) int {
		return (&program{step: step, settle: time.Second, sendTime: time.Minute}).run(ctx, args)
	})
}

// program is one run.
type program struct {
	step     *ci.Step
	forge    http.RoundTripper // to GitHub's API; nil is the default one
	settle   time.Duration     // between a status and its read-back
	sendTime time.Duration     // see once.WithSendTime
	options  options
}

// options are the command line.
type options struct {
	base, head, template, state, job, repository string
	paths, skipAuthors                           ci.List
	timeout, heartbeat                           time.Duration
	maxPrompt                                    int
	again, noWait, dryRun, demo, soft, withDiff  bool
}

func (p *program) parse(args []string) (err error) {
	o := &p.options
	o.skipAuthors = ci.List{"mintlify[bot]", "dependabot[bot]", "renovate[bot]"}
	flags := flag.NewFlagSet(p.step.Name, flag.ContinueOnError)
	flags.StringVar(&o.base, "base", "", "the `commit` before the change (default: of the event, else the tag before -head, else its parent)")
	flags.StringVar(&o.head, "head", "", "the `commit` or tag after the change (default: of the event, else HEAD)")
	flags.Var(&o.paths, "path", "look at this `pathspec` of git alone; may be repeated")
	flags.Var(&o.skipAuthors, "skip-author", "skip the merges of this `login`, too; may be repeated")
	flags.StringVar(&o.template, "template", "", "a `file` with the prompt as a text/template (default: built in)")
	flags.StringVar(&o.state, "state", "", "keep the record of jobs in this `directory`, or git:REMOTE in refs of a remote (default: the commit's status on GitHub, else a folder of the user's)")
	flags.StringVar(&o.job, "job", "", "take the job of this `id` as the change's")
	flags.BoolVar(&o.again, "again", false, "send the prompt again after unknown, failed, refused or canceled")
	flags.DurationVar(&o.timeout, "timeout", time.Hour, "how long to wait in all")
	flags.DurationVar(&o.heartbeat, "heartbeat", time.Minute, "how often to log a wait without news")
	flags.IntVar(&o.maxPrompt, "max-prompt", 32_000, "the longest prompt, in `bytes`")
	flags.BoolVar(&o.withDiff, "diff", true, "put the diff into the prompt, as far as it fits")
	flags.StringVar(&o.repository, "repository", "", "`owner/name` (default: GitHub's or GitLab's, else the folder's name)")
	flags.BoolVar(&o.noWait, "no-wait", false, "end once the job is made")
	flags.BoolVar(&o.soft, "soft", false, "never turn the commit red: end with exit code 0 unless the set-up is to blame")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the prompt and make no job; needs no key")
	flags.BoolVar(&o.demo, "demo", false, "show a run on a fake of the service, in a temporary repository")
	err = p.step.Parse(flags, args)
	switch {
	case err != nil:
	case o.timeout <= 0 || o.heartbeat <= 0 || o.maxPrompt <= 0:
		err = errors.New("-timeout, -heartbeat and -max-prompt must be more than 0")
	case o.job != "" && o.again:
		err = errors.New("-job and -again exclude each other")
	}
	return err
}

func (p *program) run(ctx context.Context, args []string) int {
	err := p.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return p.report(result{}, err)
	case p.options.demo:
		return p.demo(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, p.options.timeout)
	defer cancel()
	r, err := p.work(ctx)
	return p.report(r, err)
}

// result is what a run came to.
type result struct {
	change change
	prompt string
	record once.Record
}

// work does what the program is for.
func (p *program) work(ctx context.Context) (r result, err error) {
	if r.change, err = p.findChange(ctx); err != nil || r.change.skip != "" {
		return r, err
	}
	if r.prompt, err = p.prompt(r.change); err != nil {
		return r, err
	}
	if p.options.dryRun {
		p.step.Print(r.prompt)
		r.change.skip = "-dry-run"
		return r, nil
	}
	r.record, err = p.once(ctx, r.change, r.prompt)
	return r, err
}

const (
	pullRequestMade ci.Outcome = "pull-request"
	noPullRequest   ci.Outcome = "no-pull-request"
	skipped         ci.Outcome = "skipped"
)

// outcomes are what each outcome is to GitHub and to people.
var outcomes = map[ci.Outcome]struct{ state, words, hint string }{
	pullRequestMade: {"success", "Pull request opened", ""},
	noPullRequest:   {"success", "No pull request needed", "nothing to change, or published without a review"},
	skipped:         {"success", "Skipped", ""},
	ci.Failed:       {"failure", "The agent's job failed", "-again makes another"},
	ci.SetUp:        {"error", "The set-up needs a hand", ""},
	ci.Unknown:      {"error", "A job may exist: look for it", "then run with -job and its id or, if there is none, with -again"},
	ci.Running:      {"pending", "The agent is at work", "run again to wait for it"},
	ci.NotStarted:   {"error", "No job was made", ""},
}

// outcomeOf returns what a record means, and the error that came with it.
func outcomeOf(r once.Record, err error) ci.Outcome {
	switch {
	case r.State == once.Done && r.PRLink != "":
		return pullRequestMade
	case r.State == once.Done:
		return noPullRequest
	case r.State == once.Failed:
		return ci.Failed
	case r.State == once.Unknown:
		return ci.Unknown
	case r.State == once.Refused || r.State == once.Canceled || r.State == once.Pending && r.Problem != "" && err == nil:
		return ci.NotStarted
	case err == nil, r.Version > 0 && r.State != once.Pending && ci.OutcomeOf(err) != ci.SetUp:
		return ci.Running
	}
	return ci.OutcomeOf(err)
}

// report tells what the run came to, and returns its exit code.
func (p *program) report(r result, err error) int {
	outcome, reason := outcomeOf(r.record, err), r.change.skip
	if err == nil && reason != "" {
		outcome = skipped
	}
	link := p.step.Link(r.record.PRLink)
	if err != nil {
		reason = err.Error()
	}
	text := outcomes[outcome].words
	for _, more := range []string{reason, outcomes[outcome].hint, link} {
		if more != "" {
			text += ": " + more
		}
	}
	report := ci.Result{Outcome: outcome, Text: text, Soft: p.options.soft, Asked: outcome == ci.Running && err == nil,
		Outputs: [][2]string{{"outcome", string(outcome)}, {"job-id", r.record.JobID}, {"pr-link", link}}}
	if link != "" {
		report.Summary = "<" + link + ">\n\n"
		p.step.Print(link)
	}
	if r.record.JobID != "" {
		report.Text += " [job " + r.record.JobID + "]"
	}
	if c := r.change; c.head != "" {
		report.Summary += p.step.Code(fmt.Sprintf("base: %s\nhead: %s\n%s", c.base, c.name(), c.stat()))
	}
	if p.options.dryRun {
		report.Summary += "\n" + p.step.Code(r.prompt)
	}
	return p.step.Report(report)
}

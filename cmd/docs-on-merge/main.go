// Docs-on-merge turns a merge into a pull request of the documentation: it tells the
// documentation agent what was merged, waits, and puts the link where people look. It
// makes at most one job per project and merge, however often it runs. README.md says how
// to add it to a pipeline; -demo shows it on a fake of the service.
//
// Exit codes: 0 pull request, none needed, or skipped; 1 the job failed; 2 set-up; 3
// unknown, a job may exist; 4 still running; 5 not started.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

func main() {
	ci.Main("docs-on-merge", func(ctx context.Context, step *ci.Step, args []string) int {
		return (&program{step: step, git: git{output: (*exec.Cmd).Output}, settle: time.Second, sendTime: time.Minute}).run(ctx, args)
	})
}

// program is one run, and what it came to.
type program struct {
	step     *ci.Step
	git      git               // in the repository; copied for each use
	forge    http.RoundTripper // to GitHub's API; nil is the default one
	settle   time.Duration     // between a status and its read-back
	sendTime time.Duration     // see once.WithSendTime
	blind    bool              // GitHub does not tell of pull requests
	options  options
	change   change
	prompt   string
	record   once.Record
	statuses *statuses // that the record is in; nil if it is elsewhere
}

// options are the command line.
type options struct {
	base, head, template, state, job, repository string
	paths                                        []string
	skip                                         merges.Authors
	heartbeat                                    time.Duration
	maxPrompt                                    int
	again, noWait, dryRun, withDiff              bool
}

func (p *program) parse(args []string) error {
	o := &p.options
	o.skip = merges.DefaultAuthors()
	flags := flag.NewFlagSet(p.step.Name, flag.ContinueOnError)
	flags.StringVar(&o.base, "base", "", "the `commit` before the change (default: of the event, else the tag before -head, else its parent)")
	flags.StringVar(&o.head, "head", "", "the `commit` or tag after the change (default: of the event, else HEAD)")
	flags.Func("path", "look at this `pathspec` of git alone; may be repeated", func(path string) error { o.paths = append(o.paths, path); return nil })
	flags.Func("skip-author", "skip the merges of this `login`, too (default: "+strings.Join(o.skip, ", ")+"); may be repeated", o.skip.Add)
	flags.StringVar(&o.template, "template", "", "a `file` with the prompt as a text/template (default: built in)")
	flags.StringVar(&o.state, "state", "", "keep the record of jobs in this `directory`, or git:REMOTE in refs of a remote (default: the commit's status on GitHub, else a folder of the user's)")
	flags.StringVar(&o.job, "job", "", "take the job of this `id` as the change's")
	flags.BoolVar(&o.again, "again", false, "send the prompt again after unknown, failed, refused or canceled")
	flags.DurationVar(&o.heartbeat, "heartbeat", time.Minute, "how often to log a wait without news")
	flags.IntVar(&o.maxPrompt, "max-prompt", 32_000, "the longest prompt, in `bytes`")
	flags.BoolVar(&o.withDiff, "diff", true, "put the diff into the prompt, as far as it fits")
	flags.StringVar(&o.repository, "repository", "", "`owner/name` (default: GitHub's or GitLab's, else the folder's name)")
	flags.BoolVar(&o.noWait, "no-wait", false, "end once the job is made")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the prompt and make no job; needs no key")
	p.step.Timeout = time.Hour
	switch err := p.step.Parse(flags, args); {
	case err != nil:
		return err
	case p.step.Demo && flags.NFlag() > 1:
		return errors.New("-demo takes no other flag")
	case o.heartbeat <= 0 || o.maxPrompt <= 0:
		return errors.New("-heartbeat and -max-prompt must be more than 0")
	}
	return nil
}

func (p *program) run(ctx context.Context, args []string) int {
	err := p.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err == nil && p.step.Demo:
		return p.demo(ctx)
	case err == nil:
		ctx, cancel := context.WithTimeout(ctx, p.step.Timeout)
		defer cancel()
		err = p.work(ctx)
		if p.statuses != nil && p.record.Version > 0 {
			p.statuses.show(context.WithoutCancel(ctx), p.record.Key)
		}
	}
	return p.report(err)
}

// work does what the program is for.
func (p *program) work(ctx context.Context) (err error) {
	if p.change, err = p.findChange(ctx); err != nil || p.change.skip != "" {
		return err
	}
	if p.prompt, err = p.makePrompt(p.change); err != nil {
		return err
	}
	if p.options.dryRun {
		p.step.Print(p.prompt)
		p.change.skip = "-dry-run"
		return nil
	}
	sending, made := context.WithCancel(ctx) // made, too, if a poll finds the job of another run
	defer made()
	client, err := p.step.Connect(mintlify.WithWaitDefaults(mintlify.WithOnPoll(func(mintlify.Poll) { made() })))
	store, storeErr := p.openStore(ctx)
	if err = cmp.Or(err, storeErr); err != nil {
		return err
	}
	errorsOnly := slog.New(slog.NewTextHandler(p.step, &slog.HandlerOptions{Level: slog.LevelError}))
	runner, err := once.New(client, store, once.WithSendTime(p.sendTime), once.WithLogger(errorsOnly), once.WithOnChange(func(r once.Record) {
		if r.State == once.Running {
			p.step.Printf("Job %s is on record.", r.JobID)
			made()
		}
	}))
	if err != nil {
		return err
	}
	project := sha256.Sum256([]byte(client.ProjectID())) // a status is public, and a project id need not be
	task := once.Task{Key: fmt.Sprintf("%s:%.4x", p.change.key(), project), Prompt: p.prompt}
	if err = p.prepare(ctx, runner, store, task); err == nil && p.record.State != once.Running {
		defer context.AfterFunc(ctx, func() { p.step.Printf("Stopping: what was begun is recorded first.") })()
		p.record, err = runner.Do(sending, task)
	}
	switch {
	case p.record.State != once.Running, ctx.Err() != nil, err != nil && sending.Err() == nil:
		return err
	case p.options.noWait:
		return nil
	}
	// The record is left alone meanwhile: GitHub takes 1,000 requests an hour of a repository.
	_, err = client.Jobs.WaitUntilDone(ctx, p.record.JobID, mintlify.WithOnPoll(p.step.LogPolls("job", p.options.heartbeat)))
	if err == nil || errors.Is(err, mintlify.ErrJobFailed) {
		p.record, err = runner.Do(ctx, task)
	}
	return err
}

// prepare does what -job and -again ask for, and finds what is on record.
func (p *program) prepare(ctx context.Context, runner *once.Runner, store once.Store, task once.Task) error {
	record, err := store.Get(ctx, task.Key)
	if err != nil {
		return fmt.Errorf("the record of jobs cannot be read: %w", err)
	}
	switch o := p.options; {
	case o.job != "" && record.JobID != o.job:
		if record.Version == 0 {
			_, _, err = runner.Add(ctx, task)
		}
		if err == nil {
			record, err = runner.Adopt(ctx, task.Key, o.job)
		}
	case o.again && over[record.State] != "":
		if record, err = runner.SendAgain(ctx, task.Key); record.Version > 0 && over[record.State] == "" {
			err = nil // another run was faster
		}
	case o.again && record.Version > 0:
		p.step.Printf("-again does nothing for a change whose job is %s.", record.State)
	case record.JobID != "":
		p.step.Printf("This change has job %s already.", record.JobID)
	case record.State == once.Sending:
		p.step.Printf("Another run is sending this change's prompt: waiting for the job's id.")
	}
	if err == nil {
		p.record = record
	}
	return err
}

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
	case err == nil && r.State == once.Pending && r.Sends > 0:
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

// demo commits a change in a temporary repository and runs the program for it three times,
// on a fake of the service.
func (p *program) demo(ctx context.Context) int {
	p.step.Printf("Demo: a fake of the service inside this program. No prompt leaves it.")
	dir, err := os.MkdirTemp("", "docs-on-merge-demo-")
	if err != nil {
		return p.report(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system tidies its folder, too
	err = os.WriteFile(filepath.Join(dir, "json.go"), []byte("package cli\n\n// JSON is the flag --json.\nvar JSON bool\n"), 0o600)
	g := git{dir, p.git.output, err}
	g.run(ctx, "init", "--quiet")
	g.run(ctx, "add", "json.go")
	if g.run(ctx, "commit", "--quiet", "--no-gpg-sign", "--message=Add the flag --json"); g.err != nil {
		return p.report(g.err)
	}
	service, step := mintlifytest.NewService(), *p.step
	step.Dir, step.Demo, step.Getenv = dir, false, func(string) string { return "" }
	step.Connect = func(opts ...mintlify.Option) (*mintlify.Client, error) {
		return service.Client(append(opts, mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second)))...), nil
	}
	for _, args := range [][]string{{"-dry-run"}, {}, {}} {
		fmt.Fprintf(p.step.Stderr, "\n== docs-on-merge %v\n", args)
		args = append(args, "-state", filepath.Join(dir, "state"), "-repository", "example/cli")
		if code := (&program{step: &step, git: g, sendTime: p.sendTime}).run(ctx, args); code != 0 {
			return code
		}
	}
	fmt.Fprintf(p.step.Stderr, "\n== Jobs made in all: %d\n", len(service.Jobs()))
	return 0
}

// Docs-on-merge turns a merge into a pull request of the documentation: it tells the
// documentation agent what was merged, waits, and puts the link where people look. It
// makes at most one job per project and commit, however often it runs. README.md says
// how to add it to a pipeline; -demo shows the whole of it on fakes.
//
// Exit codes: 0 pull request, none needed, or skipped; 1 job failed; 2 set-up; 3
// unknown, a job may exist; 4 still running, run again; 5 not started, run again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{getenv: os.Getenv, stdout: os.Stdout, stderr: os.Stderr, pace: defaultPace,
		connect: func() (*mintlify.Client, error) {
			return mintlify.NewClientFromEnv(mintlify.WithUserAgent("docs-on-merge"))
		}}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is one run, and what it has of the world.
type program struct {
	getenv         func(string) string
	dir            string // a git repository; "" is the working directory
	stdout, stderr io.Writer
	connect        func() (*mintlify.Client, error)
	forge          http.RoundTripper // to GitHub's API; nil is the default one
	pace           pace
	options        options
	log            *log
}

// options are the command line.
type options struct {
	base, head, template, state, job, repository string
	paths                                        []string
	timeout, heartbeat                           time.Duration
	maxPrompt                                    int
	another, noWait, dryRun, demo                bool
}

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("docs-on-merge", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.base, "base", "", "the `commit` before the change (default: of the event, else the parent of -head)")
	flags.StringVar(&o.head, "head", "", "the `commit` after the change (default: of the event, else HEAD)")
	flags.Func("path", "look at this `pathspec` of git alone; may be repeated", func(path string) error {
		o.paths = append(o.paths, path)
		return nil
	})
	flags.StringVar(&o.template, "template", "", "a `file` with the prompt as a text/template (default: built in)")
	flags.StringVar(&o.state, "state", "", "keep the record of jobs in this `directory` (default: the commit's status on GitHub, else a folder of the user's)")
	flags.StringVar(&o.job, "job", "", "take the job of this `id` as the commit's")
	flags.BoolVar(&o.another, "new", false, "make another job though the commit has one, or may have")
	flags.DurationVar(&o.timeout, "timeout", time.Hour, "how long to wait in all")
	flags.DurationVar(&o.heartbeat, "heartbeat", time.Minute, "how often to log a wait without news")
	flags.IntVar(&o.maxPrompt, "max-prompt", 16_000, "the longest prompt, in `bytes`; lists are halved until it fits")
	flags.StringVar(&o.repository, "repository", "", "`owner/name` (default: GitHub's or GitLab's, else the folder's name)")
	flags.BoolVar(&o.noWait, "no-wait", false, "end once the job is made")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the prompt and make no job; needs no key")
	flags.BoolVar(&o.demo, "demo", false, "show the whole of it on fakes, in a temporary repository")
	err = flags.Parse(args)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.timeout <= 0 || o.heartbeat <= 0 || o.maxPrompt <= 0:
		err = errors.New("-timeout, -heartbeat and -max-prompt must be more than 0")
	case o.job != "" && o.another:
		err = errors.New("-job and -new exclude each other")
	}
	return o, err
}

func (p *program) onGitHub() bool { return p.getenv("GITHUB_ACTIONS") == "true" }

func (p *program) run(ctx context.Context, args []string) (code int) {
	p.log = p.newLog(p.stderr, p.onGitHub())
	var err error
	p.options, err = parse(args, p.log)
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

// work does what the program is for.
func (p *program) work(ctx context.Context) (r result, err error) {
	if r.change, err = p.findChange(ctx); err != nil || r.change.skip != "" {
		return r, err
	}
	prompt, err := p.prompt(r.change)
	if err != nil {
		return r, err
	}
	if p.options.dryRun {
		p.newLog(p.stdout, false).printf("%s", prompt)
		r.change.skip = "(-dry-run)"
		return r, nil
	}
	client, err := p.connect()
	if err != nil {
		return r, err
	}
	store, err := p.openStore(r.change, client.ProjectID())
	if err != nil {
		return r, err
	}
	o := once{client: client, store: store, log: p.log, pace: p.pace, adopt: p.options.job, another: p.options.another}
	if r.jobID, err = o.job(ctx, prompt); err != nil || p.options.noWait {
		return r, err
	}
	if err = p.wait(ctx, client, &r); r.outcome != "" && r.outcome != o.record.State {
		o.save(ctx, r.outcome, r.jobID, r.prLink)
	}
	return r, err
}

// wait waits for the end of the job, which is then the outcome.
func (p *program) wait(ctx context.Context, client *mintlify.Client, r *result) error {
	job, err := client.Jobs.WaitUntilDone(ctx, r.jobID, mintlify.WithOnPoll(p.logPolls()))
	_, later := mintlify.RetryAfter(err)
	switch {
	case errors.Is(err, mintlify.ErrJobFailed):
		r.outcome = failed
	case later, errors.As(err, new(*mintlify.WaitError)):
		return &outcomeError{running, err}
	case err == nil && job.PRLink == "":
		r.outcome = noPullRequest
	case err == nil:
		r.outcome, r.prLink = pullRequestMade, link(p.log.secrets.Replace(job.PRLink))
	}
	return err
}

// logPolls logs a wait for people: what changes, what fails, else a heartbeat.
func (p *program) logPolls() func(mintlify.Poll) {
	var status mintlify.JobStatus
	var logged time.Duration
	return func(poll mintlify.Poll) {
		switch waited := poll.Waited.Round(time.Second); {
		case poll.Err != nil:
			p.log.printf("After %v: a poll failed: %v", waited, poll.Err)
		case poll.Job.Status != status || poll.Waited-logged >= p.options.heartbeat:
			status = poll.Job.Status
			p.log.printf("After %v: the job is %s", waited, status)
		default:
			return
		}
		logged = poll.Waited
	}
}

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
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os/exec"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

func main() {
	ci.Main("docs-on-merge", func(ctx context.Context, step *ci.Step, args []string) int {
		p := &program{step: step, git: git{exec: (*exec.Cmd).Run}, settle: time.Second, sendTime: time.Minute}
		return p.run(ctx, args)
	})
}

// program is one run, and what it knows so far.
type program struct {
	step *ci.Step
	// git runs in the repository. Each use copies it, since it keeps its first error.
	git git
	// forge sends requests to GitHub's API. nil is the default transport.
	forge http.RoundTripper
	// settle is how long a status waits before it is read back.
	settle time.Duration
	// sendTime is for once.WithSendTime.
	sendTime time.Duration

	options options
	change  change
	prompt  string
	record  once.Record
	// hasSent says that this run has begun to send the prompt.
	hasSent bool
	// statuses hold the record. nil means that it is elsewhere.
	statuses *statuses
	// isBlind says that GitHub has refused to show pull requests.
	isBlind bool
}

func (p *program) run(ctx context.Context, args []string) int {
	err := p.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return p.report(err)
	case p.step.Demo:
		return p.demo(ctx)
	}

	ctx, cancel := context.WithTimeout(ctx, p.step.Timeout)
	defer cancel()
	err = p.work(ctx)

	if p.statuses != nil && p.record.Version > 0 {
		p.statuses.show(context.WithoutCancel(ctx), p.record, outcomeOf(p.record, err))
	}
	return p.report(err)
}

// work finds the change and documents it, or only shows the prompt.
func (p *program) work(ctx context.Context) error {
	c, err := p.findChange(ctx)
	p.change = c
	if err != nil || c.skip != "" {
		return err
	}
	if p.options.dryRun {
		return p.showPrompt(c)
	}

	if c.repository == "" {
		return errNoRepository
	}
	p.prompt, err = p.makePrompt(c)
	if err != nil {
		return err
	}
	return p.document(ctx)
}

// showPrompt makes the prompt for a dry run, which may not know the repository.
func (p *program) showPrompt(c change) error {
	if c.repository == "" {
		p.step.Printf("A run that sends the prompt needs the repository: -repository %s.", exampleRepository)
		c.repository = exampleRepository
	}

	var err error
	p.prompt, err = p.makePrompt(c)
	p.change.skip = "-dry-run"
	return err
}

// errJobExists ends a send once a job is on record, whichever run has made it.
var errJobExists = errors.New("the job is on record")

// document has the agent document the change, and waits for it.
func (p *program) document(ctx context.Context) error {
	client, err := p.step.Connect()
	if err != nil {
		return err
	}
	store, err := p.openStore(ctx)
	if err != nil {
		return err
	}

	sending, stopSending := context.WithCancelCause(ctx)
	defer stopSending(nil)
	runner, err := p.newRunner(client, watched{store, func() { stopSending(errJobExists) }})
	if err != nil {
		return err
	}

	// A status or a marker is public, and a project id need not be.
	project := sha256.Sum256([]byte(client.ProjectID()))
	task := once.Task{Key: fmt.Sprintf("%s:%.4x", p.change.key(), project), Prompt: p.prompt}

	p.record.Task = task

	record, err := p.prepare(ctx, runner, store, task)
	if err != nil {
		return err
	}
	p.record = record

	if p.record.State != once.Running {
		logStop := context.AfterFunc(ctx, func() { p.step.Printf("Stopping as soon as the record is up to date.") })
		defer logStop()

		err = p.do(sending, runner, task)
		if err != nil && !errors.Is(err, errJobExists) {
			return err
		}
	}

	if p.record.State != once.Running || p.options.noWait {
		return nil
	}
	return p.wait(ctx, client, runner, task)
}

func (p *program) newRunner(client *mintlify.Client, store once.Store) (*once.Runner, error) {
	errorsOnly := slog.New(slog.NewTextHandler(p.step, &slog.HandlerOptions{Level: slog.LevelError}))
	onChange := func(r once.Record) {
		switch r.State {
		case once.Sending:
			p.hasSent = true
		case once.Running:
			p.step.Printf("Job %s is on record.", r.JobID)
		}
	}

	return once.New(client, store,
		once.WithSendTime(p.sendTime), once.WithLogger(errorsOnly), once.WithOnChange(onChange))
}

// prepare does what -job and -again ask for, and returns the record as it is then.
func (p *program) prepare(
	ctx context.Context, runner *once.Runner, store once.Store, task once.Task,
) (once.Record, error) {
	record, err := store.Get(ctx, task.Key)
	if err != nil {
		return once.Record{}, fmt.Errorf("the record of jobs cannot be read: %w", err)
	}

	switch {
	case p.options.job != "" && record.JobID != p.options.job:
		return p.adopt(ctx, runner, store, task)
	case p.options.again && needsPerson(record.State):
		return sendAgain(ctx, runner, store, task.Key)
	case p.options.again && record.Version > 0:
		p.step.Printf("%s does nothing for a change whose job is %s.", p.flag("again"), record.State)
	case record.JobID != "":
		p.step.Printf("This change has job %s already.", record.JobID)
	case record.State == once.Sending:
		p.step.Printf("Another run is sending this change's prompt: waiting for the job's id.")
	}
	return record, nil
}

// adopt has the task follow the job that a person has found.
func (p *program) adopt(
	ctx context.Context, runner *once.Runner, store once.Store, task once.Task,
) (once.Record, error) {
	_, _, err := runner.Add(ctx, task) // adds nothing if there is a record
	if err != nil {
		return once.Record{}, err
	}

	record, err := runner.Adopt(ctx, task.Key, p.options.job)
	if err == nil {
		return record, nil
	}

	record, getErr := store.Get(ctx, task.Key)
	if getErr == nil && record.JobID == p.options.job { // another run was faster
		return record, nil
	}
	return once.Record{}, err
}

// sendAgain has the prompt sent again. If another run has just done that, it returns the record
// as it is now.
func sendAgain(ctx context.Context, runner *once.Runner, store once.Store, key string) (once.Record, error) {
	record, err := runner.SendAgain(ctx, key)
	if errors.Is(err, once.ErrConflict) || errors.Is(err, once.ErrState) {
		return store.Get(ctx, key)
	}
	if err != nil {
		return once.Record{}, err
	}
	return record, nil
}

// do has the task done, and keeps what is on record then. If the record cannot be read any more,
// what was on record before still is.
func (p *program) do(ctx context.Context, runner *once.Runner, task once.Task) error {
	record, err := runner.Do(ctx, task)
	if record.Version > 0 {
		p.record = record
	}
	return err
}

// wait waits for the job, and records its end. It leaves the record alone meanwhile: GitHub
// allows 1,000 requests an hour for a repository.
func (p *program) wait(ctx context.Context, client *mintlify.Client, runner *once.Runner, task once.Task) error {
	log := mintlify.WithOnPoll(p.step.LogPolls("job", p.options.heartbeat))
	_, err := client.Jobs.WaitUntilDone(ctx, p.record.JobID, log)
	if err != nil && !errors.Is(err, mintlify.ErrJobFailed) {
		return err
	}

	err = p.do(ctx, runner, task)
	if p.record.State == once.Running {
		return fmt.Errorf("the end of the job cannot be recorded: %w", err)
	}
	return err
}

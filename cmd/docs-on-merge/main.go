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
			p.statuses.show(context.WithoutCancel(ctx), p.record, outcomeOf(p.record, err))
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
	client, err := p.step.Connect()
	if err != nil {
		return err
	}
	store, err := p.openStore(ctx)
	if err != nil {
		return err
	}
	sending, made := context.WithCancel(ctx) // made, too, if the record shows the job of another run
	defer made()
	errorsOnly := slog.New(slog.NewTextHandler(p.step, &slog.HandlerOptions{Level: slog.LevelError}))
	runner, err := once.New(client, watched{store, made}, once.WithSendTime(p.sendTime), once.WithLogger(errorsOnly), once.WithOnChange(func(r once.Record) {
		if r.State == once.Running {
			p.step.Printf("Job %s is on record.", r.JobID)
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

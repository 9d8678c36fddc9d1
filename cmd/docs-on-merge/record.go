package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// once makes at most one job of a change, and waits for its end.
func (p *program) once(ctx context.Context, c change, prompt string) (record once.Record, err error) {
	sending, made := context.WithCancel(ctx)
	defer made()
	client, err := p.step.Connect(mintlify.WithWaitDefaults(mintlify.WithOnPoll(func(mintlify.Poll) { made() })))
	if err != nil {
		return record, err
	}
	store, err := p.openStore(ctx, c)
	if err != nil {
		return record, err
	}
	project := sha256.Sum256([]byte(client.ProjectID())) // a status is public, and a project id need not be
	task := once.Task{Key: fmt.Sprintf("%s:%.4x", c.key(), project), Prompt: prompt}
	errorsOnly := slog.New(slog.NewTextHandler(p.step, &slog.HandlerOptions{Level: slog.LevelError}))
	runner, err := once.New(client, store, once.WithSendTime(p.sendTime), once.WithLogger(errorsOnly), once.WithOnChange(func(r once.Record) {
		if r.State == once.Running {
			p.step.Printf("Job %s is on record.", r.JobID)
			made()
		}
	}))
	if err != nil {
		return record, err
	}
	if record, err = p.prepare(ctx, runner, store, task); err == nil && record.State != once.Running {
		defer context.AfterFunc(ctx, func() { p.step.Printf("Interrupted: what was begun is recorded first.") })()
		record, err = runner.Do(sending, task)
	}
	if record.State == once.Running && ctx.Err() == nil && (err == nil || sending.Err() != nil) {
		if err = nil; !p.options.noWait {
			record, err = p.wait(ctx, client, runner, record)
		}
	}
	if s, ok := store.(shared); ok {
		if s, ok := s.journal.(*statuses); ok {
			err = errors.Join(err, s.conclude(ctx, record))
		}
	}
	return record, err
}

// wait waits for the end of a job, and records it. It leaves the record alone meanwhile:
// GitHub lets the jobs of a repository make 1,000 requests an hour.
func (p *program) wait(ctx context.Context, client *mintlify.Client, runner *once.Runner, record once.Record) (once.Record, error) {
	_, err := client.Jobs.WaitUntilDone(ctx, record.JobID, mintlify.WithOnPoll(p.step.LogPolls("job", p.options.heartbeat)))
	if err != nil && !errors.Is(err, mintlify.ErrJobFailed) {
		return record, err
	}
	return runner.Do(ctx, record.Task)
}

// prepare does what -job and -again ask for, and returns what is on record.
func (p *program) prepare(ctx context.Context, runner *once.Runner, store once.Store, task once.Task) (record once.Record, err error) {
	if record, err = store.Get(ctx, task.Key); err != nil {
		return record, fmt.Errorf("the record of jobs cannot be read: %w", err)
	}
	again := record.State == once.Unknown || record.State == once.Failed || record.State == once.Refused || record.State == once.Canceled
	switch {
	case p.options.job != "" && record.JobID != p.options.job:
		if record.Version == 0 {
			_, _, err = runner.Add(ctx, task)
		}
		if err == nil {
			record, err = runner.Adopt(ctx, task.Key, p.options.job)
		}
		if err != nil {
			return once.Record{}, err
		}
		return record, nil
	case p.options.again && again:
		return runner.SendAgain(ctx, task.Key)
	case record.JobID != "":
		p.step.Printf("This change has job %s already.", record.JobID)
	case record.State == once.Sending:
		p.step.Printf("Another run is sending this change's prompt: waiting for the job's id.")
	}
	if p.options.again && record.Version > 0 {
		p.step.Printf("-again does nothing for a change whose job is %s.", record.State)
	}
	return record, nil
}

var gitHubRemote = regexp.MustCompile(`(^|[/@.])(github\.com|ghe\.com)[:/]`)

// openStore returns the store of the record. A run that cannot see the record on GitHub
// could make the job that a run on GitHub has made: it has to say where its record is.
func (p *program) openStore(ctx context.Context, c change) (once.Store, error) {
	token := p.step.Getenv("GITHUB_TOKEN") != ""
	origin := (&git{dir: p.step.Dir}).run(ctx, "remote", "get-url", "origin")
	gitHub := p.step.OnGitHub() || !p.step.OnGitLab() && (p.options.repository != "" && token || gitHubRemote.MatchString(origin))
	remote, isRemote := strings.CutPrefix(p.options.state, "git:")
	dir := p.options.state
	switch {
	case isRemote && (remote == "" || remote[0] == '-'):
		return nil, fmt.Errorf("-state git:%s names no remote", remote)
	case isRemote:
		return shared{&refs{p.step.Dir, remote}, p.step.Link}, nil
	case dir != "" && gitHub:
		p.step.Printf("The record of jobs is in %s: the record on GitHub is not looked at.", dir)
	case dir == "" && gitHub && token && (p.step.OnGitHub() || p.options.repository != ""):
		statuses, err := p.openStatuses(c)
		return shared{statuses, p.step.Link}, err
	case gitHub && dir == "":
		return nil, errors.New("GitHub's record of jobs needs GITHUB_TOKEN and -repository (in GitHub Actions GITHUB_TOKEN alone): set them, or say with -state where else the record is")
	case p.step.Getenv("CI") != "":
		p.step.Printf("The record of jobs is in a directory: if it goes with this runner, a further run for this change makes a further job.")
	}
	if dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(config, "docs-on-merge")
	}
	return once.NewDir(dir)
}

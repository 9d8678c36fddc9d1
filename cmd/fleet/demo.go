package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	demoMerges = 12
	demoLost   = 4 // the prompt whose response is lost
)

// demo is fleet at work, on a fake of the service in this process and an SQLite file.
type demo struct {
	*program
	fake *mintlifytest.Service
}

func (p *program) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the folder is temporary

	// The program of the demo has nothing that the user has set for work: no result leaves this machine.
	environment := map[string]string{
		"DATABASE_URL":     "sqlite:" + filepath.Join(dir, "fleet.db"),
		"MINTLIFY_API_KEY": mintlifytest.APIKey,
		// An error shows this address. Nobody should take it for the service's own.
		"MINTLIFY_BASE_URL": "https://mintlifytest.invalid",
	}

	fake := mintlifytest.NewService()
	d := demo{fake: fake, program: &program{
		getenv:    func(name string) string { return environment[name] },
		stdout:    p.stdout,
		stderr:    io.Discard,
		transport: fake,
		options:   []mintlify.Option{mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))},
		Settings:  queue.Production,
	}}
	d.PauseMin = time.Second
	return d.withStore(ctx, true, slog.LevelError, d.play)
}

func (d demo) say(format string, arguments ...any) {
	fmt.Fprintf(d.stdout, "-> "+format+"\n", arguments...)
	d.stdout.Flush() //nolint:errcheck // run tells
}

// play delivers merges twice, and works until only a person can go on, who then does what status advises.
func (d demo) play(ctx context.Context, s queue.Queue) error {
	d.say("the service is a fake, and the queue an SQLite file: nothing leaves this machine")
	prompts := demoPrompts()
	for range 2 {
		known, err := s.Enqueue(ctx, prompts...)
		if err != nil {
			return err
		}
		d.say("webhooks tell of %d merges: %d enqueued, %d known already",
			demoMerges, demoMerges-len(known), len(known))
	}

	d.say("the service responds 503 at first, and the response to prompt %d gets lost", demoLost)
	d.fake.SetJobTime(time.Second)
	d.fake.SucceedNext(mintlify.OpCreateJob, demoLost-1)
	d.fake.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	d.fake.FailNext(mintlify.OpGetJob, 3, mintlifytest.Fault{Status: 503})

	working, stop := context.WithCancel(ctx)
	worked := make(chan error, 1)
	worker := *d.program
	worker.stdout = bufio.NewWriter(io.Discard)
	go func() { worked <- worker.run(working, []string{"work"}) }()

	err := d.follow(ctx, s)
	stop()
	return errors.Join(err, <-worked)
}

func demoPrompts() []database.Prompt {
	prompts := make([]database.Prompt, demoMerges)
	for i := range prompts {
		prompts[i] = database.Prompt{
			Key:      fmt.Sprintf("acme/service-%d@%040x", i%6+1, i+1),
			Project:  fmt.Sprint("project-", i%6+1),
			Prompt:   "Document the flag --json.",
			Priority: database.DefaultPriority,
		}
	}
	return prompts
}

// follow shows what becomes of the merges, and plays the person who does what fleet status advises.
func (d demo) follow(ctx context.Context, s queue.Queue) error {
	if err := d.await(ctx, s); err != nil {
		return err
	}
	d.say("fleet status")
	if err := d.run(ctx, []string{"status"}); err != nil {
		return err
	}

	unknown, err := s.Records().List(ctx, once.Unknown)
	if err != nil || len(unknown) != 1 {
		return errors.Join(err, fmt.Errorf("%d prompts are unknown, want 1", len(unknown)))
	}

	arguments := []string{"retry", "-key", unknown[0].Key, "-job", d.fake.Jobs()[demoLost-1].ID}
	d.say("a person has found its job: fleet %s", strings.Join(arguments, " "))
	if err := d.run(ctx, arguments); err != nil {
		return err
	}

	err = d.await(ctx, s)
	d.say("%d merges have led to %d jobs", demoMerges, len(d.fake.Jobs()))
	return err
}

// await shows each second how many prompts are in each state, until none is left to do.
func (d demo) await(ctx context.Context, s queue.Queue) error {
	for ; ; time.Sleep(time.Second) {
		all, err := s.Records().List(ctx)
		if err != nil {
			return err
		}

		n := map[once.State]int{}
		for _, r := range all {
			n[r.State]++
		}
		d.say("%d queued, %d sending, %d running, %d unknown, %d done",
			n[once.Pending], n[once.Sending], n[once.Running], n[once.Unknown], n[once.Done])
		if n[once.Done]+n[once.Unknown] == len(all) {
			return nil
		}
	}
}

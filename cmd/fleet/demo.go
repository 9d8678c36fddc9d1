package main

import (
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

// demoCommand shows fleet at work, on a fake of the service in this process and an SQLite file.
type demoCommand struct {
	*program
	noFlags
	fake *mintlifytest.Service
}

func (c *demoCommand) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the folder is temporary

	// The program of the demo has nothing that the user has set for work: no result leaves this machine.
	c.fake = mintlifytest.NewService()
	environment := map[string]string{
		"DATABASE_URL":     "sqlite:" + filepath.Join(dir, "fleet.db"),
		"MINTLIFY_API_KEY": mintlifytest.APIKey,
		// An error shows this address. Nobody should take it for the service's own.
		"MINTLIFY_BASE_URL": "https://mintlifytest.invalid",
	}

	c.program = &program{
		getenv:    func(name string) string { return environment[name] },
		stdout:    c.stdout,
		stderr:    io.Discard,
		transport: c.fake,
		options:   []mintlify.Option{mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))},
		Settings:  queue.Production,
	}
	c.PauseMin = time.Second
	return c.withStore(ctx, true, slog.LevelError, func(s queue.Queue) error { return c.play(ctx, s) })
}

func (c *demoCommand) say(format string, arguments ...any) {
	fmt.Fprintf(c.stdout, "-> "+format+"\n", arguments...)
}

// play delivers merges twice, and works until only a person can go on, who then does what status advises.
func (c *demoCommand) play(ctx context.Context, s queue.Queue) error {
	c.say("the service is a fake, and the queue an SQLite file: nothing leaves this machine")
	for range 2 {
		if err := c.enqueueMerges(ctx, s); err != nil {
			return err
		}
	}

	c.say("the service responds 503 at first, and the response to prompt %d gets lost", demoLost)
	c.fake.SetJobTime(time.Second)
	c.fake.SucceedNext(mintlify.OpCreateJob, demoLost-1)
	c.fake.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	c.fake.FailNext(mintlify.OpGetJob, 3, mintlifytest.Fault{Status: 503})

	client, err := c.client()
	if err != nil {
		return err
	}

	working, stop := context.WithCancel(ctx)
	worked := make(chan error, 1)
	go func() { worked <- queue.NewWorker(s, client, nil).Run(working) }()
	err = c.follow(ctx, s)
	stop()
	return errors.Join(err, <-worked)
}

func (c *demoCommand) enqueueMerges(ctx context.Context, s queue.Queue) error {
	prompts := make([]database.Prompt, demoMerges)
	for i := range prompts {
		prompts[i] = database.Prompt{
			Key:      fmt.Sprintf("acme/service-%d@%040x", i%6+1, i+1),
			Project:  fmt.Sprint("project-", i%6+1),
			Prompt:   "Document the flag --json.",
			Priority: database.DefaultPriority,
		}
	}

	known, err := s.Enqueue(ctx, prompts...)
	c.say("webhooks tell of %d merges: %d enqueued, %d known already", demoMerges, demoMerges-len(known), len(known))
	return err
}

// follow shows what becomes of the merges, and plays the person who does what fleet status advises.
func (c *demoCommand) follow(ctx context.Context, s queue.Queue) error {
	if err := c.await(ctx, s); err != nil {
		return err
	}
	c.say("fleet status")
	if err := c.program.run(ctx, []string{"status"}); err != nil {
		return err
	}

	unknown, err := s.Records().List(ctx, once.Unknown)
	if err != nil || len(unknown) != 1 {
		return errors.Join(err, fmt.Errorf("%d prompts are unknown, want 1", len(unknown)))
	}

	arguments := []string{"retry", "-key", unknown[0].Key, "-job", c.fake.Jobs()[demoLost-1].ID}
	c.say("a person has found its job: fleet %s", strings.Join(arguments, " "))
	if err := c.program.run(ctx, arguments); err != nil {
		return err
	}

	err = c.await(ctx, s)
	c.say("%d merges have led to %d jobs", demoMerges, len(c.fake.Jobs()))
	return err
}

// await shows each second how many prompts are in each state, until none is left to do.
func (c *demoCommand) await(ctx context.Context, s queue.Queue) error {
	for ; ; time.Sleep(time.Second) {
		all, err := s.Records().List(ctx)
		if err != nil {
			return err
		}

		n := map[once.State]int{}
		for _, r := range all {
			n[r.State]++
		}
		c.say("%d queued, %d sending, %d running, %d unknown, %d done",
			n[once.Pending], n[once.Sending], n[once.Running], n[once.Unknown], n[once.Done])
		if n[once.Done]+n[once.Unknown] == len(all) {
			return nil
		}
	}
}

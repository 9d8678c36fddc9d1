package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// pauseCommand sends nothing for a while.
type pauseCommand struct {
	*program
	scope
}

func (c *pauseCommand) check(line commandLine) error { return c.scope.check(line) }

func (c *pauseCommand) run(ctx context.Context, s queue.Queue) error {
	filter := c.choice().Filter()
	known, err := sqldb.Strings(ctx, s.DB,
		"SELECT key FROM fleet_prompts WHERE "+filter.Where()+" LIMIT 1", filter.Args...)
	if err != nil {
		return err
	}

	if len(known) == 0 && !c.all {
		fmt.Fprintf(c.stderr, "fleet: no prompt of %s is known; its next ones will wait\n",
			redact.OneLine(cmp.Or(c.repository, c.project), 150))
	}

	reason := "paused at " + utc(time.Now()) + " by " + s.Who

	if c.repository != "" {
		err = s.StopRepository(ctx, c.repository, reason)
	} else {
		err = s.Stop(ctx, c.project, reason)
	}
	if err != nil {
		return err
	}

	sending, err := s.AwaitClaims(ctx, c.choice())
	if err != nil {
		return fmt.Errorf("it is paused, but a prompt may be on its way: %w", err)
	}

	switch sending {
	case 0:
		fmt.Fprintln(c.stdout, "paused")
	case 1:
		fmt.Fprintln(c.stdout, "paused; 1 prompt is being sent")
	default:
		fmt.Fprintf(c.stdout, "paused; %d prompts are being sent\n", sending)
	}
	return nil
}

// resumeCommand lifts pauses, and has jobs polled again that have a problem.
type resumeCommand struct {
	*program
	scope
}

func (c *resumeCommand) check(line commandLine) error { return c.scope.check(line) }

// run lifts all pauses of a project or a repository. For all projects it leaves those that a person has
// paused one by one.
func (c *resumeCommand) run(ctx context.Context, s queue.Queue) error {
	lifted, err := c.lift(ctx, s)
	if err != nil {
		return err
	}

	polled, err := s.WakePolls(ctx, c.choice())
	if err != nil {
		return err
	}
	if lifted+polled == 0 {
		return usage.Errorf("there is nothing to resume")
	}

	if err := s.WakeSince(ctx, c.project, time.Now()); err != nil {
		return fmt.Errorf("the pause is lifted, but the next prompt may take minutes: %w", err)
	}
	if lifted > 0 {
		fmt.Fprintln(c.stdout, "resumed")
	}

	if polled > 0 {
		fmt.Fprintf(c.stdout, "%d running with a problem: polled again\n", polled)
	}
	return nil
}

func (c *resumeCommand) lift(ctx context.Context, s queue.Queue) (int64, error) {
	if c.repository == "" {
		return s.Resume(ctx, c.project)
	}

	wasStopped, err := s.ResumeRepository(ctx, c.repository)
	if wasStopped {
		return 1, err
	}
	return 0, err
}

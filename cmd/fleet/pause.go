package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// pauseCommand sends nothing for a while.
type pauseCommand struct {
	*program
	scope
}

func (c *pauseCommand) check(line commandLine) error { return c.scope.check(line) }

func (c *pauseCommand) run(ctx context.Context) error {
	return c.onTables(ctx, func(s queue.Queue) error { return c.pause(ctx, s) })
}

func (c *pauseCommand) pause(ctx context.Context, s queue.Queue) error {
	known, err := sqldb.Number(ctx, s.DB, `SELECT count(*) FROM fleet_prompts
WHERE (project = $1 OR $1 = '') AND (repository = $2 OR $2 = '')`, c.project, c.repository)
	if err != nil {
		return err
	}

	if known == 0 && !c.all {
		fmt.Fprintf(c.stderr, "fleet: no prompt of %s is known; its next ones will wait\n", c.name())
	}

	reason := "paused at " + utc(time.Now()) + " by " + s.Who
	if c.repository != "" {
		err = queue.PauseRepository(ctx, s.DB, c.repository, reason)
	} else {
		pause := queue.Pause{Project: c.project, Source: queue.ByPerson, Cause: queue.CausePerson, Reason: reason}
		pause.Since = time.Now()
		pause.Until = queue.Forever
		err = pause.Store(ctx, s.DB)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "paused")
	return nil
}

// name names the scope in a sentence.
func (s *scope) name() string {
	switch {
	case s.repository != "":
		return "repository " + redact.OneLine(s.repository, 150)
	case s.project != "":
		return "project " + redact.OneLine(s.project, 100)
	}
	return "any project"
}

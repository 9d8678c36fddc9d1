package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// initCommand makes the tables.
type initCommand struct {
	*program
	noFlags
}

func (c *initCommand) run(ctx context.Context) error {
	return c.withStore(ctx, true, slog.LevelWarn, func(queue.Queue) error {
		fmt.Fprintln(c.stdout, "the tables are there")
		return nil
	})
}

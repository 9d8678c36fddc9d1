package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/once"
)

// forgetCommand deletes the texts of a prompt and of those that follow it.
type forgetCommand struct {
	*program
	key string
}

func (c *forgetCommand) define(f *flag.FlagSet) {
	f.StringVar(&c.key, "key", "", "key of the prompt; all that follow its job are forgotten, too")
}

func (c *forgetCommand) check(line commandLine) error {
	c.key = database.FoldCase(c.key)
	return line.wantOne("key")
}

func (c *forgetCommand) run(ctx context.Context, s queue.Queue) error {
	n, err := s.Forget(ctx, c.key)
	if errors.Is(err, once.ErrConflict) {
		return usage.Errorf("nothing is forgotten: %s has changed meanwhile", c.key)
	}
	if err != nil {
		return err
	}

	fmt.Fprintf(c.stdout, "prompts whose texts are forgotten: %d\n", n)
	return s.EmptyLog(ctx)
}

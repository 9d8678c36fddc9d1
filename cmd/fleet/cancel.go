package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// cancelCommand keeps what is queued from being sent.
type cancelCommand struct {
	*program
	scope
	key string
	yes bool
}

func (c *cancelCommand) define(f *flag.FlagSet) {
	c.scope.define(f)
	f.StringVar(&c.key, "key", "", "key of the prompt")
	f.BoolVar(&c.yes, "yes", false, "do it: without it a bulk command only prints what it would do")
}

func (c *cancelCommand) check(line commandLine) error {
	return c.scope.check(line, "key")
}

func (c *cancelCommand) run(ctx context.Context, s queue.Queue) error {
	cancel := decision{
		what:  "cancel",
		from:  []once.State{once.Pending},
		done:  "canceled",
		apply: by(s, (*once.Runner).Cancel),
	}

	if c.key != "" {
		r, err := s.Row(ctx, c.key)
		if err != nil {
			return err
		}
		return c.decideOne(ctx, s, cancel, r)
	}

	dropped, err := c.cancelReviews(ctx, s)
	if err != nil {
		return err
	}

	choice := c.choice()
	choice.State = once.Pending
	rows, err := s.Choose(ctx, choice)
	if err != nil {
		return err
	}

	if len(rows) > 0 || dropped == 0 {
		return c.decideAll(ctx, s, cancel, rows, c.yes)
	}
	if !c.yes {
		return usage.Errorf("nothing is changed without -yes")
	}
	return nil
}

// cancelReviews drops, with -yes, the comments that would be sent once the pull request of their job is
// known. It names each, so that a person can look what became of it.
func (c *cancelCommand) cancelReviews(ctx context.Context, s queue.Queue) (int, error) {
	reviews := github.Docs{Queue: s}
	kept, err := reviews.KeptReviews(ctx, c.project, c.repository)
	if err != nil {
		return 0, err
	}

	for _, r := range kept {
		line := redact.OneLine(fmt.Sprintf("%s, a comment on %s", r.FollowUp(), r.Pull), 500)
		if !c.yes {
			fmt.Fprintln(c.stdout, "would drop", line)
			continue
		}
		if err := reviews.DropReview(ctx, r); err != nil {
			return 0, err
		}

		fmt.Fprintln(c.stdout, "dropped", line)
	}
	return len(kept), nil
}

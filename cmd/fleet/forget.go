package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// forgetCommand deletes the texts of a prompt and of those that follow it, or what a person wrote.
type forgetCommand struct {
	*program
	key, author string
	yes         bool
}

func (c *forgetCommand) define(f *flag.FlagSet) {
	f.StringVar(&c.key, "key", "", "key of the prompt; all that follow its job are forgotten, too")
	f.StringVar(&c.author, "author", "", "login: forgets that person's comments, and merges with all that follow them")
	f.BoolVar(&c.yes, "yes", false, "do it: without it -author only prints what it would do")
}

func (c *forgetCommand) check(line commandLine) error { return line.wantOne("key", "author") }

// forget deletes texts. What has not ended is needed still.
var forget = decision{
	what:   "forget",
	from:   database.States,
	refuse: database.WhyNotForget,
	done:   "forgotten",
	apply:  database.ForgetOne,
}

func (c *forgetCommand) run(ctx context.Context, s queue.Queue) error {
	if c.author != "" {
		return c.forgetAuthor(ctx, s)
	}

	thread, err := s.ThreadOf(ctx, c.key)
	if err != nil {
		return err
	}
	for _, r := range thread {
		if why := forget.whyNot(r); why != "" {
			return usage.Errorf("nothing is changed: %s", why)
		}
	}

	if err := c.decideAll(ctx, s, forget, thread, true); err != nil {
		return err
	}
	return s.EmptyLog(ctx)
}

// forgetAuthor forgets, with -yes, what an author wrote, and lists what has not ended.
func (c *forgetCommand) forgetAuthor(ctx context.Context, s queue.Queue) error {
	rows, err := s.OfAuthor(ctx, c.author)
	if err != nil {
		return err
	}

	ended := slices.DeleteFunc(slices.Clone(rows), func(r database.Row) bool { return forget.whyNot(r) != "" })
	open, err := c.listOpen(ctx, s, rows)
	if err != nil {
		return err
	}

	if !c.yes {
		return c.plan(forget, ended)
	}

	leftOut, err := s.ForgetLeftOut(ctx, c.author)
	if err != nil {
		return err
	}
	forgotten, err := forget.decide(ctx, s, ended)
	if err != nil {
		return err
	}

	open += len(ended) - len(forgotten)
	fmt.Fprintf(c.stdout, "%d forgotten, and %d that were left out\n", len(forgotten), leftOut)
	if err := s.EmptyLog(ctx); err != nil {
		return err
	}
	if open == 0 && len(forgotten) == 0 && leftOut == 0 {
		return usage.Errorf("nobody of that login has written anything that is kept")
	}
	if open > 0 {
		return fmt.Errorf("%d have not ended, or changed meanwhile, and are not forgotten", open)
	}
	return nil
}

func (c *forgetCommand) listOpen(ctx context.Context, s queue.Queue, rows []database.Row) (int, error) {
	kept, err := github.Docs{Queue: s}.KeptReviews(ctx, "", "")
	if err != nil {
		return 0, err
	}

	open := 0
	for _, r := range rows {
		if why := forget.whyNot(r); why != "" {
			fmt.Fprintln(c.stdout, why)
			open++
		}
	}

	for _, r := range kept {
		if strings.EqualFold(r.Author, c.author) {
			fmt.Fprintf(c.stdout, "a comment on %s waits for its job\n", redact.OneLine(r.Pull, 200))
			open++
		}
	}
	return open, nil
}

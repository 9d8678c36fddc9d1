package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

// cancel keeps what is queued from being sent.
func (p *program) cancel(ctx context.Context, s queue.Queue) error {
	cancel := decision{
		what: "cancel",
		from: []once.State{once.Pending},
		done: "canceled",
		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			_, err := s.RunnerIn(tx).Cancel(ctx, r.Key)
			return err
		},
	}

	if p.key != "" {
		r, err := s.Row(ctx, p.key)
		if err != nil {
			return err
		}
		return p.decideOne(ctx, s, cancel, r)
	}

	dropped, err := p.cancelReviews(ctx, s)
	if err != nil {
		return err
	}

	p.state = once.Pending
	rows, err := s.Choose(ctx, p.choice())
	if err != nil {
		return err
	}

	if len(rows) > 0 || dropped == 0 {
		return p.decideAll(ctx, s, cancel, rows, p.yes)
	}
	if !p.yes {
		return usage.Errorf("nothing is changed without -yes")
	}
	return nil
}

// cancelReviews drops, with -yes, the comments that would be sent once the pull request of their job is
// known. It names each, so that a person can look what became of it.
func (p *program) cancelReviews(ctx context.Context, s queue.Queue) (int, error) {
	reviews := github.Docs{Queue: s}
	kept, err := reviews.KeptReviews(ctx, p.project, p.repository)
	if err != nil {
		return 0, err
	}

	for _, r := range kept {
		line := safetext.OneLine(fmt.Sprintf("%s, a comment on %s", r.FollowUp(), r.Pull), 500)
		if !p.yes {
			fmt.Fprintln(p.stdout, "would drop", line)
			continue
		}
		if err := reviews.DropReview(ctx, r); err != nil {
			return 0, err
		}

		fmt.Fprintln(p.stdout, "dropped", line)
		p.stdout.Flush() //nolint:errcheck // run tells
	}
	return len(kept), nil
}

// close notes that a person says a prompt is done.
func (p *program) close(ctx context.Context, s queue.Queue) error {
	r, err := s.Row(ctx, p.key)
	if err != nil {
		return err
	}

	return p.decideOne(ctx, s, decision{
		what: "close",
		from: []once.State{once.Unknown, once.Failed, once.Running, once.Refused},
		also: func(r database.Row) bool { return isLostMessage(r) || r.State == once.Done && r.IsToldInVain() },
		done: string(once.Done),

		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			if r.State != once.Done {
				if _, err := s.RunnerIn(tx).MarkDone(ctx, r.Key, p.link); err != nil {
					return err
				}
			}
			return database.NoteClosed(ctx, tx, r)
		},
	}, r)
}

// forgetting deletes texts. What has not ended is needed still.
var forgetting = decision{
	what:   "forget",
	from:   database.States,
	refuse: database.WhyNotForget,
	done:   "forgotten",
	apply:  database.ForgetOne,
}

// forget deletes the texts of a prompt and of those that follow it, or what a person wrote.
func (p *program) forget(ctx context.Context, s queue.Queue) error {
	if p.author != "" {
		return p.forgetAuthor(ctx, s)
	}

	thread, err := s.ThreadOf(ctx, p.key)
	if err != nil {
		return err
	}
	for _, r := range thread {
		if why := forgetting.whyNot(r); why != "" {
			return usage.Errorf("nothing is changed: %s", why)
		}
	}

	if err := p.decideAll(ctx, s, forgetting, thread, true); err != nil {
		return err
	}
	return s.EmptyLog(ctx)
}

// forgetAuthor forgets, with -yes, what an author wrote, and lists what has not ended.
func (p *program) forgetAuthor(ctx context.Context, s queue.Queue) error {
	rows, err := s.OfAuthor(ctx, p.author)
	if err != nil {
		return err
	}

	ended, open, err := p.listOpen(ctx, s, rows)
	if err != nil {
		return err
	}

	if !p.yes {
		leftOut, err := s.CountLeftOut(ctx, p.author)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "would forget %d that were left out\n", leftOut)
		return p.plan(forgetting, ended)
	}

	leftOut, err := s.ForgetLeftOut(ctx, p.author)
	if err != nil {
		return err
	}
	forgotten, err := forgetting.decide(ctx, s, ended)
	if err != nil {
		return err
	}

	open += len(ended) - len(forgotten)
	fmt.Fprintf(p.stdout, "%d forgotten, and %d that were left out\n", len(forgotten), leftOut)
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

// listOpen lists what an author wrote that has not ended, and returns the rest.
func (p *program) listOpen(ctx context.Context, s queue.Queue, rows []database.Row) ([]database.Row, int, error) {
	var ended []database.Row
	open := 0
	for _, r := range rows {
		why := forgetting.whyNot(r)
		if why == "" {
			ended = append(ended, r)
			continue
		}

		fmt.Fprintln(p.stdout, why)
		open++
	}

	kept, err := github.Docs{Queue: s}.KeptReviews(ctx, "", "")
	for _, r := range kept {
		if strings.EqualFold(r.Author, p.author) {
			fmt.Fprintf(p.stdout, "a comment on %s waits for its job\n", safetext.OneLine(r.Pull, 200))
			open++
		}
	}
	return ended, open, err
}

package main

import (
	"context"
	"database/sql"
	"fmt"

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

package main

import (
	"context"
	"database/sql"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/once"
)

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

package main

import (
	"context"
	"database/sql"
	"flag"
	"net/url"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// closeCommand notes that a person says a prompt is done.
type closeCommand struct {
	*program
	key, link string
}

func (c *closeCommand) define(f *flag.FlagSet) {
	f.StringVar(&c.key, "key", "", "key of the prompt")
	f.StringVar(&c.link, "pr", "", "URL of its pull request")
}

func (c *closeCommand) check(line commandLine) error {
	if err := line.wantOne("key"); err != nil {
		return err
	}
	if c.link != "" && !isWebURL(c.link) {
		return usage.Errorf("-pr is %q, want a URL such as https://github.com/acme/docs/pull/7",
			redact.OneLine(c.link, 100))
	}
	return nil
}

func (c *closeCommand) run(ctx context.Context, s queue.Queue) error {
	r, err := s.Row(ctx, c.key)
	if err != nil {
		return err
	}

	markDone := by(s, func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
		return r.MarkDone(ctx, key, c.link)
	})
	return c.decideOne(ctx, s, decision{
		what: "close",
		from: []once.State{once.Unknown, once.Failed, once.Running, once.Refused},
		also: func(r database.Row) bool { return isLostMessage(r) || r.State == once.Done && r.IsToldInVain() },
		done: string(once.Done),

		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			if r.State != once.Done {
				if err := markDone(ctx, tx, r); err != nil {
					return err
				}
			}
			return database.NoteClosed(ctx, tx, r)
		},
	}, r)
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

package main

import (
	"context"
	"fmt"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// lookFor looks for the pull request of an unknown prompt before it is sent again. It reports whether there is
// one, which ends the prompt.
func (c *retryCommand) lookFor(ctx context.Context, s queue.Queue, r database.Row) (bool, error) {
	if r.After != "" {
		return false, nil // a message opens none
	}
	api, err := newAPI(c.getenv)
	if err != nil {
		return false, err
	}

	link, err := github.Finder{Queue: s, API: api}.Find(ctx, r.Record)
	if err != nil {
		fmt.Fprintln(c.stderr, "fleet: its pull request could not be looked for:", redact.OneLine(err.Error(), 1000))
		return false, nil // the person who retries has looked
	}
	if link == "" {
		return false, nil
	}

	if err := s.Resolve(ctx, r.Record, link); err != nil {
		return false, err
	}
	fmt.Fprintf(c.stdout, "%s is done, nothing is sent: its pull request is %s\n", r.Key, redact.OneLine(link, 500))
	return true, nil
}

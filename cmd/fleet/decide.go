package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/once"
)

// decision is what a person decides about a prompt, in the words of package once.
type decision func(runner *once.Runner, ctx context.Context, key string) (once.Record, error)

// decide does what a person has decided about one prompt.
func (p *program) decide(ctx context.Context, s queue.Queue, key string, decision decision) error {
	r, err := s.Row(ctx, key)
	if err != nil {
		return err
	}

	client, err := p.clientIfAny()
	if err != nil {
		return err
	}

	record, err := decision(s.Runner(client, s.DB), ctx, r.Key)
	if err != nil {
		return inWordsOfFleet(err)
	}
	fmt.Fprintf(p.stdout, "%s is %s\n", r.Key, database.NameOf(record.State))
	return s.GoOn(ctx, r.ProjectID, record)
}

// clientIfAny returns the client that looks jobs up, nil without an API key.
func (p *program) clientIfAny() (*mintlify.Client, error) {
	if p.getenv("MINTLIFY_API_KEY") == "" {
		return nil, nil
	}
	return p.client()
}

// inWordsOfFleet says in the words of the commands why package once refuses a decision. Other errors stay.
func inWordsOfFleet(err error) error {
	var refused *once.StateError
	switch {
	case errors.As(err, &refused):
		return usage.Errorf("nothing is changed: %s", wordsOf(refused))
	case errors.Is(err, mintlify.ErrInvalidArgument), errors.Is(err, mintlify.ErrNotFound):
		return usage.Errorf("nothing is changed: %w", err)
	}
	return err
}

// commandOf has the command of each decision of package once.
var commandOf = map[string]string{
	"Adopt":     "retry -job",
	"MarkDone":  "close",
	"SendAgain": "retry -again",
	"Cancel":    "cancel",
}

func wordsOf(refused *once.StateError) string {
	var allowed []string
	for _, state := range refused.Allowed {
		allowed = append(allowed, database.NameOf(state))
	}
	return fmt.Sprintf("%s is %s, and %s is for prompts that are %s", refused.Key, database.NameOf(refused.State),
		commandOf[refused.Decision], strings.Join(allowed, ", "))
}

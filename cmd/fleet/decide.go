package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// decision is what a person decides about a prompt, in the words of package once.
type decision func(runner *once.Runner, ctx context.Context, key string) (once.Record, error)

// cancel keeps what is queued from being sent.
func (p *program) cancel(ctx context.Context, s store) error {
	return p.decide(ctx, s, "cancel", "queued", (*once.Runner).Cancel)
}

func (p *program) checkRetry() error {
	if err := p.wantOne("key", "state"); err != nil {
		return err
	}
	if err := p.wantOne("again", "job"); err != nil {
		return err
	}

	isBulk := p.state == "failed" || p.state == "refused"
	switch {
	case p.given["key"] && p.given["project"]:
		return usageError("retry -key takes no -project")
	case p.given["state"] && (!isBulk || !p.again):
		return usageError("-state is failed or refused, with -again: what is unknown is retried one key at a time, " +
			"after a person has looked")
	}
	return nil
}

// retry sends prompts again, or follows a job that a person has found.
func (p *program) retry(ctx context.Context, s store) error {
	if p.job == "" {
		return p.decide(ctx, s, "retry", p.state, (*once.Runner).SendAgain)
	}
	adopt := func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
		return r.Adopt(ctx, key, p.job)
	}
	return p.decide(ctx, s, "retry", p.state, adopt)
}

func (p *program) checkClose() error {
	if err := p.wantOne("key"); err != nil {
		return err
	}
	if p.link != "" && !isWebURL(p.link) {
		return usageError("-pr is %q, want a URL such as https://github.com/acme/docs/pull/7",
			redact.OneLine(p.link, 100))
	}
	return nil
}

// closePrompt notes that a prompt is done.
func (p *program) closePrompt(ctx context.Context, s store) error {
	markDone := func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
		return r.MarkDone(ctx, key, p.link)
	}
	return p.decide(ctx, s, "close", "", markDone)
}

// decide does what a person has decided: about the prompt of -key, or, with -yes, about all in a
// state and of -project.
func (p *program) decide(ctx context.Context, s store, what, state string, decision decision) error {
	if p.prompt.Key != "" {
		return p.decideOne(ctx, s, decision)
	}

	rows, err := s.choose(ctx, state, p.prompt.Project)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return usageError("there is nothing to %s", what)
	}
	if !p.yes {
		return p.plan(rows, what)
	}
	return p.decideAll(ctx, s, nil, rows, decision)
}

// plan prints what a bulk command would do.
func (p *program) plan(rows []row, what string) error {
	for _, r := range rows[:min(len(rows), 20)] {
		fmt.Fprintf(p.stdout, "would %s %s of project %s\n", what, r.Key, r.Project)
	}
	return usageError("%d prompts to %s; nothing is changed without -yes", len(rows), what)
}

func (p *program) decideOne(ctx context.Context, s store, decision decision) error {
	r, err := s.row(ctx, p.prompt.Key)
	if err != nil {
		return err
	}

	var client *mintlify.Client // looks the job up, if there is an API key
	if p.getenv("MINTLIFY_API_KEY") != "" {
		client, err = p.client()
		if err != nil {
			return err
		}
	}
	return p.decideAll(ctx, s, client, []row{r}, decision)
}

func (p *program) decideAll(ctx context.Context, s store, client *mintlify.Client, rows []row, decision decision) error {
	var failed []error
	for _, r := range rows {
		record, err := decision(s.runner(client, s.DB), ctx, r.Key)
		if err != nil {
			failed = append(failed, errors.New(inWordsOfFleet.Replace(err.Error())))
			continue
		}
		s.insertJobs(ctx, prompt{Key: r.Key, Priority: r.Priority})
		fmt.Fprintf(p.stdout, "%s is %s\n", r.Key, nameOf(record.State))
	}

	if len(failed) == len(rows) {
		return usageError("nothing is changed: %w", errors.Join(failed...))
	}
	return errors.Join(failed...)
}

// inWordsOfFleet puts errors of package once into the words of these commands.
var inWordsOfFleet = strings.NewReplacer("once: ", "", "is pending", "is queued", "[pending", "[queued",
	"Adopt", "retry -job", "MarkDone", "close", "SendAgain", "retry -again", "Cancel", "cancel")

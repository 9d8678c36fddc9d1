package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// retryCommand sends prompts again, follows a job that a person has found, or moves prompts to another
// project.
type retryCommand struct {
	*program
	key, state, project, repository, job string
	again, yes                           bool
}

func (c *retryCommand) define(f *flag.FlagSet) {
	f.StringVar(&c.key, "key", "", "key of the prompt")
	f.StringVar(&c.state, "state", "", "those in this state: failed, refused or canceled")
	f.StringVar(&c.project, "project", "", "those of a project; with -key or -repo the project to move to")
	f.StringVar(&c.repository, "repo", "",
		"moves what is queued, refused and canceled of a repository to -project: "+ofRepository)
	f.BoolVar(&c.again, "again", false, "send it again: if there is a job after all, there will be two")
	f.StringVar(&c.job, "job", "", "id of its job, which a person has found: follow that one, send nothing")
	f.BoolVar(&c.yes, "yes", false, "do it: without it a bulk command only prints what it would do")
}

func (c *retryCommand) check(line commandLine) error {
	c.key = database.FoldCase(c.key)
	if err := line.wantOne("key", "state", "repo"); err != nil {
		return err
	}
	if err := checkRepository(line, &c.repository); err != nil {
		return err
	}
	if !line.given["repo"] || line.given["job"] {
		if err := line.wantOne("again", "job"); err != nil {
			return err
		}
	}

	switch {
	case line.given["state"]:
		if !slices.Contains([]string{"failed", "refused", "canceled"}, c.state) || !c.again {
			return usage.Errorf("-state is failed, refused or canceled, with -again: what is unknown is retried " +
				"one key at a time, after a person has looked")
		}

		return nil
	case line.given["repo"] && !line.given["project"]:
		return usage.Errorf("-repo moves the prompts of a repository: it wants -project")
	case line.given["project"] && !line.given["repo"] && !c.again:
		return usage.Errorf("-project moves a prompt that no job can exist of: it wants -again")
	case line.given["project"]:
		return checkProject(c.project)
	}
	return nil
}

// checkProject refuses an id that cannot be a project's.
func checkProject(id string) error {
	if _, err := mintlify.NewClient("any-key", id); err != nil {
		return usage.Errorf("-project: %w", err)
	}
	return nil
}

func (c *retryCommand) run(ctx context.Context, s queue.Queue) error {
	switch {
	case c.job != "":
		return c.decide(ctx, s, c.key, func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
			return r.Adopt(ctx, key, c.job)
		})
	case c.repository != "":
		return c.moveRepository(ctx, s)
	case c.key != "" && c.project != "":
		return c.moveOne(ctx, s)
	case c.key != "":
		return c.sendAgain(ctx, s)
	}

	state, err := database.StateOf(c.state)
	if err != nil {
		return err
	}

	return bulk{
		what:      "retry",
		choice:    database.Choice{State: state, Project: c.project, OnlyKept: true},
		decision:  (*once.Runner).SendAgain,
		done:      "queued again",
		meanwhile: "changed meanwhile",
	}.run(ctx, s, c.stdout, c.yes)
}

// sendAgain sends one prompt again. It first looks for what became of an unknown one.
func (c *retryCommand) sendAgain(ctx context.Context, s queue.Queue) error {
	r, err := s.Row(ctx, c.key)
	if err != nil {
		return err
	}
	if !r.Forgotten.IsZero() {
		return usage.Errorf("nothing is changed: the texts of %s were forgotten at %s, so it cannot be sent",
			r.Key, utc(r.Forgotten))
	}

	if r.State == once.Unknown {
		found, err := c.lookFor(ctx, s, r)
		if err != nil || found {
			return err
		}
	}

	return c.decide(ctx, s, c.key, func(runner *once.Runner, ctx context.Context, key string) (once.Record, error) {
		record, err := runner.SendAgain(ctx, key)
		if err != nil {
			return record, err
		}
		return record, database.NoteRetry(ctx, s.DB, key)
	})
}

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

package main

import (
	"context"
	"database/sql"
	"errors"
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
	f.StringVar(&c.project, "project", "", "with -state those of a project; else the project to move to")
	f.StringVar(&c.repository, "repo", "",
		"with -state those of a repository; else moves what is queued, refused and canceled of it to -project: "+
			ofRepository)
	f.BoolVar(&c.again, "again", false, "send it again: if there is a job after all, there will be two")
	f.StringVar(&c.job, "job", "", "id of its job, which a person has found: follow that one, send nothing")
	f.BoolVar(&c.yes, "yes", false, "do it: without it a bulk command only prints what it would do")
}

func (c *retryCommand) check(line commandLine) error {
	choices := []string{"key", "state", "repo"}
	if line.given["state"] { // of a repository, too
		choices = choices[:2]
	}
	if err := line.wantOne(choices...); err != nil {
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

func checkProject(id string) error {
	if _, err := mintlify.NewClient("any-key", id); err != nil {
		return usage.Errorf("-project: %w", err)
	}
	return nil
}

func (c *retryCommand) run(ctx context.Context, s queue.Queue) error {
	switch {
	case c.key != "":
		return c.retryOne(ctx, s)
	case c.state == "":
		rows, err := s.Choose(ctx, database.Choice{Repository: c.repository})
		if err != nil {
			return err
		}
		return c.decideAll(ctx, s, c.move(s), rows, c.yes)
	}

	state, err := database.StateOf(c.state)
	if err != nil {
		return err
	}
	rows, err := s.Choose(ctx, database.Choice{State: state, Project: c.project, Repository: c.repository})
	if err != nil {
		return err
	}
	return c.decideAll(ctx, s, sendAgain(s), rows, c.yes)
}

func (c *retryCommand) retryOne(ctx context.Context, s queue.Queue) error {
	r, err := s.Row(ctx, c.key)
	if err != nil {
		return err
	}

	switch {
	case c.project != "":
		return c.decideOne(ctx, s, c.move(s), r)
	case c.job != "":
		if err := c.lookUp(ctx, r); err != nil {
			return err
		}
		return c.decideOne(ctx, s, c.adopt(s), r)
	}

	if r.State == once.Unknown {
		isFound, err := c.lookFor(ctx, s, r)
		if err != nil || isFound {
			return err
		}
	}
	return c.decideOne(ctx, s, sendAgain(s), r)
}

func sendAgain(s queue.Queue) decision {
	queueAgain := by(s, (*once.Runner).SendAgain)
	return decision{
		what:   "retry",
		from:   []once.State{once.Unknown, once.Failed, once.Refused, once.Canceled},
		also:   isLostMessage,
		refuse: refuseForgotten,
		done:   "queued",

		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			if err := queueAgain(ctx, tx, r); err != nil {
				return err
			}
			return database.NoteRetry(ctx, tx, r.Key)
		},
	}
}

func (c *retryCommand) adopt(s queue.Queue) decision {
	isWithoutJob := func(r database.Row) bool { return r.State == once.Done && r.JobID == "" }
	return decision{
		what: "retry -job",
		from: []once.State{once.Pending, once.Unknown, once.Failed, once.Running},
		also: func(r database.Row) bool { return isLostMessage(r) || isWithoutJob(r) },
		done: string(once.Running),
		apply: by(s, func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
			return r.Adopt(ctx, key, c.job)
		}),
	}
}

// lookUp looks up the job that a person has found, if there is an API key.
func (c *retryCommand) lookUp(ctx context.Context, r database.Row) error {
	if c.getenv("MINTLIFY_API_KEY") == "" {
		return nil
	}
	client, err := c.client()
	if err != nil {
		return err
	}

	ofProject, err := client.ForProject(r.ProjectID)
	if err != nil {
		return err
	}

	_, err = ofProject.Jobs.Get(ctx, c.job)
	if errors.Is(err, mintlify.ErrInvalidArgument) || errors.Is(err, mintlify.ErrNotFound) {
		return usage.Errorf("nothing is changed: %w", err)
	}
	return err
}

// move queues prompts for another project, as long as no job can exist, and the messages to their jobs.
func (c *retryCommand) move(s queue.Queue) decision {
	return decision{
		what:    "move",
		from:    []once.State{once.Pending, once.Refused, once.Canceled},
		refuse:  c.whyNotMove,
		done:    "queued for project " + c.project,
		project: c.project,

		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			moved := "moved from project " + r.ProjectID
			record := r.Record
			record.ProjectID = c.project
			record.State = once.Pending
			record.Problem = ""
			record.Reported = ""

			if err := s.PutNext(ctx, tx, record, moved); err != nil {
				return err
			}
			if err := database.NoteRetry(ctx, tx, r.Key); err != nil {
				return err
			}
			if err := database.ChangeQueues(ctx, tx, r.ProjectID, c.project); err != nil {
				return err
			}

			_, err := tx.ExecContext(ctx, `UPDATE fleet_prompts SET project = $2, version = version + 1
WHERE thread = $1 AND thread <> ''`, r.Key, c.project)
			return err
		},
	}
}

func (c *retryCommand) whyNotMove(r database.Row) string {
	switch {
	case r.After != "":
		return fmt.Sprintf("%s follows %s, and goes to the project of its job", r.Key, r.After)
	case r.State == once.Pending && r.ProjectID == c.project:
		return fmt.Sprintf("%s is queued for project %s already", r.Key, c.project)
	}
	return refuseForgotten(r)
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

	link, err := github.Docs{Queue: s, API: api}.Find(ctx, r.Record)
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

package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

func (p *program) checkRetry() error {
	isBulk := p.state != "" || p.repository != ""
	isRetried := slices.Contains([]once.State{once.Failed, once.Refused, once.Canceled}, p.state)
	switch {
	case isBulk == (p.key != ""):
		return usage.Errorf("retry wants -key or -state or -repo")
	case p.state != "" && !(isRetried && p.again):
		return usage.Errorf("-state is failed, refused or canceled, with -again: what is unknown is retried " +
			"one key at a time, after a person has looked")
	case p.state != "":
		return nil

	case p.key != "" && p.again == (p.job != ""):
		return usage.Errorf("retry wants -again or -job")

	case p.key == "" && (p.project == "" || p.job != ""):
		return usage.Errorf("-repo moves the prompts of a repository: it wants -project, and no -job")
	case p.project != "" && p.job != "":
		return usage.Errorf("-project moves a prompt that no job can exist of: it wants -again")

	case p.project != "":
		if _, err := mintlify.NewClient("any-key", p.project); err != nil {
			return usage.Errorf("-project: %w", err)
		}
	}
	return nil
}

// retry sends prompts again, follows a job that a person has found, or moves prompts to another project.
func (p *program) retry(ctx context.Context, s queue.Queue) error {
	if p.key != "" {
		return p.retryOne(ctx, s)
	}

	what := sendAgain(s)
	chosen := p.choice()
	if p.state == "" {
		what = p.move(s)
		chosen.Project = ""
	}

	rows, err := s.Choose(ctx, chosen)
	if err != nil {
		return err
	}
	return p.decideAll(ctx, s, what, rows, p.yes)
}

func (p *program) retryOne(ctx context.Context, s queue.Queue) error {
	r, err := s.Row(ctx, p.key)
	if err != nil {
		return err
	}

	switch {
	case p.project != "":
		return p.decideOne(ctx, s, p.move(s), r)
	case p.job != "":
		if err := p.lookUp(ctx, r); err != nil {
			return err
		}
		return p.decideOne(ctx, s, p.adopt(s), r)
	}

	if r.State == once.Unknown || isLostMessage(r) {
		whyNot, isFound, err := p.lookFor(ctx, s, r)
		if err != nil || isFound {
			return err
		}
		if whyNot != "" && !p.yes {
			return usage.Errorf("nothing is changed: nobody has looked for the pull request of %s: %s. "+
				"If you have looked: add -yes", r.Key, whyNot)
		}
	}
	return p.decideOne(ctx, s, sendAgain(s), r)
}

func sendAgain(s queue.Queue) decision {
	return decision{
		what:   "retry",
		from:   []once.State{once.Unknown, once.Failed, once.Refused, once.Canceled},
		also:   isLostMessage,
		refuse: refuseForgotten,
		done:   "queued",

		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			if _, err := s.RunnerIn(tx).SendAgain(ctx, r.Key); err != nil {
				return err
			}
			if err := database.NoteRetry(ctx, tx, r.Key); err != nil || r.State != once.Failed {
				return err
			}

			// Nobody looks for a pull request of the send before: its job has ended.
			_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET deadline = 0 WHERE key = $1", r.Key)
			return err
		},
	}
}

func (p *program) adopt(s queue.Queue) decision {
	return decision{
		what: "retry -job",
		from: []once.State{once.Pending, once.Unknown, once.Failed, once.Running},
		also: func(r database.Row) bool { return isLostMessage(r) || r.State == once.Done && r.JobID == "" },
		done: string(once.Running),
		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			_, err := s.RunnerIn(tx).Adopt(ctx, r.Key, p.job)
			return err
		},
	}
}

// lookUp looks up the job that a person has found, if there is an API key.
func (p *program) lookUp(ctx context.Context, r database.Row) error {
	if p.getenv("MINTLIFY_API_KEY") == "" {
		return nil
	}
	client, err := p.client()
	if err != nil {
		return err
	}

	ofProject, err := client.ForProject(r.ProjectID)
	if err != nil {
		return err
	}

	_, err = ofProject.Jobs.Get(ctx, p.job)
	if errors.Is(err, mintlify.ErrInvalidArgument) || errors.Is(err, mintlify.ErrNotFound) {
		return usage.Errorf("nothing is changed: %w", err)
	}
	return err
}

// move queues prompts for another project, as long as no job can exist, and the messages to their jobs.
func (p *program) move(s queue.Queue) decision {
	return decision{
		what:    "move",
		from:    []once.State{once.Pending, once.Refused, once.Canceled},
		refuse:  p.whyNotMove,
		done:    "queued for project " + p.project,
		project: p.project,

		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			moved := "moved from project " + r.ProjectID
			record := r.Record
			record.ProjectID = p.project
			record.State = once.Pending
			record.Problem = ""
			record.Reported = ""

			if err := s.PutNext(ctx, s.RecordsIn(tx), record, moved); err != nil {
				return err
			}
			if err := database.NoteRetry(ctx, tx, r.Key); err != nil {
				return err
			}
			if err := s.WakeSends(ctx, tx, r.ProjectID, p.project); err != nil {
				return err
			}

			_, err := tx.ExecContext(ctx, `UPDATE fleet_prompts SET project = $2, version = version + 1
WHERE thread = $1 AND thread <> ''`, r.Key, p.project)
			return err
		},
	}
}

func (p *program) whyNotMove(r database.Row) string {
	switch {
	case r.After != "":
		return fmt.Sprintf("%s follows %s, and goes to the project of its job", r.Key, r.After)
	case r.State == once.Pending && r.ProjectID == p.project:
		return fmt.Sprintf("%s is queued for project %s already", r.Key, p.project)
	}
	return refuseForgotten(r)
}

// lookFor looks for the pull request of an unknown prompt before it is sent again. It reports whether there is one,
// which ends the prompt, and else why it could not look, or not yet.
func (p *program) lookFor(ctx context.Context, s queue.Queue, r database.Row) (whyNot string, isFound bool, err error) {
	if r.After != "" {
		return "it is a message, which opens none: look at that of " + r.After, false, nil
	}

	api, err := newAPI(p.getenv)
	if err != nil {
		return "", false, err
	}

	link, whyNot, err := github.Docs{Queue: s, API: api}.Find(ctx, r.Record)
	if err != nil {
		fmt.Fprintln(p.stderr, "fleet: its pull request could not be looked for:", safetext.OneLine(err.Error(), 1000))
		whyNot = cmp.Or(whyNot, "not each repository of the documentation could be listed")
	}
	if link == "" {
		return cmp.Or(whyNot, whyWait(r)), false, nil
	}

	if err := s.Resolve(ctx, r.Record, link); err != nil {
		return "", false, err
	}
	fmt.Fprintf(p.stdout, "%s is done, nothing is sent: its pull request is %s\n", r.Key, safetext.OneLine(link, 500))
	return "", true, nil
}

// whyWait says until when the pull request of an unknown prompt may still come, "" if that has passed.
func whyWait(r database.Row) string {
	until := sentAbout(r).Add(queue.OpensWithin)
	if time.Now().After(until) {
		return ""
	}
	return "a job may take 25 minutes to open it. Wait until " + utc(until)
}

// sentAbout returns when a prompt was sent: its deadline may still come.
func sentAbout(r database.Row) time.Time {
	return slices.MinFunc([]time.Time{r.UpdatedAt, r.Deadline}, time.Time.Compare)
}

// isUnlooked reports whether a prompt was sent before, and nobody has looked for its pull request.
func isUnlooked(r database.Row) bool {
	return r.Sends > 0 && r.After == "" && r.PRLink == "" && r.JobID == "" && r.Looked.Before(r.Deadline) &&
		r.State == once.Canceled
}

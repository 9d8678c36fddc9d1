package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const decideBatch = 100 // prompts in a transaction: workers wait until it ends

// errNothing is that a bulk command finds no prompt.
var errNothing = errors.New("there is nothing")

// decision is what a person decides about a prompt, in the words of package once.
type decision func(runner *once.Runner, ctx context.Context, key string) (once.Record, error)

// cancel keeps what is queued from being sent.
func (p *program) cancel(ctx context.Context, s store) error {
	if p.given["key"] {
		return p.decideOne(ctx, s, (*once.Runner).Cancel)
	}

	reviews, err := p.cancelReviews(ctx, s)
	if err != nil {
		return err
	}

	err = p.decideAll(ctx, s, bulk{
		what:      "cancel",
		state:     once.Pending,
		decision:  (*once.Runner).Cancel,
		done:      "canceled",
		meanwhile: "sent meanwhile",
	})
	if errors.Is(err, errNothing) && reviews > 0 {
		return p.wantYes()
	}
	return err
}

// cancelReviews drops, with -yes, the comments that would be sent once the pull request of their job is
// known. It names each, so that a person can look what became of it.
func (p *program) cancelReviews(ctx context.Context, s store) (int, error) {
	reviews, err := s.keptReviews(ctx, p.prompt.Project)
	if err != nil {
		return 0, err
	}

	for _, r := range reviews {
		line := redact.OneLine(fmt.Sprintf("%s, a comment on %s", r.key(), r.Pull), 500)
		if !p.yes {
			fmt.Fprintln(p.stdout, "would drop", line)
			continue
		}
		if err := s.dropReview(ctx, r); err != nil {
			return 0, err
		}
		fmt.Fprintln(p.stdout, "dropped", line)
	}
	return len(reviews), nil
}

// wantYes refuses a bulk command without -yes.
func (p *program) wantYes() error {
	if p.yes {
		return nil
	}
	return usageError("nothing is changed without -yes")
}

func (p *program) checkRetry() error {
	if err := p.wantOne("key", "state"); err != nil {
		return err
	}
	if err := p.wantOne("again", "job"); err != nil {
		return err
	}
	if p.given["state"] {
		if !slices.Contains([]string{"failed", "refused", "canceled"}, p.state) || !p.again {
			return usageError("-state is failed, refused or canceled, with -again: what is unknown is retried " +
				"one key at a time, after a person has looked")
		}
		return nil
	}

	if p.given["project"] && !p.again {
		return usageError("-project moves a prompt that no job can exist of: it wants -again")
	}
	if p.given["project"] {
		return checkProject(p.prompt.Project)
	}
	return nil
}

// checkProject refuses an id that cannot be a project's.
func checkProject(id string) error {
	if _, err := mintlify.NewClient("any-key", id); err != nil {
		return usageError("-project: %w", err)
	}
	return nil
}

// retry sends prompts again, follows a job that a person has found, or moves a prompt.
func (p *program) retry(ctx context.Context, s store) error {
	switch {
	case p.given["job"]:
		return p.decideOne(ctx, s, func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
			return r.Adopt(ctx, key, p.job)
		})
	case p.given["key"] && p.given["project"]:
		return p.move(ctx, s)
	case p.given["key"]:
		return p.decideOne(ctx, s, (*once.Runner).SendAgain)
	}

	state, err := stateOf(p.state)
	if err != nil {
		return err
	}
	return p.decideAll(ctx, s, bulk{
		what:      "retry",
		state:     state,
		decision:  (*once.Runner).SendAgain,
		done:      "queued again",
		meanwhile: "changed meanwhile",
	})
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
	return p.decideOne(ctx, s, func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
		return r.MarkDone(ctx, key, p.link)
	})
}

// decideOne does what a person has decided about the prompt of -key.
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

	record, err := decision(s.runner(client, s.DB), ctx, r.Key)
	if isUsers(err) {
		return usageError("nothing is changed: %s", inWordsOfFleet.Replace(err.Error()))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s is %s\n", r.Key, nameOf(record.State))

	s.insertJobs(ctx, prompt{Key: r.Key, Priority: r.Priority})
	if err := s.wakePrompt(ctx, r.Key); err != nil {
		return err
	}
	return s.wakeFollower(ctx, r.Key)
}

// isUsers reports whether the user can fix an error of package once.
func isUsers(err error) bool {
	return errors.Is(err, once.ErrState) || errors.Is(err, mintlify.ErrInvalidArgument) ||
		errors.Is(err, mintlify.ErrNotFound)
}

// inWordsOfFleet puts errors of package once into the words of these commands.
var inWordsOfFleet = strings.NewReplacer(
	"once: ", "",
	"it is pending", "it is queued",
	"that are pending", "that are queued",
	"Adopt is", "retry -job is",
	"MarkDone is", "close is",
	"SendAgain is", "retry -again is",
	"Cancel is", "cancel is",
)

// bulk is a decision about all prompts in a state.
type bulk struct {
	what      string // the command
	state     once.State
	decision  decision
	done      string // what they are afterwards
	meanwhile string // what became of prompts that are no longer in the state
}

// decideAll does, with -yes, what a person has decided about all in a state and of -project.
func (p *program) decideAll(ctx context.Context, s store, b bulk) error {
	rows, err := s.choose(ctx, choice{state: b.state, project: p.prompt.Project})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return usageError("%w to %s", errNothing, b.what)
	}
	if !p.yes {
		return p.plan(rows, b.what)
	}

	decided, err := s.decideBatches(ctx, rows, b)
	fmt.Fprintf(p.stdout, "%d %s, %d %s\n", decided.done, b.done, decided.meanwhile, b.meanwhile)
	if err != nil {
		return fmt.Errorf("%d are left as they were: %w", len(rows)-decided.done-decided.meanwhile, err)
	}
	if decided.done == 0 {
		return usageError("nothing is changed")
	}
	return s.wakeQueues(ctx, s.DB, p.prompt.Project)
}

// plan prints what a bulk command would do.
func (p *program) plan(rows []row, what string) error {
	for _, r := range rows[:min(len(rows), 20)] {
		fmt.Fprintf(p.stdout, "would %s %s of project %s\n", what, r.Key, r.Project)
	}
	return usageError("%d prompts to %s; nothing is changed without -yes", len(rows), what)
}

// decided counts what became of the prompts of a bulk command.
type decided struct{ done, meanwhile int }

// decideBatches decides about rows, some in a transaction, until one fails.
func (s store) decideBatches(ctx context.Context, rows []row, b bulk) (decided, error) {
	var total decided
	for batch := range slices.Chunk(rows, decideBatch) {
		n, err := s.decideBatch(ctx, batch, b)
		if err != nil {
			return total, err
		}

		total.done += n
		total.meanwhile += len(batch) - n
		if b.state != once.Pending {
			s.insertJobs(ctx, promptsOf(batch)...)
		}
	}
	return total, nil
}

// decideBatch decides about rows in one transaction, and returns about how many it has.
func (s store) decideBatch(ctx context.Context, batch []row, b bulk) (int, error) {
	n := 0
	err := s.transact(ctx, func(tx *sql.Tx) error {
		for _, r := range batch {
			isDone, err := s.decideInTx(ctx, tx, r.Key, b)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Key, err)
			}
			if isDone {
				n++
			}
		}
		return nil
	})
	return n, err
}

// decideInTx reports false if a worker or another person has changed the record meanwhile.
func (s store) decideInTx(ctx context.Context, tx *sql.Tx, key string, b bulk) (bool, error) {
	record, err := once.NewSQL(tx).Get(ctx, key)
	if err != nil || record.State != b.state {
		return false, err
	}
	_, err = b.decision(s.runner(nil, tx), ctx, key)
	if errors.Is(err, once.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

func promptsOf(rows []row) []prompt {
	prompts := make([]prompt, len(rows))
	for i, r := range rows {
		prompts[i] = prompt{Key: r.Key, Priority: r.Priority}
	}
	return prompts
}

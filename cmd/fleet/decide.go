package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	decideBatch = 100 // prompts in a transaction
	maxPlanned  = 20  // prompts that a plan names
)

// decision is what a person decides about prompts. A command chooses rows, asks the network what it has to know,
// and then has its decision made: in transactions, in which each row is read again.
type decision struct {
	what string       // the command
	from []once.State // in which it is allowed
	done string       // what the prompts are afterwards

	// also allows it in other states, and refuse forbids it, with a reason. Both may be nil.
	also   func(r database.Row) bool
	refuse func(r database.Row) string

	// project is where the prompts are afterwards, "" for where they were.
	project string

	apply func(ctx context.Context, tx *sql.Tx, r database.Row) error
}

// whyNot says why the decision cannot be made about a prompt, "" if it can.
func (d decision) whyNot(r database.Row) string {
	isAllowed := slices.Contains(d.from, r.State) || d.also != nil && d.also(r)
	switch {
	case isAllowed && d.refuse != nil:
		return d.refuse(r)
	case isAllowed:
		return ""
	}

	var allowed []string
	for _, state := range d.from {
		allowed = append(allowed, database.NameOf(state))
	}
	return fmt.Sprintf("%s is %s, and %s is for prompts that are %s",
		r.Key, database.NameOf(r.State), d.what, strings.Join(allowed, ", "))
}

// isLostMessage reports whether package once may let a person decide about a message that is sending: it says so
// once the message was lost long ago.
func isLostMessage(r database.Row) bool { return r.State == once.Sending && r.After != "" }

func refuseForgotten(r database.Row) string {
	if r.Forgotten.IsZero() {
		return ""
	}
	return fmt.Sprintf("the texts of %s were forgotten at %s, so it cannot be sent", r.Key, utc(r.Forgotten))
}

func (p *program) decideOne(ctx context.Context, s queue.Queue, d decision, r database.Row) error {
	if why := d.whyNot(r); why != "" {
		return usage.Errorf("nothing is changed: %s", why)
	}
	decided, err := d.decide(ctx, s, []database.Row{r})
	if err != nil {
		return err
	}

	if len(decided) == 0 {
		return usage.Errorf("nothing is changed: a worker or another person is at %s", r.Key)
	}
	fmt.Fprintf(p.stdout, "%s is %s\n", r.Key, d.done)
	return nil
}

// decideAll makes, with yes, a decision about those of many prompts about which it can be made.
func (p *program) decideAll(ctx context.Context, s queue.Queue, d decision, rows []database.Row, yes bool) error {
	rows = slices.DeleteFunc(rows, func(r database.Row) bool { return d.whyNot(r) != "" })
	if len(rows) == 0 {
		return usage.Errorf("there is nothing to %s", d.what)
	}
	if !yes {
		return p.plan(d, rows)
	}

	decided, err := d.decide(ctx, s, rows)
	left := len(rows) - len(decided)
	if err != nil {
		fmt.Fprintf(p.stdout, "%d %s\n", len(decided), d.done)
		return fmt.Errorf("%d are left as they were: %w", left, err)
	}

	fmt.Fprintf(p.stdout, "%d %s, %d changed meanwhile\n", len(decided), d.done, left)
	if len(decided) == 0 {
		return usage.Errorf("nothing is changed")
	}
	return nil
}

func (p *program) plan(d decision, rows []database.Row) error {
	for _, r := range rows[:min(len(rows), maxPlanned)] {
		fmt.Fprintf(p.stdout, "would %s %s of project %s\n", d.what, r.Key, safetext.OneLine(r.ProjectID, 100))
	}

	unlooked := 0
	for _, r := range rows {
		if isUnlooked(r) && d.done != forgetting.done {
			unlooked++
		}
	}
	if unlooked > 0 {
		fmt.Fprintf(p.stdout, "%d of them were sent before, and nobody has looked for their pull requests\n", unlooked)
	}
	return usage.Errorf("%d to %s; nothing is changed without -yes", len(rows), d.what)
}

// decide makes a decision about rows, some in a transaction, until one fails. It returns those about which it was made.
// Each transaction wakes who has to go on with its rows.
func (d decision) decide(ctx context.Context, s queue.Queue, rows []database.Row) ([]database.Row, error) {
	var decided []database.Row
	for batch := range slices.Chunk(rows, decideBatch) {
		var some []database.Row
		err := s.Transact(ctx, func(tx *sql.Tx) error {
			var projects []string
			for _, r := range batch {
				projects = append(projects, r.ProjectID, cmp.Or(d.project, r.ProjectID))
			}
			if err := s.LockProjects(ctx, tx, projects...); err != nil {
				return err
			}

			var err error
			some, err = d.decideIn(ctx, tx, batch)
			return err
		})

		if err != nil {
			return decided, err
		}
		decided = append(decided, some...)
	}
	return decided, nil
}

// decideIn makes a decision about rows that have not changed meanwhile in a way that forbids it.
func (d decision) decideIn(ctx context.Context, tx *sql.Tx, batch []database.Row) ([]database.Row, error) {
	var decided []database.Row
	for _, r := range batch {
		current, err := database.ReadRows(ctx, tx, "key = $1", r.Key)
		if err != nil {
			return nil, err
		}
		if len(current) == 0 || d.whyNot(current[0]) != "" {
			continue
		}

		err = d.apply(ctx, tx, current[0])
		switch {
		case errors.Is(err, once.ErrConflict), errors.Is(err, once.ErrState):
		case err != nil:
			return nil, fmt.Errorf("%s: %w", r.Key, err)
		default:
			decided = append(decided, current[0])
		}
	}
	return decided, nil
}

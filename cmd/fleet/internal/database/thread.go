package database

import (
	"context"
	"database/sql"

	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// jobHasEnded is the condition that the record r has the id of a job, which has ended.
const jobHasEnded = `r.state IN ('done', 'failed') AND r.job <> ''`

// IsReady is the condition that the pending prompt p may be sent: it is not a message, or the job of its thread
// has ended and no other message of the thread comes first. Package once has the same rule, and sends that one
// instead.
const IsReady = `(p.thread = '' OR EXISTS (SELECT 1 FROM fleet_prompts r
	WHERE r.key = p.thread AND ` + jobHasEnded + `) AND NOT EXISTS (
	SELECT 1 FROM fleet_prompts x
	WHERE x.thread = p.thread AND x.thread <> '' AND x.key <> p.key AND (x.state IN ('sending', 'running')
		OR x.state = 'pending' AND x.prompt <> '' AND (x.added < p.added OR x.added = p.added AND x.key < p.key))))`

// IsStranded is the condition that the pending prompt p is a message to a job that there is not, and will not be
// unless a person decides.
const IsStranded = `EXISTS (SELECT 1 FROM fleet_prompts r WHERE r.key = p.thread
AND r.state IN ('done', 'failed', 'unknown', 'refused', 'canceled') AND NOT (` + jobHasEnded + `))`

// place puts a message into the thread of the prompt that it names, and in the project of that.
func place(ctx context.Context, tx *sql.Tx, p *Prompt) error {
	after, err := RecordsOf(tx).Get(ctx, p.After)
	if err != nil {
		return err
	}
	if after.Version == 0 {
		return usage.Errorf("no prompt has the key %s, which it is to follow", redact.OneLine(p.After, 300))
	}

	if p.Project != "" && p.Project != after.ProjectID {
		return usage.Errorf("it follows %s, whose job is in project %s", p.After, after.ProjectID)
	}
	p.Project = after.ProjectID
	return nil
}

// ThreadOf returns the prompt that a key's job was made for, and then the messages to that job in their order.
func (s Store) ThreadOf(ctx context.Context, key string) ([]Row, error) {
	r, err := s.Row(ctx, key)
	if err != nil {
		return nil, err
	}

	first := r.Key
	if r.Thread != "" {
		first = r.Thread
	}
	return s.Rows(ctx, inThread+" ORDER BY p.thread, p.added, p.key", first)
}

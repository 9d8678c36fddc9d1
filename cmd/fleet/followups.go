package main

import (
	"context"
	"database/sql"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// jobHasEnded is the condition that the record r has the id of a job, which has ended.
const jobHasEnded = `r.state IN ('done', 'failed') AND r.record LIKE '%"jobId":"%'`

// isReady is the condition that the pending prompt p may be sent: it follows no other, or the job
// of the one before it has ended.
const isReady = `(p.follows = '' OR EXISTS (SELECT 1 FROM mintlify_once r
WHERE r.key = p.follows AND ` + jobHasEnded + `))`

// isStranded is the condition that the pending prompt p follows one that has no job, and gets none
// unless a person decides.
const isStranded = `EXISTS (SELECT 1 FROM mintlify_once r WHERE r.key = p.follows
AND r.state IN ('done', 'failed', 'unknown', 'refused', 'canceled') AND NOT (` + jobHasEnded + `))`

// place puts a prompt that follows another behind the newest that follows the same job, in the
// project of that job. The newest ones that will send nothing, unless a person decides, come behind it:
// else it would wait for them for ever.
func (s store) place(ctx context.Context, tx *sql.Tx, p *prompt) error {
	project, err := projectOf(ctx, tx, p.After)
	if err != nil {
		return err
	}
	if project == "" {
		return usageError("no prompt has the key %s, which it is to follow", redact.OneLine(p.After, 300))
	}
	if p.Project != "" && p.Project != project {
		return usageError("it follows %s, whose job is in project %s", p.After, project)
	}
	p.Project = project

	newest, err := newestOf(ctx, tx, p.After)
	if err != nil {
		return err
	}
	before, dropped, err := skipDropped(ctx, tx, newest)
	if err != nil {
		return err
	}
	p.After = before
	if dropped.Key == "" {
		return nil
	}
	return s.putBehind(ctx, tx, dropped, p.Key)
}

// isDropped reports whether a follow-up sends nothing unless a person decides, and has told of no job that
// others could follow: it was canceled, refused, or closed.
func isDropped(r once.Record) bool {
	hasEnded := r.State == once.Done || r.State == once.Failed
	return r.State == once.Canceled || r.State == once.Refused || hasEnded && r.JobID == ""
}

// skipDropped goes back from the end of a chain to the last prompt that is not a dropped follow-up. It
// returns its key, and the record behind it, if there is one.
func skipDropped(ctx context.Context, tx *sql.Tx, newest string) (string, once.Record, error) {
	var behind once.Record
	for key := newest; ; key = behind.After {
		record, err := once.NewSQL(tx).Get(ctx, key)
		if err != nil {
			return "", once.Record{}, err
		}
		if record.After == "" || !isDropped(record) {
			return key, behind, nil
		}
		behind = record
	}
}

// putBehind has a record follow another than before. The key is stored twice: with the record for
// package once, and in a column for queries. A result that was told is not told again for it.
func (s store) putBehind(ctx context.Context, tx *sql.Tx, record once.Record, after string) error {
	_, err := tx.ExecContext(ctx, `UPDATE fleet_prompts
SET follows = $2, told = CASE WHEN told = $3 THEN told + 1 ELSE told END WHERE key = $1`,
		record.Key, after, record.Version)
	if err != nil {
		return err
	}
	record.After = after
	return s.putNext(ctx, tx, record, "follows "+after+" now")
}

// projectOf returns the project of a prompt, "" if there is none.
func projectOf(ctx context.Context, db once.DB, key string) (string, error) {
	project := ""
	err := scan(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&project) },
		"SELECT project FROM fleet_prompts WHERE key = $1", key)
	return project, err
}

// followerOf returns the key of the prompt that follows another, "" if none does.
func followerOf(ctx context.Context, db once.DB, key string) (string, error) {
	follower := ""
	err := scan(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&follower) },
		"SELECT key FROM fleet_prompts WHERE follows = $1", key)
	return follower, err
}

// newestOf returns the last key of the chain that a key is in.
func newestOf(ctx context.Context, db once.DB, key string) (string, error) {
	for {
		follower, err := followerOf(ctx, db, key)
		if err != nil || follower == "" {
			return key, err
		}
		key = follower
	}
}

// chainOf returns the prompt that a key's job was made for, and all that follow it.
func (s store) chainOf(ctx context.Context, key string) ([]row, error) {
	first, err := s.row(ctx, key)
	if err != nil {
		return nil, err
	}
	for first.After != "" {
		first, err = s.row(ctx, first.After)
		if err != nil {
			return nil, err
		}
	}

	chain := []row{first}
	for {
		follower, err := followerOf(ctx, s.DB, chain[len(chain)-1].Key)
		if err != nil || follower == "" {
			return chain, err
		}
		r, err := s.row(ctx, follower)
		if err != nil {
			return nil, err
		}
		chain = append(chain, r)
	}
}

// isReady reports whether a pending prompt may be sent once it is its turn.
func (s store) isReady(ctx context.Context, record once.Record) (bool, error) {
	if record.After == "" {
		return true, nil
	}
	ready, err := number(ctx, s.DB, "SELECT count(*) FROM fleet_prompts p WHERE p.key = $1 AND "+isReady, record.Key)
	return ready > 0, err
}

// wakeFollower has River work at once at the prompt that follows another, if there is one.
func (s store) wakeFollower(ctx context.Context, key string) error {
	follower, err := followerOf(ctx, s.DB, key)
	if err != nil || follower == "" {
		return err
	}
	return s.wakePrompt(ctx, follower)
}

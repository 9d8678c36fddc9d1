package database

import (
	"context"
	"database/sql"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// Forget deletes the texts of a prompt and of all that follow its job: prompts, problems, comments and history.
// Keys, states and links stay, so that a webhook that is delivered again makes no second job. It returns how
// many prompts it has forgotten.
func (s Store) Forget(ctx context.Context, key string) (int, error) {
	thread, err := s.ThreadOf(ctx, key)
	if err != nil {
		return 0, err
	}
	for _, r := range thread {
		if advice := whyNotForget(r); advice != "" {
			return 0, usage.Errorf("nothing is forgotten: %s is %s; %s", r.Key, NameOf(r.State), advice)
		}
	}

	err = s.Transact(ctx, func(tx *sql.Tx) error {
		for _, r := range thread {
			if err := forgetOne(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	return len(thread), err
}

// whyNotForget says what has to come first, "" if nothing has to.
func whyNotForget(r Row) string {
	switch r.State {
	case once.Done, once.Failed, once.Refused, once.Canceled:
		return ""
	case once.Pending:
		return "first: fleet cancel -key " + redact.OneLine(r.Key, 300)
	case once.Unknown:
		return "first decide about it: see fleet show " + redact.OneLine(r.Key, 300)
	}
	return "wait until it has ended, or: fleet close -key " + redact.OneLine(r.Key, 300)
}

func forgetOne(ctx context.Context, tx *sql.Tx, r Row) error {
	store := once.NewSQL(tx)
	record, err := store.Get(ctx, r.Key)
	if err != nil {
		return err
	}
	if record.Version != r.Version {
		return once.ErrConflict
	}

	record.Version++
	record.Prompt = ""
	record.Problem = ""
	if err := store.Put(ctx, record); err != nil {
		return err
	}

	statements := []string{
		"DELETE FROM fleet_history WHERE key = $1",
		"DELETE FROM fleet_comments WHERE key = $1",
	}

	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement, r.Key); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE fleet_prompts SET forgotten = $2 WHERE key = $1",
		r.Key, time.Now().UnixMilli())
	return err
}

// Old returns the keys of prompts that ended before a time with all that follow them, and are not all forgotten yet:
// the first of each thread. A message may have come after the thread was forgotten.
func (s Store) Old(ctx context.Context, before time.Time, most int) ([]string, error) {
	return sqldb.Strings(ctx, s.DB, `SELECT p.key FROM fleet_prompts p JOIN mintlify_once o ON o.key = p.key
WHERE p.thread = '' AND o.updated < $1 AND o.state IN ('done', 'failed', 'refused', 'canceled')
	AND p.key IN (SELECT CASE WHEN n.thread = '' THEN n.key ELSE n.thread END
		FROM fleet_prompts n WHERE n.forgotten = 0)
	AND NOT EXISTS (SELECT 1 FROM fleet_prompts m JOIN mintlify_once x ON x.key = m.key
		WHERE m.thread = p.key AND m.thread <> '' AND x.updated >= $1)
ORDER BY o.updated LIMIT $2`, before.UnixMicro(), most)
}

// Vacuum has SQLite overwrite what was deleted, in its log, too. Postgres does so by itself.
func (s Store) Vacuum(ctx context.Context) error {
	if !s.isSQLite {
		return nil
	}
	if _, err := s.ExecContext(ctx, "VACUUM"); err != nil {
		return err
	}

	var isBusy, pages, moved int
	err := s.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&isBusy, &pages, &moved)
	if err == nil && isBusy > 0 {
		s.Calm.Warn("the log of SQLite could not be emptied: another process reads; the next forget or pass does so")
	}
	return err
}

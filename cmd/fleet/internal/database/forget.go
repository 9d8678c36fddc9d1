package database

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// Forget deletes the texts of a prompt and of all that follow its job: prompts, problems, comments and history.
// Keys, states and links stay, so that a webhook that is delivered again makes no second job. It returns how
// many prompts it has forgotten: none if one has not ended.
func (s Store) Forget(ctx context.Context, key string) (int, error) {
	thread, err := s.ThreadOf(ctx, key)
	if err != nil {
		return 0, err
	}
	for _, r := range thread {
		if WhyNotForget(r) != "" {
			return 0, nil
		}
	}

	err = s.Transact(ctx, func(tx *sql.Tx) error {
		for _, r := range thread {
			if err := ForgetOne(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	return len(thread), err
}

// WhyNotForget says what has to come before the texts of a prompt can be forgotten, "" if nothing has to.
func WhyNotForget(r Row) string {
	var first string
	key := redact.OneLine(r.Key, 300)

	switch r.State {
	case once.Done, once.Failed, once.Refused, once.Canceled:
		return ""
	case once.Pending:
		first = "first: fleet cancel -key " + key
	case once.Unknown:
		first = "first decide about it: see fleet show " + key
	default:
		first = "wait until it has ended, or: fleet close -key " + key
	}

	return fmt.Sprintf("%s is %s; %s", key, NameOf(r.State), first)
}

// ForgetOne deletes the texts of one prompt, and the logins of its authors.
func ForgetOne(ctx context.Context, tx *sql.Tx, r Row) error {
	store := RecordsOf(tx)
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

	err = sqldb.Exec(ctx, tx, []string{
		"DELETE FROM fleet_history WHERE key = $1",
		"DELETE FROM fleet_comments WHERE key = $1",
		"DELETE FROM fleet_authors WHERE key = $1",
	}, r.Key)
	if err != nil {
		return err
	}

	_, err = tx.ExecContext(ctx, "UPDATE fleet_prompts SET forgotten = $2, author = '' WHERE key = $1",
		r.Key, time.Now().UnixNano())
	return err
}

// OfAuthor returns the prompts that a login wrote: comments, and merges with all that follows them. The texts of none
// were forgotten.
func (s Store) OfAuthor(ctx context.Context, login string) ([]Row, error) {
	return s.Rows(ctx, `p.forgotten = 0 AND p.key IN (
	SELECT key FROM fleet_prompts WHERE author = $1 AND author <> ''
	UNION SELECT key FROM fleet_authors WHERE author = $1
	UNION SELECT m.key FROM fleet_prompts m JOIN fleet_authors a ON a.key = m.thread
		WHERE m.thread <> '' AND a.author = $1
) ORDER BY added, key`, FoldCase(login))
}

// ForgetLeftOut deletes what a login wrote and was left out. It returns how much that was.
func (s Store) ForgetLeftOut(ctx context.Context, login string) (int64, error) {
	return sqldb.Changed(s.ExecContext(ctx, `DELETE FROM fleet_left_out
WHERE replace(' ' || lower(author) || ' ', $1, '') <> ' ' || lower(author) || ' '`, " "+FoldCase(login)+" "))
}

// Old returns the keys of prompts that ended before a time with all that follow them, and are not all forgotten yet:
// the first of each thread. A message may have come after the thread was forgotten.
func (s Store) Old(ctx context.Context, before time.Time, most int) ([]string, error) {
	return sqldb.Strings(ctx, s.DB, `SELECT p.key FROM fleet_prompts p
WHERE p.thread = '' AND p.state IN ('done', 'failed', 'refused', 'canceled') AND p.updated < $1
	AND p.key IN (SELECT CASE WHEN thread = '' THEN key ELSE thread END FROM fleet_prompts
		WHERE forgotten = 0 AND updated < $1)
	AND NOT EXISTS (SELECT 1 FROM fleet_prompts m
		WHERE m.thread = p.key AND m.thread <> '' AND m.updated >= $1)
ORDER BY p.updated LIMIT $2`, before.UnixNano(), most)
}

// EmptyLog has SQLite overwrite its log, in which what was deleted may stand still. The pages of the file itself are
// overwritten with the deletion.
func (s Store) EmptyLog(ctx context.Context) error {
	if s.pool != nil { // it is Postgres
		return nil
	}

	var isBusy, pages, moved int
	err := s.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&isBusy, &pages, &moved)
	if err == nil && isBusy > 0 {
		s.Calm.Warn("the log of SQLite could not be emptied: another process reads; the next forget or pass does so")
	}
	return err
}

package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

// WhyNotForget says what has to come before the texts of a prompt can be forgotten, "" if nothing has to.
func WhyNotForget(r Row) string {
	var first string
	key := safetext.OneLine(r.Key, 300)

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

// ForgetOne deletes the texts of a prompt that has ended: its prompt and problem, its comments, its history, and the
// logins of its authors. Its key, state and links stay, so that a webhook that is delivered again makes no second job.
func ForgetOne(ctx context.Context, tx *sql.Tx, r Row) error {
	err := Change(ctx, tx, once.ErrConflict, `UPDATE fleet_prompts
SET version = version + 1, prompt = '', problem = '', author = '', forgotten = $3
WHERE key = $1 AND version = $2 AND `+hasEnded, r.Key, r.Version, time.Now().UnixNano())
	if err != nil {
		return err
	}

	return sqldb.Exec(ctx, tx, []string{
		"DELETE FROM fleet_history WHERE key = $1",
		"DELETE FROM fleet_comments WHERE key = $1",
		"DELETE FROM fleet_authors WHERE key = $1",
	}, r.Key)
}

// hasEnded is the condition of a prompt whose texts are not needed any more.
const hasEnded = "state IN ('done', 'failed', 'refused', 'canceled')"

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
	return sqldb.Changed(s.ExecContext(ctx, "DELETE FROM fleet_left_out WHERE "+isByLogin, " "+FoldCase(login)+" "))
}

// CountLeftOut counts what a login wrote and was left out.
func (s Store) CountLeftOut(ctx context.Context, login string) (int64, error) {
	return sqldb.Number(ctx, s.DB, "SELECT count(*) FROM fleet_left_out WHERE "+isByLogin, " "+FoldCase(login)+" ")
}

// isByLogin is the condition that one of the authors is $1, which has a space at both ends.
const isByLogin = "replace(' ' || lower(author) || ' ', $1, '') <> ' ' || lower(author) || ' '"

// ForgetOld forgets some of the prompts that ended before a time with all of their thread. It returns how many.
func (s Store) ForgetOld(ctx context.Context, before time.Time) (int, error) {
	const isKept = "(updated >= $1 OR NOT " + hasEnded + ")"
	old, err := s.Rows(ctx, "forgotten = 0 AND updated < $1 AND "+hasEnded+`
	AND NOT EXISTS (SELECT 1 FROM fleet_prompts x WHERE x.key = p.thread AND `+isKept+`)
	AND NOT EXISTS (SELECT 1 FROM fleet_prompts m WHERE m.thread <> ''
		AND m.thread = CASE WHEN p.thread = '' THEN p.key ELSE p.thread END AND `+isKept+`)
ORDER BY updated, key LIMIT 100`, before.UnixNano())
	if err != nil || len(old) == 0 {
		return 0, err
	}

	err = s.Transact(ctx, func(tx *sql.Tx) error {
		for _, r := range old {
			if err := ForgetOne(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, once.ErrConflict) { // another worker forgets them, or a person has decided about one
		return 0, nil
	}
	return len(old), err
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

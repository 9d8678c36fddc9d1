package database

import (
	"context"
	"database/sql"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// SetLimits stores how many new jobs of a repository may be made a day: by repository, and under "" for those
// that have no limit of their own. What was stored before no longer counts.
func (s Store) SetLimits(ctx context.Context, limits map[string]int) error {
	return s.Transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM fleet_limits"); err != nil {
			return err
		}

		for repository, most := range limits {
			_, err := tx.ExecContext(ctx, "INSERT INTO fleet_limits (repository, most) VALUES ($1, $2)",
				repository, most)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DayOf names the day of a limit, in UTC.
func DayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// isLimited is the condition that the limit of its repository counts the prompt p, and may hold it back. It does
// neither to messages, nor to what a person sends again.
const isLimited = `p.thread = '' AND p.retried = 0 AND p.repository <> ''`

// IsLimitedOn is the condition that only the limit of its repository on a day holds back the prompt p.
func IsLimitedOn(placeholder string) string {
	return `(` + isLimited + ` AND coalesce((
	SELECT d.sent FROM fleet_days d WHERE d.day = ` + placeholder + ` AND d.repository = p.repository), 0) >= coalesce(
	(SELECT l.most FROM fleet_limits l WHERE l.repository = p.repository),
	(SELECT l.most FROM fleet_limits l WHERE l.repository = ''), 1000000000))`
}

// IsPausedRepository is the condition that the repository of the prompt p is paused.
const IsPausedRepository = `EXISTS (SELECT 1 FROM fleet_paused_repositories x WHERE x.repository = p.repository)`

// CountSent counts a prompt as sent on a day, or with -1 takes that back. It does nothing for a prompt that the limit
// does not hold back.
func CountSent(ctx context.Context, db once.DB, key, day string, n int) error {
	_, err := db.ExecContext(ctx, `INSERT INTO fleet_days (day, repository, sent)
SELECT $2, p.repository, $3 FROM fleet_prompts p WHERE p.key = $1 AND `+isLimited+`
ON CONFLICT (day, repository) DO UPDATE SET sent = fleet_days.sent + excluded.sent`, key, day, n)
	return err
}

// NoteRetry notes that a person has a prompt sent again: the limit of a day does not hold it back.
func NoteRetry(ctx context.Context, db once.DB, key string) error {
	_, err := db.ExecContext(ctx, "UPDATE fleet_prompts SET retried = 1 WHERE key = $1", key)
	return err
}

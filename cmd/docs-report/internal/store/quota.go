package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

const quotaWindow = time.Hour

// QuotaError says that a request was not sent, and that no request may be sent before Until.
type QuotaError struct {
	Until  time.Time
	Reason string
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("%s: nothing is sent before %s", e.Reason, e.Until.Format("15:04:05 MST on 2006-01-02"))
}

// Reserve records a request that is about to be sent, and returns how many of the
// hour's budget are left then, or a [*QuotaError]. It records the request first, so a crash can
// waste one request of the budget, but never exceed the budget.
func (s *Store) Reserve(ctx context.Context, budget int) (int, error) {
	left := 0
	err := s.change(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		q, err := readQuota(ctx, tx, now)

		switch {
		case err != nil:
			return err
		case now.Before(q.blockedUntil):
			return &QuotaError{Until: q.blockedUntil, Reason: "the service's hourly quota is used up (429)"}
		case q.used >= budget:
			reason := fmt.Sprintf("the budget of %d requests an hour is spent", budget)
			return &QuotaError{Until: q.oldest.Add(quotaWindow), Reason: reason}
		}

		left = budget - q.used - 1
		if _, err := tx.ExecContext(ctx, `DELETE FROM docs_requests WHERE sent_at <= $1`, old(now)); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO docs_requests (sent_at) VALUES ($1)`, now.UnixMilli())
		return err
	})
	return left, err
}

// Left returns how many requests of the hour's budget are left.
func (s *Store) Left(ctx context.Context, budget int) (int, error) {
	now := time.Now()
	q, err := readQuota(ctx, s.db, now)
	if err != nil || now.Before(q.blockedUntil) {
		return 0, err
	}
	return max(budget-q.used, 0), nil
}

// quota says what was requested in the last hour.
type quota struct {
	used         int
	oldest       time.Time // of the requests
	blockedUntil time.Time // the service wants no request before
}

// old returns until when a request counts no longer.
func old(now time.Time) int64 { return now.Add(-quotaWindow).UnixMilli() }

func readQuota(ctx context.Context, db once.DB, now time.Time) (quota, error) {
	q := quota{}
	err := sqldb.Scan(ctx, db, func(rows *sql.Rows) error {
		return rows.Scan(&q.used, timeColumn{&q.oldest}, timeColumn{&q.blockedUntil})
	}, `SELECT COUNT(*), MIN(sent_at), (SELECT blocked_until FROM docs_service)
		FROM docs_requests WHERE sent_at > $1`, old(now))
	return q, err
}

// Block records that the service wants no request before until.
func (s *Store) Block(ctx context.Context, until time.Time) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		const update = `UPDATE docs_service SET blocked_until = $1 WHERE blocked_until < $1`
		_, err := tx.ExecContext(ctx, update, until.UnixMilli())
		return err
	})
}

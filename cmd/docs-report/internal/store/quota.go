package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
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
	err := s.write(ctx, func(tx *sql.Tx) error {
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
		_, err = tx.ExecContext(ctx, `INSERT INTO docs_requests (sent_at) VALUES ($1)`, milliseconds(now))
		return err
	})
	return left, err
}

// Left returns how many requests of the hour's budget are left.
func (s *Store) Left(ctx context.Context, budget int) (int, error) {
	left := 0
	err := s.write(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		q, err := readQuota(ctx, tx, now)
		if err != nil {
			return err
		}

		left = max(budget-q.used, 0)
		if now.Before(q.blockedUntil) {
			left = 0
		}
		return nil
	})
	return left, err
}

// quota has the requests of the last hour.
type quota struct {
	used         int
	oldest       time.Time // of the requests
	blockedUntil time.Time // the service wants no request before
}

// readQuota reads the requests of the last hour, and deletes older ones. Its first update is a
// lock: two runs must not both take the last request.
func readQuota(ctx context.Context, tx *sql.Tx, now time.Time) (quota, error) {
	if err := mendClock(ctx, tx, now); err != nil {
		return quota{}, err
	}

	var blockedUntil int64
	const lock = `UPDATE docs_service SET blocked_until = blocked_until RETURNING blocked_until`
	if err := tx.QueryRowContext(ctx, lock).Scan(&blockedUntil); err != nil {
		return quota{}, err
	}

	const forget = `DELETE FROM docs_requests WHERE sent_at <= $1`
	if _, err := tx.ExecContext(ctx, forget, milliseconds(now.Add(-quotaWindow))); err != nil {
		return quota{}, err
	}

	q := quota{blockedUntil: instant(blockedUntil)}
	var oldest int64
	const count = `SELECT COUNT(*), COALESCE(MIN(sent_at), 0) FROM docs_requests`
	err := tx.QueryRowContext(ctx, count).Scan(&q.used, &oldest)
	q.oldest = instant(oldest)
	return q, err
}

// Block records that the service wants no request before until.
func (s *Store) Block(ctx context.Context, until time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		const update = `UPDATE docs_service SET blocked_until = $1 WHERE blocked_until < $1`
		_, err := tx.ExecContext(ctx, update, milliseconds(until))
		return err
	})
}

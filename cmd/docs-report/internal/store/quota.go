package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// QuotaError is a request that was not sent: none may be before Until.
type QuotaError struct {
	Until  time.Time
	Reason string
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("%s: nothing is sent before %s", e.Reason, e.Until.Format("15:04:05 MST on 2006-01-02"))
}

// Reserve records a request that is about to be sent, and returns how many of the
// hour's budget are left then, or a [*QuotaError]. It is recorded first: a crash in
// between costs one request of the budget, never one beyond it.
func (s *Store) Reserve(ctx context.Context, budget int) (left int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		until, used, oldest, err := quota(ctx, tx, now)
		switch {
		case err != nil:
			return err
		case now.Before(until):
			return &QuotaError{Until: until, Reason: "the service's hourly quota is used up (429)"}
		case used >= budget:
			return &QuotaError{Until: oldest.Add(quotaWindow), Reason: fmt.Sprintf("the budget of %d requests an hour is spent", budget)}
		}
		left = budget - used - 1
		_, err = tx.ExecContext(ctx, `INSERT INTO docs_requests (sent_at) VALUES ($1)`, milliseconds(now))
		return err
	})
	return left, err
}

// Left returns how many requests of the hour's budget are left.
func (s *Store) Left(ctx context.Context, budget int) (left int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		until, used, _, err := quota(ctx, tx, now)
		if left = max(budget-used, 0); now.Before(until) {
			left = 0
		}
		return err
	})
	return left, err
}

// quota returns what was sent within the last hour, and until when the service wants
// nothing. Its first update is a lock: two runs must not both take the last request.
func quota(ctx context.Context, tx *sql.Tx, now time.Time) (until time.Time, used int, oldest time.Time, err error) {
	var untilMS, oldestMS int64
	if err = mendClock(ctx, tx, now); err != nil {
		return
	}
	if err = tx.QueryRowContext(ctx, `UPDATE docs_service SET blocked_until = blocked_until RETURNING blocked_until`).Scan(&untilMS); err != nil {
		return
	}
	if _, err = tx.ExecContext(ctx, `DELETE FROM docs_requests WHERE sent_at <= $1`, milliseconds(now.Add(-quotaWindow))); err != nil {
		return
	}
	err = tx.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MIN(sent_at), 0) FROM docs_requests`).Scan(&used, &oldestMS)
	return instant(untilMS), used, instant(oldestMS), err
}

// Block records that the service wants no request before until.
func (s *Store) Block(ctx context.Context, until time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE docs_service SET blocked_until = $1 WHERE blocked_until < $1`, milliseconds(until))
		return err
	})
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// leaseTime is for how long a sync holds the database after its last sign of life.
const leaseTime = 2 * time.Minute

// KeepEvery is how often a sync that waits calls Keep.
const KeepEvery = 30 * time.Second

// HeldError says that another sync is loading into the database.
type HeldError struct {
	Holder string
	Until  time.Time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("another sync (%s) holds this database until %s, and longer if it goes on",
		e.Holder, e.Until.Format("15:04:05 MST"))
}

// ErrLost matches what a sync gets that was stopped for so long that another one has taken the database.
// Nothing was stored.
var ErrLost = errors.New("this sync was stopped for a while, and another one has taken the database: " +
	"what it had requested is not stored")

// Take makes this run the one that loads into the database. A [*HeldError] says that another run is.
func (s *Store) Take(ctx context.Context) error {
	return sqldb.Transact(ctx, s.db, func(tx *sql.Tx) error {
		now := time.Now()
		if err := mendClock(ctx, tx, now); err != nil {
			return err
		}

		const take = `UPDATE docs_service SET holder = $1, held_until = $2
			WHERE holder IN ('', $1) OR held_until <= $3`
		until := now.Add(leaseTime).UnixMilli()
		taken, err := sqldb.Changed(tx.ExecContext(ctx, take, s.holder, until, now.UnixMilli()))
		if err != nil || taken > 0 {
			return err
		}

		held := &HeldError{}
		row := tx.QueryRowContext(ctx, `SELECT holder, held_until FROM docs_service`)
		if err := row.Scan(&held.Holder, timeColumn{&held.Until}); err != nil {
			return err
		}
		return held
	})
}

// Keep renews the lease of a run that waits.
func (s *Store) Keep(ctx context.Context) error {
	return s.change(ctx, func(*sql.Tx) error { return nil })
}

// Release lets another run load into the database at once.
func (s *Store) Release(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `UPDATE docs_service SET holder = '', held_until = 0 WHERE holder = $1`, s.holder)
	return err
}

// change runs work in a transaction of the run that holds the database. It renews the lease first, or stores
// nothing if another run has taken the database meanwhile. Until it ends, it keeps others from writing.
func (s *Store) change(ctx context.Context, work func(*sql.Tx) error) error {
	return sqldb.Transact(ctx, s.db, func(tx *sql.Tx) error {
		const renew = `UPDATE docs_service SET held_until = $1 WHERE holder = $2`
		until := time.Now().Add(leaseTime).UnixMilli()
		renewed, err := sqldb.Changed(tx.ExecContext(ctx, renew, until, s.holder))
		if err != nil {
			return err
		}
		if renewed == 0 {
			return ErrLost
		}
		return work(tx)
	})
}

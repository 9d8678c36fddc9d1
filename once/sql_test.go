package once_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// failingDB is a database whose statements fail.
type failingDB struct{ err error }

func (d failingDB) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, d.err
}

func (d failingDB) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, d.err
}

// stateError is an error as Postgres drivers have it.
type stateError string

func (e stateError) Error() string    { return "SQLSTATE " + string(e) }
func (e stateError) SQLState() string { return string(e) }

// countingDB is a database whose first statements fail with err.
type countingDB struct {
	err   error
	fails int
	calls int
}

func (c *countingDB) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	c.calls++
	if c.calls <= c.fails {
		return nil, c.err
	}
	return driver.RowsAffected(1), nil
}

func (c *countingDB) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	_, err := c.ExecContext(context.Background(), "")
	if err == nil {
		err = errors.New("no rows in this test")
	}
	return nil, err
}

// countingTransaction is a transaction on such a database.
type countingTransaction struct{ *countingDB }

func (countingTransaction) Commit() error   { return nil }
func (countingTransaction) Rollback() error { return nil }

// What a change of another has ended is tried again, but in a transaction, which cannot go on.
func TestSerializationFailure(t *testing.T) {
	for name, test := range map[string]struct {
		code     stateError
		fails    int
		isIn     bool // a transaction
		calls    int
		succeeds bool
	}{
		"once":             {"40001", 1, false, 2, true},
		"always":           {"40001", 100, false, 6, false},
		"in a transaction": {"40001", 1, true, 1, false},
		"a deadlock":       {"40P01", 1, false, 1, false},
	} {
		db := &countingDB{err: fmt.Errorf("exec: %w", test.code), fails: test.fails}
		store := once.NewSQL(db)
		if test.isIn {
			store = once.NewSQL(countingTransaction{db})
		}
		err := store.Put(t.Context(), once.Record{Task: task, Version: 1, State: once.Pending})
		assert.Equal(t, test.calls, db.calls, name)
		if test.succeeds {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, test.code, name)
		require.NotErrorIs(t, err, once.ErrConflict, name)

		db.calls = 0
		_, err = store.List(t.Context())
		require.ErrorIs(t, err, test.code, name)
		assert.Equal(t, test.calls, db.calls, name)
	}
}

// openTransaction is a transaction, such as *sql.Tx.
type openTransaction struct{ failingDB }

func (openTransaction) Commit() error   { return nil }
func (openTransaction) Rollback() error { return nil }

// wrapped is a transaction as sqlx, bun and programs wrap one.
type wrapped struct{ openTransaction }

func TestOnlyAClaimIsRefusedInATransaction(t *testing.T) {
	down := failingDB{errors.New("down")}
	var _ once.DB = (*sql.Tx)(nil)
	for _, test := range []struct {
		db      once.DB
		state   once.State
		refused bool
	}{
		{down, once.Sending, false},
		{openTransaction{down}, once.Sending, true},
		{wrapped{openTransaction{down}}, once.Sending, true},
		{&wrapped{openTransaction{down}}, once.Sending, true},
		{openTransaction{down}, once.Pending, false},
		{openTransaction{down}, once.Canceled, false},
		{openTransaction{down}, once.Running, false},
	} {
		err := once.NewSQL(test.db).Put(t.Context(), once.Record{Task: task, Version: 1, State: test.state})
		assert.Equal(t, test.refused, errors.Is(err, mintlify.ErrInvalidArgument), "%T %s", test.db, test.state)
		assert.Equal(t, !test.refused, errors.Is(err, down.err), "%T %s", test.db, test.state)
	}
}

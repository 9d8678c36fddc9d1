package once_test

import (
	"context"
	"database/sql"
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

func TestSerializationFailureIsAConflict(t *testing.T) {
	for code, want := range map[stateError]bool{"40001": true, "40P01": false, "42501": false} {
		store := once.NewSQL(failingDB{fmt.Errorf("exec: %w", code)})
		err := store.Put(t.Context(), once.Record{Task: task, Version: 1, State: once.Pending})
		require.Error(t, err)
		assert.Equal(t, want, errors.Is(err, once.ErrConflict), code)
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

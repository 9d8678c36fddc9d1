package sqldb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// stateError is an error as Postgres drivers have it.
type stateError string

func (e stateError) Error() string    { return "SQLSTATE " + string(e) }
func (e stateError) SQLState() string { return string(e) }

func TestIsNoTable(t *testing.T) {
	assert.True(t, sqldb.IsNoTable(fmt.Errorf("select: %w", stateError("42P01"))))
	assert.True(t, sqldb.IsNoTable(errors.New("SQL logic error: no such table: fleet_schema (1)")))

	assert.False(t, sqldb.IsNoTable(errors.New("connection refused")))
	assert.False(t, sqldb.IsNoTable(nil))
}

func TestSQLState(t *testing.T) {
	assert.Equal(t, "23505", sqldb.SQLState(fmt.Errorf("insert: %w", stateError("23505"))))
	assert.Empty(t, sqldb.SQLState(errors.New("database is locked")))
	assert.Empty(t, sqldb.SQLState(nil))
}

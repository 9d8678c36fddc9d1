package sqldb

import (
	"errors"
	"strings"
)

// SQLState returns the code of an error of Postgres, or "". The errors of its drivers have this
// method.
func SQLState(err error) string {
	var postgres interface{ SQLState() string }
	if !errors.As(err, &postgres) {
		return ""
	}
	return postgres.SQLState()
}

// IsNoTable reports whether a statement failed because the database has no such table. SQLite has
// no code for it.
func IsNoTable(err error) bool {
	const undefinedTable = "42P01"
	return SQLState(err) == undefinedTable || err != nil && strings.Contains(err.Error(), "no such table")
}

package sqldb_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]sqldb.Address{
		"sqlite:docs.db":          {File: "docs.db"},
		"sqlite:///var/docs.db":   {File: "///var/docs.db"},
		"postgres://db/docs":      {Postgres: "postgres://db/docs"},
		"postgresql://db/docs":    {Postgres: "postgresql://db/docs"},
		" dbname = docs host=db":  {Postgres: " dbname = docs host=db"},
		"pool_max_conns=9 host=x": {Postgres: "pool_max_conns=9 host=x"},
	} {
		address, err := sqldb.ParseAddress(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, address)
		assert.Equal(t, want.Postgres == "", address.IsSQLite())
	}

	for text, want := range map[string]string{
		"":                        "is not set: it names the database",
		"secret.db":               "has an unknown form",
		"mysql://jane:secret@db":  "has an unknown form",
		"Password=secret":         "has an unknown form",
		"sqlite:":                 "names no file",
		"sqlite::memory:":         "names no file",
		"sqlite://secret/docs.db": "names no file",
	} {
		_, err := sqldb.ParseAddress(text)
		assert.EqualError(t, err, want, text)
	}
}

func TestSQLiteEscapesTheFile(t *testing.T) {
	name := sqldb.Address{File: "/a b/c?&%41.db"}.SQLite(url.Values{"mode": {"ro"}})
	assert.Equal(t, "file:%2Fa%20b%2Fc%3F&%2541.db?mode=ro", name)
}

func TestMakeFileKeepsTheModeOfAnExistingFile(t *testing.T) {
	address := sqldb.Address{File: filepath.Join(t.TempDir(), "docs.db")}
	require.NoError(t, address.MakeFile())
	assertMode(t, 0o600, address.File)

	require.NoError(t, os.Chmod(address.File, 0o640))
	require.NoError(t, address.MakeFile())
	assertMode(t, 0o640, address.File)

	missing := sqldb.Address{File: filepath.Join(t.TempDir(), "no", "docs.db")}
	require.ErrorIs(t, missing.MakeFile(), os.ErrNotExist)
}

func assertMode(t *testing.T, want os.FileMode, file string) {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, want, info.Mode().Perm())
}

//go:build unix

package store_test

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/docstest"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
)

const source = "a test"

var window = store.Window{
	Project: "docs",
	From:    mintlify.Day(2026, time.March, 1),
	To:      mintlify.Day(2026, time.March, 2),
}

var rawDatabase = docstest.Database

// Both databases keep the same promises. newDatabase returns the address of a new one.
func TestSQLite(t *testing.T) {
	promises(t, func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "with space?&%41.db") })
}

func TestPostgres(t *testing.T) {
	server := startPostgres(t)
	promises(t, server.Database)
}

// startPostgres returns a server that ends with the test.
func startPostgres(t *testing.T) *processes.Postgres {
	t.Helper()
	server := &processes.Postgres{}
	t.Cleanup(server.Close)
	return server
}

func promises(t *testing.T, newDatabase func(*testing.T) string) {
	for name, test := range map[string]func(t *testing.T, where string){
		"rows and totals come back": roundTrip,
		"a list comes back":         listRoundTrip,
		"a window is seen whole":    seenWhole,
		"a page is written once":    writtenOnce,
		"rows that come again":      comeAgain,
		"a lease":                   lease,
		"a run that was stopped":    stopped,
		"the lease is renewed":      renewed,
		"many at once":              manyAtOnce,
		"opened by many at once":    openedByMany,
		"the budget":                budget,
		"the service's block":       block,
		"a clock that was ahead":    clockAhead,
		"rolling windows":           rolling,
		"failures out of the range": pruneFailed,
		"another source":            otherSource,
		"a newer version":           newerVersion,
		"what is forgotten":         forgotten,
		"a term is forgotten":       forgottenTerm,
		"texts or none":             textsOrNone,
		"views have types":          typedViews,
		"days without pages":        expiredDays,
		"how a sync ended":          syncs,
		"pages that moved":          moves,
		"pages by day":              pagesByDay,
		"what could not be loaded":  troubles,
		"a refused reload":          refusedReload,
		"nothing to read":           nothingToRead,
		"a statement that fails":    failing,
		"the queries of the README": readme,
	} {
		t.Run(name, func(t *testing.T) { test(t, newDatabase(t)) })
	}
}

func open(t *testing.T, where string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), where, source)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// page returns a page of rows with paths that begin with name.
func page(name string, offset, rows int, more bool) *store.Page {
	p := &store.Page{
		Next:   offset + 250,
		More:   more,
		Last:   !more,
		Totals: mintlify.VisitorTotals{Human: 1 << 40, AI: 2, Total: 3},
	}
	for i := range rows {
		p.Visitors = append(p.Visitors, mintlify.Visitor{Path: name, Human: int64(offset + i), AI: 1, Total: 1 << 60})
	}
	return p
}

func beginOf(s *store.Store, w store.Window, kind store.Kind, freshSince time.Time) (store.Export, error) {
	if err := s.Take(context.Background()); err != nil {
		return store.Export{}, err
	}
	wanted := store.Export{Window: w, Kind: kind, Texts: kind.HasTexts()}
	return s.Begin(context.Background(), wanted, freshSince)
}

// save stores an export of one page.
func save(t *testing.T, s *store.Store, w store.Window, kind store.Kind, p *store.Page) {
	t.Helper()
	begun, err := beginOf(s, w, kind, time.Now().Add(time.Hour))
	require.NoError(t, err)
	_, err = s.Append(t.Context(), begun, p)
	require.NoError(t, err)
}

func begin(t *testing.T, s *store.Store) store.Export {
	t.Helper()
	begun, err := beginOf(s, window, store.Visitors, time.Now().Add(time.Hour))
	require.NoError(t, err)
	return begun
}

// find returns the complete export of a window, and the one that a run has begun.
func find(t *testing.T, s *store.Store, w store.Window, kind store.Kind) (complete, begun store.Export) {
	t.Helper()
	all, err := s.Exports(t.Context(), w.Project)
	require.NoError(t, err)
	for _, e := range all {
		switch {
		case e.Window != w || e.Kind != kind:
		case e.State == store.Begun:
			begun = e
		default:
			complete = e
		}
	}
	return complete, begun
}

// fail notes why an export could not be loaded. state is Refused if the service refuses it.
func fail(t *testing.T, s *store.Store, e store.Export, state store.State, problem string) {
	t.Helper()
	e.State = state
	e.Problem = problem
	require.NoError(t, s.Fail(t.Context(), e))
}

// failed returns the exports of docs that could not be loaded.
func failed(t *testing.T, s *store.Store) []store.Export {
	t.Helper()
	all, err := s.Exports(t.Context(), "docs")
	require.NoError(t, err)
	return slices.DeleteFunc(all, func(e store.Export) bool { return !e.HasFailed() })
}

func rowsOf(t *testing.T, s *store.Store) []mintlify.Visitor {
	t.Helper()
	_, rows, err := s.Visitors(t.Context(), window)
	require.NoError(t, err)
	return rows
}

// A report makes no database.
func nothingToRead(t *testing.T, where string) {
	_, err := store.Read(t.Context(), where)
	require.Error(t, err)
	if path, isSQLite := strings.CutPrefix(where, "sqlite:"); isSQLite {
		assert.NoFileExists(t, path)
	} else {
		require.ErrorContains(t, err, "docs-report sync")
	}

	open(t, where)
	s, err := store.Read(t.Context(), where)
	require.NoError(t, err)
	defer s.Close()
	assert.Equal(t, source, s.Source)

	_, err = s.Reserve(t.Context(), 1)
	if strings.HasPrefix(where, "sqlite:") {
		require.Error(t, err, "it only reads")
	}
}

func failing(t *testing.T, where string) {
	s := open(t, where)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := s.Exports(ctx, "docs")
	require.ErrorIs(t, err, context.Canceled)

	require.ErrorIs(t, s.Take(ctx), context.Canceled)
	assert.NotErrorIs(t, s.Take(ctx), sql.ErrTxDone)

	_, err = store.Open(ctx, where, source)
	require.Error(t, err)
	begin(t, s) // and it works on
}

// A run fails while the database is gone, and goes on when it is back.
func TestADatabaseThatGoesAway(t *testing.T) {
	server := startPostgres(t)
	where := server.Database(t)
	s := open(t, where)
	begun := begin(t, s)

	server.Stop()
	_, err := s.Append(t.Context(), begun, page("/a", 0, 250, true))
	require.Error(t, err)
	_, err = store.Open(t.Context(), where, source)
	require.ErrorContains(t, err, "the database: ")

	require.NoError(t, server.Start())
	next, err := s.Append(t.Context(), begun, page("/a", 0, 250, true))
	require.NoError(t, err)
	_, err = s.Append(t.Context(), next, page("/a", 250, 1, false))
	require.NoError(t, err)
	assert.Len(t, rowsOf(t, s), 251)
}

// In any order of libpq's words, and without a password in an error.
func TestAddressesOfPostgres(t *testing.T) {
	server := startPostgres(t)
	address, err := url.Parse(server.Database(t))
	require.NoError(t, err)
	open(t, "dbname="+strings.TrimPrefix(address.Path, "/")+" user=postgres host="+address.Query().Get("host"))

	for _, where := range []string{
		"postgres://someone:secret@127.0.0.1:1/none",
		"postgres://someone:secret@:/%zz",
		"password=secret host=127.0.0.1 port=1",
		"password='secret secret' port=x",
		"mysql://someone:secret@host/none",
		"secret.db",
		"",
		"sqlite:",
		"Password=secret",
	} {
		_, err = store.Read(t.Context(), where)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "secret")
	}
}

// A new file is for its user alone. A file that is there keeps its mode.
func TestWhoMayReadTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.db")
	s := open(t, "sqlite:"+path)
	save(t, s, window, store.Visitors, page("/a", 0, 3, false))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	s.Close()
	require.NoError(t, os.Chmod(path, 0o640))
	open(t, "sqlite:"+path)
	info, err = os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
}

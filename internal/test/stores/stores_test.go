//go:build unix

package stores

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// server is the Postgres that the tests share.
var server processes.Postgres

// addresses has a function for each kind of store, which returns the address of an empty one.
var addresses = map[string]func(*testing.T) string{
	"directory": func(t *testing.T) string { return "dir://" + filepath.Join(t.TempDir(), "records") },
	"sqlite":    func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "once.db") },
	"postgres":  server.Database,
}

// eachStore runs f on the address of an empty store of each kind.
func eachStore(t *testing.T, f func(t *testing.T, address string)) {
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) { f(t, address(t)) })
	}
}

// eachDatabase runs f on each kind of database, and on a store on connections of its own.
func eachDatabase(t *testing.T, f func(t *testing.T, db *sql.DB, store once.Store)) {
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			address := addresses[name](t)
			store := mustOpen(t, address)
			db, err := openDB(address)
			require.NoError(t, err)
			defer db.Close()

			f(t, db, store)
		})
	}
}

// open returns the store at an address of eachStore.
func open(ctx context.Context, address string) (once.Store, error) {
	if path, ok := strings.CutPrefix(address, "dir://"); ok {
		return once.NewDir(path)
	}
	db, err := openDB(address)
	if err != nil {
		return nil, err
	}
	store := once.NewSQL(db)
	return store, store.CreateTable(ctx)
}

func openDB(address string) (*sql.DB, error) {
	path, ok := strings.CutPrefix(address, "sqlite://")
	if !ok {
		return sql.Open("pgx", address)
	}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(30000)", "journal_mode(WAL)", "synchronous(FULL)"}}
	return sql.Open("sqlite", "file:"+path+"?"+options.Encode())
}

func mustOpen(t *testing.T, address string) once.Store {
	t.Helper()
	store, err := open(t.Context(), address)
	require.NoError(t, err)
	return store
}

func TestConformance(t *testing.T) {
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			oncetest.TestStore(t, func(t *testing.T) once.Store { return mustOpen(t, addresses[name](t)) })
		})
	}
}

func TestTableMadeByManyAtOnce(t *testing.T) {
	for range 5 {
		eachStore(t, func(t *testing.T, address string) {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					store, err := open(t.Context(), address)
					if assert.NoError(t, err) {
						_, err = store.Get(t.Context(), "k")
						assert.NoError(t, err)
					}
				})
			}
			all.Wait()
		})
	}
}

// A role that may not create tables calls CreateTable, too, if the table exists.
func TestCreateTableWithoutTheRightTo(t *testing.T) {
	address := server.Database(t)
	owner, err := openDB(address)
	require.NoError(t, err)
	defer owner.Close()
	_, err = owner.ExecContext(t.Context(), "DROP ROLE IF EXISTS worker; CREATE ROLE worker LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	require.NoError(t, err)
	defer func() { _, _ = owner.ExecContext(context.Background(), "DROP OWNED BY worker; DROP ROLE worker") }()

	db, err := openDB(strings.Replace(address, "user=postgres", "user=worker", 1))
	require.NoError(t, err)
	defer db.Close()
	worker := once.NewSQL(db)
	require.ErrorContains(t, worker.CreateTable(t.Context()), "permission denied")

	require.NoError(t, once.NewSQL(owner).CreateTable(t.Context()))
	_, err = owner.ExecContext(t.Context(), "GRANT SELECT, INSERT, UPDATE ON mintlify_once TO worker")
	require.NoError(t, err)
	require.NoError(t, worker.CreateTable(t.Context()))
	require.NoError(t, worker.Put(t.Context(), once.Record{Task: once.Task{Key: "k"}, Version: 1, State: once.Pending}))
}

// Under an isolation level above the default, Postgres itself says that another change came
// first. A transaction cannot go on then.
func TestSerializationFailureInATransaction(t *testing.T) {
	address := server.Database(t)
	store := mustOpen(t, address)
	first := once.Record{Task: once.Task{Key: "k"}, Version: 1, State: once.Pending}
	require.NoError(t, store.Put(t.Context(), first))
	db, err := openDB(address)
	require.NoError(t, err)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable})
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // it has failed
	inTx := once.NewSQL(tx)
	_, err = inTx.Get(t.Context(), "k")
	require.NoError(t, err)

	second := first
	second.Version = 2
	require.NoError(t, store.Put(t.Context(), second))

	err = inTx.Put(t.Context(), second)
	require.ErrorContains(t, err, "40001")
	require.NotErrorIs(t, err, once.ErrConflict)
}

// explainedDB explains each query before it is made.
type explainedDB struct {
	*sql.DB
	plans []string
}

func (e *explainedDB) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := e.DB.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	plan := ""
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return nil, err
		}
		plan += detail + "\n"
	}
	e.plans = append(e.plans, plan)
	return e.DB.QueryContext(ctx, query, args...)
}

// A thread and what was not reported are found by an index each, however many records there are.
func TestListsUseTheirIndexes(t *testing.T) {
	address := addresses["sqlite"](t)
	mustOpen(t, address)
	db, err := openDB(address)
	require.NoError(t, err)
	defer db.Close()
	explained := &explainedDB{DB: db}
	store := once.NewSQL(explained)

	_, err = store.ListThread(t.Context(), "k")
	require.NoError(t, err)
	_, err = store.ListUnreported(t.Context())
	require.NoError(t, err)
	require.Len(t, explained.plans, 2)
	assert.Contains(t, explained.plans[0], "USING INDEX mintlify_once_thread")
	assert.Contains(t, explained.plans[1], "USING INDEX mintlify_once_unreported")
	assert.NotContains(t, explained.plans[1], "TEMP B-TREE", "it is in the order of the index")
}

// Add takes effect with the transaction that it is part of.
func TestAddInATransaction(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sql.DB, store once.Store) {
		for _, commit := range []bool{false, true} {
			tx, err := db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			runner, err := once.New(nil, once.NewSQL(tx))
			require.NoError(t, err)
			_, added, err := runner.Add(t.Context(), once.Task{Key: "k", Prompt: "x"})
			require.NoError(t, err)
			assert.True(t, added)
			_, added, err = runner.Add(t.Context(), once.Task{Key: "k", Prompt: "x"})
			require.NoError(t, err, "a conflict does not end the transaction")
			assert.False(t, added)
			if commit {
				require.NoError(t, tx.Commit())
			} else {
				require.NoError(t, tx.Rollback())
			}
			r, err := store.Get(t.Context(), "k")
			require.NoError(t, err)
			assert.Equal(t, commit, r.Version == 1)
		}
	})
}

// Transactions that read before they write wait for each other. On SQLite they would fail
// without _txlock=immediate.
func TestAddsInTransactionsAtOnce(t *testing.T) {
	const workers, adds = 8, 10
	eachDatabase(t, func(t *testing.T, db *sql.DB, store once.Store) {
		var all sync.WaitGroup
		for worker := range workers {
			all.Go(func() {
				for i := range adds {
					assert.NoError(t, addInTransaction(t.Context(), db, fmt.Sprint(worker, "-", i)))
				}
			})
		}
		all.Wait()

		records, err := store.List(t.Context(), once.Pending)
		require.NoError(t, err)
		assert.Len(t, records, workers*adds)
	})
}

func addInTransaction(ctx context.Context, db *sql.DB, key string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a Commit it does nothing

	runner, err := once.New(nil, once.NewSQL(tx))
	if err != nil {
		return err
	}
	_, _, err = runner.Add(ctx, once.Task{Key: key, Prompt: "x"})
	if err != nil {
		return err
	}
	return tx.Commit()
}

// A rollback after the send would remove its record: the next Do would make a second job.
func TestClaimInATransactionSendsNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sql.DB, store once.Store) {
		svc := mintlifytest.NewService()
		task := once.Task{Key: "k", Prompt: "x"}

		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		for name, inTx := range map[string]once.DB{"itself": tx, "wrapped": struct{ *sql.Tx }{tx}} {
			runner, err := once.New(svc.Client(), once.NewSQL(inTx))
			require.NoError(t, err)
			_, err = runner.Do(t.Context(), task)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument, name)
			require.ErrorContains(t, err, "transaction", name)
			assert.Empty(t, svc.Jobs(), name)
		}
		require.NoError(t, tx.Rollback())

		runner, err := once.New(svc.Client(), store)
		require.NoError(t, err)
		_, err = runner.Do(t.Context(), task)
		require.NoError(t, err)
		assert.Len(t, svc.Jobs(), 1)
	})
}

// A damaged record is an error for its key. The others go on.
func TestDamagedRecord(t *testing.T) {
	eachStore(t, func(t *testing.T, address string) {
		store := mustOpen(t, address)
		svc := mintlifytest.NewService()
		runner, err := once.New(svc.Client(), store)
		require.NoError(t, err)
		for _, key := range []string{"good", "damaged"} {
			_, _, err := runner.Add(t.Context(), once.Task{Key: key, Prompt: "x"})
			require.NoError(t, err)
		}
		damage(t, address)
		_, err = runner.Do(t.Context(), once.Task{Key: "damaged", Prompt: "x"})
		require.ErrorContains(t, err, "damaged")
		err = runner.Resume(t.Context())
		require.ErrorContains(t, err, "damaged")
		r, err := store.Get(t.Context(), "good")
		require.NoError(t, err)
		assert.Equal(t, once.Done, r.State)
		assert.Len(t, svc.Jobs(), 1)
	})
}

// damage truncates the record of the key "damaged".
func damage(t *testing.T, address string) {
	t.Helper()
	path, ok := strings.CutPrefix(address, "dir://")
	if !ok {
		db, err := openDB(address)
		require.NoError(t, err)
		defer db.Close()
		_, err = db.ExecContext(t.Context(), "UPDATE mintlify_once SET record = substr(record, 1, 20) WHERE key = 'damaged'")
		require.NoError(t, err)
		return
	}
	files, err := fs.Glob(os.DirFS(path), "*/*.json")
	require.NoError(t, err)
	for _, file := range files {
		file = filepath.Join(path, file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(text), `"damaged"`) {
			require.NoError(t, os.Truncate(file, 20))
		}
	}
}

// Package database has fleet's tables in Postgres or SQLite, beside River's.
package database

import (
	"context"
	cryptorand "crypto/rand"
	"database/sql"
	"database/sql/driver"
	_ "embed" // the schema
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"modernc.org/sqlite"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/once"
)

// DB is Postgres or SQLite. It has fleet's tables and River's queue.
type DB struct {
	*sql.DB
	pool *pgxpool.Pool          // nil: it is SQLite
	Jobs *river.Client[*sql.Tx] // inserts jobs

	driver riverdriver.Driver[*sql.Tx]
	writes writes
	logger *slog.Logger

	// Clock is an expression for the time of the database's clock, in Unix milliseconds. Turns and pauses go by it:
	// the clocks of machines differ.
	Clock string
}

//go:embed schema/1.sql
var schema string

// schemaVersion is the version of the tables that schema makes.
const schemaVersion = 1

// Options are how a database is opened.
type Options struct {
	Create bool          // make the tables that are missing
	Busy   time.Duration // for which a statement waits while other processes write, if it is SQLite
	Logger *slog.Logger

	// Statement is how long a statement of Postgres may take. 0: as long as its context allows.
	Statement time.Duration
}

// Open opens what DATABASE_URL names. No error shows the URL: it may have a password.
func Open(ctx context.Context, databaseURL string, options Options) (*DB, error) {
	address, err := sqldb.ParseAddress(databaseURL)
	if err != nil {
		return nil, usage.Errorf("DATABASE_URL %w, want postgres://…, host=… dbname=…, or sqlite:FILE "+
			"(for an absolute path sqlite:/var/lib/fleet.db)", err)
	}

	var db *DB
	if address.IsSQLite() {
		db, err = openSQLite(address, options)
	} else {
		db, err = openPostgres(ctx, address.Postgres, options)
	}
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}

	if options.Create {
		err = db.migrate(ctx)
	}
	if err == nil {
		err = db.CheckVersion(ctx)
	}

	if err != nil {
		db.Close()
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	return db, nil
}

// ErrNewer is that a newer fleet has changed the tables. This one must change nothing any more.
var ErrNewer = errors.New("the tables were made by a newer fleet")

// CheckVersion returns an error unless the tables are those of this program.
func (db *DB) CheckVersion(ctx context.Context) error { return checkVersion(ctx, db, selectVersion) }

const selectVersion = "SELECT version FROM fleet_schema"

func checkVersion(ctx context.Context, db once.DB, query string) error {
	version, err := sqldb.Number(ctx, db, query)
	switch {
	case err != nil && !sqldb.IsNoTable(err):
		return err
	case version < schemaVersion:
		return usage.Errorf("the database has no tables yet, or those of an older fleet: run fleet init")
	case version > schemaVersion:
		return usage.Errorf("%w, in version %d; this one knows %d", ErrNewer, version, schemaVersion)
	}
	return nil
}

// writes is what a process knows of whether rows can be written.
type writes struct {
	mu  sync.Mutex
	at  time.Time // when it was tried last
	err error     // what came of it

	unstored string // why the last webhook could not be stored, of any process; "" if it could be
	isNews   bool   // the tables do not know that yet
}

// checkEvery is how long an answer of [DB.CheckWrites] counts.
const checkEvery = 15 * time.Second

// CheckWrites returns an error unless a row can be written within 2 s, and the last webhook could be stored. It is a
// row of 8 kB that nothing compresses, since an update fits into a full disk.
func (db *DB) CheckWrites(ctx context.Context) error {
	w := &db.writes
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.at) < checkEvery {
		return w.err
	}

	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	w.err = db.tryWriting(ctx)
	if w.err == nil {
		w.err = db.checkStored(ctx)
	}
	w.at = time.Now()
	return w.err
}

func (db *DB) tryWriting(ctx context.Context) error {
	var noise strings.Builder
	for noise.Len() < 8<<10 {
		noise.WriteString(cryptorand.Text())
	}

	// It is committed, and then deleted: what SQLite rolls back never reaches the disk.
	_, err := db.ExecContext(ctx, `INSERT INTO fleet_history (id, key, version, at, state, job, problem, who)
VALUES ($1, '', 0, 0, '', '', $2, '')`, cryptorand.Text(), noise.String())
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "DELETE FROM fleet_history WHERE key = ''")
	return err
}

// checkStored returns why the last webhook could not be stored, and has the tables say so to all processes.
func (db *DB) checkStored(ctx context.Context) error {
	w := &db.writes
	err := db.QueryRowContext(ctx, `UPDATE fleet_schema SET unstored = CASE WHEN $1 THEN $2 ELSE unstored END
RETURNING unstored`, w.isNews, w.unstored).Scan(&w.unstored)
	w.isNews = w.isNews && err != nil
	if err == nil && w.unstored != "" {
		err = errors.New("the last webhook could not be stored: " + w.unstored)
	}
	return err
}

// NoteStored notes why a webhook could not be stored, "" if it could be, for the next check.
func (db *DB) NoteStored(why string) {
	w := &db.writes
	w.mu.Lock()
	defer w.mu.Unlock()
	if why != w.unstored {
		w.unstored = why
		w.isNews = true
		w.at = time.Time{}
	}
}

func openSQLite(address sqldb.Address, options Options) (*DB, error) {
	if options.Create {
		if err := address.MakeFile(); err != nil {
			return nil, usage.Errorf("%w", err)
		}
	} else if _, err := os.Stat(address.File); errors.Is(err, fs.ErrNotExist) {
		return nil, usage.Errorf("%w: run fleet init", err)
	}

	// Transactions lock from their start, since one that reads first cannot wait for its turn to write. Commits
	// outlive a loss of power.
	wait := fmt.Sprintf("busy_timeout(%d)", options.Busy.Milliseconds())
	db, err := sql.Open("sqlite", address.SQLite(url.Values{
		"_txlock": {"immediate"},
		"_pragma": {wait, "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(ON)"},
	}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer; more connections would only wait for each other

	opened := &DB{DB: db, Clock: sqliteClock + "()", driver: riversqlite.New(db), logger: options.Logger}
	opened.Jobs, err = opened.NewJobClient(&river.Config{Logger: options.Logger})
	return opened, err
}

func openPostgres(ctx context.Context, databaseURL string, options Options) (*DB, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil { // its text may quote a part of the password: what is wrong is in the middle
		_, why, _ := strings.Cut(err.Error(), "`: ")
		why, _, _ = strings.Cut(why, " (")
		return nil, usage.Errorf("it cannot be parsed: %s", why)
	}

	if options.Statement > 0 {
		config.ConnConfig.Tracer = statementLimit(options.Statement)
		config.ConnConfig.ConnectTimeout = options.Statement
	}

	config.MaxConns = max(config.MaxConns, 4) // with fewer, River and a transaction wait for each other
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}

	const clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	db := stdlib.OpenDBFromPool(pool)
	driver := riverdatabasesql.NewWithPgxListener(db, pool)
	opened := &DB{DB: db, pool: pool, Clock: clock, driver: driver, logger: options.Logger}
	opened.Jobs, err = opened.NewJobClient(&river.Config{Logger: options.Logger})
	return opened, err
}

// Close closes all connections.
func (db *DB) Close() {
	_ = db.DB.Close() // what is committed is on disk
	if db.pool != nil {
		db.pool.Close()
	}
}

// machineClock is the clock of this machine, which River, too, takes for SQLite's.
type machineClock struct{}

// Now implements [rivertype.TimeGenerator].
func (machineClock) Now() time.Time { return time.Now() }

// NowOrNil implements [rivertype.TimeGenerator].
func (machineClock) NowOrNil() *time.Time {
	now := time.Now()
	return &now
}

// sqliteClock is a function of SQLite that returns this machine's time. Tests may have another one than SQLite knows.
const sqliteClock = "fleet_clock"

func init() {
	now := func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return time.Now().UnixMilli(), nil
	}
	sqlite.MustRegisterScalarFunction(sqliteClock, 0, now)
}

// NewJobClient returns a client of River's, which works if the configuration has queues.
func (db *DB) NewJobClient(config *river.Config) (*river.Client[*sql.Tx], error) {
	if db.pool == nil {
		config.Test.Time = machineClock{}
		config.PollOnly = true // to listen would be to ask four times a second
	}
	return river.NewClient(db.driver, config)
}

// migrate makes the tables that are missing. Each migration is a transaction, which fails if
// another process makes it meanwhile.
func (db *DB) migrate(ctx context.Context) error {
	var err error
	for range 20 {
		err = db.makeTables(ctx)
		if err == nil || db.PingContext(ctx) != nil {
			return err
		}
		time.Sleep(rand.N(100 * time.Millisecond))
	}
	return err
}

// makeTables changes nothing if all tables are there: a role that may not make tables can use them.
func (db *DB) makeTables(ctx context.Context) error {
	migrator, err := rivermigrate.New(db.driver, &rivermigrate.Config{Logger: db.logger})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}

	err = db.CheckVersion(ctx)
	if err == nil || errors.Is(err, ErrNewer) {
		return nil // Open says so
	}
	_, err = db.ExecContext(ctx, schema)
	return err
}

// Transact commits what f did, or nothing of it. It calls f again if the database has ended the transaction for the
// sake of another. Inside f, use only tx: SQLite has one connection, and f would wait for it forever. Who locks several
// rows does so in the order that [DB.LockProjects] names. A process that freezes keeps no rows from the others:
// Postgres ends its transaction.
func (db *DB) Transact(ctx context.Context, f func(*sql.Tx) error) error {
	begin := selectVersion
	if db.pool != nil {
		begin += " WHERE set_config('idle_in_transaction_session_timeout', '10s', true) <> ''"
	}

	var err error
	for range 3 {
		err = sqldb.Transact(ctx, db.DB, func(tx *sql.Tx) error {
			if err := checkVersion(ctx, tx, begin); err != nil {
				return err
			}
			return f(tx)
		})

		const deadlock = "40P01"
		const notSerializable = "40001"
		if state := sqldb.SQLState(err); state != deadlock && state != notSerializable {
			return err
		}
	}
	return err
}

// All returns the rows of a query, each read into its fields. It is empty, never nil, if there is none.
func All[T any](ctx context.Context, db once.DB, fields func(*T) []any, query string, args ...any) ([]T, error) {
	return sqldb.All(ctx, db, func(rows *sql.Rows) (T, error) {
		var one T
		err := rows.Scan(fields(&one)...)
		return one, err
	}, query, args...)
}

// Change changes rows. It returns none if a statement changes no row.
func Change(ctx context.Context, db once.DB, none error, statement string, args ...any) error {
	changed, err := sqldb.Changed(db.ExecContext(ctx, statement, args...))
	if err == nil && changed == 0 {
		return none
	}
	return err
}

// First returns the first of rows, or the zero value if there is none.
func First[T any](rows []T, err error) (T, error) {
	if err != nil || len(rows) == 0 {
		var none T
		return none, err
	}
	return rows[0], nil
}

// statementLimit is how long a statement of Postgres may take. The limit is on the client's side: one of the session
// does not survive pgbouncer.
type statementLimit time.Duration

type cancelKey struct{}

// TraceQueryStart implements [pgx.QueryTracer].
func (l statementLimit) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l))
	return context.WithValue(ctx, cancelKey{}, cancel)
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (statementLimit) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if cancel, found := ctx.Value(cancelKey{}).(context.CancelFunc); found {
		cancel()
	}
}

// ExplainSilence returns err, or that the database has not answered within a limit, if that is why a statement failed.
func ExplainSilence(err error, limit time.Duration) error {
	isSilence := errors.Is(err, context.DeadlineExceeded)
	if isSilence || err != nil && strings.Contains(err.Error(), "(SQLITE_BUSY)") {
		return fmt.Errorf("the database does not answer within %v: a table may be locked, or the database is busy",
			limit)
	}
	return err
}

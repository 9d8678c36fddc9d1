package once

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Memory is a [Store] for tests: it does not outlive its process.
type Memory struct {
	mu      sync.Mutex
	records map[string]Record
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{records: map[string]Record{}} }

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key string) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key], ctx.Err()
}

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil || m.records[r.Key].Version != r.Version-1 {
		return cmp.Or(ctx.Err(), ErrConflict)
	}
	m.records[r.Key] = r
	return nil
}

// List implements [Store].
func (m *Memory) List(ctx context.Context, states ...State) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return list(slices.Collect(maps.Values(m.records)), states), ctx.Err()
}

// list returns the records in one of states, or all if there are none, the oldest update first.
func list(records []Record, states []State) []Record {
	slices.SortFunc(records, func(a, b Record) int { return cmp.Or(a.Updated.Compare(b.Updated), cmp.Compare(a.Key, b.Key)) })
	return slices.DeleteFunc(records, func(r Record) bool { return len(states) > 0 && !slices.Contains(states, r.State) })
}

// Dir is a [Store] in a directory of one machine, for all its processes. The file system
// must have hard links and keep what is synced, which a network share may not. A folder for
// each key has a file for each version, with mode 0600, and none is ever changed or removed.
type Dir struct{ path string }

// NewDir returns the Dir at path, and makes the directory if it is missing.
func NewDir(path string) (*Dir, error) {
	absolute, err := filepath.Abs(path)
	if err = cmp.Or(refuse(path == "", "path", "is empty"), err, os.MkdirAll(path, 0o700)); err != nil {
		return nil, fmt.Errorf("once: %w", err)
	}
	_ = syncFolder(filepath.Dir(absolute)) // which this process may not be allowed to read
	return &Dir{absolute}, nil
}

// file returns the name of a version. Keys can be longer than names, and differ in case only.
func (d *Dir) file(key string, version int) string {
	return filepath.Join(d.path, fmt.Sprintf("%x", sha256.Sum256([]byte(key))), fmt.Sprintf("%09d.json", version))
}

// Get implements [Store].
func (d *Dir) Get(ctx context.Context, key string) (Record, error) {
	r, err := d.newest(filepath.Dir(d.file(key, 0)))
	return r, cmp.Or(ctx.Err(), err)
}

// newest reads the newest version in a folder. There is none if a process died before it.
func (d *Dir) newest(folder string) (r Record, err error) {
	files, err := os.ReadDir(folder) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	for _, file := range slices.Backward(files) {
		name := filepath.Join(folder, file.Name())
		if filepath.Ext(name) != ".json" {
			continue
		}
		data, err := os.ReadFile(name)
		return decode(name, data, err, func(r Record) bool { return name == d.file(r.Key, r.Version) })
	}
	return r, nil
}

// decode reads the record at a place, and checks that it belongs there.
func decode(place string, data []byte, err error, belongs func(Record) bool) (r Record, _ error) {
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && !belongs(r) {
		err = errors.New("it belongs elsewhere")
	}
	if err != nil {
		return Record{}, fmt.Errorf("damaged record %s: %w", place, err)
	}
	return r, nil
}

// Put implements [Store]. Of all processes that link the same version, one wins.
func (d *Dir) Put(ctx context.Context, r Record) error {
	name := d.file(r.Key, r.Version)
	folder := filepath.Dir(name)
	if err := os.Mkdir(folder, 0o700); ctx.Err() != nil || err != nil && !errors.Is(err, fs.ErrExist) { // MkdirAll would hide that d.path has vanished
		return cmp.Or(ctx.Err(), err)
	}
	if _, err := os.Lstat(d.file(r.Key, r.Version-1)); r.Version > 1 && errors.Is(err, fs.ErrNotExist) {
		return ErrConflict
	}
	file, err := os.CreateTemp(folder, "*.tmp") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // what is left over is never read
	if err := errors.Join(json.NewEncoder(file).Encode(r), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Link(file.Name(), name); errors.Is(err, fs.ErrExist) {
		return ErrConflict
	}
	return errors.Join(err, syncFolder(folder), syncFolder(d.path))
}

// List implements [Store]. It reads every record.
func (d *Dir) List(ctx context.Context, states ...State) ([]Record, error) {
	folders, err := os.ReadDir(d.path)
	records, errs := []Record(nil), []error{err}
	for _, folder := range folders {
		if !folder.IsDir() || ctx.Err() != nil {
			continue
		}
		r, err := d.newest(filepath.Join(d.path, folder.Name()))
		if errs = append(errs, err); r.Version > 0 {
			records = append(records, r)
		}
	}
	return list(records, states), errors.Join(append(errs, ctx.Err())...)
}

// syncFolder makes the names in a folder outlive a loss of power.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" { // a folder cannot be synced there: NTFS has a journal of names
		return nil
	}
	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// DB is what [*sql.DB] and [*sql.Tx] have in common.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// SQL is a [Store] in the table mintlify_once of Postgres or SQLite. SQLite needs a busy
// timeout, so that processes wait for each other, and synchronous=FULL to outlive a loss of
// power. On a transaction it is for [Runner.Add] alone, which takes effect with the caller's
// own changes; the claim of a send must be committed before the request.
type SQL struct{ db DB }

// NewSQL returns the SQL store on db, whose table [SQL.CreateTable] makes.
func NewSQL(db DB) *SQL { return &SQL{db} }

const schema = `CREATE TABLE IF NOT EXISTS mintlify_once (
	key TEXT PRIMARY KEY, version BIGINT NOT NULL, state TEXT NOT NULL,
	updated BIGINT NOT NULL, -- Unix microseconds
	record TEXT NOT NULL     -- all of it, in JSON
);
CREATE INDEX IF NOT EXISTS mintlify_once_state ON mintlify_once (state, updated)`

// CreateTable makes the table unless it exists. It is safe to call again, and by several
// processes at once.
func (s *SQL) CreateTable(ctx context.Context) (err error) {
	for range 3 { // on Postgres it fails if another process does the same meanwhile
		if _, err = s.db.ExecContext(ctx, schema); err == nil {
			return nil
		}
	}
	return fmt.Errorf("once: create table: %w", err)
}

// Get implements [Store].
func (s *SQL) Get(ctx context.Context, key string) (Record, error) {
	records, err := s.query(ctx, "WHERE key = $1", key)
	return append(records, Record{})[0], err
}

// Put implements [Store].
func (s *SQL) Put(ctx context.Context, r Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	statement := "UPDATE mintlify_once SET version = $1, state = $2, updated = $3, record = $4 WHERE key = $5 AND version = $1 - 1"
	if r.Version == 1 {
		statement = "INSERT INTO mintlify_once (version, state, updated, record, key) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key) DO NOTHING"
	}
	result, err := s.db.ExecContext(ctx, statement, r.Version, string(r.State), r.Updated.UnixMicro(), string(data), r.Key)
	if err != nil {
		return err
	}
	if changed, err := result.RowsAffected(); err != nil || changed == 1 {
		return err
	}
	return ErrConflict
}

// List implements [Store].
func (s *SQL) List(ctx context.Context, states ...State) ([]Record, error) {
	where, args := "", []any{}
	for i, state := range states {
		where += fmt.Sprintf(", $%d", i+1)
		args = append(args, string(state))
	}
	if where != "" {
		where = "WHERE state IN (" + where[2:] + ")"
	}
	return s.query(ctx, where+" ORDER BY updated, key", args...)
}

// query returns the records that can be read, and an error for the others.
func (s *SQL) query(ctx context.Context, where string, args ...any) (records []Record, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT key, version, record FROM mintlify_once "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var errs []error
	for rows.Next() {
		var key, data string
		var version int
		err := rows.Scan(&key, &version, &data)
		r, err := decode(key, []byte(data), err, func(r Record) bool { return r.Key == key && r.Version == version })
		if errs = append(errs, err); err == nil {
			records = append(records, r)
		}
	}
	return records, errors.Join(append(errs, rows.Err())...)
}

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Kind is what an export is of.
type Kind string

// The kinds of exports. All but visitors are lists.
const (
	Visitors       Kind = "visitors"
	Views          Kind = "views"
	Searches       Kind = "searches"
	FeedbackByPage Kind = "feedback by page"
	Feedback       Kind = "feedback"
	Conversations  Kind = "conversations"
)

// LeaseTime is what a page extends a lease by. A request lasts a minute at most.
const LeaseTime = 3 * time.Minute

const maxLease = time.Hour // a longer one is of a clock that was ahead

// ErrOvertaken matches a write into an export that another run has taken further,
// completed or begun anew. Nothing was written: look at the window again.
var ErrOvertaken = errors.New("another run was faster")

// HeldError is the refusal of an export that another run is at.
type HeldError struct {
	Holder string
	Until  time.Time
}

func (e *HeldError) Error() string { return fmt.Sprintf("another run (%s) is at it", e.Holder) }

// Export is what was or is being loaded of a window. The zero value is none.
type Export struct {
	Window
	Kind      Kind
	At        time.Time              // when it began
	Totals    mintlify.VisitorTotals // as the service counts; of a list, the total alone
	Kept      int                    // rows, of a complete one
	Truncated bool                   // the service has more rows
	Texts     bool                   // what readers wrote is kept
	Problem   string                 // why there is no row
	Offset    int                    // of the next page, while it is under way
	Cursor    string                 // the same, for exports that page by cursor

	id       int64
	complete bool
	holder   string
	until    int64
}

// Page is a page of an export: visitors, or the rows of a list.
type Page struct {
	Visitors []mintlify.Visitor
	Rows     []any // marshal to JSON
	Totals   mintlify.VisitorTotals
	Next     int
	Cursor   string // of the next page
	More     bool   // the service has more rows
	Last     bool   // no further page is asked for
	Texts    bool   // what readers wrote is kept
}

// Claim takes an export over for this run, and begins it or, if it began before
// freshSince, begins it anew: unless a complete one isEnough. A [*HeldError] says that
// another run has it.
func (s *Store) Claim(ctx context.Context, w Window, kind Kind, freshSince time.Time, isEnough func(Export) bool) (export Export, claimed bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		complete, running, err := find(ctx, tx, w, kind)
		claimed = !isEnough(complete)
		until := instant(running.until)
		now := time.Now()
		export = running
		switch {
		case err != nil, !claimed:
			return err
		case until.After(now) && until.Before(now.Add(maxLease)) && running.holder != s.holder && !isDead(running.holder):
			return &HeldError{running.holder, until}
		case running.id != 0 && !running.At.Before(freshSince):
			return changeOne(ctx, tx, `UPDATE docs_exports SET holder = $1, held_until = $2 WHERE id = $3 AND holder = $4 AND held_until = $5`,
				s.holder, milliseconds(now.Add(LeaseTime)), running.id, running.holder, running.until)
		}
		if err := remove(ctx, tx, running.id); err != nil {
			return err
		}
		export = Export{Window: w, Kind: kind, At: now, id: rand.Int64()}
		return changeOne(ctx, tx, `INSERT INTO docs_exports (id, project, date_from, date_to, span, kind, fetched_at, holder, held_until)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
			export.id, w.Project, w.From.String(), w.To.String(), string(w.Span()), string(kind), milliseconds(now), s.holder, milliseconds(now.Add(LeaseTime)))
	})
	return export, claimed, err
}

// remove deletes an export, if there is one, and its rows.
func remove(ctx context.Context, tx *sql.Tx, id int64) error {
	for _, statement := range []string{`DELETE FROM docs_visitors WHERE export = $1`, `DELETE FROM docs_rows WHERE export = $1`, `DELETE FROM docs_exports WHERE id = $1`} {
		if _, err := tx.ExecContext(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}

func hostname() string {
	name, _ := os.Hostname()
	return strings.ReplaceAll(name, " ", "-")
}

// isDead reports whether the run that holds a lease is known to have ended: a process of
// this machine that is gone. A process with this one's number was there before it.
func isDead(holder string) bool {
	var host, name string
	var pid int
	if _, err := fmt.Sscanf(holder, "%s %d %s", &host, &pid, &name); err != nil || host != hostname() {
		return false
	}
	process, err := os.FindProcess(pid)
	return pid == os.Getpid() || err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// Lease sets until when this run holds an export: until now, and another may resume.
func (s *Store) Lease(ctx context.Context, e Export, until time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE docs_exports SET held_until = $1 WHERE id = $2 AND holder = $3`, milliseconds(until), e.id, s.holder)
		return err
	})
}

// Append adds a page to an export and returns how far it has come. The last page completes
// it, in the place of the window's last one: nobody sees half of it.
func (s *Store) Append(ctx context.Context, e Export, page *Page) (next Export, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		next = e
		next.Offset, next.Cursor, next.Totals = page.Next, page.Cursor, page.Totals
		// The export's row comes first in every transaction: runs queue up there.
		err := changeOne(ctx, tx, `UPDATE docs_exports SET held_until = $1, next_offset = $2, cursor_at = $3, human = $4, ai = $5, total = $6
			WHERE id = $7 AND holder = $8 AND next_offset = $9 AND NOT complete`,
			milliseconds(time.Now().Add(LeaseTime)), next.Offset, next.Cursor, next.Totals.Human, next.Totals.AI, next.Totals.Total, e.id, s.holder, e.Offset)
		if err != nil {
			return err
		}
		if err := insertRows(ctx, tx, e, page); err != nil || !page.Last {
			return err
		}
		return complete(ctx, tx, e, page.More, page.Texts, "")
	})
	return next, err
}

// EndWith completes the export of a list that the service refuses, and keeps the reason.
func (s *Store) EndWith(ctx context.Context, e Export, problem string) error {
	return s.write(ctx, func(tx *sql.Tx) error { return complete(ctx, tx, e, false, false, text(problem)) })
}

func complete(ctx context.Context, tx *sql.Tx, e Export, truncated, texts bool, problem string) error {
	old, _, err := find(ctx, tx, e.Window, e.Kind)
	if err != nil {
		return err
	}
	if err := remove(ctx, tx, old.id); err != nil {
		return err
	}
	return changeOne(ctx, tx, `UPDATE docs_exports SET complete = TRUE, truncated = $1, texts = $2, problem = $3,
			rows_kept = (SELECT COUNT(*) FROM docs_visitors WHERE export = $4) + (SELECT COUNT(*) FROM docs_rows WHERE export = $4)
		WHERE id = $4 AND NOT complete`, truncated, texts, problem, e.id)
}

const rowsAtOnce = 25 // keeps statements short: SQLite looks each parameter up among all of them

func insertRows(ctx context.Context, tx *sql.Tx, e Export, page *Page) error {
	position := e.Offset
	for rows := range slices.Chunk(page.Visitors, rowsAtOnce) {
		var values []string
		args := []any{e.id}
		for _, row := range rows {
			n := len(args)
			values = append(values, fmt.Sprintf("($1, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5))
			args = append(args, position, text(row.Path), row.Human, row.AI, row.Total)
			position++
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO docs_visitors (export, position, path, human, ai, total) VALUES `+strings.Join(values, ", "), args...); err != nil {
			return err
		}
	}
	for _, row := range page.Rows {
		data, err := json.Marshal(row)
		if err == nil { // Postgres cannot take a NUL out of JSON
			_, err = tx.ExecContext(ctx, `INSERT INTO docs_rows (export, position, data) VALUES ($1, $2, $3)`, e.id, position, strings.ReplaceAll(string(data), `\u0000`, `\ufffd`))
		}
		if err != nil {
			return err
		}
		position++
	}
	return nil
}

// Prune deletes rolling windows of w's span that ended before w's own comparison.
func (s *Store) Prune(ctx context.Context, w Window) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		old, err := query(ctx, tx, ` WHERE project = $1 AND span = $2 AND date_to < $3`, w.Project, string(w.Span()), w.From.String())
		for _, e := range old {
			if err == nil {
				err = remove(ctx, tx, e.id)
			}
		}
		return err
	})
}

// changeOne runs a statement that changes one row, or none if another run was faster.
func changeOne(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed != 1 {
		err = ErrOvertaken
	}
	return err
}

// text is s as every database takes it: Postgres has no NUL in a text.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

const ofVisitors = ` WHERE kind = 'visitors' AND complete`

// query returns the exports that a condition is true of.
func query(ctx context.Context, q querier, condition string, args ...any) (all []Export, err error) {
	rows, err := q.QueryContext(ctx, `SELECT id, project, date_from, date_to, kind, complete, fetched_at, rows_kept, human, ai, total,
		truncated, texts, problem, next_offset, cursor_at, holder, held_until FROM docs_exports`+condition, args...)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var e Export
		var from, to string
		var at int64
		err := rows.Scan(&e.id, &e.Project, &from, &to, &e.Kind, &e.complete, &at, &e.Kept, &e.Totals.Human, &e.Totals.AI, &e.Totals.Total,
			&e.Truncated, &e.Texts, &e.Problem, &e.Offset, &e.Cursor, &e.holder, &e.until)
		if err == nil {
			e.From, err = mintlify.ParseDate(from)
		}
		if err == nil {
			e.To, err = mintlify.ParseDate(to)
		}
		e.At = instant(at)
		all = append(all, e)
		return err
	})
	return all, err
}

func each(rows *sql.Rows, scan func() error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Find returns what the database has of a window: what is complete, and what is under way.
func (s *Store) Find(ctx context.Context, w Window, kind Kind) (complete, running Export, err error) {
	err = s.retry(ctx, isAway, func() error {
		complete, running, err = find(ctx, s.db, w, kind)
		return err
	})
	return complete, running, err
}

func find(ctx context.Context, q querier, w Window, kind Kind) (complete, running Export, err error) {
	all, err := query(ctx, q, ` WHERE project = $1 AND date_from = $2 AND date_to = $3 AND kind = $4`, w.Project, w.From.String(), w.To.String(), string(kind))
	for _, e := range all {
		if e.complete {
			complete = e
		} else {
			running = e
		}
	}
	return complete, running, err
}

// Series returns the complete exports of visitors of a span that lie within days, oldest
// first. A zero day does not bound them.
func (s *Store) Series(ctx context.Context, span Span, within Window) ([]Export, error) {
	return query(ctx, s.db, ofVisitors+` AND project = $1 AND date_from >= $2 AND (date_to <= $3 OR $3 = '') AND span = $4 ORDER BY date_from`, within.Project, within.From.String(), within.To.String(), string(span))
}

// Projects returns the projects that have visitors.
func (s *Store) Projects(ctx context.Context) (all []string, err error) {
	exports, err := query(ctx, s.db, ofVisitors+` ORDER BY project`)
	for _, e := range exports {
		all = append(all, e.Project)
	}
	return slices.Compact(all), err
}

// Visitors returns the rows of w's complete export, in the service's order. It is one
// transaction, so that a run that replaces them is seen whole.
func (s *Store) Visitors(ctx context.Context, w Window) (export Export, visitors []mintlify.Visitor, err error) {
	export, err = s.rows(ctx, w, Visitors, `SELECT path, human, ai, total FROM docs_visitors WHERE export = $1 ORDER BY position`, func(rows *sql.Rows) error {
		var v mintlify.Visitor
		err := rows.Scan(&v.Path, &v.Human, &v.AI, &v.Total)
		visitors = append(visitors, v)
		return err
	})
	return export, visitors, err
}

// List returns the rows of the complete export of a list.
func List[T any](ctx context.Context, s *Store, w Window, kind Kind) (export Export, list []T, err error) {
	export, err = s.rows(ctx, w, kind, `SELECT data FROM docs_rows WHERE export = $1 ORDER BY position`, func(rows *sql.Rows) error {
		var data []byte
		var row T
		err := rows.Scan(&data)
		if err == nil {
			err = json.Unmarshal(data, &row)
		}
		list = append(list, row)
		return err
	})
	return export, list, err
}

func (s *Store) rows(ctx context.Context, w Window, kind Kind, statement string, scan func(*sql.Rows) error) (export Export, err error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return export, err
	}
	defer func() { _ = tx.Rollback() }() // it has changed nothing
	if export, _, err = find(ctx, tx, w, kind); err != nil {
		return export, err
	}
	rows, err := tx.QueryContext(ctx, statement, export.id)
	if err != nil {
		return export, err
	}
	return export, each(rows, func() error { return scan(rows) })
}

// Size returns how many rows an export of the kind and span has: by the newest complete
// one, or one of another span, or by probing. known is false if nothing tells.
func (s *Store) Size(ctx context.Context, project string, kind Kind, span Span) (rows int, known bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT rows_kept FROM (
			SELECT rows_kept, CASE WHEN span = $3 THEN 0 ELSE 1 END AS worth, date_to FROM docs_exports WHERE complete AND problem = '' AND project = $1 AND kind = $2
			UNION ALL SELECT pages, 2, '' FROM docs_sizes WHERE project = $1 AND $2 = 'visitors') AS known
		ORDER BY worth, date_to DESC, rows_kept DESC LIMIT 1`, project, string(kind), string(span)).Scan(&rows)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return rows, err == nil, err
}

// SetSize keeps what probing has found.
func (s *Store) SetSize(ctx context.Context, project string, pages int) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO docs_sizes (project, pages) VALUES ($1, $2) ON CONFLICT (project) DO UPDATE SET pages = excluded.pages`, project, pages)
	return err
}

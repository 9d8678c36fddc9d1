package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

const ofVisitors = ` WHERE kind = 'visitors' AND complete`

func query(ctx context.Context, db once.DB, condition string, args ...any) ([]Export, error) {
	return sqldb.All(ctx, db, scanExport, `SELECT id, project, date_from, date_to, kind, complete, expired, fetched_at,
		failed_at, rows_kept, human, ai, total, truncated, texts, problem, next_offset, cursor_at, pages_loaded
		FROM docs_exports`+condition, args...)
}

func scanExport(rows *sql.Rows) (Export, error) {
	var e Export
	var isComplete, isExpired bool
	err := rows.Scan(&e.id, &e.Project, dateColumn{&e.From}, dateColumn{&e.To}, &e.Kind, &isComplete, &isExpired,
		timeColumn{&e.At}, timeColumn{&e.FailedAt}, &e.Kept, &e.Totals.Human, &e.Totals.AI, &e.Totals.Total,
		&e.Truncated, &e.Texts, &e.Problem, &e.Offset, &e.Cursor, &e.Pages)

	switch {
	case isExpired:
		e.State = Expired
	case !isComplete:
		e.State = Begun
	case e.Problem != "":
		e.State = Refused
	default:
		e.State = Loaded
	}
	return e, err
}

// Exports returns all exports of a project, the newest first.
func (s *Store) Exports(ctx context.Context, project string) ([]Export, error) {
	return query(ctx, s.db, ` WHERE project = $1 ORDER BY date_to DESC, date_from DESC, rows_kept DESC`, project)
}

const (
	ofWindow   = ` WHERE project = $1 AND date_from = $2 AND date_to = $3 AND kind = $4`
	ofComplete = ofWindow + ` AND complete`
	ofBegun    = ofWindow + ` AND NOT complete` // a run has begun it; it will replace the complete one
)

// find returns an export of a window, or one that is Missing.
func find(ctx context.Context, db once.DB, condition string, w Window, kind Kind) (Export, error) {
	found, err := query(ctx, db, condition, w.key(kind)...)
	if err != nil || len(found) == 0 {
		return Export{}, err
	}
	return found[0], nil
}

// key returns the arguments of ofWindow.
func (w Window) key(kind Kind) []any {
	return []any{w.Project, w.From.String(), w.To.String(), string(kind)}
}

// Series returns the visitors of the complete exports of a span that lie within days, oldest
// first. A zero day is no limit.
func (s *Store) Series(ctx context.Context, span Span, within Window) ([]Point, error) {
	const statement = `SELECT date_from, date_to, human, ai, total, fetched_at FROM docs_exports` + ofVisitors +
		` AND project = $1 AND date_from >= $2 AND (date_to <= $3 OR $3 = '') AND span = $4 ORDER BY date_from`
	return s.points(ctx, within.Project, statement,
		within.Project, within.From.String(), within.To.String(), string(span))
}

// NewestWeeks returns the newest window of n whole weeks whose visitors are loaded. It reports false if
// there is none. Four weeks may be a February, which the database has as a month.
func (s *Store) NewestWeeks(ctx context.Context, project string, n int) (Window, bool, error) {
	const statement = `SELECT date_from, date_to, human, ai, total, fetched_at FROM docs_exports` + ofVisitors +
		` AND project = $1 AND span IN ($2, 'month') ORDER BY date_to DESC`
	all, err := s.points(ctx, project, statement, project, string(Weeks(n)))
	for _, p := range all {
		if p.Window == LastWeeks(project, n, p.To) {
			return p.Window, true, err
		}
	}
	return Window{}, false, err
}

// PageSeries returns a page's visitors in the complete exports of a span, oldest first: the sum of those of its names,
// 0 if an export has none of them. Days whose pages were deleted for their age are not among them.
func (s *Store) PageSeries(ctx context.Context, project string, span Span, names []string) ([]Point, error) {
	args := []any{project, string(span)}
	var places []string
	for _, name := range names {
		args = append(args, name)
		places = append(places, fmt.Sprintf("$%d", len(args)))
	}

	// The service may report a name twice: the larger counts stay.
	ofNames := `SELECT export, MAX(human) AS human, MAX(ai) AS ai, MAX(total) AS total
		FROM docs_visitors WHERE path IN (` + strings.Join(places, ", ") + `) GROUP BY export, path`
	return s.points(ctx, project, `SELECT e.date_from, e.date_to, CAST(COALESCE(SUM(v.human), 0) AS BIGINT),
			CAST(COALESCE(SUM(v.ai), 0) AS BIGINT), CAST(COALESCE(SUM(v.total), 0) AS BIGINT), MAX(e.fetched_at)
		FROM docs_exports e LEFT JOIN (`+ofNames+`) v ON v.export = e.id
		WHERE e.kind = 'visitors' AND e.complete AND NOT e.expired AND e.project = $1 AND e.span = $2
		GROUP BY e.id, e.date_from, e.date_to ORDER BY e.date_from`, args...)
}

func (s *Store) points(ctx context.Context, project, statement string, args ...any) ([]Point, error) {
	return sqldb.All(ctx, s.db, func(rows *sql.Rows) (Point, error) {
		p := Point{Window: Window{Project: project}}
		err := rows.Scan(dateColumn{&p.From}, dateColumn{&p.To}, &p.Counts.Human, &p.Counts.AI, &p.Counts.Total,
			timeColumn{&p.At})
		return p, err
	}, statement, args...)
}

// DayPages calls each with the pages of each of a project's days since one whose pages are in the database. It reads a
// day as one text, since to read each row takes three times as long. Its order and the totals of a row are lost.
func (s *Store) DayPages(
	ctx context.Context, project string, since mintlify.Date, each func(mintlify.Date, []mintlify.Visitor),
) error {
	const separator = "\x1e"
	return sqldb.Scan(ctx, s.db, func(rows *sql.Rows) error {
		var day mintlify.Date
		var pages sql.NullString
		if err := rows.Scan(dateColumn{&day}, &pages); err != nil {
			return err
		}

		var visitors []mintlify.Visitor
		for page := range strings.SplitSeq(pages.String, separator) {
			if row, isRow := parsePage(page); isRow {
				visitors = append(visitors, row)
			}
		}
		each(day, visitors)
		return nil
	}, `SELECT date_from,
			(SELECT string_agg(human || ' ' || ai || ' ' || path, $1) FROM docs_visitors WHERE export = id)
		FROM docs_exports`+ofVisitors+` AND NOT expired AND project = $2 AND span = 'day' AND date_from >= $3`,
		separator, project, since.String())
}

// parsePage reads a row of DayPages. A path may have the separator in it: what follows is not a row.
func parsePage(text string) (mintlify.Visitor, bool) {
	human, rest, _ := strings.Cut(text, " ")
	ai, path, isRow := strings.Cut(rest, " ")
	row := mintlify.Visitor{Path: path}
	var err error
	if row.Human, err = strconv.ParseInt(human, 10, 64); err != nil {
		return row, false
	}
	row.AI, err = strconv.ParseInt(ai, 10, 64)
	return row, isRow && err == nil
}

// Lists returns the complete exports of a kind, oldest first.
func (s *Store) Lists(ctx context.Context, project string, kind Kind) ([]Export, error) {
	const condition = ` WHERE complete AND project = $1 AND kind = $2 ORDER BY date_from, date_to`
	return query(ctx, s.db, condition, project, string(kind))
}

// HasForgotten reports whether rows of a kind are left out of a project for good.
func (s *Store) HasForgotten(ctx context.Context, project string, kind Kind) (bool, error) {
	const statement = `SELECT COUNT(*) FROM docs_forgotten WHERE kind = $1 AND project IN ('', $2)`
	found, err := sqldb.Number(ctx, s.db, statement, string(kind), project)
	return found > 0, err
}

// HasPage reports whether any export has a page.
func (s *Store) HasPage(ctx context.Context, project, path string) (bool, error) {
	const statement = `SELECT COUNT(*) FROM docs_visitors v JOIN docs_exports e ON e.id = v.export
		WHERE e.complete AND e.project = $1 AND v.path = $2`
	found, err := sqldb.Number(ctx, s.db, statement, project, path)
	return found > 0, err
}

// Projects returns the projects that have visitors.
func (s *Store) Projects(ctx context.Context) ([]string, error) {
	return sqldb.Strings(ctx, s.db, `SELECT DISTINCT project FROM docs_exports`+ofVisitors+` ORDER BY project`)
}

// Visitors returns the rows of w's complete export, in the service's order.
func (s *Store) Visitors(ctx context.Context, w Window) (Export, []mintlify.Visitor, error) {
	return rowsOf(ctx, s, w, Visitors, scanVisitor, selectVisitors)
}

// List returns the rows of the complete export of a list.
func List[T any](ctx context.Context, s *Store, w Window, kind Kind) (Export, []T, error) {
	const selectList = `SELECT data FROM docs_rows WHERE export = $1 ORDER BY position`
	return rowsOf(ctx, s, w, kind, scanData[T], selectList)
}

const selectVisitors = `SELECT path, human, ai, total FROM docs_visitors WHERE export = $1 ORDER BY position`

func scanVisitor(rows *sql.Rows) (mintlify.Visitor, error) {
	var v mintlify.Visitor
	err := rows.Scan(&v.Path, &v.Human, &v.AI, &v.Total)
	return v, err
}

func scanData[T any](rows *sql.Rows) (T, error) {
	var row T
	var data []byte
	if err := rows.Scan(&data); err != nil {
		return row, err
	}
	err := json.Unmarshal(data, &row)
	return row, err
}

// rowsOf reads the rows of an export in one transaction: a run that replaces them is seen completely or not
// at all.
func rowsOf[T any](
	ctx context.Context, s *Store, w Window, kind Kind, scan func(*sql.Rows) (T, error), statement string,
) (Export, []T, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return Export{}, nil, err
	}

	defer func() { _ = tx.Rollback() }() // the transaction has changed nothing

	found, err := find(ctx, tx, ofComplete, w, kind)
	if err != nil {
		return found, nil, err
	}
	rows, err := sqldb.All(ctx, tx, scan, statement, found.id)
	return found, rows, err
}

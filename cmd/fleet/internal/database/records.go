package database

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// Records is the [once.Store] of the prompts. It stores nothing once a newer fleet has changed the tables: this one
// would drop what it does not know. Whoever has to act on what it stores is woken.
type Records struct {
	db   *DB
	tx   *sql.Tx // in which it stores; nil: each record has its own
	turn string  // in which it sends; "" if it sends nothing
}

// Records returns the records of package once.
func (db *DB) Records() Records { return Records{db: db} }

// RecordsIn returns the records in a transaction, which has locked the projects of what it stores.
func (db *DB) RecordsIn(tx *sql.Tx) Records { return Records{db: db, tx: tx} }

// RecordsOfTurn returns the records that a turn sends. They store what came of a send even if a newer fleet has changed
// the tables.
func (db *DB) RecordsOfTurn(turn string) Records { return Records{db: db, turn: turn} }

const (
	recordColumns = `key, version, state, project, prompt, after_key, thread, sends, sender, deadline, job, pr_link,
	problem, updated, added, told`
	recordValues = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16"
)

// fieldsOf returns what recordColumns are read into, and written from.
func fieldsOf(r *once.Record) []any {
	return []any{
		&r.Key, &r.Version, &r.State, &r.ProjectID, &r.Prompt, &r.After, &r.Thread, &r.Sends, &r.Sender,
		Nanos(&r.Deadline), &r.JobID, &r.PRLink, &r.Problem, Nanos(&r.UpdatedAt), Nanos(&r.AddedAt), &r.Reported,
	}
}

var (
	isNotNewer = fmt.Sprintf("NOT EXISTS (SELECT 1 FROM fleet_schema WHERE version > %d)", schemaVersion)

	insertRecord = "INSERT INTO fleet_prompts (" + recordColumns + ") SELECT " + recordValues +
		" WHERE " + isNotNewer + " ON CONFLICT (key) DO NOTHING"
)

const (
	setRecord = "UPDATE fleet_prompts SET (" + recordColumns + ") = (" + recordValues + ")"
	isNext    = " WHERE key = $1 AND version = $2 - 1"
)

// ErrNoTurn is that a prompt is not claimed, since the turn to send it has passed, or a person has stopped it.
var ErrNoTurn = errors.New("it is not the prompt's turn any more")

// Put implements [once.Store].
func (s Records) Put(ctx context.Context, r once.Record) error {
	if s.tx != nil && r.State == once.Sending {
		return errors.New("a claim cannot be stored in a transaction, which could be rolled back after the send")
	}

	r.Prompt = Clean(r.Prompt)
	r.JobID = Clean(r.JobID)
	r.PRLink = Clean(r.PRLink)
	r.Problem = Clean(r.Problem)

	isOutcome := s.turn != "" && r.State != once.Sending
	switch {
	case r.Version == 1:
		err := Change(ctx, s.conn(), once.ErrConflict, insertRecord, fieldsOf(&r)...)
		return orNewer(ctx, s.conn(), err)
	case isOutcome: // an id waits for no project: the end of the turn wakes
		return Change(ctx, s.db, once.ErrConflict, setRecord+isNext, fieldsOf(&r)...)
	case s.tx != nil:
		return s.change(ctx, s.tx, r)
	}

	change := s.change
	if s.turn != "" {
		change = s.claim
	}
	return s.db.Transact(ctx, func(tx *sql.Tx) error { return change(ctx, tx, r) })
}

// orNewer returns why a record could not be stored, if a newer fleet is why.
func orNewer(ctx context.Context, db once.DB, err error) error {
	if !errors.Is(err, once.ErrConflict) {
		return err
	}
	if newer := checkVersion(ctx, db, selectVersion); newer != nil {
		return newer
	}
	return err
}

// change stores a record, and wakes whoever has to act on its state. It locks the project before the record, and the
// project's look must not read in between.
func (s Records) change(ctx context.Context, tx *sql.Tx, r once.Record) error {
	if err := s.db.LockProjects(ctx, tx, r.ProjectID); err != nil {
		return err
	}
	before, err := s.db.RecordsIn(tx).Get(ctx, r.Key)
	if err != nil {
		return err
	}

	err = Change(ctx, tx, once.ErrConflict, setRecord+isNext+" AND "+isNotNewer, fieldsOf(&r)...)
	if err != nil || before.State == r.State {
		return orNewer(ctx, tx, err)
	}
	return s.db.WakeFor(ctx, tx, r)
}

// WakeFor wakes whoever has to act on the state of a record: the messages of its thread, its project, and its follower
// if it is on its way.
func (db *DB) WakeFor(ctx context.Context, tx *sql.Tx, r once.Record) error {
	if err := PutOff(ctx, tx, cmp.Or(r.Thread, r.Key), time.Time{}); err != nil {
		return err
	}
	if err := db.WakeSends(ctx, tx, r.ProjectID); err != nil {
		return err
	}
	if r.State == once.Sending || r.State == once.Running || r.State == once.Unknown {
		return db.Wake(ctx, tx, FollowerOf(r.Key))
	}
	return nil
}

// PutOff takes the messages of a thread out of the queue until a time; the zero time puts them back.
func PutOff(ctx context.Context, tx *sql.Tx, thread string, until time.Time) error {
	_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET not_before = $2 WHERE thread = $1 AND thread <> '' AND "+
		"state = 'pending'", thread, Nanos(&until))
	return err
}

// HoldMessages takes the messages of a project out of the queue, for an hour, whose job has not ended: each change of a
// state in their thread puts them back. Which of those that stay comes first package once decides.
func HoldMessages(ctx context.Context, tx *sql.Tx, project string) error {
	now := time.Now()
	_, err := tx.ExecContext(ctx, `UPDATE fleet_prompts AS p SET not_before = $3
WHERE project = $1 AND not_before <= $2 AND state = 'pending' AND thread <> '' AND NOT (`+JobIsOver+`)`,
		project, now.UnixNano(), now.Add(time.Hour).UnixNano())
	return err
}

// afterDeadline is how long after the deadline of a send its turn ends.
const afterDeadline = 5 * time.Second

// claim stores the claim of a prompt, only in the turn of its project, and only if a person has stopped neither the
// project, nor its repository, nor all. It sets the alarms for the case that this process dies in the send.
func (s Records) claim(ctx context.Context, tx *sql.Tx, r once.Record) error {
	before, err := s.db.RecordsIn(tx).Get(ctx, r.Key)
	if err != nil {
		return err
	}
	if before.State != once.Pending {
		return s.change(ctx, tx, r)
	}

	var until time.Time
	length := time.Until(r.Deadline) + afterDeadline
	err = tx.QueryRowContext(ctx, `UPDATE fleet_projects SET claimed = 1, turn_until = `+s.db.Clock+` + $3
WHERE project = $1 AND turn = $2 AND claimed = 0 AND turn_until > `+s.db.Clock+` AND stopped = 0
	AND NOT EXISTS (SELECT 1 FROM fleet_projects a WHERE a.project = '' AND a.stopped > 0)
RETURNING turn_until`, r.ProjectID, s.turn, length.Milliseconds()).Scan(Millis(&until))
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNoTurn
	}
	if err != nil {
		return err
	}

	const claim = setRecord + ", turn = $17" + isNext + ` AND NOT EXISTS (SELECT 1 FROM fleet_repositories f
	WHERE f.repository = fleet_prompts.repository AND f.stopped > 0)`
	err = Change(ctx, tx, once.ErrConflict, claim, append(fieldsOf(&r), s.turn)...)
	if errors.Is(err, once.ErrConflict) && before.Version == r.Version-1 {
		return ErrNoTurn // a person has stopped the repository
	}
	if err != nil {
		return err
	}

	if err := s.db.Start(ctx, tx, SendsOf(r.ProjectID), until); err != nil {
		return err
	}
	return s.db.Start(ctx, tx, FollowerOf(r.Key), until.Add(-afterDeadline))
}

// conn is the transaction, or the database.
func (s Records) conn() once.DB {
	if s.tx != nil {
		return s.tx
	}
	return s.db
}

// Clean returns text from outside as a database can store it: with U+FFFD in place of a NUL byte and of what is not
// UTF-8.
func Clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

// TimeColumn is a time as a column has it: 0 is the zero time.
type TimeColumn struct {
	to   *time.Time
	unit time.Duration
}

// Nanos is a time in fleet_prompts.
func Nanos(to *time.Time) TimeColumn { return TimeColumn{to, time.Nanosecond} }

// Millis is a time in any table but fleet_prompts.
func Millis(to *time.Time) TimeColumn { return TimeColumn{to, time.Millisecond} }

// Scan implements [sql.Scanner]. NULL is the zero time, too.
func (c TimeColumn) Scan(value any) error {
	var n sql.NullInt64
	err := n.Scan(value)
	*c.to = time.Time{}
	if n.Int64 != 0 {
		*c.to = time.Unix(0, n.Int64*int64(c.unit)).UTC()
	}
	return err
}

// Value implements [driver.Valuer].
func (c TimeColumn) Value() (driver.Value, error) {
	if c.to.IsZero() {
		return int64(0), nil
	}
	return c.to.UnixNano() / int64(c.unit), nil
}

// Get implements [once.Store].
func (s Records) Get(ctx context.Context, key string) (once.Record, error) {
	return First(s.query(ctx, "key = $1", key))
}

// List implements [once.Store].
func (s Records) List(ctx context.Context, states ...once.State) ([]once.Record, error) {
	var filter Filter
	var places []string
	for _, state := range states {
		places = append(places, filter.Arg(string(state)))
	}

	if len(states) > 0 {
		filter.parts = []string{"state IN (" + strings.Join(places, ", ") + ")"}
	}
	return s.query(ctx, filter.Where()+" ORDER BY updated, key", filter.Args...)
}

// ListThread returns the first record of a thread and its messages.
func (s Records) ListThread(ctx context.Context, thread string) ([]once.Record, error) {
	return s.query(ctx, inThread, thread)
}

// inThread is the condition that a prompt is in the thread $1.
const inThread = "(key = $1 OR thread = $1 AND thread <> '')"

// ListUnreported returns the records that have ended or have a problem, and whose state was not told.
func (s Records) ListUnreported(ctx context.Context) ([]once.Record, error) {
	return s.query(ctx, IsUntold+" AND (state NOT IN ('sending', 'running') OR problem <> '')")
}

// IsUntold is the condition of the index of prompts whose state was not told.
const IsUntold = `told <> state AND forgotten = 0
	AND state IN ('done', 'failed', 'refused', 'unknown', 'sending', 'running')`

func (s Records) query(ctx context.Context, where string, args ...any) ([]once.Record, error) {
	return All(ctx, s.conn(), fieldsOf, "SELECT "+recordColumns+" FROM fleet_prompts WHERE "+where, args...)
}

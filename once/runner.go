package once

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/async"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const (
	soon       = 100 * time.Millisecond // until the next look at a record that another changes
	retryEvery = 5 * time.Second        // until the next step, if this one could not be done
)

// Runner does the tasks in a store. It is safe for use by many goroutines and processes.
type Runner struct {
	settings
	client   *mintlify.Client
	store    Store
	projects sync.Map // of *project, by id
	memory   memory
	workers  sync.Map // the *worker of each call of Resume and Run in progress
}

// settings are what options set.
type settings struct {
	sendTime   time.Duration
	settleTime time.Duration
	logger     *slog.Logger
	onChange   func(Record)
	report     func(context.Context, Record) error
	finder     func(context.Context, Record) (Found, error)
	onHold     func(context.Context, Hold)
}

// Option configures a [Runner]. The functions With... make one.
type Option func(*settings) error

// WithSendTime sets how long a send may take, rate limiter and retries included: 1 minute
// unless set, at most 1 hour. A send without a response becomes [Unknown] twice this time after
// its deadline, a message not before two minutes after it; recording a response is retried for
// twice this time. Asking first may take the same time once more.
func WithSendTime(d time.Duration) Option {
	return func(s *settings) error {
		if d <= 0 || d > time.Hour {
			return invalid("sendTime", fmt.Sprintf("is %v, want more than 0 and at most 1 h", d))
		}
		s.sendTime = d
		return nil
	}
}

// WithSettleTime sets for how long a follow-up's job may still report its end from before the
// message: 30 s unless set. The client's own settle time changes nothing here. Give 0 with the fake
// of package mintlifytest, where a message takes effect at once; else a follow-up takes 30 s there.
func WithSettleTime(d time.Duration) Option {
	return func(s *settings) error {
		if d < 0 {
			return invalid("settleTime", fmt.Sprintf("is %v, want 0 or more", d))
		}
		s.settleTime = d
		return nil
	}
}

// WithLogger logs changes at info level, what needs a person as a warning, and what could
// not be recorded as an error with the job's id. What only waits for a quota, the end of an outage
// or another record is not a warning. It never logs a prompt or the API key. Without it, or with
// nil, the Runner is silent.
func WithLogger(l *slog.Logger) Option {
	return func(s *settings) error {
		if l == nil {
			l = slog.New(slog.DiscardHandler)
		}
		s.logger = l
		return nil
	}
}

// WithOnChange calls f after each change that this Runner stored, in the goroutine that made
// it: at most once for each change, and never if the process dies just then. [WithReport] is for what
// must not be lost. If f panics before a prompt is sent, the prompt stays pending.
func WithOnChange(f func(Record)) Option {
	return func(s *settings) error {
		if f == nil {
			return invalid("onChange", "is nil")
		}
		s.onChange = f
		return nil
	}
}

// New returns a Runner on store. client may be nil in a process without an API key, where
// all methods but Do, Step, Resume and Run work; Adopt then does not look the job up.
func New(client *mintlify.Client, store Store, opts ...Option) (*Runner, error) {
	sqlStore, isSQL := store.(*SQL)
	switch {
	case store == nil:
		return nil, invalid("store", "is nil")
	case isSQL && (sqlStore == nil || sqlStore.hasNoDatabase()):
		return nil, invalid("store", "is of NewSQL without a database")
	}

	r := &Runner{client: client, store: store, memory: memory{seen: map[string]time.Time{}}}
	r.settings = settings{
		sendTime:   time.Minute,
		settleTime: 30 * time.Second,
		logger:     slog.New(slog.DiscardHandler),
		onChange:   func(Record) {},
	}

	for i, opt := range opts {
		if opt == nil {
			return nil, invalid("opts", fmt.Sprintf("has a nil option at index %d", i))
		}
		if err := opt(&r.settings); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Do sends the prompt of t and waits until the job ends. If the key has a record, also from
// another process, Do continues with the record. If the record is pending, Do sends t's prompt to
// t's project. If ctx ends during a send, Do finishes and records the send before it returns.
//
// The error is nil if the record is done. Otherwise it is:
//
//   - one that matches [mintlify.ErrJobFailed] if the job failed, and [mintlify.ErrOutcomeUnknown] if a
//     person must look;
//   - the service's if a send made no job, if the service did not work when it was asked first, or if
//     no further poll would help: call Do again once that is fixed;
//   - an [*mintlify.ArgumentError] for a bad key, a missing prompt, an After without a record or of
//     another thread than the record's, and, unless the record is pending, for another project than
//     the record's;
//   - an error of its own for a follow-up behind a record that needs a person;
//   - the context's or the store's.
//
// The record comes with every error. If it could not be read, the Record has the task alone, with
// version 0.
func (r *Runner) Do(ctx context.Context, t Task) (Record, error) {
	last := Record{Task: t}
	var telling []*async.Run
	defer func() { waitFor(ctx, telling...) }()

	for {
		s, err := r.stepOrFind(ctx, t, true)
		telling = append(telling, r.tellHold(ctx, s.hold)...)
		if s.record.Version > 0 {
			last = s.record
		}
		if err != nil {
			return last, forKey(t.Key, err)
		}

		if s.ends && s.ahead.Version > 0 && s.cause != nil {
			return last, s.aboutAhead(s.cause)
		}
		if s.next == 0 || s.ends {
			return last, last.result(s.cause)
		}

		pause(ctx, s.next)
		if err := ended(ctx); err != nil {
			return last, last.result(s.whileWaiting(err))
		}
	}
}

// Add stores t as pending and sends nothing, for a webhook handler. If there is a record of
// the key, Add returns it, and false. It is safe to call again.
//
// The error is an [*mintlify.ArgumentError] for a bad key, prompt or project, for an After without
// a record, and for another project than that of a record that is not pending; otherwise the
// context's or the store's.
func (r *Runner) Add(ctx context.Context, t Task) (record Record, added bool, err error) {
	record, added, err = r.add(ctx, t)
	return record, added, forKey(t.Key, err)
}

func (r *Runner) add(ctx context.Context, t Task) (Record, bool, error) {
	record, err := r.read(ctx, t.Key)
	if err != nil {
		return record, false, err
	}
	if record.Version > 0 {
		return record, false, t.checkSameProject(record)
	}

	pending, err := r.newRecord(ctx, t)
	if err != nil {
		return record, false, err
	}

	pending = record.nextVersion(pending)
	err = r.write(ctx, pending)
	if errors.Is(err, ErrConflict) { // another has added it meanwhile, unless the store is wrong
		stored, readErr := r.read(ctx, t.Key)
		if readErr == nil && stored.Version == 0 {
			readErr = err
		}
		return stored, false, readErr
	}
	if err != nil {
		return record, false, err
	}

	r.changed(ctx, pending, nil)
	r.announce(t.Key)
	return pending, true, nil
}

// newRecord returns the first record of t, with the project pinned.
func (r *Runner) newRecord(ctx context.Context, t Task) (Record, error) {
	if err := checkPrompt(t.Prompt); err != nil {
		return Record{}, err
	}

	pending := Record{Task: t, State: Pending, Sender: rand.Text()}
	if t.After != "" {
		thread, named, err := r.threadOf(ctx, t)
		if err != nil {
			return Record{}, err
		}

		pending.Thread = thread
		pending.ProjectID = cmp.Or(named.ProjectID, t.ProjectID)
	}

	client, err := r.clientOf(pending.ProjectID)
	if err != nil {
		return Record{}, err
	}
	if client != nil {
		pending.ProjectID = client.ProjectID()
	}
	return pending, nil
}

// checkSameProject returns why t cannot continue record: it names another project. A follow-up has its thread's.
func (t Task) checkSameProject(record Record) error {
	isSame := t.ProjectID == "" || record.ProjectID == "" || t.ProjectID == record.ProjectID
	if isSame || record.Version == 0 || record.State == Pending || record.After != "" {
		return nil
	}
	return invalid("projectID", fmt.Sprintf("is %q, but the record's is %q for good", t.ProjectID, record.ProjectID))
}

// canSend returns why a method that needs a client cannot be called.
func (r *Runner) canSend(ctx context.Context) error {
	switch {
	case ctx == nil:
		return errNilContext
	case r.client == nil:
		return invalid("client", "is nil")
	}
	return nil
}

var errNilContext = invalid("ctx", "is nil")

// read returns the record of key; without one, a Record with the key alone.
func (r *Runner) read(ctx context.Context, key string) (Record, error) {
	none := Record{Task: Task{Key: key}}
	if ctx == nil {
		return none, errNilContext
	}

	if err := checkKey(key); err != nil {
		return none, err
	}

	if err := ended(ctx); err != nil {
		return none, err
	}

	record, err := r.store.Get(ctx, key)
	if err != nil {
		return none, explainMissing(err)
	}

	record.Key = key
	return record, ended(ctx)
}

// put stores next as the version after record, and returns it. cause is why it did not get on; it
// only decides about the level of the log line.
func (r *Runner) put(ctx context.Context, record, next Record, cause error) (Record, error) {
	next = record.nextVersion(next)
	if err := r.store.Put(ctx, next); err != nil {
		return record, err
	}

	r.changed(ctx, next, cause)
	return next, nil
}

// nextVersion returns next as the version after record.
func (record Record) nextVersion(next Record) Record {
	next.Version = record.Version + 1
	if record.Version == 0 {
		next.AddedAt = now()
	}

	isSame := next.State == record.State && next.JobID == record.JobID &&
		next.PRLink == record.PRLink && next.Problem == record.Problem
	if !isSame {
		next.UpdatedAt = now()
	}
	if next.State != record.State && next.State.IsOpen() {
		next.Reported = "" // what fails twice is told twice
	}
	return next
}

// changed tells the log, WithOnChange's function and the workers about a change that was stored.
func (r *Runner) changed(ctx context.Context, record Record, cause error) {
	level := slog.LevelInfo
	if record.needsPerson(cause) {
		level = slog.LevelWarn
	}
	r.log(ctx, level, "once: "+string(record.State), record)

	for w := range r.workers.Range {
		w.(*worker).take(record, false, changed)
	}
	r.onChange(record)
}

// needsPerson reports whether a person has to look at the record. cause is why it did not get on.
func (record Record) needsPerson(cause error) bool {
	switch record.State {
	case Unknown, Refused, Failed:
		return true
	case Running:
		return record.Problem != ""
	case Sending:
		return record.saysUndecided()
	case Pending:
		return isStuck(cause) || isToBeMended(cause)
	}
	return false
}

// change stores the record of s if it differs from the one on record, and returns s. If
// another change came first, the next step starts from it. A Problem that the store leaves out is
// stored once: each time would be a change, and polls become frequent after a change.
func (r *Runner) change(ctx context.Context, record Record, s step) (step, error) {
	if r.memory.isNoted(record, s.record) || s.record == record {
		return s, nil
	}

	stored, err := r.put(ctx, record, s.record, s.cause)
	switch {
	case errors.Is(err, ErrConflict):
		return step{record: record, next: soon}, nil
	case err != nil:
		return step{record: record}, err
	}

	r.memory.noteProblem(stored)
	s.record = stored
	return s, nil
}

func (r *Runner) log(ctx context.Context, level slog.Level, message string, record Record) {
	r.logger.Log(ctx, level, message, "key", record.Key, "version", record.Version, "problem", record.Problem,
		"job", safetext.WithoutKeys(record.JobID), "prLink", safetext.WithoutKeys(record.PRLink))
}

// logOnce logs err unless its text is the one logged last.
func (r *Runner) logOnce(ctx context.Context, message, key string, err error, last *string) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != *last {
		r.logger.Log(ctx, slog.LevelWarn, message, "key", key, "error", text)
	}
	*last = text
}

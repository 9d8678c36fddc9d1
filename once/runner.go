package once

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const soon = 100 * time.Millisecond // until the next look at a record that another changes

// Runner does the tasks in a store. It is safe for use by many goroutines and processes.
type Runner struct {
	client   *mintlify.Client
	store    Store
	sendTime time.Duration
	logger   *slog.Logger
	onChange func(Record)
	projects sync.Map // of *project, by id

	mu      sync.Mutex
	workers map[*worker]bool // the calls of Resume and Run in progress
}

// Option configures a [Runner].
type Option func(*Runner)

// WithSendTime sets how long a send may take, rate limiter and retries included: 1 minute
// unless set, at most 1 hour. A send without a response becomes [Unknown] twice this time after
// its deadline; recording a response is retried for as long. Asking first may take the same time
// once more.
func WithSendTime(d time.Duration) Option {
	return func(r *Runner) { r.sendTime = d }
}

// WithLogger logs changes at info level, what needs a person as a warning, and what could
// not be recorded as an error with the job's id. It never logs a prompt or the API key.
// Without it, or with nil, the Runner is silent.
func WithLogger(l *slog.Logger) Option {
	return func(r *Runner) {
		if l == nil {
			l = slog.New(slog.DiscardHandler)
		}
		r.logger = l
	}
}

// WithOnChange calls f after each change that this Runner stored, in the goroutine that made
// it.
func WithOnChange(f func(Record)) Option {
	return func(r *Runner) { r.onChange = f }
}

// New returns a Runner on store. client may be nil in a process without an API key, where
// all methods but Do, Step, Resume and Run work; Adopt then does not look the job up.
func New(client *mintlify.Client, store Store, opts ...Option) (*Runner, error) {
	r := &Runner{
		client:   client,
		store:    store,
		sendTime: time.Minute,
		logger:   slog.New(slog.DiscardHandler),
		onChange: func(Record) {},
		workers:  map[*worker]bool{},
	}
	for i, opt := range opts {
		if opt == nil {
			return nil, invalid("opts", fmt.Sprintf("has a nil option at index %d", i))
		}

		opt(r)
	}

	switch {
	case store == nil:
		return nil, invalid("store", "is nil")
	case r.onChange == nil:
		return nil, invalid("onChange", "is nil")
	case r.sendTime <= 0 || r.sendTime > time.Hour:
		return nil, invalid("sendTime", fmt.Sprintf("is %v, want more than 0 and at most 1 h", r.sendTime))
	}
	return r, nil
}

// Do sends the prompt of t and waits until the job ends. If the key has a record, also from
// another process, Do continues with the record. If the record is pending, Do sends t's prompt to
// t's project. If ctx ends during a send, Do finishes and records the send before it returns.
//
// The error is nil if the record is done, matches [mintlify.ErrJobFailed] if the job failed,
// and [mintlify.ErrOutcomeUnknown] if a person must look. It is the service's if a send made
// no job, if the service did not work when it was asked first, or if no further poll would
// help: call Do again once that is fixed. It is an [*mintlify.ArgumentError] for a bad key, a
// missing prompt, an After without a record, or another After than the record's. A follow-up
// behind a record that needs a person is an error, too. Otherwise the error is the context's
// or the store's. The record comes with every error; if it could not be read, the Record has
// the task alone, with version 0.
func (r *Runner) Do(ctx context.Context, t Task) (Record, error) {
	last := Record{Task: t}
	for {
		s, err := r.step(ctx, t, true)
		if s.record.Version > 0 {
			last = s.record
		}
		if err != nil {
			return last, forKey(t.Key, err)
		}
		if s.next == 0 || s.cause != nil {
			return last, last.result(s.cause)
		}

		err = sleep(ctx, s.next)
		if err != nil {
			return last, last.result(last.whileWaiting(err))
		}
	}
}

// Add stores t as pending and sends nothing, for a webhook handler. If there is a record of
// the key, Add returns it, and false. It is safe to call again.
//
// The error is an [*mintlify.ArgumentError] for a bad key, prompt or project, and for an After
// without a record; otherwise the context's or the store's.
func (r *Runner) Add(ctx context.Context, t Task) (record Record, added bool, err error) {
	record, added, err = r.add(ctx, t)
	return record, added, forKey(t.Key, err)
}

func (r *Runner) add(ctx context.Context, t Task) (Record, bool, error) {
	record, err := r.read(ctx, t.Key)
	if err != nil || record.Version > 0 {
		return record, false, err
	}

	pending, err := r.newRecord(ctx, t)
	if err != nil {
		return record, false, err
	}

	pending, err = r.put(ctx, pending)
	if errors.Is(err, ErrConflict) { // another has added it meanwhile
		record, err = r.read(ctx, t.Key)
		return record, false, err
	}
	if err != nil {
		return record, false, err
	}

	r.announce(t.Key)
	return pending, true, nil
}

// newRecord returns the first record of t, with the project pinned.
func (r *Runner) newRecord(ctx context.Context, t Task) (Record, error) {
	err := checkPrompt(t.Prompt)
	if err != nil {
		return Record{}, err
	}

	if t.After != "" {
		b, err := r.before(ctx, t)
		if err != nil {
			return Record{}, err
		}

		t.Project = b.projectOf(t)
	}
	client, err := r.clientOf(t.Project)
	if err != nil {
		return Record{}, err
	}
	if client != nil {
		t.Project = client.ProjectID()
	}
	return Record{Task: t, State: Pending}, nil
}

// Step sends the prompt, polls the job once, or looks after a send of another process. It is
// for a job queue: call it again after next, until that is 0 and record says how it ended.
// The error is only what kept the step from being done, such as the store's.
//
// After a send that is unknown or made no job, and while the service does not work, Step
// sends nothing to that project for a while, for any key: 30 s and then ever longer, up to 30
// minutes, or as long as the service asks.
func (r *Runner) Step(ctx context.Context, key string) (record Record, next time.Duration, err error) {
	s, err := r.step(ctx, Task{Key: key}, false)
	return s.record, s.next, forKey(key, err)
}

// step is the result of one step.
type step struct {
	record Record
	next   time.Duration // until the next step; 0: it is over
	cause  error         // why Do must not wait for the next step
	stuck  bool          // no step helps before a person has decided about another record
}

// step does the next step of t's record. If forced, it sends even if the project is held.
func (r *Runner) step(ctx context.Context, t Task, forced bool) (step, error) {
	if r.client == nil {
		return step{}, invalid("client", "is nil")
	}

	record, err := r.read(ctx, t.Key)
	if err != nil {
		return step{record: record}, err
	}

	err = t.checkAfter(record)
	if err != nil {
		return step{record: record}, err
	}

	if record.Version == 0 || record.State == Pending {
		return r.begin(ctx, record, t, forced)
	}
	return r.follow(ctx, record, t.Project)
}

// read returns the record of key; without one, a Record with the key alone.
func (r *Runner) read(ctx context.Context, key string) (Record, error) {
	none := Record{Task: Task{Key: key}}
	err := checkKey(key)
	if err != nil {
		return none, err
	}

	err = ended(ctx)
	if err != nil {
		return none, err
	}

	record, err := r.store.Get(ctx, key)
	if err != nil {
		return none, err
	}

	record.Key = key
	return record, ended(ctx)
}

// put stores record as its next version, and returns that.
func (r *Runner) put(ctx context.Context, record Record) (Record, error) {
	next := record
	next.Version++
	next.Updated = now()
	err := r.store.Put(ctx, next)
	if err != nil {
		return record, err
	}

	level := slog.LevelInfo
	if next.Problem != "" {
		level = slog.LevelWarn
	}
	r.log(ctx, level, "once: "+string(next.State), next)
	r.onChange(next)
	return next, nil
}

// change stores the record of s if it differs from the one on record, and returns s. If
// another change came first, the next step starts from it.
func (r *Runner) change(ctx context.Context, record Record, s step) (step, error) {
	if s.record == record {
		return s, nil
	}

	stored, err := r.put(ctx, s.record)
	switch {
	case errors.Is(err, ErrConflict):
		return step{record: record, next: soon}, nil
	case err != nil:
		return step{record: record}, err
	}

	s.record = stored
	return s, nil
}

func (r *Runner) log(ctx context.Context, level slog.Level, message string, record Record) {
	r.logger.Log(ctx, level, message, "key", record.Key, "version", record.Version,
		"job", record.JobID, "prLink", record.PRLink, "problem", record.Problem)
}

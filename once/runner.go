package once

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const none State = "" // of the Record that means that there is none

const (
	maxSendTime   = time.Hour
	afterRefusal  = 30 * time.Second // until the next send, if the service does not say
	afterMending  = 5 * time.Minute  // until the next request, if a person has to mend something first
	afterConflict = 100 * time.Millisecond
	atOnce        = time.Millisecond // 0 would mean that it is over
)

// Runner works off the tasks in a store. Create it with [New]. It is safe for use by many
// goroutines, beside others on the same store in other processes.
type Runner struct {
	client   *mintlify.Client
	store    Store
	sendTime time.Duration
	logger   *slog.Logger
	onChange func(Record)

	mu   sync.Mutex
	held map[string]time.Time // when Step sends to a project again, after a send that made no job
}

// Option sets up a [Runner].
type Option func(*Runner) error

// WithSendTime sets how long a send may take, from before the claim to the response: 1
// minute unless set, at most 1 hour. It includes the wait for the client's rate limiter
// and its retries. A send without a response becomes [Unknown] after three times d, and
// its recording is retried for twice d.
func WithSendTime(d time.Duration) Option {
	return func(r *Runner) error {
		if d <= 0 || d > maxSendTime {
			return &mintlify.ArgumentError{Name: "sendTime", Reason: fmt.Sprintf("is %v, want more than 0 and at most %v", d, maxSendTime)}
		}
		r.sendTime = d
		return nil
	}
}

// WithLogger logs changes at info level, what needs a person as a warning, and what could
// not be recorded as an error with the job's id. It never logs a prompt or the key.
func WithLogger(l *slog.Logger) Option {
	return func(r *Runner) error {
		if l == nil {
			return &mintlify.ArgumentError{Name: "logger", Reason: "is nil"}
		}
		r.logger = l
		return nil
	}
}

// WithOnChange calls f after each change that this Runner stored, in the goroutine that
// made it. A send waits for f, within its time.
func WithOnChange(f func(Record)) Option {
	return func(r *Runner) error {
		if f == nil {
			return &mintlify.ArgumentError{Name: "onChange", Reason: "is nil"}
		}
		r.onChange = f
		return nil
	}
}

// New returns a Runner on store. client may be nil in a process without an API key, where
// all methods but Do, Step and Resume work; Adopt then does not look the job up.
func New(client *mintlify.Client, store Store, opts ...Option) (*Runner, error) {
	if store == nil {
		return nil, &mintlify.ArgumentError{Name: "store", Reason: "is nil"}
	}
	r := &Runner{
		client: client, store: store, sendTime: time.Minute,
		logger: slog.New(slog.DiscardHandler), onChange: func(Record) {},
		held: map[string]time.Time{},
	}
	for i, opt := range opts {
		if opt == nil {
			return nil, &mintlify.ArgumentError{Name: "opts", Reason: fmt.Sprintf("has a nil option at index %d", i)}
		}
		if err := opt(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Do takes t to its end: it sends the prompt and waits for the job. With the same key
// again, also in another process, it takes up what is on record. While that is pending, it
// sends t's prompt, to t's project.
//
// The error is nil for a record that is done. It matches [mintlify.ErrJobFailed] if the job
// failed, and [mintlify.ErrOutcomeUnknown] if a person must look, whom its message tells
// what for. It is the error of the service if a send made no job, or if polls cannot go on
// as the API key was revoked: call Do again once that is mended. Else it is the context's
// or the store's. The record comes with every error. A send in progress finishes even if
// ctx ends, within twice the send time of [WithSendTime] after its response.
func (r *Runner) Do(ctx context.Context, t Task) (Record, error) {
	last := Record{Task: t}
	for {
		s, err := r.step(ctx, t, true)
		if s.record.Version > 0 {
			last = s.record
		}
		if err != nil {
			return last, err
		}
		if s.next == 0 || s.cause != nil {
			return last, last.end(s.cause)
		}
		if err := sleep(ctx, s.next); err != nil {
			return last, fmt.Errorf("once: %s is %s: %w", t.Key, last.State, err)
		}
	}
}

// Add stores t as pending and sends nothing: it is for a webhook handler. If there is a
// record of the key, it is returned, and added is false. It is safe to call again.
func (r *Runner) Add(ctx context.Context, t Task) (record Record, added bool, err error) {
	record, err = r.get(ctx, t.Key)
	if err != nil || record.Version > 0 {
		return record, false, err
	}
	record.Task = t
	if err := checkPrompt(t.Prompt); err != nil {
		return record, false, err
	}
	if !utf8.ValidString(t.Prompt) {
		return record, false, &mintlify.ArgumentError{Name: "prompt", Reason: "is not valid UTF-8"}
	}
	if r.client != nil {
		if _, err := r.project(t.Project); err != nil {
			return record, false, err
		}
	}
	record.State = Pending
	record, err = r.put(ctx, record)
	if errors.Is(err, ErrConflict) {
		record, err = r.get(ctx, t.Key)
		return record, false, err
	}
	return record, err == nil, err
}

// Step does the next thing for the record of key: it sends the prompt, polls the job once,
// or looks after a send of another process. It is for a job queue: call it again after
// next. If next is 0, it is over, and record says how it ended. The error is only what kept
// the step from being done, such as the store's.
//
// After a send that made no job, record is pending and has the Problem. Until next, this
// Runner sends nothing more to that project, for any key.
func (r *Runner) Step(ctx context.Context, key string) (record Record, next time.Duration, err error) {
	s, err := r.step(ctx, Task{Key: key}, false)
	return s.record, s.next, err
}

// step is what a step came to.
type step struct {
	record Record
	next   time.Duration // until the next one; 0: it is over
	cause  error         // why a send made no job, or no poll would bring another response
}

func (r *Runner) step(ctx context.Context, t Task, force bool) (s step, err error) {
	if r.client == nil {
		return s, &mintlify.ArgumentError{Name: "client", Reason: "is nil"}
	}
	record, err := r.get(ctx, t.Key)
	if err != nil {
		return s, err
	}
	switch record.State {
	case none, Pending:
		s, err = r.send(ctx, record, t, force)
	case Sending:
		s, err = r.watch(ctx, record)
	case Running:
		s, err = r.poll(ctx, record, t)
	case Done, Failed, Refused, Unknown, Canceled:
		s.record = record
	default:
		s.record, err = record, fmt.Errorf("once: %s: the record has the state %q, which this version does not know", t.Key, record.State)
	}
	if errors.Is(err, ErrConflict) { // another has changed it: the next step takes that up
		return step{record: record, next: afterConflict}, nil
	}
	return s, err
}

// get returns the record of key, once ctx and key have been checked.
func (r *Runner) get(ctx context.Context, key string) (Record, error) {
	if err := checkKey(key); err != nil {
		return Record{}, err
	}
	err := ended(ctx)
	var record Record
	if err == nil {
		record, err = r.store.Get(ctx, key)
	}
	if err == nil {
		err = ended(ctx)
	}
	if err != nil {
		return record, fmt.Errorf("once: %s: %w", key, err)
	}
	switch {
	case record.Version == 0:
		record = Record{Task: Task{Key: key}}
	case record.State == none:
		return record, fmt.Errorf("once: %s: the record has no state", key)
	}
	return record, nil
}

// put stores record as its next version, and returns that.
func (r *Runner) put(ctx context.Context, record Record) (Record, error) {
	next := record
	next.Version++
	next.Updated = time.Now().UTC().Round(0)
	if err := r.store.Put(ctx, next); err != nil {
		return record, fmt.Errorf("once: %s: %w", record.Key, err)
	}
	r.changed(ctx, next)
	return next, nil
}

func (r *Runner) changed(ctx context.Context, record Record) {
	level := slog.LevelInfo
	switch record.State {
	case Unknown, Failed, Refused:
		level = slog.LevelWarn
	case Running:
		if record.Problem != "" {
			level = slog.LevelWarn
		}
	}
	r.logger.LogAttrs(ctx, level, "once: "+string(record.State), attributes(record)...)
	r.onChange(record)
}

func attributes(record Record) []slog.Attr {
	attrs := []slog.Attr{slog.String("key", record.Key), slog.Int("version", record.Version)}
	for _, a := range []slog.Attr{slog.String("job", record.JobID), slog.String("prLink", record.PRLink), slog.String("problem", record.Problem)} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	return attrs
}

func (r *Runner) project(id string) (*mintlify.Client, error) {
	if id == "" {
		return r.client, nil
	}
	return r.client.ForProject(id)
}

// ended returns the error and the cause of a context that has ended, else nil.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// sleep returns nil after d, or the error of ctx once that ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ended(ctx)
	case <-timer.C:
		return nil
	}
}

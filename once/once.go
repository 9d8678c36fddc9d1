// Package once makes at most one agent job for each thing that happened: a merge, a
// release, a ticket.
//
//	runner, err := once.New(client, store)
//	record, err := runner.Do(ctx, once.Task{Key: "acme/api@5907854", Prompt: "Document the flag --json."})
//
// A [Store] that every process sees holds a [Record] of each thing. Of all the processes
// that try, one sends the prompt. If it dies before it has recorded the response, or the
// response is lost, nobody can know whether a job exists. The record is then [Unknown], and
// nothing is sent for it until a person has looked for the pull request that ends with the
// key's [Marker], and has called [Runner.Adopt], [Runner.MarkDone] or [Runner.SendAgain]:
// https://github.com/mintlify-community/mintlify-go/blob/main/docs/once.md
package once

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Task is a thing that happened, and what the agent is to do about it.
type Task struct {
	Key     string `json:"key"`               // names the thing for good: acme/api@5907854. Printable, no white space, at most 300 bytes
	Prompt  string `json:"prompt,omitempty"`  // may be empty if the record has it. The marker is added when it is sent
	Project string `json:"project,omitempty"` // "" is the client's own
}

// State says how far the work on a thing has come.
type State string

// The states of a record.
const (
	Pending  State = "pending"  // to be sent; Problem says why an earlier send made no job
	Sending  State = "sending"  // a process is sending it, or died as it did
	Running  State = "running"  // the job exists
	Done     State = "done"     // the job is completed or archived, or a person said so
	Failed   State = "failed"   // the job failed
	Refused  State = "refused"  // the service does not take this prompt
	Unknown  State = "unknown"  // there may be a job: a person must look
	Canceled State = "canceled" // a person stopped it before it was sent
)

// IsOpen reports whether s needs work but no person: pending, sending or running.
func (s State) IsOpen() bool { return s == Pending || s == Sending || s == Running }

// Record is all that is known of a thing. The zero Record means that there is none.
type Record struct {
	Task
	Version  int       `json:"version"`           // counts the changes; 0: there is no record
	State    State     `json:"state"`             // how far the work has come
	Sends    int       `json:"sends,omitempty"`   // sends begun so far
	Sender   string    `json:"sender,omitempty"`  // random, of the send begun last: tells one claim from another
	Deadline time.Time `json:"deadline,omitzero"` // of the send begun last, set before the claim
	JobID    string    `json:"jobId,omitempty"`   // "" until there is a job
	PRLink   string    `json:"prLink,omitempty"`  // "" until there is a pull request, and for good if the job makes none
	Problem  string    `json:"problem,omitempty"` // why it is pending again, failed, refused or unknown, or why polls fail; never the key
	Updated  time.Time `json:"updated"`           // when this version was made, in UTC
}

// ErrConflict is the error of a [Store]'s Put if another change came first.
var ErrConflict = errors.New("once: the record was changed meanwhile")

// Store holds the records where every process sees them that may act on them. It is safe
// for use by many goroutines; mintlifytest.TestStore checks one. A store that others can
// read, such as a commit's status, may leave out Prompt, Project and Problem: a pending
// record then needs a [Runner.Do] that brings the prompt. An ended ctx ends Get and List.
type Store interface {
	// Get returns the record of key, the zero Record if there is none, an error if it is damaged.
	Get(ctx context.Context, key string) (Record, error)
	// Put stores r if the stored version is r.Version-1, with 0 for no record, else it returns
	// ErrConflict. After nil, r outlives a crash; after another error it may or may not be stored.
	Put(ctx context.Context, r Record) error
	// List returns the records in one of states, or all if none is given, the oldest update
	// first, with an error for the damaged ones; errors.ErrUnsupported if the store cannot.
	List(ctx context.Context, states ...State) ([]Record, error)
}

// Marker returns the line that the description of key's pull request is to end with.
func Marker(key string) string { return "docs-job: " + key }

// FindMarker returns the key of the last line of text that is a marker. A program that
// turns merges into tasks skips what has one: it is the agent's own work.
func FindMarker(text string) (key string, ok bool) {
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if key, ok = strings.CutPrefix(strings.TrimSpace(line), Marker("")); ok && checkKey(key) == nil {
			return key, true
		}
	}
	return "", false
}

// Runner works off the tasks in a store. It is safe for use by many goroutines and processes.
type Runner struct {
	client   *mintlify.Client
	store    Store
	sendTime time.Duration
	logger   *slog.Logger
	onChange func(Record)
	held     sync.Map // of a project: when Step sends again, after a send that made no job
}

// Option sets up a [Runner].
type Option func(*Runner)

// WithSendTime sets how long a send may take, rate limiter and retries included: 1 minute unless
// set, at most 1 hour. Twice that later it is [Unknown]; its recording is retried for as long.
func WithSendTime(d time.Duration) Option { return func(r *Runner) { r.sendTime = d } }

// WithLogger logs changes at info level, what needs a person as a warning, and what could
// not be recorded as an error with the job's id. It never logs a prompt or the key.
func WithLogger(l *slog.Logger) Option { return func(r *Runner) { r.logger = l } }

// WithOnChange calls f after each change that this Runner stored, in the goroutine that made it.
func WithOnChange(f func(Record)) Option { return func(r *Runner) { r.onChange = f } }

// New returns a Runner on store. client may be nil in a process without an API key, where
// all methods but Do, Step and Resume work; Adopt then does not look the job up.
func New(client *mintlify.Client, store Store, opts ...Option) (*Runner, error) {
	r := &Runner{client: client, store: store, sendTime: time.Minute}
	r.logger, r.onChange = slog.New(slog.DiscardHandler), func(Record) {}
	for _, opt := range opts {
		if opt == nil {
			return nil, refuse(true, "opts", "has a nil option")
		}
		opt(r)
	}
	err := cmp.Or(refuse(store == nil, "store", "is nil"), refuse(r.logger == nil, "logger", "is nil"), refuse(r.onChange == nil, "onChange", "is nil"),
		refuse(r.sendTime <= 0 || r.sendTime > time.Hour, "sendTime", fmt.Sprintf("is %v, want more than 0 and at most 1 h", r.sendTime)))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Do takes t to its end: it sends the prompt and waits for the job. With the same key
// again, also in another process, it takes up what is on record. While that is pending, it
// sends t's prompt, to t's project. If ctx ends, a send in progress still ends on record.
//
// The error is nil if the record is done, matches [mintlify.ErrJobFailed] if the job failed,
// and [mintlify.ErrOutcomeUnknown] if a person must look. It is the service's if a send made
// no job or no further poll would help: call Do again once that is mended. Otherwise it is
// the context's or the store's. The record comes with every error.
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
			return last, last.end(err)
		}
	}
}

// Add stores t as pending and sends nothing, for a webhook handler. If there is a record of
// the key, Add returns it, and false. It is safe to call again.
func (r *Runner) Add(ctx context.Context, t Task) (record Record, added bool, err error) {
	record, err = r.get(ctx, t.Key)
	if err != nil || record.Version > 0 {
		return record, false, err
	}
	if _, err = r.check(t); err == nil {
		var pending Record
		if pending, err = r.put(ctx, Record{Task: t, State: Pending}); err == nil {
			return pending, true, nil
		}
	}
	if errors.Is(err, ErrConflict) {
		record, err = r.get(ctx, t.Key)
	}
	return record, false, err
}

// Step sends the prompt, polls the job once, or looks after a send of another process. It is
// for a job queue: call it again after next, until that is 0 and record says how it ended.
// The error is only what kept the step from being done, such as the store's. After a send
// that made no job, Step sends nothing more to that project before next, for any key.
func (r *Runner) Step(ctx context.Context, key string) (record Record, next time.Duration, err error) {
	s, err := r.step(ctx, Task{Key: key}, false)
	return s.record, s.next, err
}

type step struct {
	record Record
	next   time.Duration // until the next one; 0: it is over
	cause  error         // why a send made no job, or no further poll would help
}

func (r *Runner) step(ctx context.Context, t Task, force bool) (step, error) {
	if err := refuse(r.client == nil, "client", "is nil"); err != nil {
		return step{}, err
	}
	record, err := r.get(ctx, t.Key)
	s := step{record: record}
	switch {
	case err != nil:
	case record.Version == 0 || record.State == Pending:
		s, err = r.send(ctx, record, t, force)
	case record.State == Sending:
		s, err = r.watch(ctx, record)
	case record.State == Running:
		s, err = r.poll(ctx, record, t)
	case !slices.Contains([]State{Done, Failed, Refused, Unknown, Canceled}, record.State):
		err = fmt.Errorf("once: %s has the state %q, which this version does not know", t.Key, record.State)
	}
	if errors.Is(err, ErrConflict) && s.record.Sender == record.Sender { // the next step takes up what another has changed
		return step{record: record, next: soon}, nil
	}
	return s, err
}

// Resume calls [Runner.Step] for all open records in turn, also those added meanwhile, until
// none is left or ctx ends. Its error names the keys that cannot go on; the others do.
func (r *Runner) Resume(ctx context.Context) error {
	due, failed := map[string]time.Time{}, map[string]error{}
	for {
		began := time.Now()
		open, err := r.store.List(ctx, Pending, Sending, Running)
		pause := 20 * time.Since(began) // a large directory takes a while to list
		if ctx.Err() != nil || !slices.ContainsFunc(open, func(record Record) bool { return failed[record.Key] == nil }) {
			return errors.Join(append(slices.Collect(maps.Values(failed)), err, ended(ctx))...)
		}
		var next time.Time
		for _, record := range open {
			if ctx.Err() == nil && !time.Now().Before(due[record.Key]) {
				_, wait, err := r.Step(ctx, record.Key)
				if failed[record.Key] = err; err != nil {
					wait = listEvery // it is tried again while others go on
				}
				due[record.Key] = time.Now().Add(wait)
			}
			if failed[record.Key] == nil && (next.IsZero() || due[record.Key].Before(next)) {
				next = due[record.Key]
			}
		}
		_ = sleep(ctx, max(pause, min(listEvery, time.Until(next))))
	}
}

// Adopt has a record that is pending, unknown, failed or running follow the job jobID, which
// a person has found. It looks the job up first. It is safe to call again.
func (r *Runner) Adopt(ctx context.Context, key, jobID string) (Record, error) {
	if err := refuse(strings.Trim(jobID, " .") == "" || strings.ContainsAny(jobID, "/ \t\n"), "jobID", "is empty or not a job's id"); err != nil {
		return Record{}, err
	}
	return r.decide(ctx, key, "Adopt", Record{State: Running, JobID: jobID}, Pending, Unknown, Failed, Running)
}

// MarkDone makes a record done that is unknown, failed or running. prLink may be "".
func (r *Runner) MarkDone(ctx context.Context, key, prLink string) (Record, error) {
	return r.decide(ctx, key, "MarkDone", Record{State: Done, PRLink: prLink}, Unknown, Failed, Running)
}

// SendAgain makes a record pending that is unknown, failed, refused or canceled: the next
// Do, Step or Resume sends its prompt. If it is unknown and a job exists, there will be two.
func (r *Runner) SendAgain(ctx context.Context, key string) (Record, error) {
	return r.decide(ctx, key, "SendAgain", Record{State: Pending}, Unknown, Failed, Refused, Canceled)
}

// Cancel makes a pending record canceled: its prompt is not sent.
func (r *Runner) Cancel(ctx context.Context, key string) (Record, error) {
	return r.decide(ctx, key, "Cancel", Record{State: Canceled}, Pending)
}

// decide stores what a person has decided about a record in one of the states from.
func (r *Runner) decide(ctx context.Context, key, method string, to Record, from ...State) (Record, error) {
	record, err := r.get(ctx, key)
	if err == nil && !slices.Contains(from, record.State) {
		err = fmt.Errorf("once: %s is %s, and %s is for %v only", key, cmp.Or(record.State, "not on record"), method, from)
	}
	if err != nil {
		return record, err
	}
	next := record
	next.State, next.PRLink, next.Problem = to.State, to.PRLink, ""
	if to.State != Done {
		next.JobID = to.JobID
	}
	if to.JobID != "" && r.client != nil {
		client, err := r.project(record.Task)
		if err == nil {
			_, err = client.Jobs.Get(ctx, to.JobID)
		}
		if err != nil {
			return record, fmt.Errorf("once: %s: %w", key, err)
		}
	}
	s, err := r.change(ctx, record, next, 0)
	return s.record, err
}

// get returns the record of key, once ctx and key have been checked.
func (r *Runner) get(ctx context.Context, key string) (record Record, err error) {
	if err := checkKey(key); err != nil {
		return record, err
	}
	if err = ended(ctx); err == nil {
		record, err = r.store.Get(ctx, key)
	}
	if err = cmp.Or(err, ended(ctx)); err != nil {
		err = fmt.Errorf("once: %s: %w", key, err)
	}
	record.Key = key
	return record, err
}

// put stores record as its next version, and returns that.
func (r *Runner) put(ctx context.Context, record Record) (Record, error) {
	next := record
	next.Version, next.Updated = record.Version+1, time.Now().UTC().Round(0)
	if err := r.store.Put(ctx, next); err != nil {
		return record, fmt.Errorf("once: %s: %w", record.Key, err)
	}
	level := map[bool]slog.Level{false: slog.LevelInfo, true: slog.LevelWarn}[next.Problem != ""]
	r.log(ctx, level, "once: "+string(next.State), next)
	r.onChange(next)
	return next, nil
}

// change puts next if it differs from record.
func (r *Runner) change(ctx context.Context, record, next Record, after time.Duration) (s step, err error) {
	s = step{record: record, next: after}
	if next != record {
		s.record, err = r.put(ctx, next)
	}
	return s, err
}

func (r *Runner) log(ctx context.Context, level slog.Level, message string, record Record) {
	r.logger.Log(ctx, level, message, "key", record.Key, "version", record.Version,
		"job", record.JobID, "prLink", record.PRLink, "problem", record.Problem)
}

// check returns the client of t's project, once its prompt has been checked.
func (r *Runner) check(t Task) (*mintlify.Client, error) {
	if err := refuse(strings.TrimSpace(t.Prompt) == "", "prompt", "is empty, and there is none on record"); err != nil {
		return nil, err
	}
	return r.project(t)
}

// project returns the client of t's project, nil in a process without a key.
func (r *Runner) project(t Task) (*mintlify.Client, error) {
	switch {
	case t.Project == "":
		return r.client, nil
	case r.client == nil:
		_, err := mintlify.NewClient("none", t.Project) // which checks the id
		return nil, err
	}
	return r.client.ForProject(t.Project)
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
	select {
	case <-ctx.Done():
		return ended(ctx)
	case <-time.After(d):
		return nil
	}
}

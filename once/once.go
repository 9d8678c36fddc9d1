package once

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Task is a thing that happened, and what the agent is to do about it.
type Task struct {
	// Key names the thing for good, such as acme/api@5907854: 1 to 300 bytes, printable, without white space
	// or a backslash.
	Key string `json:"key"`
	// Prompt is the instruction for the agent. It may be empty if the record has one. A new
	// job's prompt gets the marker when it is sent. A record that is not pending keeps its prompt:
	// another one for the same key is not sent.
	Prompt string `json:"prompt,omitempty"`
	// ProjectID is the id of the service's project. "" is the client's own. Add with a client,
	// Adopt and the claim of a send store the id, so that every Runner uses the same project.
	ProjectID string `json:"projectId,omitempty"`
	// After is the key of the record that the prompt follows up on, or of any follow-up of that
	// record: all of them are a thread. The prompt is sent as a message to the job of the thread's
	// first record, in that record's project, once the job has ended and after the messages that
	// were added before. "" makes a new job.
	After string `json:"after,omitempty"`
}

// Check returns the [*mintlify.ArgumentError] that [Runner.Add] would return for t's key, prompt,
// project or After, nil if they are as they should be. It needs no store.
func (t Task) Check() error {
	return forKey(t.Key, t.check())
}

func (t Task) check() error {
	if err := checkKey(t.Key); err != nil {
		return err
	}

	if err := checkPrompt(t.Prompt); err != nil {
		return err
	}

	if err := t.checkAfter(); err != nil {
		return err
	}
	return checkProject(t.ProjectID)
}

// State says how far the work on a thing has come.
type State string

// The states of a record.
const (
	Pending  State = "pending"  // it is to be sent; Problem says why it was not sent yet
	Sending  State = "sending"  // a process is sending it, or died while it was sending
	Running  State = "running"  // the job exists
	Done     State = "done"     // the job is completed or archived, or a person said so
	Failed   State = "failed"   // the job failed
	Refused  State = "refused"  // the service does not take this prompt
	Unknown  State = "unknown"  // the service may have acted on the prompt: a person must look
	Canceled State = "canceled" // a person stopped it before it was sent
)

// IsOpen reports whether s needs work but no person: it is pending, sending or running.
func (s State) IsOpen() bool {
	return s == Pending || s == Sending || s == Running
}

// Record is all that is known of a thing. The zero Record means that there is none.
type Record struct {
	Task
	// Version counts the changes. 0 means that there is no record.
	Version int `json:"version"`
	// State says how far the work has come.
	State State `json:"state"`
	// Sends counts the sends that were begun.
	Sends int `json:"sends,omitempty"`
	// Sender is random, and new with each send: it tells one claim from another. Before the first
	// send it tells one Add from another.
	Sender string `json:"sender,omitempty"`
	// Deadline is the time by which the latest send must end. It is set before the claim.
	Deadline time.Time `json:"deadline,omitzero"`
	// JobID is "" until there is a job. A follow-up gets it once its message was sent.
	JobID string `json:"jobId,omitempty"`
	// PRLink is "" until there is a pull request, and for good if the job makes none.
	PRLink string `json:"prLink,omitempty"`
	// Problem says why the record is pending, failed, refused or unknown, or why polls fail.
	// It never shows the API key.
	Problem string `json:"problem,omitempty"`
	// UpdatedAt is when State, JobID, PRLink or Problem last changed, in UTC.
	UpdatedAt time.Time `json:"updatedAt"`
	// AddedAt is when the record was first stored, in UTC. The follow-ups of a thread are sent in this order.
	AddedAt time.Time `json:"addedAt"`
	// Thread is, for a follow-up, the key of the first record of its thread, whose job gets the
	// message. It is set when the follow-up is added, for good.
	Thread string `json:"thread,omitempty"`
	// Reported is the state that the function of [WithReport] has taken.
	Reported State `json:"reported,omitempty"`
}

var (
	// ErrConflict is the error of a [Store]'s Put if another change came first.
	ErrConflict = errors.New("once: the record was changed meanwhile")

	// ErrState matches the [StateError] of Adopt, MarkDone, SendAgain and Cancel if the state of the
	// record does not allow it, or if there is no record.
	ErrState = errors.New("once: the record's state does not allow this")
)

// Store holds the records where every process that may act on them sees them. It is safe
// for use by many goroutines; package once/oncetest tests one. An ended ctx ends Get and
// List. A large store should also be a [ThreadLister] and an [UnreportedLister], as [SQL] is.
//
// A store that others can read, such as a commit's status, may leave out Prompt, ProjectID,
// Problem, Reported and AddedAt: a pending record then needs a [Runner.Do] that brings the prompt.
// It must not leave out After and Thread, or a follow-up would become a new job; if it cannot keep
// them, its Put returns errors.ErrUnsupported for a record with After.
//
// In object storage that can compare and swap, Put writes the first version of a record with
// If-None-Match: *, and each further one with If-Match and the ETag that it has read (in GCS both with
// x-goog-if-generation-match). The response 412 is ErrConflict, and so is a 409 of S3. Leave the retries of the
// storage's client on: if one gets a 412 for its own write, the Runner finds its own Sender there, and
// goes on. List reads all pages of names, and each record, and calls [Select].
type Store interface {
	// Get returns the record of key, the zero Record if there is none, an error if it is damaged.
	Get(ctx context.Context, key string) (Record, error)
	// Put stores r if the stored version is r.Version-1, with 0 for no record, else it
	// returns ErrConflict. After nil, r outlives a crash; after another error it may or may
	// not be stored.
	Put(ctx context.Context, r Record) error
	// List returns the records in one of states, or all if none is given, the oldest update
	// first, with an error for the damaged ones; errors.ErrUnsupported if the store cannot. It
	// shows every Put that has returned before it began, or a later version of that record: a
	// follow-up whose sender does not see another's claim would interrupt it. So it must not read
	// from a cache, from a replica that lags behind, or from an index that is updated later.
	List(ctx context.Context, states ...State) ([]Record, error)
}

// Select returns what the List of a [Store] returns of all its records: those in one of states, or all if none
// is given, the oldest update first. It changes records.
func Select(records []Record, states []State) []Record {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.Key, b.Key))
	})
	if len(states) == 0 {
		return records
	}
	return slices.DeleteFunc(records, func(r Record) bool { return !slices.Contains(states, r.State) })
}

// ThreadLister is a [Store] that finds a thread, so that a message need not read all that is open.
type ThreadLister interface {
	// ListThread returns the record whose key is thread and its follow-ups, in every state and in any order.
	// It shows every Put that List shows.
	ListThread(ctx context.Context, thread string) ([]Record, error)
}

// UnreportedLister is a [Store] that finds what is to be reported, so that [Runner.Run] need not read all that
// has ended.
type UnreportedLister interface {
	// ListUnreported returns, in any order, the records whose Reported is not their State: those that are
	// done, failed, refused or unknown, and those that are running or sending and have a Problem. It shows every
	// Put that List shows.
	ListUnreported(ctx context.Context) ([]Record, error)
}

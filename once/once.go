// Package once makes at most one agent job for each thing that happened: a merge, a
// release, a ticket.
//
//	runner, err := once.New(client, store)
//	...
//	record, err := runner.Do(ctx, once.Task{Key: "acme/api@5907854", Prompt: "Document the flag --json."})
//
// A [Store] that every process sees holds a [Record] of each thing. Of all the processes
// that try, one sends the prompt. The record says what became of it, through crashes,
// restarts and webhooks that are delivered twice.
//
// The service has no idempotency key. If a process dies between the request and its
// recording, or the response is lost, nobody can know whether a job exists. The record is
// then [Unknown], and nothing is sent for it until a person has looked: for the pull
// request whose description ends with the [Marker] of the key. The person then calls
// [Runner.Adopt], [Runner.MarkDone] or [Runner.SendAgain].
//
// See https://github.com/mintlify-community/mintlify-go/blob/main/docs/once.md for the
// diagram of states, and for which store to choose.
package once

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Task is a thing that happened, and what the agent is to do about it.
type Task struct {
	// Key names the thing for good: acme/api@5907854. It is printable, without white
	// space, and has at most 300 bytes.
	Key string `json:"key"`
	// Prompt is the instruction for the agent. It may be empty if the record has it. The
	// marker is added when it is sent.
	Prompt  string `json:"prompt,omitempty"`
	Project string `json:"project,omitempty"` // "" is the client's own
}

// State says how far the work on a thing has come.
type State string

// The states of a record.
const (
	Pending  State = "pending"  // to be sent; Problem says why an earlier send made no job
	Sending  State = "sending"  // a process is about to send it, or has just done so
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

// Store holds the records where every process sees them that may act on them. Its methods
// are called by many goroutines at once. [github.com/mintlify-community/mintlify-go/mintlifytest.TestStore]
// checks one.
//
// A store that others can read, such as a commit's status, may leave out Prompt, Project
// and Problem. A pending record then goes on only with a [Runner.Do] that brings the prompt.
type Store interface {
	// Get returns the record of key, and the zero Record if there is none. A record that
	// cannot be read is an error. An ended ctx ends it.
	Get(ctx context.Context, key string) (Record, error)

	// Put stores r if the stored version is r.Version-1, where no record is version 0.
	// Otherwise it returns ErrConflict. When it returns nil, r outlives a crash; after any
	// other error r may or may not be stored.
	Put(ctx context.Context, r Record) error

	// List returns the records in one of states, or all if no state is given, the oldest
	// update first. A record that cannot be read is part of the error, which comes with the
	// others. A store that cannot list returns errors.ErrUnsupported. An ended ctx ends it.
	List(ctx context.Context, states ...State) ([]Record, error)
}

const markerPrefix = "docs-job: "

// Marker returns the line that the description of key's pull request is to end with.
func Marker(key string) string { return markerPrefix + key }

// FindMarker returns the key of the last line of text that is a marker. A program that
// turns merges into tasks skips a pull request that has one: it is the agent's own work.
func FindMarker(text string) (key string, ok bool) {
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if key, ok = strings.CutPrefix(strings.TrimSpace(line), markerPrefix); ok && checkKey(key) == nil {
			return key, true
		}
	}
	return "", false
}

const maxKey = 300 // bytes

func checkKey(key string) error {
	reason := ""
	switch {
	case key == "":
		reason = "is empty"
	case len(key) > maxKey:
		reason = fmt.Sprintf("has %d bytes, want at most %d", len(key), maxKey)
	case !utf8.ValidString(key):
		reason = "is not valid UTF-8"
	case strings.ContainsFunc(key, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }):
		reason = "contains white space or a character that is not printable"
	default:
		return nil
	}
	return &mintlify.ArgumentError{Name: "key", Reason: reason}
}

func checkPrompt(prompt string) error {
	if strings.TrimSpace(prompt) == "" {
		return &mintlify.ArgumentError{Name: "prompt", Reason: "is empty, and there is none on record"}
	}
	return nil
}

// end returns what Do returns for a record that has come to rest. cause is why a send or a
// poll brought it there, nil if that happened in another call.
func (r Record) end(cause error) error {
	switch {
	case r.State == Done:
		return nil
	case r.State == Failed:
		job := &mintlify.Job{ID: r.JobID, Status: mintlify.JobFailed, PRLink: r.PRLink}
		return fmt.Errorf("once: %s: %w", r.Key, &mintlify.JobFailedError{Job: job})
	case r.State == Unknown:
		if !errors.Is(cause, mintlify.ErrOutcomeUnknown) {
			cause = fmt.Errorf("%w: %s", mintlify.ErrOutcomeUnknown, r.Problem)
		}
		return fmt.Errorf("once: %s: %w; look for the pull request whose description ends with %q, and then call Adopt with its job's id, MarkDone with its link, or SendAgain if there is none", r.Key, cause, Marker(r.Key))
	case cause != nil:
		return fmt.Errorf("once: %s is %s: %w", r.Key, r.State, cause)
	case r.Problem != "":
		return fmt.Errorf("once: %s is %s: %s; SendAgain makes it pending", r.Key, r.State, r.Problem)
	}
	return fmt.Errorf("once: %s is %s; SendAgain makes it pending", r.Key, r.State)
}

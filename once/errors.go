package once

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

func invalid(name, reason string) error {
	return &mintlify.ArgumentError{Name: name, Reason: reason}
}

// forKey returns err with the key that it is about; nil for nil. An error about another record names that already.
func forKey(key string, err error) error {
	other, isOthers := err.(*otherError) //nolint:errorlint // what wraps it has no key yet
	switch {
	case err == nil || isOthers && other.hasNamed:
		return err
	case checkKey(key) != nil:
		return fmt.Errorf("once: %q: %w", safetext.OneLine(key, 100), err)
	}
	return fmt.Errorf("once: %s: %w", key, err)
}

// jobName returns how messages name a job. The record keeps its id exact, since a call goes on with
// it: a key that the service has echoed there is redacted only here.
func jobName(id string) string { return fmt.Sprintf("job %q", safetext.WithoutKeys(id)) }

func checkKey(key string) error {
	isUnfit := func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
	if key == "" || len(key) > 300 || !utf8.ValidString(key) || strings.ContainsFunc(key, isUnfit) {
		return invalid("key", "is not 1 to 300 bytes of printable text without white space")
	}
	if strings.Contains(key, `\`) {
		return invalid("key", "has a backslash, which Markdown may drop from the marker")
	}
	return nil
}

// explainMissing says what a store's Get must return if err, its error, seems to say that there is no record.
func explainMissing(err error) error {
	text := strings.ToLower(err.Error())
	for _, missing := range []string{"not found", "notfound", "no rows", "no such key", "nosuchkey"} {
		if strings.Contains(text, missing) {
			return fmt.Errorf("%w (if there is no record, Get must return the zero Record and nil)", err)
		}
	}
	return err
}

func checkPrompt(prompt string) error {
	switch {
	case strings.TrimSpace(prompt) == "":
		return invalid("prompt", "is empty, and there is none on record")
	case !utf8.ValidString(prompt):
		return invalid("prompt", "is not UTF-8")
	}
	return nil
}

// otherError is why a prompt was not sent: another request, or the send of another record, has failed. It keeps
// what that error has, but does not match ErrOutcomeUnknown, as that may: this prompt was not sent.
type otherError struct {
	says     string
	hasNamed bool // says names the other record
	err      error
}

func (e *otherError) Error() string { return e.says + ": " + e.err.Error() }

// As finds what the other's error has.
func (e *otherError) As(target any) bool { return errors.As(e.err, target) }

// Is reports whether the other's error matches target, unless that would say that a prompt was sent.
func (e *otherError) Is(target error) bool {
	return target != mintlify.ErrOutcomeUnknown && errors.Is(e.err, target)
}

// StateError is the error of Adopt, MarkDone, SendAgain and Cancel if the record's state does not
// allow the decision. It matches [ErrState].
type StateError struct {
	// Key is the key of the record.
	Key string
	// State is the state of the record. It is "" if there is no record.
	State State
	// Allowed are the states in which the decision is allowed.
	Allowed []State
	// Decision is the name of the method, such as Adopt.
	Decision string
}

// Error names the key, the state and the states that are allowed.
func (e *StateError) Error() string {
	state := "is " + string(e.State)
	if e.State == "" {
		state = "is not on record"
	}

	names := make([]string, len(e.Allowed))
	for i, allowed := range e.Allowed {
		names[i] = string(allowed)
	}
	return fmt.Sprintf("once: %s: it %s, and %s is for records that are %s",
		e.Key, state, e.Decision, strings.Join(names, ", "))
}

// Is reports whether target is [ErrState].
func (e *StateError) Is(target error) bool { return target == ErrState }

// check returns a StateError if a record's state does not allow the decision.
func (d decision) check(record Record, sendTime time.Duration) error {
	isAllowed := slices.Contains(d.from, record.State)
	switch {
	case record.State == Done && d.also != nil:
		isAllowed = d.also(record)
	case record.State == Pending && record.Sends > 0 && d.sent:
		isAllowed = true
	case record.isUndecided(sendTime): // as good as unknown
		isAllowed = slices.Contains(d.from, Unknown)
	}
	if isAllowed {
		return nil
	}
	return &StateError{Key: record.Key, State: record.State, Allowed: slices.Clone(d.from), Decision: d.name}
}

// result returns the error of a Do that ends with record: nil if that is done. cause is why
// this Do ends; nil if the state says it.
func (record Record) result(cause error) error {
	switch record.State {
	case Done:
		return nil
	case Failed:
		job := &mintlify.Job{ID: record.JobID, Status: mintlify.JobFailed, PRLink: record.PRLink}
		cause = &mintlify.JobFailedError{Job: job}

	case Unknown:
		return record.unknown(cause)
	}

	if cause == nil {
		cause = errors.New(cmp.Or(record.Problem, "SendAgain makes it pending"))
	}
	return fmt.Errorf("once: %s is %s: %w", record.Key, record.State, cause)
}

// whileWaiting returns err, the end of a context, with what the next step waits for.
func (s step) whileWaiting(err error) error {
	switch {
	case s.record.Problem != "":
		return fmt.Errorf("%s: %w", s.record.Problem, err)
	case s.status != "":
		return fmt.Errorf("its job is %s: %w", safetext.WithoutKeys(string(s.status)), err)
	}
	return err
}

// unknown says what a person has to do about a record that is unknown.
func (record Record) unknown(cause error) error {
	if cause == nil { // a public store keeps no Problem
		cause = errors.New(cmp.Or(record.Problem, "the reason is not on record"))
	}
	if !errors.Is(cause, mintlify.ErrOutcomeUnknown) {
		cause = fmt.Errorf("%w: %w", mintlify.ErrOutcomeUnknown, cause)
	}

	look := fmt.Sprintf("look for the pull request whose description has the line %q", Marker(record.Key))
	if record.After != "" {
		look = fmt.Sprintf("look whether the pull request of %s has the change", record.After)
	}
	waysOut := "then call Adopt with its job's id, MarkDone with its link, or SendAgain if there is none"
	return fmt.Errorf("once: %s: %w; %s, %s", record.Key, cause, look, waysOut)
}

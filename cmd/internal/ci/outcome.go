package ci

import (
	"context"
	"errors"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/status"
)

// Outcome is how a step ended: one of these, or what the command calls its success.
type Outcome string

// The outcomes that are not a success, in the order of their exit codes.
const (
	Failed     Outcome = "failed"      // the service tried, and failed
	SetUp      Outcome = "set-up"      // a person has to fix the set-up
	Unknown    Outcome = "unknown"     // the service may have acted
	Running    Outcome = "running"     // the service is at work
	NotStarted Outcome = "not-started" // the service did not act
)

// exitCode returns 0 for a success, since Index then returns -1.
func (o Outcome) exitCode() int {
	return 1 + slices.Index([]Outcome{Failed, SetUp, Unknown, Running, NotStarted}, o)
}

// Of returns err as an error for which [OutcomeOf] returns o, even if err has another outcome.
func (o Outcome) Of(err error) error { return &outcomeError{outcome: o, err: err} }

type outcomeError struct {
	outcome Outcome
	err     error
}

func (e *outcomeError) Error() string { return e.err.Error() }

func (e *outcomeError) Unwrap() error { return e.err }

// OutcomeOf returns what an error means for a step that has not started anything else.
func OutcomeOf(err error) Outcome {
	var decided *outcomeError
	if errors.As(err, &decided) {
		return decided.outcome
	}

	_, mayHelpLater := mintlify.RetryAfter(err)
	hasEnded := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		return Unknown
	case mayHelpLater, hasEnded, isRefused(err):
		return NotStarted
	}
	return SetUp
}

// isRefused reports whether the service refused what it was sent, or no credits are left, or another job may be
// at work. The set-up may be right in all these cases.
func isRefused(err error) bool {
	var response *mintlify.APIError
	if !errors.As(err, &response) {
		return false
	}

	meaning := status.Of(response.StatusCode)
	isBlocked := status.IsCloudflares(response.StatusCode, response.Header, response.Body)
	return isBlocked || meaning.Kind == status.PaymentRequired || meaning.About != 0 && !meaning.NeedsPerson
}

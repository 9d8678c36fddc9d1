package ci

import (
	"context"
	"errors"
	"net/http"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Outcome is how a step ended: one of these, or what the command calls its success.
type Outcome string

// The outcomes that are not a success, in the order of their exit codes.
const (
	Failed     Outcome = "failed"      // the service tried, and failed
	SetUp      Outcome = "set-up"      // a person has to mend the set-up
	Unknown    Outcome = "unknown"     // the service may have acted
	Running    Outcome = "running"     // the service is at work
	NotStarted Outcome = "not-started" // the service did not act
)

func (o Outcome) exitCode() int {
	return 1 + slices.Index([]Outcome{Failed, SetUp, Unknown, Running, NotStarted}, o)
}

// Of returns err as an error whose outcome its place decides.
func (o Outcome) Of(err error) error { return &placed{o, err} }

type placed struct {
	Outcome
	error
}

func (p *placed) Unwrap() error { return p.error }

// OutcomeOf returns what an error means for a step that has not started anything else.
func OutcomeOf(err error) Outcome {
	var decided *placed
	var api *mintlify.APIError
	_, later := mintlify.RetryAfter(err)
	refused := []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}
	switch {
	case errors.As(err, &decided):
		return decided.Outcome
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		return Unknown
	case later, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &api) && slices.Contains(refused, api.StatusCode):
		return NotStarted
	}
	return SetUp
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// patiently makes attempts until one does not fail for a reason that passes, such as an outage of GitHub or
// of the service, within -timeout. An attempt that fails so has sent nothing. With -no-wait there is one.
func (p *program) patiently(ctx context.Context, attempt func() error) error {
	var before error
	for {
		err := attempt()
		if err != nil && ctx.Err() != nil && before != nil { // the attempt before says more than that time is up
			return ci.NotStarted.Of(fmt.Errorf("%w. The attempt after it was ended by a signal or -timeout", before))
		}

		wait, mayPass := p.wait(ctx, err)
		if !mayPass {
			return err
		}
		before = err

		why := fmt.Sprintf("Nothing was sent yet (%v)", err)
		if ended := p.step.WaitOut(ctx, why, wait, err); ended != nil {
			return ci.NotStarted.Of(ended)
		}
	}
}

// sendWait is how long to wait at least after a prompt that the service did not take.
const sendWait = 5 * time.Minute

// wait reports whether to wait after an error, and how long: 0 if nobody has said.
func (p *program) wait(ctx context.Context, err error) (time.Duration, bool) {
	if err == nil || p.options.noWait || ctx.Err() != nil {
		return 0, false
	}

	wait, mayPass := waitAfter(err)
	var sent keyless
	if errors.As(err, &sent) && sent.record.Sends > 0 { // each such attempt leaves statuses
		wait = max(wait, sendWait)
	}
	return wait, mayPass
}

// waitAfter reports whether what an error says passes, and how long to wait: 0 if nobody has said.
func waitAfter(err error) (time.Duration, bool) {
	var limited *rateLimit
	var refused *refusal
	var response *mintlify.APIError
	_, mayHelpLater := mintlify.RetryAfter(err)
	switch {
	case errors.As(err, &limited):
		return limited.wait, true
	case errors.As(err, &refused):
		return 0, false
	case errors.As(err, &response):
		return response.RetryAfter, mayHelpLater
	}
	return 0, ci.OutcomeOf(err) == ci.NotStarted
}

// keyless is an error of package once that does not say the key.
type keyless struct {
	error
	record once.Record
}

func (e keyless) Error() string { return withoutKey(e.record, e.error.Error()) }

// Unwrap returns the error as package once has made it.
func (e keyless) Unwrap() error { return e.error }

// isBeforeSend reports whether a result is of a run that has failed before it sent the prompt.
func (r result) isBeforeSend() bool {
	isUnsent := r.record.Version == 0 || r.record.State == once.Pending
	return r.err != nil && isUnsent && outcomeOf(r.record, r.err) == ci.NotStarted
}

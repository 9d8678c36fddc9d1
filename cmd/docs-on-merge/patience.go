package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// documentPatiently documents the change as soon as GitHub and the service let it.
func (p *program) documentPatiently(ctx context.Context, c change, noWait bool) result {
	var r result
	err := p.patiently(ctx, func() error {
		r = p.document(ctx, c, noWait)
		isUnsent := r.record.Version == 0 || r.record.State == once.Pending
		if isUnsent && outcomeOf(r.record, r.err) == ci.NotStarted {
			return r.err
		}
		return nil
	})

	if err != nil {
		r.err = err
	}
	return r
}

// patiently makes attempts until one does not fail for a reason that passes, such as an outage of GitHub or
// of the service, within -timeout. An attempt that fails so has sent nothing. With -no-wait there is one.
func (p *program) patiently(ctx context.Context, attempt func() error) error {
	var before error
	for {
		err := attempt()
		if err != nil && ctx.Err() != nil && before != nil { // the attempt before says more than that time is up
			return ci.NotStarted.Of(fmt.Errorf("%w. The attempt after it was ended by a signal or -timeout", before))
		}

		wait, mayPass := waitAfter(err)
		if !mayPass || p.options.noWait || ctx.Err() != nil {
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

// waitAfter reports whether what an error says passes, and how long to wait: 0 if nobody has said.
func waitAfter(err error) (time.Duration, bool) {
	var wait time.Duration
	mayPass := ci.OutcomeOf(err) == ci.NotStarted

	var failed *responseError
	var response *mintlify.APIError
	switch {
	case errors.As(err, &failed):
		wait = failed.wait
		mayPass = failed.mayPass
	case errors.As(err, &response):
		wait = response.RetryAfter
		_, mayPass = mintlify.RetryAfter(err)
	}

	var sent keyless
	if errors.As(err, &sent) && sent.record.Sends > 0 { // each such attempt leaves statuses
		wait = max(wait, sendWait)
	}
	return wait, mayPass
}

// keyless is an error of package once that does not say the key: a run has only one.
type keyless struct {
	error
	record once.Record
}

func (e keyless) Error() string {
	text := e.error.Error()
	for _, what := range []string{e.record.Key + " is " + string(e.record.State), e.record.Key} {
		text = strings.TrimPrefix(text, "once: "+what+": ")
	}
	return text
}

// Unwrap returns the error as package once has made it.
func (e keyless) Unwrap() error { return e.error }

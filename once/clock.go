package once

import (
	"context"
	"errors"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/transport"
)

// now returns the time as records store it.
func now() time.Time { return time.Now().UTC().Round(0) }

// reached reports whether t has come, by the wall clock or by the monotonic one: the monotonic
// clock stands still while a machine sleeps, and the wall clock may be set back.
func reached(t time.Time) bool {
	n := time.Now()
	return !n.Before(t) || !n.Round(0).Before(t.Round(0))
}

// ended returns the error of a ctx that has ended, with its cause, else nil. The timer of a
// deadline stands still while the machine sleeps, so the deadline is compared with the wall
// clock, too.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		cause := context.Cause(ctx)
		if cause == err { //nolint:errorlint // a cause that only wraps err says more
			return err
		}
		return &endError{err, cause}
	}

	if transport.PastDeadline(ctx) {
		return fmt.Errorf("%w, by the wall clock", context.DeadlineExceeded)
	}
	return nil
}

// endError is the end of a context for a cause of the caller's. It matches the cause, but no
// kind of the SDK's errors: an errgroup's cause is another call's error, which must not pass
// for this call's.
type endError struct{ err, cause error }

func (e *endError) Error() string { return e.err.Error() + ": " + e.cause.Error() }
func (e *endError) Unwrap() error { return e.err }

// Is reports whether target is a cause, and not one of the SDK's kinds.
func (e *endError) Is(target error) bool {
	switch target {
	case mintlify.ErrInvalidArgument, mintlify.ErrBadRequest, mintlify.ErrUnauthorized, mintlify.ErrForbidden,
		mintlify.ErrPaymentRequired, mintlify.ErrNotFound, mintlify.ErrRateLimited, mintlify.ErrServer,
		mintlify.ErrMalformedResponse, mintlify.ErrOutcomeUnknown, mintlify.ErrJobFailed, mintlify.ErrDeploymentFailed:
		return false
	}
	return errors.Is(e.cause, target)
}

// pause returns true after d, or false as soon as ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

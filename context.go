package mintlify

import (
	"context"
	"errors"

	"github.com/mintlify-community/mintlify-go/internal/transport"
)

// ended returns ctx.Err, or [context.DeadlineExceeded] once the deadline has passed by the wall
// clock: the timer that ends ctx is late on a machine that was suspended.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if transport.PastDeadline(ctx) {
		return context.DeadlineExceeded
	}
	return nil
}

// contextError returns the error of a context that has ended, with its cause.
func contextError(ctx context.Context) error {
	err := ended(ctx)
	cause := context.Cause(ctx)
	if cause == nil || cause == err { //nolint:errorlint // a cause that only wraps err says more
		return err
	}
	return &causeError{err, cause}
}

// causeError is the end of a context for a cause of the caller's. An errgroup's cause is
// another call's error, so the kinds and types of this package do not match: the caller would
// take them for this call's.
type causeError struct {
	err, cause error
}

func (e *causeError) Error() string {
	if errors.Is(e.cause, e.err) {
		return e.cause.Error()
	}
	return e.err.Error() + ": " + e.cause.Error()
}

func (e *causeError) Unwrap() error { return e.err }

func (e *causeError) Is(target error) bool {
	switch target {
	case ErrInvalidArgument,
		ErrBadRequest, ErrUnauthorized, ErrPaymentRequired, ErrForbidden, ErrNotFound, ErrRateLimited, ErrServer,
		ErrMalformedResponse, ErrOutcomeUnknown,
		ErrDeploymentFailed, ErrJobFailed:
		return false
	}

	return errors.Is(e.cause, target)
}

func (e *causeError) As(target any) bool {
	switch target.(type) {
	case **ArgumentError, **APIError, **MalformedResponseError, **ExportError, **WaitError,
		**JobFailedError, **DeploymentFailedError, **sendError:
		return false
	}

	return errors.As(e.cause, target)
}

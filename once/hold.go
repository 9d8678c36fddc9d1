package once

import (
	"context"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/async"
)

// Hold is a project to which nothing is sent until a person has mended something: a revoked key,
// used-up credits, a wrong project.
type Hold struct {
	// ProjectID is the project.
	ProjectID string
	// Until is when the Runner tries again.
	Until time.Time
	// Err is what failed: an [*mintlify.APIError] if it is a response.
	Err error
}

// WithOnHold has f tell a person that a project is held until something is mended: without it, only
// the log says so. f is called when such a hold begins, and again only after the request that
// failed has succeeded and failed once more: by each Runner once, so equal processes may tell it
// twice.
//
// [Runner.Run] and [Runner.Resume] call f beside the other work; [Runner.Do] and [Runner.Step] wait for
// it before they return, but at most 5 s once their context has ended. f's own context ends after a
// minute.
func WithOnHold(f func(ctx context.Context, hold Hold)) Option {
	return func(s *settings) error {
		if f == nil {
			return invalid("onHold", "is nil")
		}
		s.onHold = f
		return nil
	}
}

// tellHold begins to tell a person of a hold. It returns nil if there is none, or nobody to tell.
func (r *Runner) tellHold(ctx context.Context, hold *Hold) []*async.Run {
	if hold == nil || r.onHold == nil {
		return nil
	}

	return []*async.Run{async.Go(func() {
		calling, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
		defer cancel()

		r.onHold(calling, *hold)
	})}
}

package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// The column "may be called again later" of docs/faults.md has the faults; here is how
// long, and what wraps them.
func TestRetryAfterOfAnError(t *testing.T) {
	fail := func(op mintlify.Operation, f mintlifytest.Fault, opts ...mintlify.Option) *mintlify.Client {
		svc := mintlifytest.NewService()
		svc.FailNext(op, 100, f)
		return svc.Client(opts...)
	}
	in7s := mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}}
	refused := mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { return errors.New("no tokens") })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		call func() error
		wait time.Duration
		ok   bool
	}{
		"create, 429": {func() error { _, err := create(t.Context(), fail(mintlify.OpCreateJob, in7s)); return err }, 7 * time.Second, true},
		"create, 429 unsaid": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Status: 429}))
			return err
		}, 0, true},
		"create, 503 with Retry-After": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Status: 503, Header: in7s.Header}))
			return err
		}, 0, false},
		"create, 402": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Status: 402}))
			return err
		}, 0, false},
		"create, 425": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Status: 425}))
			return err
		}, 0, false},
		"create, no connection": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Refuse: true}))
			return err
		}, 0, true},
		"create, connection lost": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, mintlifytest.Fault{Drop: true}))
			return err
		}, 0, false},
		"create, limiter":       {func() error { _, err := create(t.Context(), mintlifytest.NewService().Client(refused)); return err }, 0, true},
		"create, context ended": {func() error { _, err := create(ended, mintlifytest.NewService().Client()); return err }, 0, false},
		"create, no prompt": {func() error {
			_, err := mintlifytest.NewService().Client().Jobs.Create(t.Context(), mintlify.CreateJobParams{})
			return err
		}, 0, false},
		"get, 503": {func() error {
			_, err := get(t.Context(), fail(mintlify.OpGetJob, mintlifytest.Fault{Status: 503, Header: in7s.Header}))
			return err
		}, 7 * time.Second, true},
		"get, 425": {func() error {
			_, err := get(t.Context(), fail(mintlify.OpGetJob, mintlifytest.Fault{Status: 425}))
			return err
		}, 0, true},
		"get, truncated": {func() error {
			_, err := mintlifytest.NewService().Client().Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
			assert.NoError(t, err)
			_, err = fail(mintlify.OpGetVisitors, mintlifytest.Fault{Truncate: true}).Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
			return err
		}, 0, true},
		"get, HTML": {func() error { _, err := get(t.Context(), newClient(t, respondWith(200, "<html>"))); return err }, 0, false},
		"get, connection lost": {func() error {
			_, err := get(t.Context(), fail(mintlify.OpGetJob, mintlifytest.Fault{Drop: true}))
			return err
		}, 0, true},
		"get, 404": {func() error { _, err := get(t.Context(), mintlifytest.NewService().Client()); return err }, 0, false},
		"export": {func() error {
			_, err := collect(fail(mintlify.OpGetVisitors, in7s).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}))
			return err
		}, 7 * time.Second, true},
		"wait, outage": {func() error {
			_, err := fail(mintlify.OpGetJob, mintlifytest.Fault{Status: 502}).Jobs.WaitUntilDone(t.Context(), "j", mintlify.WithMaxOutage(0))
			return err
		}, 0, true},
		"wait, context ended": {func() error {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := fail(mintlify.OpGetJob, mintlifytest.Fault{Status: 502}).Jobs.WaitUntilDone(ctx, "j", mintlify.WithOnPoll(func(mintlify.Poll) { cancel() }))
			return err
		}, 0, false},
		"wrapped by the caller": {func() error {
			_, err := create(t.Context(), fail(mintlify.OpCreateJob, in7s))
			return fmt.Errorf("docs: %w", err)
		}, 7 * time.Second, true},
		"none":         {func() error { return nil }, 0, false},
		"of elsewhere": {func() error { return errors.New("disk full") }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			wait, ok := mintlify.RetryAfter(tc.call())
			assert.Equal(t, tc.ok, ok)
			assert.Equal(t, tc.wait, wait)
		})
	}
}

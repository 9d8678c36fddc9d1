// Package kit has what the SDK's own tests share: calls, transports that play the service, and
// assertions about errors and logs.
package kit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

const (
	// Key is the key of NewClient's clients.
	Key = "mint_secret_9f3b"

	// JobJSON is the response of a job that is at work.
	JobJSON = `{"id":"job_1","status":"active"}`

	// EmptyPage is a page of visitors without a row.
	EmptyPage = `{"totals":{"human":0,"ai":0,"total":0},"visitors":[],"hasMore":false}`
)

// NilContext is a context that a caller has forgotten.
var NilContext context.Context

// Noon is a time that responses have as 2026-03-05T12:00:00Z.
var Noon = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)

// NewClient returns a client of project "proj" whose requests go to rt.
func NewClient(t testing.TB, rt http.RoundTripper, opts ...mintlify.Option) *mintlify.Client {
	t.Helper()
	opts = append([]mintlify.Option{mintlify.WithHTTPClient(&http.Client{Transport: rt})}, opts...)
	client, err := mintlify.NewClient(Key, "proj", opts...)
	require.NoError(t, err)
	return client
}

// Create creates a job.
func Create(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
}

// Message sends a message to job_1.
func Message(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: "And the links"})
}

// Get gets job_1.
func Get(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Get(ctx, "job_1")
}

// CallFunc is a call whose result does not matter.
type CallFunc func(context.Context, *mintlify.Client) error

// JobCalls has the call of every operation that returns a job, by its method: Create, Message
// and Get.
var JobCalls = func() map[string]func(context.Context, *mintlify.Client) (*mintlify.Job, error) {
	calls := map[string]func(context.Context, *mintlify.Client) (*mintlify.Job, error){}
	for _, op := range operations.All() {
		if !ReturnsJob(op) {
			continue
		}
		calls[jobMethod(op)] = func(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
			result, err := op.Call(ctx, c)
			return result.(*mintlify.Job), err
		}
	}
	return calls
}()

// ReturnsJob reports whether the result of an operation is a job.
func ReturnsJob(op operations.Operation) bool {
	_, ok := op.Result.(*mintlify.Job)
	return ok
}

func jobMethod(op operations.Operation) string { return strings.TrimPrefix(op.Func, "Jobs.") }

// Posts returns the names of the JobCalls that change something.
func Posts() []string {
	var names []string
	for _, op := range operations.All() {
		if ReturnsJob(op) && op.IsPost() {
			names = append(names, jobMethod(op))
		}
	}
	return names
}

// Exports has a range over the rows of every export, by the method that gets a page.
var Exports = func() map[string]CallFunc {
	exports := map[string]CallFunc{}
	for _, op := range operations.All() {
		if op.Rows == nil {
			continue
		}
		exports[op.Func] = func(ctx context.Context, c *mintlify.Client) error {
			_, err := op.Rows(ctx, c)
			return failsAtTheStart(err)
		}
	}
	return exports
}()

// failsAtTheStart returns err, the error of an export, if it is nil or of the first page.
func failsAtTheStart(err error) error {
	var pageErr *mintlify.ExportError
	if err != nil && (!errors.As(err, &pageErr) || pageErr.Offset != 0 || pageErr.Cursor != "") {
		return fmt.Errorf("not a ExportError of the first page: %w", err)
	}
	return err
}

// Waits has every WaitUntilDone, by the method that polls.
var Waits = func() map[string]func(context.Context, *mintlify.Client, ...mintlify.WaitOption) error {
	waits := map[string]func(context.Context, *mintlify.Client, ...mintlify.WaitOption) error{}
	for _, op := range operations.All() {
		if op.Wait == nil {
			continue
		}
		waits[op.Func] = func(ctx context.Context, c *mintlify.Client, opts ...mintlify.WaitOption) error {
			_, err := op.Wait(ctx, c, opts...)
			return err
		}
	}
	return waits
}()

// ResultFunc is a call of any method, and its result.
type ResultFunc func(context.Context, *mintlify.Client) (any, error)

// AllCalls returns the call of every operation, and its ranges, its wait and its poll.
func AllCalls() map[string]ResultFunc {
	calls := map[string]ResultFunc{}
	for _, op := range operations.All() {
		calls[op.String()] = op.Call
		if op.Rows != nil {
			for _, pages := range []int{0, 1, 8} {
				calls[fmt.Sprintf("%s: export, prefetch of %d", op, pages)] =
					func(ctx context.Context, c *mintlify.Client) (any, error) {
						return op.Rows(ctx, c, mintlify.WithPrefetch(pages))
					}
			}
		}

		if op.Wait != nil {
			calls[op.String()+": wait"] = func(ctx context.Context, c *mintlify.Client) (any, error) {
				return op.Wait(ctx, c, mintlify.WithMaxOutage(0))
			}
			calls[op.String()+": poll"] = op.Poll
		}
	}
	return calls
}

// Visitors returns n rows.
func Visitors(n int) []mintlify.Visitor {
	rows := make([]mintlify.Visitor, n)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: fmt.Sprintf("/page/%d", i), Human: int64(i), AI: 2, Total: int64(i) + 1}
	}
	return rows
}

// CountAttempts counts the attempts of a client's calls in n.
func CountAttempts(n *int) mintlify.Option {
	return mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
		*n++
		return nil
	})
}

// KeepPolls appends each poll of a wait to polls.
func KeepPolls(polls *[]mintlify.Poll) mintlify.WaitOption {
	return mintlify.WithOnPoll(func(p mintlify.Poll) { *polls = append(*polls, p) })
}

// LateContext returns a context whose timer has not fired when its deadline passes, as after a suspend.
func LateContext(parent context.Context, deadline time.Time) context.Context {
	return lateContext{parent, deadline}
}

type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

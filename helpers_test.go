package mintlify_test

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
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

const (
	testKey   = "mint_secret_9f3b"
	jobJSON   = `{"id":"job_1","status":"active"}`
	emptyPage = `{"totals":{"human":0,"ai":0,"total":0},"visitors":[],"hasMore":false}`
)

var nilContext context.Context

var noon = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)

// newClient returns a client of project "proj" whose requests go to rt.
func newClient(t testing.TB, rt http.RoundTripper, opts ...mintlify.Option) *mintlify.Client {
	t.Helper()
	opts = append([]mintlify.Option{mintlify.WithHTTPClient(&http.Client{Transport: rt})}, opts...)
	client, err := mintlify.NewClient(testKey, "proj", opts...)
	require.NoError(t, err)
	return client
}

func create(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
}

func message(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Message(ctx, "job_1", mintlify.MessageParams{Prompt: "And the links"})
}

func get(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
	return c.Jobs.Get(ctx, "job_1")
}

// callFunc is a call whose result does not matter.
type callFunc func(context.Context, *mintlify.Client) error

// jobCalls has the call of every operation that returns a job, by its method: Create, Message
// and Get.
var jobCalls = func() map[string]func(context.Context, *mintlify.Client) (*mintlify.Job, error) {
	calls := map[string]func(context.Context, *mintlify.Client) (*mintlify.Job, error){}
	for _, op := range operations.All() {
		if !returnsJob(op) {
			continue
		}
		calls[jobMethod(op)] = func(ctx context.Context, c *mintlify.Client) (*mintlify.Job, error) {
			result, err := op.Call(ctx, c)
			return result.(*mintlify.Job), err
		}
	}
	return calls
}()

func returnsJob(op operations.Operation) bool {
	_, ok := op.Result.(*mintlify.Job)
	return ok
}

func jobMethod(op operations.Operation) string { return strings.TrimPrefix(op.Func, "Jobs.") }

// posts are the jobCalls that change something.
func posts() []string {
	var names []string
	for _, op := range operations.All() {
		if returnsJob(op) && op.IsPost() {
			names = append(names, jobMethod(op))
		}
	}
	return names
}

// exports has a range over the rows of every export, by the method that gets a page.
var exports = func() map[string]callFunc {
	exports := map[string]callFunc{}
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

// waits has every WaitUntilDone, by the method that polls.
var waits = func() map[string]func(context.Context, *mintlify.Client, ...mintlify.WaitOption) error {
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

// resultFunc is a call of any method, and its result.
type resultFunc func(context.Context, *mintlify.Client) (any, error)

// allCalls returns the call of every operation, and its ranges, its wait and its poll.
func allCalls() map[string]resultFunc {
	calls := map[string]resultFunc{}
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

// visitors returns n rows.
func visitors(n int) []mintlify.Visitor {
	rows := make([]mintlify.Visitor, n)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: fmt.Sprintf("/page/%d", i), Human: int64(i), AI: 2, Total: int64(i) + 1}
	}
	return rows
}

// countAttempts counts the attempts of a client's calls in n.
func countAttempts(n *int) mintlify.Option {
	return mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
		*n++
		return nil
	})
}

// keepPolls appends each poll of a wait to polls.
func keepPolls(polls *[]mintlify.Poll) mintlify.WaitOption {
	return mintlify.WithOnPoll(func(p mintlify.Poll) { *polls = append(*polls, p) })
}

// lateContext is a context whose timer has not fired yet, as after a suspend.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

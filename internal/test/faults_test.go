package test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/status"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

var updateFaults = flag.Bool("update-faults", false, "write the tables of docs/faults.md from what TestFaults asserts")

// fault is something that goes wrong at every request, and how each call has to handle it.
type fault struct {
	name   string // in docs/faults.md
	source faultSource
	post   outcome // of every operation that changes something
	get    outcome // of every other one, and of the exports
	wait   string  // of every wait

	variant string // of several that the document lists under one name

	socket bool                 // it needs one, and so real time
	burst  int                  // calls at once; 0: one
	only   []mintlify.Operation // the operations that meet it; nil: all
	not    []mintlify.Operation // operations that do not meet it
}

// of returns the fault with a name and a source.
func (f fault) of(name string, s faultSource) fault {
	f.name = name
	f.source = s
	return f
}

// as returns the fault as a variant with a source of its own.
func (f fault) as(variant string, s faultSource) fault {
	f.variant = variant
	f.source = s
	return f
}

// outcome is how a call ends.
type outcome struct {
	attempts int    // how often the SDK tried to send the request; a followed redirect counts
	requests int    // how many the service counted
	most     bool   // requests is an upper bound: the number differs by the release of Go
	err      string // the kinds that it matches; "" for an error of no kind, "ok" for no error
	acted    int    // how many requests of a POST the service acted on
	again    string // what RetryAfter returns
}

type faultClass struct {
	name, note string
	faults     []fault
	ctx        func(context.Context) (context.Context, context.CancelFunc)
}

// How a wait handles its first poll.
const (
	unknown = "OutcomeUnknown"
	goesOn  = "goes on" // the poll has failed, and the next one comes by the schedule
	delayed = "waits, then goes on"
	ends    = "ends"
	isDone  = "is done"
)

func (c faultClass) context(parent context.Context) (context.Context, context.CancelFunc) {
	if c.ctx == nil {
		return context.WithCancel(parent)
	}
	return c.ctx(parent)
}

// happensTo reports whether calls of op meet the fault.
func (f fault) happensTo(op mintlify.Operation) bool {
	return (f.only == nil || slices.Contains(f.only, op)) && !slices.Contains(f.not, op)
}

// measure makes one call under a fault, or a burst of them.
func (f fault) measure(t *testing.T, class faultClass, call kit.CallFunc) (outcome, error) {
	t.Helper()
	source := f.source.start(t)
	var attempts atomic.Int64
	counting := mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
		attempts.Add(1)
		return nil
	})

	opts := []mintlify.Option{mintlify.WithRetryWait(0, 0), counting}
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, append(opts, source.opts...)...)
	require.NoError(t, err)
	defer client.CloseIdleConnections()

	ctx, cancel := class.context(t.Context())
	defer cancel()
	calls := max(1, f.burst)
	err = burst(t, calls, func() error { return call(ctx, client) })
	assertEndsWithContext(t, ctx, err)
	if err != nil {
		kit.AssertReadable(t, err)
		assert.NotContains(t, err.Error(), mintlifytest.APIKey)
		assert.NotContains(t, err.Error(), "hunter2", "the password of a proxy")
	}

	perCall := func(n int) int {
		require.Zero(t, n%calls, "not the same for each call of a burst")
		return n / calls
	}
	return outcome{
		attempts: perCall(int(attempts.Load())),
		requests: perCall(source.requests()),
		acted:    perCall(source.acted()),
		err:      kindNames(err),
		again:    againIn(err),
	}, err
}

// assertEndsWithContext asserts that a call was over five seconds after its context at the latest,
// and that an error of the context names the cause.
func assertEndsWithContext(t *testing.T, ctx context.Context, err error) {
	t.Helper()
	if ctx.Err() == nil {
		return
	}
	if deadline, ok := ctx.Deadline(); ok {
		assert.LessOrEqual(t, time.Since(deadline), 5*time.Second, "%v", err)
	}
	if errors.Is(err, ctx.Err()) {
		assert.ErrorIs(t, err, context.Cause(ctx))
	}
}

// burst makes n calls at once, which must all end the same way, and returns one's error.
func burst(t *testing.T, n int, call func() error) error {
	t.Helper()
	errs := make([]error, n)
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { errs[i] = call() })
	}
	calls.Wait()

	for _, other := range errs[1:] {
		require.Equal(t, kindNames(errs[0]), kindNames(other), "the calls of a burst differ: %v, %v", errs[0], other)
	}
	return errs[0]
}

func kindNames(err error) string {
	if err == nil {
		return "ok"
	}

	names := kit.KindsOf(err)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "Err")
	}
	if errors.Is(err, context.Canceled) {
		names = append(names, "context.Canceled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		names = append(names, "context.DeadlineExceeded")
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// againIn returns what RetryAfter says of err: "yes" if the service does not say when.
func againIn(err error) string {
	wait, ok := mintlify.RetryAfter(err)
	unsaid := 30 * time.Second
	if errors.Is(err, mintlify.ErrRateLimited) && strings.Contains(err.Error(), "/v1/analytics/") {
		unsaid = 10 * time.Minute
	}

	switch {
	case err == nil:
		return ""
	case !ok:
		return "no"
	case wait > 365*24*time.Hour:
		return "yes, in years"
	case wait == unsaid:
		return "yes"
	}
	return "yes, in " + wait.String()
}

// measureWait returns how a wait handles its first poll.
func (f fault) measureWait(t *testing.T, class faultClass, name string) string {
	t.Helper()
	f.burst = 0
	var first mintlify.Poll
	_, err := f.measure(t, class, func(ctx context.Context, c *mintlify.Client) error {
		stop, cancel := context.WithCancel(ctx)
		defer cancel()
		onPoll := mintlify.WithOnPoll(func(p mintlify.Poll) {
			first = p
			if class.ctx == nil {
				cancel()
			}
		})
		return kit.Waits[name](stop, c, mintlify.WithPollInterval(time.Second, time.Second), onPoll)
	})

	switch {
	case class.ctx != nil && errors.As(err, new(*mintlify.WaitError)):
		return "WaitError: " + kindNames(err)
	case err == nil:
		return isDone
	case first.Next == 0:
		require.Equal(t, first.Err, err)
		return ends
	case first.Next > 2*time.Second:
		return delayed
	}
	return goesOn
}

// This test writes the tables of docs/faults.md. Everything before them is written by hand.
func TestFaults(t *testing.T) {
	const page, start = "docs/faults.md", "\n## The tables\n"
	prose, written, found := strings.Cut(readFiles(t, page), start)
	require.True(t, found, "%s has no tables", page)
	requireRoutes(t)

	var tables strings.Builder
	tables.WriteString(statusTable())
	for _, class := range faultClasses() {
		for _, f := range class.faults {
			t.Run(class.name+"/"+f.name+f.variant, func(t *testing.T) { f.test(t, class) })
		}
		tables.WriteString(class.table())
	}

	if *updateFaults {
		require.NoError(t, os.WriteFile(page, []byte(prose+start+tables.String()), 0o644))
		return
	}
	if !t.Failed() {
		require.Equal(t, written, tables.String(), "%s is stale: go test ./internal/test -run TestFaults -update-faults", page)
	}
}

// statusTable returns the table of what each status means.
func statusTable() string {
	var table strings.Builder
	table.WriteString("\n### What a status means\n\nThe first row that has a status counts.\n\n")
	table.WriteString("| status | kind | may pass | may have acted | a person must mend it | objects to |\n")
	table.WriteString("|---|---|---|---|---|---|\n")

	for _, row := range append(status.Table(), status.Row{Meaning: status.Of(0)}) {
		code := fmt.Sprint(row.First)
		switch {
		case row.First == 0:
			code = "others, such as 3xx"
		case row.First < row.Last:
			code = fmt.Sprintf("other %dxx", row.First/100)
		}

		cells := []string{code, kindOf(row.First), yes(row.Passes), yes(row.MayHaveActed), yes(row.NeedsPerson), about[row.About]}
		fmt.Fprintf(&table, "| %s |\n", strings.Join(cells, " | "))
	}
	return table.String()
}

var about = map[status.About]string{
	status.Prompt:        "the prompt",
	status.PromptOrSetup: "the prompt or the set-up",
	status.Job:           "the job or the project",
}

// kindOf returns the kind of error that the response to a read matches.
func kindOf(code int) string {
	names := kit.KindsOf(&mintlify.APIError{Operation: mintlify.OpGetJob, StatusCode: code})
	return strings.TrimPrefix(strings.Join(names, ", "), "Err")
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// requireRoutes stops the test at the first operation that the fake does not serve: under the
// faults it would fail in every subtest.
func requireRoutes(t *testing.T) {
	t.Helper()
	for _, op := range operations.All() {
		err := op.Do(t.Context(), operations.NewService().Client())
		require.NoError(t, err, "%q fails without a fault: add the route %s %s to mintlifytest, and to "+
			"operations.NewService what the call asks for", op, op.Method, op.Path)
	}
}

// test makes every call that meets the fault.
func (f fault) test(t *testing.T, class faultClass) {
	inTime := synctest.Test
	if f.socket { // a bubble with a socket in it never advances its clock
		inTime = func(t *testing.T, test func(*testing.T)) { test(t) }
	}

	for _, op := range operations.All() {
		if !f.happensTo(op.Name) {
			continue
		}
		inTime(t, func(t *testing.T) {
			got, err := f.measure(t, class, op.Do)
			f.assertOutcome(t, op.String(), op.IsPost(), got, err)
		})
	}
	if f.only != nil {
		return
	}

	for name, call := range kit.Exports {
		inTime(t, func(t *testing.T) {
			got, err := f.measure(t, class, call)
			f.assertOutcome(t, name, false, got, err)
		})
	}
	for name := range kit.Waits {
		inTime(t, func(t *testing.T) {
			assert.Equal(t, f.wait, f.measureWait(t, class, name), name)
		})
	}
}

func (f fault) assertOutcome(t *testing.T, name string, post bool, got outcome, err error) {
	t.Helper()
	want := f.get
	if post {
		want = f.post
	}
	if want.most {
		assert.LessOrEqual(t, got.requests, want.requests, "%s: %v", name, err)
		got.requests = want.requests
		got.most = true
	}
	if !post {
		got.acted = 0
	}

	assert.Equal(t, want, got, "%s: %v", name, err)
	if got.acted > 0 && err != nil {
		assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	}
}

// table returns the outcomes of the class. Faults with the same outcome share a row.
func (c faultClass) table() string {
	var outcomes []string
	names := map[string][]string{}
	for _, f := range c.faults {
		o := f.outcomes()
		if names[o] == nil {
			outcomes = append(outcomes, o)
		}
		if !slices.Contains(names[o], f.name) {
			names[o] = append(names[o], f.name)
		}
	}

	var table strings.Builder
	fmt.Fprintf(&table, "\n### %s\n\n", c.name)
	if c.note != "" {
		table.WriteString(c.note + "\n\n")
	}
	table.WriteString("| fault | change: attempts | acted on | error | again ")
	table.WriteString("| read: attempts | error | again | wait |\n")
	table.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, o := range outcomes {
		fmt.Fprintf(&table, "| %s | %s |\n", strings.Join(names[o], "; "), o)
	}
	return table.String()
}

// outcomes returns the fault's cells in docs/faults.md.
func (f fault) outcomes() string {
	change := []string{attemptsCell(f.post), actedCell(f.post), cell(f.post.err), cell(f.post.again)}
	if f.post == (outcome{}) {
		clear(change)
	}

	read := []string{attemptsCell(f.get), cell(f.get.err), cell(f.get.again)}
	if f.get == (outcome{}) {
		clear(read)
	}

	return strings.Join(append(append(change, read...), cell(f.wait)), " | ")
}

func cell(text string) string {
	if text == "" {
		return "—"
	}
	return text
}

func actedCell(o outcome) string {
	if o.acted > 0 {
		return "yes"
	}
	return "no"
}

func attemptsCell(o outcome) string {
	switch {
	case o.most:
		return fmt.Sprintf("%d (≤ %d)", o.attempts, o.requests)
	case o.requests != o.attempts:
		return fmt.Sprintf("%d (%d)", o.attempts, o.requests)
	}
	return fmt.Sprint(o.attempts)
}

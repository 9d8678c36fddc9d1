package mintlify_test

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
	"github.com/mintlify-community/mintlify-go/internal/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

var updateFaults = flag.Bool("update-faults", false, "write the tables of docs/faults.md from what TestFaults asserts")

// fault is something that goes wrong at every request, and how each call has to handle it.
type fault struct {
	name string // in docs/faults.md
	arm  func(*testing.T) armed
	post outcome // of every operation that changes something
	get  outcome // of every other one, and of the exports
	wait string  // of every wait

	variant string // of several that the document lists under one name

	socket bool                 // it needs one, and so real time
	burst  int                  // calls at once; 0: one
	only   []mintlify.Operation // the operations that meet it; nil: all
	not    []mintlify.Operation // operations that do not meet it
}

// armed is a fault that has been set up.
type armed struct {
	opts     []mintlify.Option // for a client whose requests meet it
	requests func() int        // how many the service counted, complete or not
	acted    func() int        // how many of them changed something
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

// measure makes one call under a fault.
func (f fault) measure(t *testing.T, class faultClass, call call) (o outcome, err error) {
	t.Helper()
	armed := f.arm(t)
	var attempts atomic.Int64
	opts := append([]mintlify.Option{mintlify.WithRetryWait(0, 0)}, armed.opts...)
	opts = append(opts, mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { attempts.Add(1); return nil }))
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, opts...)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	ctx, cancel := class.context(t.Context())
	defer cancel()
	calls := max(1, f.burst)
	errs := make([]error, calls)
	var burst sync.WaitGroup
	for i := range calls {
		burst.Go(func() { errs[i] = call(ctx, client) })
	}
	burst.Wait()
	err = errs[0]
	for _, other := range errs[1:] {
		require.Equal(t, kindNames(err), kindNames(other), "the calls of a burst differ: %v, %v", err, other)
	}
	if err != nil {
		assertReadable(t, err)
		assert.NotContains(t, err.Error(), mintlifytest.APIKey)
	}
	perCall := func(n int) int {
		require.Zero(t, n%calls, "not the same for each call of a burst")
		return n / calls
	}
	o.attempts, o.requests, o.acted = perCall(int(attempts.Load())), perCall(armed.requests()), perCall(armed.acted())
	o.err, o.again = kindNames(err), againIn(err)
	return o, err
}

func kindNames(err error) string {
	if err == nil {
		return "ok"
	}
	names := kindsOf(err)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "Err")
	}
	for name, kind := range map[string]error{"context.Canceled": context.Canceled, "context.DeadlineExceeded": context.DeadlineExceeded} {
		if errors.Is(err, kind) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// againIn returns what RetryAfter says of err.
func againIn(err error) string {
	wait, ok := mintlify.RetryAfter(err)
	switch {
	case err == nil:
		return ""
	case !ok:
		return "no"
	case wait > 365*24*time.Hour:
		return "yes, in years"
	case wait > 0:
		return "yes, in " + wait.String()
	}
	return "yes"
}

// measureWait returns how a wait handles its first poll.
func (f fault) measureWait(t *testing.T, class faultClass, name string) string {
	t.Helper()
	var first mintlify.Poll
	f.burst = 0
	_, err := f.measure(t, class, func(ctx context.Context, c *mintlify.Client) error {
		stop, cancel := context.WithCancel(ctx)
		defer cancel()
		return waits[name](stop, c, mintlify.WithPollInterval(time.Second, time.Second), mintlify.WithOnPoll(func(p mintlify.Poll) {
			first = p
			if class.ctx == nil {
				cancel()
			}
		}))
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

// docs/faults.md is written by hand up to its tables, and by this test from there on.
func TestFaults(t *testing.T) {
	const page, start = "docs/faults.md", "\n## The tables\n"
	prose, written, found := strings.Cut(readFiles(t, page), start)
	require.True(t, found, "%s has no tables", page)
	var tables strings.Builder
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
		require.Equal(t, written, tables.String(), "%s is stale: go test -run TestFaults . -update-faults", page)
	}
}

// test makes every call that meets the fault.
func (f fault) test(t *testing.T, class faultClass) {
	inTime := synctest.Test
	if f.socket { // a bubble with a socket in it never advances its clock
		inTime = func(t *testing.T, test func(*testing.T)) { test(t) }
	}
	for _, op := range operations.All() {
		if f.happensTo(op.Name) {
			inTime(t, func(t *testing.T) {
				got, err := f.measure(t, class, op.Do)
				f.assertOutcome(t, op.String(), op.IsPost(), got, err)
			})
		}
	}
	if f.only == nil {
		for name, call := range exports {
			inTime(t, func(t *testing.T) {
				got, err := f.measure(t, class, call)
				f.assertOutcome(t, name, false, got, err)
			})
		}
		for name := range waits {
			inTime(t, func(t *testing.T) { assert.Equal(t, f.wait, f.measureWait(t, class, name), name) })
		}
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
		got.requests, got.most = want.requests, true
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
	table.WriteString("| fault | change: attempts | acted on | error | again | read: attempts | error | again | wait |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, o := range outcomes {
		fmt.Fprintf(&table, "| %s | %s |\n", strings.Join(names[o], "; "), o)
	}
	return table.String()
}

// outcomes returns the fault's cells in docs/faults.md.
func (f fault) outcomes() string {
	cell := func(s string) string {
		if s == "" {
			return "—"
		}
		return s
	}
	attempts := func(o outcome) string {
		switch {
		case o.most:
			return fmt.Sprintf("%d (≤ %d)", o.attempts, o.requests)
		case o.requests != o.attempts:
			return fmt.Sprintf("%d (%d)", o.attempts, o.requests)
		}
		return fmt.Sprint(o.attempts)
	}
	acted := "no"
	if f.post.acted > 0 {
		acted = "yes"
	}
	cells := []string{attempts(f.post), acted, cell(f.post.err), cell(f.post.again), attempts(f.get), cell(f.get.err), cell(f.get.again), cell(f.wait)}
	if f.post == (outcome{}) {
		clear(cells[:4])
	}
	if f.get == (outcome{}) {
		clear(cells[4:7])
	}
	return strings.Join(cells, " | ")
}

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

var updateFaults = flag.Bool("update-faults", false, "write docs/faults.md from the results of TestFaults")

// fault is something that goes wrong at every request, and how each call has to handle it.
type fault struct {
	name string
	arm  func(*testing.T) armed
	post outcome // of every operation that changes something
	get  outcome // of every other one, and of the exports
	wait string  // of every wait

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

func TestFaults(t *testing.T) {
	var doc strings.Builder
	doc.WriteString(faultsIntroduction())
	for _, class := range faultClasses() {
		fmt.Fprintf(&doc, "\n## %s\n\n", class.name)
		if class.note != "" {
			doc.WriteString(class.note + "\n\n")
		}
		doc.WriteString(faultsHeader)
		for _, f := range class.faults {
			t.Run(class.name+"/"+f.name, func(t *testing.T) { f.test(t, class) })
			doc.WriteString(f.row())
		}
	}
	doc.WriteString(faultsEnd)
	if *updateFaults {
		require.NoError(t, os.WriteFile("docs/faults.md", []byte(doc.String()), 0o644))
	}
	written, err := os.ReadFile("docs/faults.md")
	require.NoError(t, err)
	if !t.Failed() {
		require.Equal(t, string(written), doc.String(), "docs/faults.md is stale: go test -run TestFaults . -update-faults")
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

// row returns the fault's row of docs/faults.md.
func (f fault) row() string {
	cell := func(s string) string {
		if s == "" {
			return "—"
		}
		return s
	}
	requests := func(o outcome) string {
		if o.most {
			return fmt.Sprintf("≤ %d", o.requests)
		}
		return fmt.Sprint(o.requests)
	}
	acted := "no"
	if f.post.acted > 0 {
		acted = "yes"
	}
	post := fmt.Sprintf("%d | %s | %s | %s | %s", f.post.attempts, requests(f.post), cell(f.post.err), acted, cell(f.post.again))
	if f.post == (outcome{}) {
		post = "| | | |"
	}
	get := fmt.Sprintf("%d | %s | %s | %s", f.get.attempts, requests(f.get), cell(f.get.err), cell(f.get.again))
	if f.get == (outcome{}) {
		get = "| | |"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", f.name, post, get, cell(f.wait))
}

const faultsHeader = "| fault | change: attempts | requests | error | acted on | again | read: attempts | requests | error | again | wait |\n|---|---|---|---|---|---|---|---|---|---|---|\n"

// faultsIntroduction goes before the tables. It lists the calls that change something.
func faultsIntroduction() string {
	var changes []string
	for _, op := range operations.All() {
		if op.IsPost() {
			changes = append(changes, op.Func)
		}
	}
	return `# What happens under each fault

A test writes this page from its results, so it cannot be out of date:

    go test -run TestFaults . -update-faults

Each fault happens at every request of the call. A *change* is one of
` + strings.Join(changes, ", ") + `.
A *read* is any other call, the iterators of the exports included. Retries are at their
default, 3.

- *Attempts*: how often the SDK tried to send the request. A redirect that it follows counts.
- *Requests*: how many requests the service counted, complete or not. net/http resends some
  requests by itself.
- *Error*: what ` + "`errors.Is`" + ` matches, without Err. — means no kind of the SDK: a network error or
  a redirect, for example. An iterator's error is also a PageError.
- *Acted on*: whether the service acted on the request, which the SDK cannot know. If it did,
  the error matches OutcomeUnknown, or there is no error.
- *Again*: what ` + "`RetryAfter`" + ` returns: whether it may help to call again later.
- *Wait*: what WaitUntilDone does. *Goes on*: the poll failed and the next one follows the
  schedule, until polls have failed for 10 minutes in a row. *Waits*: it waits for the
  Retry-After first, which does not count as an outage. *Ends*: it returns the error of the
  poll. *WaitError*: the context ended the wait.
`
}

const faultsEnd = `
## What the SDK cannot tell apart

By RFC 9113 a reset with REFUSED_STREAM, and a GOAWAY whose last stream is below the
request's, prove that the service did not act. A change that ends so is an OutcomeUnknown
all the same: net/http does not report either once a request is written. It asks for the
body again, or for a connection, to resend the request, as it does after a reset with
PROTOCOL_ERROR (up to Go 1.26), which proves nothing. The SDK refuses, and net/http returns
the refusal instead of the reason. A request without GetBody would keep the reason, as text
within another error, but net/http would no longer resend what it never wrote.

A service that allows fewer than 100 streams a connection can make a burst of changes end
so: until it has announced its limit, net/http opens up to 100.
`

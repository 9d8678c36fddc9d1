package mintlify_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
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

// fault is something that goes wrong at every request, and what has to come of it.
type fault struct {
	name string
	arm  func(*testing.T) armed
	post outcome // of every operation that changes something
	get  outcome // of every other one, and of the exports
	wait string  // of every wait

	socket bool                 // it needs one, and so real time
	only   []mintlify.Operation // that it happens to; nil: to all
	not    []mintlify.Operation // but these
}

// armed is a fault that is set up.
type armed struct {
	opts     []mintlify.Option // of a client whose requests it happens to
	requests func() int        // that the service has counted, whole or not
	acted    func() int        // of them, those that have changed something
}

// outcome is what comes of a call.
type outcome struct {
	attempts int    // that were let go, redirects that are followed included
	requests int    // that the service has counted
	most     bool   // requests are at most so many: it differs by the release of Go
	err      string // the kinds that it matches; "" for none but the network's error, "ok" for no error
	acted    int    // requests of a POST that the service has acted on
	again    string // whether the call may be made again later, and that may help
}

type faultClass struct {
	name, note string
	faults     []fault
	ctx        func(context.Context) (context.Context, context.CancelFunc)
}

// What a wait makes of its first poll.
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

// happensTo reports whether the fault is one of op.
func (f fault) happensTo(op mintlify.Operation) bool {
	return (f.only == nil || slices.Contains(f.only, op)) && !slices.Contains(f.not, op)
}

// measure makes one call under a fault.
func (f fault) measure(t *testing.T, class faultClass, call call) (o outcome, err error) {
	t.Helper()
	armed := f.arm(t)
	opts := append([]mintlify.Option{mintlify.WithRetryWait(0, 0)}, armed.opts...)
	opts = append(opts, mintlify.WithRateLimiter(func(context.Context, mintlify.Operation, string) error { o.attempts++; return nil }))
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, opts...)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	ctx, cancel := class.context(t.Context())
	defer cancel()
	err = call(ctx, client)
	if err != nil {
		assertReadable(t, err)
		assert.NotContains(t, err.Error(), mintlifytest.APIKey)
	}
	o.requests, o.acted, o.err, o.again = armed.requests(), armed.acted(), kindNames(err), againIn(err)
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

// againIn is what RetryAfter says of err.
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

// measureWait is what a wait makes of its first poll.
func (f fault) measureWait(t *testing.T, class faultClass, name string) string {
	t.Helper()
	var first mintlify.Poll
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
	doc.WriteString(faultsIntroduction)
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

// test makes every call that the fault happens to.
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

// row is the fault's row in the document.
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

const faultsIntroduction = `# What happens under each fault

Generated from the results of a test, so that it cannot be out of date:

    go test -run TestFaults . -update-faults

Each fault happens at every request of the call. A *change* is a call of Jobs.Create,
Jobs.Message, Deployments.TriggerUpdate, Deployments.TriggerPreview or
Automations.Trigger; a *read* is any other, the iterators of the exports included. Retries
are at their default, 3.

*Attempts* are what the SDK let go, redirects that are followed included. *Requests* are
what the service has counted, whole or not: below the SDK, net/http sends a request again
where it takes that for safe. *Error* is what ` + "`errors.Is`" + ` matches, without the Err: — is an
error of no kind, such as the network's own or that of a redirect. An error of an iterator
is a PageError besides. *Acted on* says whether the service has acted on the request, which
the SDK cannot know: where it says yes, the error matches OutcomeUnknown, or there is none.
*Again* is what ` + "`RetryAfter`" + ` says: whether the call may be made again later, and that may
help.

*Wait* is what a WaitUntilDone makes of the fault: goes on, the poll has failed and the next
one comes by the schedule, until polls have failed for 10 minutes in a row; waits, by the
Retry-After first, and it is no outage; ends, the error of that poll is that of the wait;
WaitError, the context has ended it.
`

const faultsEnd = `
## What is not told apart

By RFC 9113, two ends of an HTTP/2 stream prove that the service did not act: a reset with
REFUSED_STREAM, and a GOAWAY whose last stream is below it. A change that they end is an
OutcomeUnknown all the same, because net/http's transport does not hand them on once a
request is written. It asks GetBody for the body, or for a connection, in order to send the
request again, in the same way as after a reset with PROTOCOL_ERROR (up to Go 1.26), which
proves nothing. The SDK refuses, and net/http then returns the refusal instead of what led to
it. A request without a GetBody would keep the reason, as text within another error, and lose
what is worth more: that net/http sends again what was never written.
`

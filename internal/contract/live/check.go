package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

// check is one run of the command.
type check struct {
	settings settings
	timing   timing
	terminal terminal
	client   *mintlify.Client
	options  []mintlify.Option
	recorder *recorder
	document *document
	report   *report
	// confirmed are the flags whose writes were confirmed.
	confirmed map[string]bool

	// Of all responses so far.
	good          map[mintlify.Operation]bool // some good response came
	findings      map[mintlify.Operation][]finding
	unread        map[mintlify.Operation]bool // the SDK could not read a good response
	errorFindings []finding
	errorKinds    []string
	errors        int
	limited       int // responses with 429
	unannounced   int // those of them without a Retry-After
	headers       map[string]int
	noQuotaLeft   bool // analytics responded 429
}

// probing makes a call whose response may be an error, and notes it.
func (c *check) probing(
	ctx context.Context, label string, op mintlify.Operation, do func(context.Context) error,
) response {
	if c.noQuotaLeft && isAnalytics(op) {
		return response{label: label, operation: op, err: errQuota}
	}

	c.recorder.take()
	err := do(ctx)
	r := response{label: label, operation: op, exchanges: c.recorder.take(), err: err}

	if r.last() == nil {
		fmt.Fprintf(c.terminal.err, "%s: %v\n", label, err)
	}
	for _, e := range r.exchanges {
		c.note(op, e)
	}
	c.report.requests = append(c.report.requests, r.line())
	return r
}

// calling returns a call whose result nobody needs: what the recorder has seen of it says enough.
func calling[Params, Result any](
	call func(context.Context, Params) (Result, error), params Params,
) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := call(ctx, params)
		return err
	}
}

// trying makes a call for a row of its own. A good response is held against the document.
func (c *check) trying(
	ctx context.Context, label string, op mintlify.Operation, do func(context.Context) error,
) response {
	r := c.probing(ctx, label, op, do)
	c.noteBodies(r)
	return r
}

// reading makes a call whose response has to be good: the operation's row says so.
func (c *check) reading(
	ctx context.Context, label string, op mintlify.Operation, do func(context.Context) error,
) response {
	r := c.trying(ctx, label, op, do)
	if !r.isGood() {
		c.judgeRefusal(bodyOf(op), r)
	}
	return r
}

var errQuota = errors.New("not sent: the quota of analytics requests is used up")

func isAnalytics(op mintlify.Operation) bool {
	isOp := func(known operations.Operation) bool { return known.Name == op }
	all := operations.All()
	i := slices.IndexFunc(all, isOp)
	return i >= 0 && strings.HasPrefix(all[i].Path, "/v1/analytics/")
}

// note looks at what any response shows: headers, a 429, the form of an error.
func (c *check) note(op mintlify.Operation, e *exchange) {
	for _, name := range knownHeaders {
		if e.header.Get(name) != "" {
			c.headers[name]++
		}
	}

	switch {
	case e.status == http.StatusTooManyRequests:
		c.limited++
		if e.header.Get("Retry-After") == "" {
			c.unannounced++
		}
		c.noQuotaLeft = c.noQuotaLeft || isAnalytics(op)
	case e.status >= 400 && e.status <= 500: // other 5xx are a gateway's
		c.noteError(op, e)
	}
}

// noteBodies holds the good responses of a call against the document.
func (c *check) noteBodies(r response) {
	if r.isGood() && errors.Is(r.err, mintlify.ErrMalformedResponse) {
		c.unread[r.operation] = true
	}

	for _, e := range r.exchanges {
		if e.status >= 200 && e.status <= 299 && e.kind() == kindJSON {
			c.good[r.operation] = true
			found := c.document.checkSuccess(r.operation, e.value())
			c.findings[r.operation] = append(c.findings[r.operation], found...)
		}
	}
}

// noteError looks at the form of an error of the service.
func (c *check) noteError(op mintlify.Operation, e *exchange) {
	c.errors++
	if kind := e.kind(); kind != kindJSON {
		c.errorKinds = append(c.errorKinds, kind)
		return
	}
	c.errorFindings = append(c.errorFindings, c.document.checkError(op, e.value())...)
}

// today returns today's date in UTC.
func today() mintlify.Date { return mintlify.DayOf(time.Now().UTC()) }

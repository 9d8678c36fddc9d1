package transport

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// gracePeriod is how long a POST still waits for the header of a response that has begun after the
	// deadline or the attempt's time has passed, and for the body once it has ended.
	gracePeriod = 5 * time.Second

	// cancelPeriod is how long a POST that the service may have waits for the header after a cancel.
	cancelPeriod = 15 * time.Second

	// maxHeaders bounds how often a header is written in an attempt: net/http sends a request
	// again on its own.
	maxHeaders = 10

	maxInformationals = 100 // net/http itself does not bound their number
)

// Attempt is one request in progress: its contexts, its timers, the response's body and the trail of
// how far it got. Its context has the caller's values but ends on its own, so that a response can
// outlive the caller's context.
type Attempt struct {
	Start time.Time

	ctx      context.Context
	cancel   context.CancelCauseFunc
	unfollow func() bool // stops following the caller's context
	clock    *time.Timer
	trace    httptrace.ClientTrace
	url      url.URL
	limited  io.LimitedReader // of the body

	mu      sync.Mutex
	grace   *time.Timer // runs once the attempt has ended and a response is still wanted
	giveUp  time.Time   // when grace fires
	ended   error       // why the caller's context or the attempt's time ended
	cause   error       // why the attempt was abandoned
	body    io.Closer   // of the response, closed once the attempt is abandoned
	trail   trail
	verdict verdict // once the transport has returned an error
}

func newAttempt(caller context.Context, limit time.Duration, req *http.Request) *Attempt {
	a := &Attempt{Start: time.Now()}
	if isRead(req) {
		a.trail.add(changesNothing)
	}

	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(caller))
	a.clock = time.AfterFunc(limit, func() { a.end(overdue, a.timeout(limit)) })
	a.unfollow = context.AfterFunc(caller, func() { a.follow(caller, limit) })
	return a
}

// prepare returns req as the transport gets it: under the attempt's context, watched,
// with a header and a URL of its own, and not to be sent again once it is sent.
func (a *Attempt) prepare(req *http.Request, header http.Header) *http.Request {
	a.trace = httptrace.ClientTrace{
		GetConn:              a.getConn,
		GotConn:              a.gotConn,
		WroteHeaders:         a.wroteHeaders,
		WroteRequest:         a.wroteRequest,
		GotFirstResponseByte: a.gotFirstByte,
	}
	if !isRead(req) {
		a.trace.Got1xxResponse = a.informational
	}

	out := req.WithContext(httptrace.WithClientTrace(a.ctx, &a.trace))
	a.url = *req.URL
	out.URL = &a.url
	out.Header = header
	if !isRead(req) {
		a.watchBody(out)
	}
	return out
}

// isRead reports whether req changes nothing at the service.
func isRead(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead
}

// record adds s to the trail.
func (a *Attempt) record(s step) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(s)
}

func (a *Attempt) wroteHeaders() { a.record(wroteHeader) }
func (a *Attempt) gotFirstByte() { a.record(gotByte) }

func (a *Attempt) wroteRequest(info httptrace.WroteRequestInfo) {
	if info.Err == nil {
		a.record(wroteRequest)
	}
}

func (a *Attempt) getConn(string) { a.startConn(asked) }

func (a *Attempt) gotConn(info httptrace.GotConnInfo) {
	if info.Reused {
		a.startConn(gotReused)
		return
	}
	a.startConn(gotNew)
}

// startConn abandons an attempt that net/http would go on sending. It runs before anything
// is written to the connection, both when net/http asks for it and when it has got it: over
// HTTP/2 it does not always report that it asks.
func (a *Attempt) startConn(s step) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(s)
	if err := a.trail.mustEnd(); err != nil {
		a.abandon(err)
	}
	if a.ended != nil && a.trail.patience() == 0 { // only another request of the transport's was sent
		a.abandon(a.ended)
	}
}

// informational corrects what the first byte of a 1xx suggested: the final response has not
// begun.
func (a *Attempt) informational(int, textproto.MIMEHeader) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(informed)

	if a.ended != nil && a.trail.patience() == 0 {
		a.abandon(a.ended)
	}
	if a.trail.count(informed) > maxInformationals {
		return fmt.Errorf("the service sent more than %d informational responses", maxInformationals)
	}
	return nil
}

// judge takes the verdict on an attempt for which the transport returned err, and returns the error
// for the caller. The verdict is final. If nothing was sent, it seals the body in the same step: a
// transport may go on after it has returned.
func (a *Attempt) judge(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.verdict = a.trail.judge(err, a.cause)
	return a.verdict.err
}

// NeverSent reports proof that the service cannot act on the request. A transport without trace
// events proves nothing, nor does a response.
func (a *Attempt) NeverSent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.verdict.neverSent
}

// EndedInProgress reports whether the transport came to an end of its own, before the attempt was
// abandoned, with a request that the service may have had.
func (a *Attempt) EndedInProgress() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.trail.isInProgress() && !a.trail.isUnsent() && !a.trail.isAbandoned()
}

// isOfProxy reports whether base's Proxy function returned err: it then fails again in the
// same words. Any other error without a trace event may come from a protocol registered
// with base, and proves nothing.
func isOfProxy(err error, base http.RoundTripper, req *http.Request) bool {
	standard, ok := base.(*http.Transport)
	if !ok || standard.Proxy == nil {
		return false
	}
	_, proxyErr := standard.Proxy(req)
	return proxyErr != nil && proxyErr.Error() == err.Error()
}

// follow is called when the caller's context has ended. A cancel leaves a POST that the service may
// have until the context's deadline, if there is one.
func (a *Attempt) follow(caller context.Context, limit time.Duration) {
	if errors.Is(caller.Err(), context.DeadlineExceeded) || PastDeadline(caller) {
		a.end(overdue, context.Cause(caller))
		return
	}

	if deadline, ok := caller.Deadline(); ok && deadline.Before(a.Start.Add(limit)) {
		a.hurry(deadline)
	}
	a.end(canceled, context.Cause(caller))
}

// hurry brings the end of the attempt's time forward, unless the attempt is over.
func (a *Attempt) hurry(deadline time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() == nil {
		a.clock.Reset(time.Until(deadline))
	}
}

// end is called when the caller's context or the attempt's time has ended. The response of a POST
// that the service may have is still waited for.
func (a *Attempt) end(why step, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock() // until the attempt is abandoned: a response that comes meanwhile wins
	a.trail.add(why)
	if a.ended == nil {
		a.ended = cause
	}

	patience := a.trail.patience()
	if patience == 0 {
		a.abandon(a.ended)
		return
	}
	if end := time.Now().Add(patience); a.grace == nil || end.Before(a.giveUp) {
		a.startGrace(end)
	}
}

// startGrace lets an ended attempt go on until end. The lock is held.
func (a *Attempt) startGrace(end time.Time) {
	a.giveUp = end
	if a.grace != nil {
		a.grace.Reset(time.Until(end))
		return
	}

	a.grace = time.AfterFunc(time.Until(end), func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !time.Now().Before(a.giveUp) { // else the timer was reset as it fired
			a.abandon(a.ended)
		}
	})
}

// respond notes that the header of the final response is there.
func (a *Attempt) respond(resp *http.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(responded)
	a.body = resp.Body

	if a.ended != nil && !a.trail.has(changesNothing) { // the response has won
		a.startGrace(time.Now().Add(gracePeriod))
	}
}

// abandon ends the attempt. The body of a response from a transport other than net/http's
// may ignore the context, so it is closed too. The lock is held.
func (a *Attempt) abandon(cause error) {
	if a.trail.isAbandoned() {
		return
	}
	a.trail.add(abandoned)
	a.cause = cause
	a.cancel(cause) // first: net/http reads on for a while from a body that is closed

	if a.body != nil {
		go a.body.Close() // it may block
		a.body = nil
	}
}

// explain returns err, or why the attempt was abandoned: the error of an abandoned response
// does not say that.
func (a *Attempt) explain(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.trail.isAbandoned() {
		return a.cause
	}
	return err
}

// Read reads the response's body, decoded, to its end into b, or to just over limit, and closes
// it. The error is why the body did not come whole.
func (a *Attempt) Read(resp *http.Response, b *bytes.Buffer, limit int64) error {
	defer a.close()
	if err := a.explain(nil); err != nil {
		return err
	}

	body, err := decoded(resp)
	if err == nil {
		a.limited = io.LimitedReader{R: body, N: limit + 1}
		_, err = b.ReadFrom(&a.limited)
	}
	return a.explain(err) // a body may seem to end well because it was closed
}

// decoded returns a reader of resp's body that decodes gzip: net/http does so only if it has asked for
// gzip itself. A body that does not begin like gzip is taken as it is.
func decoded(resp *http.Response) (io.Reader, error) {
	if !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return resp.Body, nil
	}

	body := bufio.NewReader(resp.Body)
	start, _ := body.Peek(2) // an error comes again when the body is read
	if string(start) != "\x1f\x8b" {
		return body, nil
	}
	return gzip.NewReader(body)
}

// close closes the body unless abandon has.
func (a *Attempt) close() {
	a.mu.Lock()
	body := a.body
	a.body = nil
	a.mu.Unlock()

	if body != nil {
		body.Close()
	}
}

// End frees what the attempt holds. A nil Attempt has nothing to free.
func (a *Attempt) End() {
	if a == nil {
		return
	}
	a.unfollow()
	a.cancel(context.Canceled)

	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock.Stop()
	if a.grace != nil {
		a.grace.Stop()
	}
}

func (a *Attempt) timeout(limit time.Duration) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.trail.has(responded) {
		return &timeoutError{fmt.Sprintf("the response did not end within %v", limit)}
	}
	return &timeoutError{fmt.Sprintf("no response within %v", limit)}
}

// timeoutError ends an attempt that takes too long. It is a net.Error, and not
// context.DeadlineExceeded: the caller's deadline has not passed.
type timeoutError struct {
	message string
}

func (e *timeoutError) Error() string { return e.message }
func (e *timeoutError) Timeout() bool { return true }

// Temporary completes net.Error.
func (e *timeoutError) Temporary() bool { return true }

package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"sync"
	"time"
)

const (
	// gracePeriod is how long a POST still waits for the header of its response after the caller's
	// context or the attempt's time has ended, and then for the body.
	gracePeriod = 5 * time.Second

	// maxHeaders bounds how often a header is written in an attempt: net/http sends a request
	// again on its own.
	maxHeaders = 10

	maxInformationals = 100 // net/http itself does not bound their number
)

// Attempt is one request in progress: its timeout, its body, and the evidence of how far
// it got. Its context has the caller's values but ends on its own, so that a response
// can outlive the caller's context.
type Attempt struct {
	Start time.Time

	ctx      context.Context
	cancel   context.CancelCauseFunc
	unfollow func() bool // stops following the caller's context
	clock    *time.Timer
	trace    httptrace.ClientTrace
	url      url.URL
	limited  io.LimitedReader // of the body
	isGet    bool             // else it changes something, and its response must not be lost

	mu        sync.Mutex
	grace     *time.Timer // runs once the attempt has ended and a response is still wanted
	ended     error       // why the caller's context or the attempt's time ended
	abandoned error       // why the attempt was abandoned
	body      io.Closer   // of the response, closed once the attempt is abandoned

	asked          int  // how often for a connection: the transport fires trace events
	noProxy        bool // the transport's Proxy function failed
	connected      int  // how often it got one
	reused         bool // the connection that it got last
	headersWritten int  // those of the transport's own requests counted
	written        bool // the whole request
	heard          bool // a byte of any response has come, such as a 1xx
	informationals int  // 1xx responses
	responding     bool // the final response has begun to arrive, as far as is known
	responded      bool // its header is there

	hasBody       bool // the request has
	bodyRead      bool // by the transport, at least in part
	headersBefore int  // written before the body was first read
	sealed        bool // nobody may read the request's body any more

	wentAway       bool // the peer's GOAWAY said that it did not process the request
	badCertificate bool // the peer refused the client's certificate

	trail trail
}

func newAttempt(caller context.Context, limit time.Duration, req *http.Request) *Attempt {
	a := &Attempt{Start: time.Now(), isGet: req.Method == http.MethodGet || req.Method == http.MethodHead}
	if a.isGet {
		a.trail.add(changesNothing)
	}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(caller))
	a.unfollow = context.AfterFunc(caller, func() { a.end(context.Cause(caller)) })
	a.clock = time.AfterFunc(limit, func() { a.end(a.timeout(limit)) })
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
	if !a.isGet {
		a.trace.Got1xxResponse = a.informational
	}

	out := req.WithContext(httptrace.WithClientTrace(a.ctx, &a.trace))
	a.url = *req.URL
	out.URL = &a.url
	out.Header = header
	if !a.isGet {
		a.watchBody(out)
	}
	return out
}

func (a *Attempt) getConn(string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(asked)
	a.asked++
	a.reused = false
	a.startConn()
}

func (a *Attempt) gotConn(info httptrace.GotConnInfo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(connectionOf(info))
	a.connected++
	a.reused = info.Reused
	a.startConn()
}

func connectionOf(info httptrace.GotConnInfo) step {
	if info.Reused {
		return gotReused
	}
	return gotNew
}

func (a *Attempt) wroteHeaders() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(wroteHeader)
	a.headersWritten++
}

func (a *Attempt) wroteRequest(info httptrace.WroteRequestInfo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if info.Err == nil {
		a.trail.add(wroteRequest)
		a.written = true
	}
}

func (a *Attempt) gotFirstByte() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(gotByte)
	a.heard = true
	a.responding = true
}

// startConn abandons an attempt that net/http would go on sending. It runs before anything
// is written to the connection, both when net/http asks for it and when it has got it: over
// HTTP/2 it does not always report that it asks. Connections without a written header do not
// count: over HTTP/2 net/http asks again whenever a connection has no stream left. The lock is
// held.
func (a *Attempt) startConn() {
	switch {
	case !a.isGet && a.isSent():
		a.abandon(a.retriedError())
	case a.headersWritten >= maxHeaders:
		a.abandon(errHeaders)
	}
}

// retriedError returns the error of a request that the transport would send a second time. If a
// response has come, it was that of another request of the transport. The lock is held.
func (a *Attempt) retriedError() error {
	if a.responding {
		return errOwnRequest
	}
	return errRetried
}

// informational corrects what the first byte of a 1xx suggested: the final response has not
// begun.
func (a *Attempt) informational(int, textproto.MIMEHeader) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(informed)
	a.heard = true
	a.informationals++
	a.responding = false

	if a.ended != nil {
		a.abandon(a.ended)
	}
	if a.informationals > maxInformationals {
		return fmt.Errorf("the service sent more than %d informational responses", maxInformationals)
	}
	return nil
}

// isSent reports whether the service may have the request. The lock is held.
func (a *Attempt) isSent() bool {
	return a.isResponding() || !a.isUnread() && (a.headersWritten > 0 || a.written)
}

// isResponding reports whether a response has begun to arrive. While nobody has read the
// body, the first byte of a response belongs to another request. The lock is held.
func (a *Attempt) isResponding() bool {
	return a.responded || a.responding && !a.isUnread()
}

// isUnread reports whether there is a body of which nobody has read a byte. The lock is held.
func (a *Attempt) isUnread() bool { return a.hasBody && !a.bodyRead }

// NeverSent reports proof that the service cannot act on the request: the transport fires
// trace events, and none says that it wrote the header, or nobody has read the body; or the
// Proxy function of an *http.Transport failed. A transport without trace events proves
// nothing. Nor does an attempt that was abandoned after it had a connection, if it has no body
// or its body was read: over HTTP/2 the header may still be on its way. Once the request was
// written, the peer's refusal is the only proof: see judge.
//
// The proof seals the body: a transport that goes on after it has returned can read nothing
// any more.
func (a *Attempt) NeverSent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	if !a.isUnsent() && !a.wentAway && !a.badCertificate {
		return false
	}
	a.sealed = true
	return true
}

// isUnsent reports proof that the request was not written. The lock is held.
func (a *Attempt) isUnsent() bool {
	hasEvidence := a.asked > 0 || a.noProxy
	onItsWay := a.connected > 0 && a.abandoned != nil && !a.isUnread()
	return hasEvidence && !onItsWay && !a.isSent()
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

// end is called when the caller's context or the attempt's time has ended. A POST's
// response that is there, or about to be, is still read.
func (a *Attempt) end(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock() // until the attempt is abandoned: a response that comes meanwhile wins
	if a.ended == nil {
		a.ended = cause
	}

	if !a.isGet && a.isResponding() {
		a.startGrace()
		return
	}
	a.abandon(cause)
}

// startGrace lets an ended attempt go on for the grace period. The lock is held.
func (a *Attempt) startGrace() {
	if a.grace == nil {
		a.grace = time.AfterFunc(gracePeriod, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.abandon(a.ended)
		})
	}
}

// respond notes that the header of the final response is there.
func (a *Attempt) respond(resp *http.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trail.add(responded)
	a.responding = true
	a.responded = true
	a.body = resp.Body

	if !a.isGet {
		a.abandoned = nil // the response has won
		if a.ended != nil {
			a.startGrace()
			a.grace.Reset(gracePeriod)
		}
	}
}

// abandon ends the attempt. The body of a response from a transport other than net/http's
// may ignore the context, so it is closed too. The lock is held.
func (a *Attempt) abandon(cause error) {
	if a.abandoned != nil {
		return
	}
	a.trail.add(abandoned)
	a.abandoned = cause
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
	if a.abandoned != nil {
		return a.abandoned
	}
	return err
}

// Read reads the response's body to its end into b, or to just over limit, and closes
// it. The error is why the body did not come whole.
func (a *Attempt) Read(resp *http.Response, b *bytes.Buffer, limit int64) error {
	defer a.close()
	if err := a.explain(nil); err != nil {
		return err
	}

	a.limited = io.LimitedReader{R: resp.Body, N: limit + 1}
	_, err := b.ReadFrom(&a.limited)
	return a.explain(err) // a body may seem to end well because it was closed
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
	a.clock.Stop()

	a.mu.Lock()
	if a.grace != nil {
		a.grace.Stop()
	}
	a.mu.Unlock()

	a.cancel(context.Canceled)
}

func (a *Attempt) timeout(limit time.Duration) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.responded {
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

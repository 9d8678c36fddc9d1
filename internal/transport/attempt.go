package transport

import (
	"context"
	"errors"
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
	gracePeriod = 5 * time.Second // for a POST's response once the caller's context or the attempt's time has ended
	maxConns    = 3               // that an attempt may ask for: net/http sends a request again on its own where it can

	maxInformationals = 100 // net/http leaves their number to whoever looks at them
)

// Attempt is one request on its way: its time, its body, and the evidence of how far
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
	isGet    bool             // else it changes something, and its response is precious
	standard bool             // it goes through an *http.Transport

	mu      sync.Mutex
	grace   *time.Timer   // runs once the attempt has ended and a response is still wanted
	ended   error         // why the caller's context or the attempt's time ended
	stopped error         // why the attempt was given up
	gone    chan struct{} // closed then; nil where nobody waits for it

	conns          int  // asked for
	informationals int  // 1xx
	noProxy        bool // the transport's Proxy function failed
	connected      bool
	wroteHeader    bool
	responding     bool // the final response has begun to arrive, as far as is known
	responded      bool // its header is there
}

func newAttempt(caller context.Context, limit time.Duration, req *http.Request, base http.RoundTripper) *Attempt {
	a := &Attempt{Start: time.Now(), isGet: req.Method == http.MethodGet}
	_, a.standard = base.(*http.Transport)
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(caller))
	a.unfollow = context.AfterFunc(caller, func() { a.end(context.Cause(caller)) })
	a.clock = time.AfterFunc(limit, func() { a.end(a.timeout(limit)) })
	return a
}

// prepare returns req as the transport gets it: under the attempt's context, watched,
// with its header and a URL of its own, and not to be sent again once its header is
// written.
func (a *Attempt) prepare(req *http.Request, header http.Header) *http.Request {
	a.trace = httptrace.ClientTrace{
		GetConn:              func(string) { a.askConn() },
		GotConn:              func(httptrace.GotConnInfo) { a.note(&a.connected, true) },
		WroteHeaders:         func() { a.note(&a.wroteHeader, true) },
		WroteRequest:         func(info httptrace.WroteRequestInfo) { a.note(&a.wroteHeader, info.Err == nil) },
		GotFirstResponseByte: func() { a.note(&a.responding, true) },
	}
	if !a.isGet {
		a.trace.Got1xxResponse = a.informational
	}
	out := req.WithContext(httptrace.WithClientTrace(a.ctx, &a.trace))
	a.url = *req.URL
	out.URL, out.Header = &a.url, header
	if a.isGet {
		return out
	}
	if out.Body == nil {
		out.Body = http.NoBody
	}
	out.GetBody = func() (io.ReadCloser, error) {
		if a.sent() {
			return nil, errors.New("the connection failed after the request was written, so it is not sent again")
		}
		if req.GetBody == nil {
			return http.NoBody, nil
		}
		return req.GetBody()
	}
	return out
}

func (a *Attempt) note(what *bool, is bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*what = *what || is
}

// askConn ends an attempt that net/http would go on sending. It runs before anything
// is written to the connection that is asked for.
func (a *Attempt) askConn() {
	a.mu.Lock()
	a.conns++
	resent := !a.isGet && a.wroteHeader
	tooMany := a.conns > maxConns
	a.mu.Unlock()
	switch {
	case resent:
		a.stop(errors.New("the connection failed after the request was written, so it is not sent again"))
	case tooMany:
		a.stop(fmt.Errorf("the request failed on %d connections", maxConns))
	}
}

// informational takes back what the first byte of a 1xx seemed to say: the final
// response is not there.
func (a *Attempt) informational(int, textproto.MIMEHeader) error {
	a.mu.Lock()
	a.informationals++
	tooMany := a.informationals > maxInformationals
	a.responding = false
	ended := a.ended
	a.mu.Unlock()
	if tooMany {
		return fmt.Errorf("the service sent more than %d informational responses", maxInformationals)
	}
	if ended != nil {
		a.stop(ended)
	}
	return nil
}

func (a *Attempt) sent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.wroteHeader
}

// NeverSent reports proof that the service got nothing: a connection was asked for
// and none was had, or the Proxy function of an *http.Transport failed before any was
// asked for. A transport that fires no trace events proves nothing.
func (a *Attempt) NeverSent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.connected && !a.wroteHeader && (a.conns > 0 || a.noProxy)
}

// isOfProxy reports whether err is that of base's Proxy function, which then fails again
// in the same words. Any other error without a trace event may be that of a protocol
// registered with base, and proves nothing.
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
	defer a.mu.Unlock() // held until the attempt is stopped: a response that comes meanwhile wins
	if a.ended == nil {
		a.ended = cause
	}
	if !a.isGet && a.responding {
		a.giveGrace()
		return
	}
	a.halt(cause)
}

// giveGrace lets an ended attempt go on for the grace period. The lock is held.
func (a *Attempt) giveGrace() {
	if a.grace == nil {
		cause := a.ended
		a.grace = time.AfterFunc(gracePeriod, func() { a.stop(cause) })
	}
}

// respond takes the final response, whose header is there, and returns it with a body
// that ends with the attempt.
func (a *Attempt) respond(resp *http.Response) *http.Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.responding, a.responded = true, true
	if !a.isGet {
		a.stopped = nil // the response has won
		if a.ended != nil {
			a.giveGrace()
			a.grace.Reset(gracePeriod)
		}
	}
	heeds := a.standard && resp.StatusCode != http.StatusSwitchingProtocols // that of a 101 is a connection
	if heeds || resp.Body == nil {
		return resp
	}
	a.gone = make(chan struct{})
	if a.stopped != nil {
		close(a.gone)
	}
	ending := *resp // the transport may keep its own
	ending.Body = &body{ReadCloser: resp.Body, gone: a.gone, size: resp.ContentLength}
	return &ending
}

// stop gives the attempt up.
func (a *Attempt) stop(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.halt(cause)
}

// halt is stop with the lock held.
func (a *Attempt) halt(cause error) {
	if a.stopped == nil {
		a.stopped = cause
		if a.gone != nil {
			close(a.gone)
		}
	}
	a.cancel(cause)
}

// explain returns why the attempt was given up, if it was, instead of what the
// transport made of it.
func (a *Attempt) explain(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped != nil {
		return a.stopped
	}
	return err
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

// timeout returns the error of an attempt that takes longer than limit.
func (a *Attempt) timeout(limit time.Duration) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.responded {
		return &timeoutError{fmt.Sprintf("the response did not end within %v", limit)}
	}
	return &timeoutError{fmt.Sprintf("no response within %v", limit)}
}

// timeoutError is the end of the time that an attempt has. It is a net.Error, and not
// context.DeadlineExceeded: the caller's deadline has not passed.
type timeoutError struct {
	message string
}

func (e *timeoutError) Error() string { return e.message }
func (e *timeoutError) Timeout() bool { return true }

// Temporary completes net.Error.
func (e *timeoutError) Temporary() bool { return true }

package mintlify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultTryTime = 60 * time.Second
	bodyTime       = 5 * time.Second // for the body of a POST's answer, once its headers are there
	maxBody        = 10 << 20        // bytes of an answer
	maxRedirects   = 10
)

// RoundTrip sends one request of the call, with the key. http.Client calls it
// again for each redirect that it follows.
func (c *call) RoundTrip(req *http.Request) (*http.Response, error) {
	c.try.end()
	key, err := c.admit()
	if err != nil {
		return nil, c.unsent(err)
	}
	c.attempts++
	c.blot = blot{key}
	c.try = c.newTry()
	resp, err := c.baseTransport().RoundTrip(c.try.prepare(req, c.header(req, key)))
	if err == nil && resp == nil {
		err = errors.New("the http.RoundTripper returned neither an answer nor an error")
	}
	if err != nil {
		if resp != nil && resp.Body != nil {
			resp.Body.Close()
		}
		return nil, c.noAnswer(err)
	}
	if c.method == http.MethodPost {
		c.try.keepAnswer()
	}
	return resp, nil
}

// admit returns the key for the next request once the context, the limiter and
// the key source let it go.
func (c *call) admit() (key string, err error) {
	if c.ctx.Err() != nil {
		return "", contextError(c.ctx)
	}
	if c.config.limit != nil {
		if err = c.config.limit(c.ctx, c.operation, c.projectID); err != nil {
			err = fmt.Errorf("rate limiter: %w", err)
		}
	}
	if err == nil {
		key, err = c.config.key(c.ctx)
	}
	if c.ctx.Err() != nil {
		return "", contextError(c.ctx)
	}
	return key, err
}

func (c *call) baseTransport() http.RoundTripper {
	if hc := c.config.httpClient; hc != nil && hc.Transport != nil {
		return hc.Transport
	}
	return c.config.pool.transport()
}

// checkRedirect lets only a GET follow a redirect, and only within the origin
// that the key is for. Otherwise the redirect itself is the answer.
func (c *call) checkRedirect(req *http.Request, via []*http.Request) error {
	if c.method != http.MethodGet || len(via) > maxRedirects || !sameOrigin(req.URL, c.config.origin) {
		return http.ErrUseLastResponse
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// try is one request on its way: its time, and how far it got. Its context has
// the caller's values but ends on its own, so that an answer can outlive the
// caller's context.
type try struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	unfollow func() bool // stops following the caller's context
	timer    *time.Timer
	trace    httptrace.ClientTrace
	limited  io.LimitedReader // of the answer's body
	start    time.Time

	mu      sync.Mutex
	kept    bool      // the answer has its own time
	body    io.Closer // of the answer, while it is read
	stopped error     // why the try was given up, if it was

	connecting, connected, wrote atomic.Bool
	answering                    atomic.Bool // the answer of a POST has begun to arrive
}

func (c *call) newTry() *try {
	t := &try{start: time.Now()}
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(c.ctx))
	t.unfollow = context.AfterFunc(c.ctx, func() { t.abort(context.Cause(c.ctx)) })
	limit := defaultTryTime
	if hc := c.config.httpClient; hc != nil && hc.Timeout > 0 {
		limit = hc.Timeout
	}
	t.timer = time.AfterFunc(limit, func() { t.abort(&timeoutError{fmt.Sprintf("no answer within %v", limit)}) })
	return t
}

// abort gives the try up for a cause from without: at once, unless the answer of a
// POST is there, or about to be.
func (t *try) abort(cause error) {
	if t.answering.Load() {
		time.AfterFunc(bodyTime, func() { t.stopUnlessKept(cause) })
		return
	}
	t.stopUnlessKept(cause)
}

func (t *try) stopUnlessKept(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.kept {
		t.stop(cause)
	}
}

// stop gives the try up, under its lock. It closes the body too: not every body
// heeds its request's context.
func (t *try) stop(cause error) {
	t.stopped = cause
	t.cancel(cause)
	if t.body != nil {
		t.body.Close()
	}
}

// header returns the header of a request: what http.Client has put in it, which is
// a redirect's Referer and cookies, and what each request of the SDK has.
func (c *call) header(req *http.Request, key string) http.Header {
	header := http.Header{"Accept": {"application/json"}, "User-Agent": {c.config.userAgent}}
	if req.Method == http.MethodPost {
		header.Set("Content-Type", "application/json")
	}
	maps.Copy(header, req.Header)
	header.Set("Authorization", "Bearer "+key) // last: http.Client sets one for a redirect to a URL with user info
	return header
}

// prepare returns req as the transport gets it: under the try's context, watched,
// with its header, and not to be sent again by net/http once it is written.
func (t *try) prepare(req *http.Request, header http.Header) *http.Request {
	t.trace = httptrace.ClientTrace{
		GetConn: func(string) { t.connecting.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				t.wrote.Store(true)
			}
		},
		GotFirstResponseByte: func() { t.answering.Store(req.Method == http.MethodPost) },
	}
	out := req.WithContext(httptrace.WithClientTrace(t.ctx, &t.trace))
	out.Header = header
	if req.Method == http.MethodPost {
		out.GetBody = func() (io.ReadCloser, error) {
			if t.wrote.Load() {
				return nil, errors.New("the connection failed after the request was written, so it is not sent again")
			}
			return req.GetBody()
		}
	}
	return out
}

// neverSent reports proof that the service got nothing: a connection was asked
// for and none was had. A transport that fires no trace events proves nothing.
func (t *try) neverSent() bool { return t.connecting.Load() && !t.connected.Load() }

// keepAnswer gives the rest of an answer its own time, whatever the caller's
// context and the try's time do, or have done.
func (t *try) keepAnswer() {
	t.unfollow()
	t.timer.Stop()
	t.mu.Lock()
	t.kept, t.stopped = true, nil
	t.mu.Unlock()
	t.timer = time.AfterFunc(bodyTime, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.stop(&timeoutError{fmt.Sprintf("the body did not end within %v", bodyTime)})
	})
}

// read reads body to its end into b, or to just over maxBody, and closes it.
func (t *try) read(body io.ReadCloser, b *bytes.Buffer) error {
	defer body.Close()
	t.mu.Lock()
	t.body = body
	stopped := t.stopped
	t.mu.Unlock()
	if stopped != nil {
		return stopped
	}
	t.limited = io.LimitedReader{R: body, N: maxBody + 1}
	_, err := b.ReadFrom(&t.limited)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.body = nil
	if err != nil && t.stopped != nil {
		return t.stopped
	}
	return err
}

func (t *try) end() {
	if t != nil {
		t.unfollow()
		t.timer.Stop()
		t.cancel(context.Canceled)
	}
}

// pool is the SDK's own transport: http.DefaultTransport, with room to keep a
// connection for each of many waits. Idle ones are closed before a server is
// likely to: a request written to a connection that closes has an unknown outcome.
type pool struct {
	mu     sync.Mutex
	origin *http.Transport // what own is a clone of
	own    *http.Transport
}

// transport returns http.DefaultTransport itself where the program has replaced
// it, as httpmock and telemetry do, else the clone of it.
func (p *pool) transport() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own == nil {
		p.origin = standard
		p.own = standard.Clone()
		p.own.MaxIdleConns = 0 // no limit but the host's
		p.own.MaxIdleConnsPerHost = 1024
		p.own.IdleConnTimeout = 30 * time.Second
	}
	if standard != p.origin {
		return standard
	}
	return p.own
}

func (p *pool) closeIdleConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own != nil {
		p.own.CloseIdleConnections()
	}
}

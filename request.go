package mintlify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/internal/transport"
)

const (
	maxBody      = 10 << 20  // bytes of a response that are read
	maxErrorBody = 256 << 10 // the same of one that is not 2xx
	maxKeptBody  = 64 << 10  // bytes of it that an error keeps
	maxLateBody  = 256 << 10 // bytes of one that are decoded once the context has ended: more takes time
	maxRedirects = 10
)

// request is a call as a service describes it. The zero value of what is optional is
// the common case: it is retried.
type request struct {
	operation Operation
	method    string
	url       string     // without its query
	query     url.Values // optional
	body      any        // sent as JSON; nil: none
	once      bool       // one attempt, no retry
	personal  bool       // a 2xx response can hold personal data: no message quotes it
	into      decoder    // of a 2xx response

	outcome func() string // of a POST: what is known where it may have been acted on, and what to do
}

// decoder takes what a response says. The error says what is wrong with data.
type decoder interface {
	decode(data []byte) error
}

// quoted is a result that errors quote, so that the key has no place in it.
type quoted interface {
	redact(key redact.Key)
}

// do sends r and returns what came of it as one of the errors in errors.go.
func (c *Client) do(ctx context.Context, r request) error {
	if ctx == nil {
		return &ArgumentError{"ctx", "is nil"}
	}
	call := &call{request: r, ctx: ctx, config: c.config}
	if err := call.build(c.projectID); err != nil {
		return fmt.Errorf("mintlify: %s: %w", r.operation, err)
	}
	return call.run()
}

// call is one operation under way. It is what go-retryablehttp asks and is told, and
// keeps what came of the attempts so far: go-retryablehttp forgets it when a back-off
// is cancelled.
type call struct {
	request
	ctx    context.Context
	config *config

	bearer     transport.Bearer
	httpClient http.Client
	httpReq    retryablehttp.Request
	retrier    retryablehttp.Client

	err error // what came of the last attempt; nil before the first, and on success
}

func (c *call) build(projectID string) error {
	req, err := http.NewRequestWithContext(c.ctx, c.method, c.url, nil)
	if err != nil {
		return err
	}
	c.httpReq.Request = req
	c.httpReq.URL.RawQuery = c.query.Encode()
	if c.body != nil {
		body, err := encodeJSON(c.body)
		if err != nil {
			return err
		}
		if err := c.httpReq.SetBody(body); err != nil {
			return err
		}
	}
	c.bearer = transport.Bearer{Settings: &c.config.transport, Context: c.ctx}
	if c.config.limit != nil {
		c.bearer.Limit = func(ctx context.Context) error { return c.config.limit(ctx, c.operation, projectID) }
	}
	c.httpClient = http.Client{Transport: &c.bearer, CheckRedirect: c.checkRedirect}
	if hc := c.config.transport.Client; hc != nil {
		c.httpClient.Jar = hc.Jar
	}
	c.retrier = retryablehttp.Client{
		HTTPClient:   &c.httpClient,
		RetryWaitMin: c.config.retryWaitMin,
		RetryWaitMax: c.config.retryWaitMax,
		CheckRetry:   c.checkRetry,
		PrepareRetry: dropHeader,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	if !c.once {
		c.retrier.RetryMax = c.config.maxRetries
	}
	return nil
}

// checkRedirect lets only a GET follow a redirect, and only within the origin that
// the key is for. Otherwise the redirect itself is the response.
func (c *call) checkRedirect(req *http.Request, via []*http.Request) error {
	if c.method != http.MethodGet || len(via) > maxRedirects || !isSameOrigin(req.URL, c.config.origin) {
		return http.ErrUseLastResponse
	}
	return nil
}

// dropHeader takes away what http.Client has put in the request's header for the last
// attempt, which are cookies: it puts them in anew.
func dropHeader(req *http.Request) error {
	req.Header = http.Header{}
	return nil
}

// run sends the request until it succeeds or may not be retried.
func (c *call) run() error {
	defer func() { c.bearer.Attempt.End() }() // a panic in a hook of the caller's, too, leaves nothing behind
	_, err := c.retrier.Do(&c.httpReq)        //nolint:bodyclose // readResponse has closed it
	if c.err == nil {
		return err // nil, or why there was no attempt
	}
	if c.ctx.Err() != nil && c.isRetryable() {
		c.err = c.refused(c.ctx.Err())
	}
	if c.method != http.MethodGet && mayHaveActed(c.err) {
		return &outcomeUnknownError{c.err, c.bearer.Key.Text(c.outcome(), maxWords)}
	}
	return c.err
}

func (c *call) isRetryable() bool {
	return isRetryable(c.err, c.method, c.config.retryWaitMax)
}

// checkRetry notes what came of an attempt, and says whether there may be another.
// That may hang on the body too, so it is read here: go-retryablehttp's own handler of
// responses comes only after this.
func (c *call) checkRetry(_ context.Context, resp *http.Response, err error) (bool, error) {
	defer c.bearer.Attempt.End()
	if err != nil {
		c.err = c.sendErrorOf(err)
		c.log(0)
	} else {
		c.err = c.readResponse(resp)
		c.log(resp.StatusCode)
	}
	if !c.isRetryable() || c.ctx.Err() != nil {
		return false, nil
	}
	c.retrier.Backoff = c.backoff // only now: most calls need none
	return true, nil
}

func (c *call) backoff(minWait, maxWait time.Duration, retry int, _ *http.Response) time.Duration {
	wait := backoff(c.err, minWait, maxWait, retry)
	c.config.logger.LogAttrs(c.ctx, slog.LevelWarn, "mintlify: retrying request",
		slog.String("operation", string(c.operation)), slog.Int("attempt", c.bearer.Attempts),
		slog.Duration("wait", wait), slog.String("error", c.err.Error()))
	return wait
}

// readResponse decodes the response, or makes an error of it. Its body is used up then,
// and is taken away from go-retryablehttp, which would drain it before a retry.
func (c *call) readResponse(resp *http.Response) error {
	b, _ := c.config.buffers.Get().(*bytes.Buffer)
	if b == nil {
		b = new(bytes.Buffer)
	}
	b.Reset()
	limit := maxBody
	if !isSuccess(resp) {
		limit = maxErrorBody
	}
	readErr := c.bearer.Attempt.Read(resp, b, int64(limit))
	resp.Body = http.NoBody
	err := c.interpret(resp, bytes.TrimPrefix(b.Bytes(), []byte("\ufeff")), readErr)
	if b.Cap() <= 1<<20 {
		c.config.buffers.Put(b)
	}
	return err
}

func isSuccess(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode <= 299 }

// interpret returns what a response means. readErr is why body is not whole, if it is not.
func (c *call) interpret(resp *http.Response, body []byte, readErr error) error {
	interrupted := readErr != nil && c.ctx.Err() != nil
	if !isSuccess(resp) {
		apiErr := c.apiError(resp, body)
		if interrupted {
			apiErr.interrupted = contextError(c.ctx)
		}
		return apiErr
	}
	if len(body) > maxLateBody && c.ctx.Err() != nil { // what it begins with tells the id of a POST
		interrupted, body, readErr = true, body[:maxLateBody], cmp.Or(readErr, c.ctx.Err())
	}
	decodeErr := c.into.decode(body)
	switch {
	case len(body) > maxBody:
		return c.responseError(resp, body, "larger than 10 MiB")
	case decodeErr == nil: // whole, even if the connection then broke
		if result, ok := c.into.(quoted); ok {
			result.redact(c.bearer.Key)
		}
		return nil
	case readErr == nil:
		return c.responseError(resp, body, decodeErr.Error())
	case interrupted && c.method == http.MethodGet:
		return c.noResponse(readErr)
	}
	truncated := c.safe(readErr)
	if interrupted {
		truncated = contextError(c.ctx)
	}
	malformed := c.responseError(resp, body, fmt.Sprintf("truncated after %d bytes: %v", len(body), truncated))
	malformed.truncated = truncated
	return malformed
}

func (c *call) apiError(resp *http.Response, body []byte) *APIError {
	message, details := serviceMessage(c.bearer.Key, body)
	return &APIError{
		Operation:  c.operation,
		StatusCode: resp.StatusCode,
		Message:    message,
		Details:    details,
		RequestID:  c.bearer.Key.Text(resp.Header.Get("X-Request-Id"), maxWords),
		RetryAfter: retryAfter(resp.Header),
		Attempts:   c.bearer.Attempts,
		Method:     c.method,
		Path:       c.httpReq.URL.EscapedPath(),
		Header:     c.bearer.Key.Header(resp.Header),
		Body:       c.bearer.Key.Body(body, maxKeptBody),
	}
}

func (c *call) responseError(resp *http.Response, body []byte, reason string) *ResponseError {
	e := &ResponseError{
		Operation:  c.operation,
		StatusCode: resp.StatusCode,
		Reason:     c.bearer.Key.Text(reason, maxKeptBody),
		Header:     c.bearer.Key.Header(resp.Header),
		Body:       c.bearer.Key.Body(body, maxKeptBody),
	}
	if !c.personal {
		e.excerpt = excerpt(c.bearer.Key, body)
	}
	return e
}

// sendErrorOf returns the error of an attempt without a response.
func (c *call) sendErrorOf(err error) *sendError {
	switch {
	case c.bearer.Refused != nil:
		return c.refused(c.bearer.Refused)
	case c.bearer.Err != nil:
		return c.noResponse(c.bearer.Err)
	}
	// http.Client's own, such as a redirect to what is no URL.
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	e := c.noResponse(err)
	e.final, e.mayHelp = true, false
	return e
}

// refused is the error of a request that was not let go. The key source's may show a key
// that this call has not seen: the last one.
func (c *call) refused(err error) *sendError {
	if c.ctx.Err() != nil {
		err = contextError(c.ctx)
	} else if message := redact.AnyKey(c.bearer.Key.Text(err.Error(), maxKeptBody)); message != err.Error() {
		err = &redactedError{err, message}
	}
	e := c.sendError(err)
	e.previous, e.unsent, e.final, e.mayHelp = c.err, true, true, c.ctx.Err() == nil
	return e
}

// noResponse is the error of a request that was let go and brought no response.
func (c *call) noResponse(err error) *sendError {
	unsent := c.bearer.Attempt.NeverSent()
	if c.ctx.Err() != nil {
		e := c.sendError(contextError(c.ctx))
		e.previous, e.unsent, e.final = c.err, unsent, true
		return e
	}
	e := c.sendError(c.safe(err))
	e.unsent, e.final = unsent, isCertificateError(err)
	e.mayHelp = !e.final && (unsent || c.method == http.MethodGet)
	return e
}

func (c *call) sendError(err error) *sendError {
	return &sendError{operation: c.operation, method: c.method, url: c.httpReq.URL.String(), attempts: c.bearer.Attempts, err: err}
}

// safe makes an error of the transport fit to be returned.
func (c *call) safe(err error) error {
	return &transportError{err: err, message: redact.Line(redact.UserInfo(c.bearer.Key.Text(err.Error(), maxKeptBody)), maxWords)}
}

func (c *call) log(status int) {
	if !c.config.logger.Enabled(c.ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", string(c.operation)), slog.String("method", c.method),
		slog.String("path", c.httpReq.URL.EscapedPath()), slog.Int("attempt", c.bearer.Attempts),
	}
	if status != 0 {
		attrs = append(attrs, slog.Int("status", status))
	}
	if c.bearer.Attempt != nil {
		attrs = append(attrs, slog.Duration("duration", time.Since(c.bearer.Attempt.Start)))
	}
	if c.err != nil {
		attrs = append(attrs, slog.String("error", c.err.Error()))
	}
	c.config.logger.LogAttrs(c.ctx, slog.LevelDebug, "mintlify: request", attrs...)
}

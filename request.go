package mintlify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/internal/status"
	"github.com/mintlify-community/mintlify-go/internal/transport"
	"github.com/mintlify-community/mintlify-go/internal/wire"
)

const (
	maxBody      = 10 << 20  // bytes of a response that are read, unless the request says less
	maxErrorBody = 256 << 10 // bytes of a response that is not 2xx
	maxKeptBody  = 64 << 10  // bytes of a response that an error keeps
	maxRedirects = 10
	maxRepeats   = 6 // attempts of a call that do not count as retries
)

// request is a call as a service describes it. The zero values of the optional fields describe
// the most common call, which is retried.
type request struct {
	operation Operation
	method    string
	url       string      // without its query
	query     url.Values  // optional
	header    http.Header // of the caller; optional
	body      any         // sent as JSON; nil: none
	noRetry   bool
	personal  bool    // a 2xx response can hold personal data: no message quotes it
	maxBody   int64   // bytes of a 2xx response that are read; 0: maxBody
	into      decoder // of a 2xx response; nil: its body is ignored

	outcome func() string // of a POST that the service may have acted on: what is known, and what to do
}

// decoder reads a response. The error says what is wrong with data.
type decoder interface {
	decode(data []byte) error
}

// partial is a result that can be enough although the response is truncated, too large or malformed.
type partial interface {
	isEnough() bool
}

// quoted is a result that an error may quote, so the key has to be redacted from it.
type quoted interface {
	redact(key redact.Key)
}

// do sends r and returns its failure as one of the errors in errors.go.
func (c *Client) do(ctx context.Context, r request) error {
	if ctx == nil {
		return &ArgumentError{"ctx", "is nil"}
	}

	call := &call{request: r, ctx: ctx, config: c.config, projectID: c.projectID}
	if err := call.build(); err != nil {
		return fmt.Errorf("mintlify: %s: %w", r.operation, err)
	}
	return call.run()
}

// resultOf sends r and returns what its response says.
func resultOf[T any, P interface {
	*T
	decoder
}](ctx context.Context, c *Client, r request) (*T, error) {
	result := new(T)
	r.into = P(result)
	if err := c.do(ctx, r); err != nil {
		return nil, err
	}
	return result, nil
}

// call is one operation in progress. go-retryablehttp runs its loop and decides nothing: it sends
// the request, asks checkRetry after each attempt, sleeps for backoff and rewinds the body. The
// call keeps the last error itself, which go-retryablehttp forgets when a back-off is cancelled.
type call struct {
	request
	ctx       context.Context
	config    *config
	projectID string

	sender     transport.Sender
	httpClient http.Client
	httpReq    retryablehttp.Request
	retrier    retryablehttp.Client

	err error // of the last attempt; nil before the first, and on success

	repeats int           // attempts made again at once
	retries int           // attempts made again after a wait, which WithMaxRetries bounds
	rekeyed bool          // the key source was asked again after a 401
	atOnce  bool          // the next attempt is not a retry, and waits for nothing
	wait    time.Duration // before the next attempt
	again   bool          // there is a next attempt, unless the context ends before it
}

func (c *call) build() error {
	if err := c.buildRequest(); err != nil {
		return err
	}

	c.sender = transport.Sender{Settings: &c.config.transport, Context: c.ctx, Tag: c.tag}

	c.httpClient = http.Client{Transport: &c.sender, CheckRedirect: c.checkRedirect}
	c.retrier = retryablehttp.Client{
		HTTPClient:   &c.httpClient,
		RetryMax:     math.MaxInt, // checkRetry decides alone
		CheckRetry:   c.checkRetry,
		Backoff:      c.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}

	if hc := c.config.transport.Client; hc != nil && hc.Jar != nil {
		c.httpClient.Jar = hc.Jar
		c.retrier.PrepareRetry = c.resetHeader
	}
	return nil
}

func (c *call) buildRequest() error {
	req, err := http.NewRequestWithContext(c.ctx, c.method, c.url, nil)
	if err != nil {
		return err
	}
	c.httpReq.Request = req
	if len(c.header) > 0 {
		c.httpReq.Header = c.ownHeader()
	}
	c.httpReq.URL.RawQuery = c.query.Encode()

	if c.body == nil {
		return nil
	}
	body, err := wire.Encode(c.body)
	if err != nil {
		return err
	}
	return c.httpReq.SetBody(body)
}

// tag returns ctx with what the request of an attempt is for.
func (c *call) tag(ctx context.Context, attempt int) context.Context {
	info := RequestInfo{Operation: c.operation, ProjectID: c.projectID, Attempt: attempt}
	return context.WithValue(ctx, requestKey{}, info)
}

// checkRedirect follows a redirect only for a GET, and only within the origin that the key
// is for. Otherwise the redirect itself is the response.
func (c *call) checkRedirect(req *http.Request, via []*http.Request) error {
	if c.operation.isPost() || len(via) > maxRedirects || !isSameOrigin(req.URL, c.config.origin) {
		return http.ErrUseLastResponse
	}
	return nil
}

// resetHeader removes the cookies that http.Client added for the last attempt: it adds them
// anew.
func (c *call) resetHeader(req *http.Request) error {
	req.Header = c.ownHeader()
	return nil
}

// ownHeader returns the caller's header under the names that net/http gives them.
func (c *call) ownHeader() http.Header {
	header := http.Header{}
	for name, values := range c.header {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	return header
}

// run sends the request until it succeeds or may not be retried.
func (c *call) run() error {
	defer func() { c.sender.Attempt.End() }() // also if a hook of the caller's panics
	_, err := c.retrier.Do(&c.httpReq)        //nolint:bodyclose // readResponse has closed it
	if c.err == nil {
		return err // nil, or why there was no attempt
	}

	cameAfterCancel := c.isCanceledChange() && !c.again // the result of an attempt that was waited for
	if ended(c.ctx) != nil && c.isRetryable() && !cameAfterCancel {
		c.err = c.endedBefore()
	}
	if c.operation.isPost() && mayHaveActed(c.err) {
		return &outcomeUnknownError{c.err, c.sender.Key.Text(c.outcome(), safetext.MaxServiceText)}
	}
	return c.err
}

// path returns the path as sent. It names the project, and the job if there is one.
func (c *call) path() string { return c.sender.Key.Text(c.httpReq.URL.EscapedPath(), maxKeptBody) }

func (c *call) isRetryable() bool {
	return isRetryable(c.err, c.operation, c.config.retryWaitMax)
}

// checkRetry notes the result of an attempt, and decides whether there is another. That can
// depend on the body, so it is read here: go-retryablehttp calls its own response handler only
// later.
func (c *call) checkRetry(_ context.Context, resp *http.Response, err error) (bool, error) {
	defer c.sender.Attempt.End()
	if err != nil {
		c.err = c.sendErrorOf(err)
		c.log(0)
	} else {
		c.err = c.readResponse(resp)
		c.log(resp.StatusCode)
	}

	c.again = c.goOn()
	return c.again, nil
}

// isCanceledChange reports whether the context of a POST was canceled: what still comes is the call's
// result.
func (c *call) isCanceledChange() bool {
	return c.operation.isPost() && errors.Is(ended(c.ctx), context.Canceled)
}

// goOn reports whether there is another attempt, and counts it.
func (c *call) goOn() bool {
	if ended(c.ctx) != nil {
		return false
	}

	c.wait = 0
	c.atOnce = c.hasNewKey() || c.mayRepeat()
	if c.atOnce {
		return true
	}

	if !c.isRetryable() || c.noRetry || c.retries >= c.config.maxRetries {
		return false
	}
	c.wait = backoff(c.err, c.config.retryWaitMin, c.config.retryWaitMax, c.retries)
	if deadline, ok := c.ctx.Deadline(); ok && time.Until(deadline) <= c.wait {
		return false // the error of this attempt says more than the end of the context
	}
	c.retries++
	return true
}

// mayRepeat reports whether the next attempt is one that net/http itself would make, and without a
// word, if the request had a GetBody.
func (c *call) mayRepeat() bool {
	if !c.isRetryable() || c.repeats == maxRepeats || !errors.Is(c.err, transport.ErrRepeatable) {
		return false
	}
	c.repeats++
	return true
}

// hasNewKey asks the key source once more after a 401, in case the key was just replaced, and reports whether
// the call may be made again with another key.
func (c *call) hasNewKey() bool {
	refused, ok := c.err.(*APIError)
	if !ok || status.Of(refused.StatusCode).Kind != status.Unauthorized || c.rekeyed {
		return false
	}

	c.rekeyed = true
	isNew, err := c.sender.NextKey()
	if err != nil {
		refused.keyErr = c.withoutKey(err)
	}
	return isNew
}

// backoff returns how long to wait before the attempt that goOn has allowed.
func (c *call) backoff(time.Duration, time.Duration, int, *http.Response) time.Duration {
	level := slog.LevelWarn
	if c.atOnce {
		level = slog.LevelDebug
	}
	c.logRetry(level, c.wait)
	return c.wait
}

func (c *call) logRetry(level slog.Level, wait time.Duration) {
	c.config.logger.LogAttrs(c.ctx, level, "mintlify: retrying request",
		slog.String("operation", string(c.operation)),
		slog.String("path", c.path()),
		slog.Int("attempt", c.sender.Attempts),
		slog.Duration("wait", wait),
		slog.String("error", c.err.Error()))
}

// readResponse decodes the response, or makes an error of it. It takes the body away from
// go-retryablehttp, which would drain it before a retry.
func (c *call) readResponse(resp *http.Response) error {
	buffer, _ := c.config.buffers.Get().(*bytes.Buffer)
	if buffer == nil {
		buffer = new(bytes.Buffer)
	}
	buffer.Reset()

	readErr := c.sender.Attempt.Read(resp, buffer, c.limit(resp))
	resp.Body = http.NoBody
	body := bytes.TrimPrefix(buffer.Bytes(), []byte("\ufeff"))
	err := c.interpret(resp, body, readErr)

	if buffer.Cap() <= 1<<20 {
		c.config.buffers.Put(buffer)
	}
	return err
}

func isSuccess(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode <= 299 }

func (c *call) limit(resp *http.Response) int64 {
	if !isSuccess(resp) {
		return maxErrorBody
	}
	return cmp.Or(c.maxBody, maxBody)
}

// interpret returns what a response means. readErr is why body is truncated, if it is.
func (c *call) interpret(resp *http.Response, body []byte, readErr error) error {
	if !isSuccess(resp) {
		return c.apiError(resp, body, readErr)
	}
	if c.into == nil {
		return nil
	}

	decodeErr := c.into.decode(body)
	if result, ok := c.into.(quoted); ok { // also what could be read of a bad response
		result.redact(c.sender.Key)
	}

	if result, ok := c.into.(partial); ok && result.isEnough() {
		return nil
	}

	limit := c.limit(resp)
	if int64(len(body)) > limit {
		return c.responseError(resp, body, fmt.Sprintf("larger than %d MiB", limit>>20))
	}
	if decodeErr != nil && readErr == nil && wire.IsTruncated(body) {
		readErr = io.ErrUnexpectedEOF // without a Content-Length, the end of a connection looks like the body's
	}

	switch {
	case decodeErr == nil && (readErr == nil || !isNumber(body)): // whole, even if the connection then broke
		return nil
	case readErr == nil:
		return c.responseError(resp, body, decodeErr.Error())
	case c.ctx.Err() != nil && !c.operation.isPost():
		return c.interrupted()
	}
	return c.truncatedError(resp, body, readErr)
}

// isNumber reports whether body, which is valid JSON, ends with a digit. Only a number does so, and
// more of its digits may have been lost.
func isNumber(body []byte) bool {
	last := body[len(body)-1]
	return last >= '0' && last <= '9'
}

// truncatedError is the error of a response whose body ended too early.
func (c *call) truncatedError(resp *http.Response, body []byte, readErr error) error {
	truncated := c.safe(readErr)
	if c.ctx.Err() != nil {
		truncated = contextError(c.ctx)
	}

	e := c.responseError(resp, body, fmt.Sprintf("truncated after %d bytes: %v", len(body), truncated))
	e.truncated = truncated
	return e
}

func (c *call) apiError(resp *http.Response, body []byte, readErr error) *APIError {
	message, details := redact.ServiceMessage(c.sender.Key, body, http.StatusText(resp.StatusCode))
	requestID := cmp.Or(resp.Header.Get("X-Request-Id"), resp.Header.Get("Cf-Ray")) // the latter of Cloudflare

	e := &APIError{
		Operation:  c.operation,
		StatusCode: resp.StatusCode,
		Message:    message,
		Details:    details,
		RequestID:  c.sender.Key.Text(requestID, safetext.MaxServiceText),
		RetryAfter: retryAfter(resp.Header),
		Attempts:   c.sender.Attempts,
		Method:     c.method,
		Path:       c.path(),
		Header:     c.sender.Key.Header(resp.Header),
		Body:       c.sender.Key.Body(body, maxKeptBody),
	}

	if readErr != nil && c.ctx.Err() != nil {
		e.interrupted = contextError(c.ctx)
	}
	return e
}

func (c *call) responseError(resp *http.Response, body []byte, reason string) *MalformedResponseError {
	e := &MalformedResponseError{
		Operation:  c.operation,
		StatusCode: resp.StatusCode,
		Path:       c.path(),
		Reason:     c.sender.Key.Text(reason, maxKeptBody),
		Header:     c.sender.Key.Header(resp.Header),
		Body:       c.sender.Key.Body(body, maxKeptBody),
	}

	if !c.personal {
		e.excerpt = redact.Excerpt(c.sender.Key, body)
	}
	return e
}

// sendErrorOf returns the error of an attempt without a response.
func (c *call) sendErrorOf(err error) *sendError {
	refused := c.sender.Refused // by the limiter or the key source, if not by the context
	failed := c.sender.Err
	failedAfterCancel := failed != nil && c.isCanceledChange() && c.sender.Attempt.EndedInProgress()

	switch {
	case refused != nil && ended(c.ctx) != nil:
		return c.endedBefore()
	case refused != nil:
		return c.heldBack(refused)
	case c.ctx.Err() != nil && !failedAfterCancel:
		return c.interrupted()
	case failed == nil: // a redirect that http.Client could not follow, such as one to an invalid URL
		var urlErr *url.Error
		if errors.As(err, &urlErr) {
			err = urlErr.Err
		}
		return c.blocked(err)
	case isCertificateError(failed), errors.Is(failed, transport.ErrClientCertificate), isFinalOfProxy(failed):
		return c.blocked(failed)
	}
	return c.disconnected(failed)
}

// Each cause of a sendError has its own constructor, which shows the flags that belong to the
// cause.

// endedBefore: the context, or its time, ended before the request was sent.
func (c *call) endedBefore() *sendError {
	return &sendError{
		sent:     c.sent(),
		err:      contextError(c.ctx),
		previous: c.err,
		notSent:  true,
		final:    true,
	}
}

// heldBack: the limiter or the key source returned err. The call can be made again later.
func (c *call) heldBack(err error) *sendError {
	return &sendError{
		sent:          c.sent(),
		err:           c.withoutKey(err),
		previous:      c.err,
		notSent:       true,
		final:         true,
		worthRetrying: true,
	}
}

// interrupted: the context ended while the request was in progress.
func (c *call) interrupted() *sendError {
	return &sendError{
		sent:     c.sent(),
		err:      contextError(c.ctx),
		previous: c.err,
		notSent:  c.sender.Attempt.NeverSent(),
		final:    true,
	}
}

// blocked: either side refuses the other's certificate, a proxy refuses the tunnel, or a redirect
// leads nowhere, and will the next time.
func (c *call) blocked(err error) *sendError {
	return &sendError{
		sent:    c.sent(),
		err:     c.safe(err),
		notSent: c.sender.Attempt.NeverSent(),
		final:   true,
	}
}

// disconnected: there was no connection, or it failed before the response had come.
func (c *call) disconnected(err error) *sendError {
	notSent := c.sender.Attempt.NeverSent()

	return &sendError{
		sent:          c.sent(),
		err:           c.safe(err),
		notSent:       notSent,
		worthRetrying: notSent || !c.operation.isPost(),
	}
}

func (c *call) sent() sentRequest {
	return sentRequest{
		operation: c.operation,
		url:       c.method + " " + c.sender.Key.Text(c.httpReq.URL.String(), maxKeptBody),
		attempts:  c.sender.Attempts,
	}
}

// withoutKey redacts an error of the limiter or the key source. An error of the key source may
// show a key that this call has not seen.
func (c *call) withoutKey(err error) error {
	message := safetext.WithoutKeys(c.sender.Key.Text(err.Error(), maxKeptBody))
	if message == err.Error() {
		return err
	}

	return &redactedError{err, message}
}

// safe returns an error of the transport with a message that is safe to print.
func (c *call) safe(err error) error {
	message := c.sender.Key.Text(err.Error(), maxKeptBody)
	message = safetext.WithoutUserInfo(message)
	message = safetext.OneLine(message, safetext.MaxServiceText)
	return &transportError{err: err, message: message}
}

func (c *call) log(status int) {
	if !c.config.logger.Enabled(c.ctx, slog.LevelDebug) {
		return
	}

	attrs := []slog.Attr{
		slog.String("operation", string(c.operation)),
		slog.String("method", c.method),
		slog.String("path", c.path()),
		slog.Int("attempt", c.sender.Attempts),
	}

	if status != 0 {
		attrs = append(attrs, slog.Int("status", status))
	}
	if c.sender.Attempt != nil && c.sender.Refused == nil { // else the attempt is the one before
		attrs = append(attrs, slog.Duration("duration", time.Since(c.sender.Attempt.Start)))
	}
	if c.err != nil {
		attrs = append(attrs, slog.String("error", c.err.Error()))
	}

	c.config.logger.LogAttrs(c.ctx, slog.LevelDebug, "mintlify: request", attrs...)
}

package mintlify

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// call is one operation under way: what go-retryablehttp asks and is told, and
// what came of the tries so far. It is the RoundTripper of its own http.Client,
// so that nothing of it reaches the pool of connections but requests.
type call struct {
	request
	ctx       context.Context
	config    *config
	projectID string

	retrier    retryablehttp.Client
	httpClient http.Client
	httpReq    retryablehttp.Request

	try      *try
	blot     blot // the key of the try out of what comes back
	attempts int
	err      error // what came of the last try; nil before the first, and on success
}

func newCall(ctx context.Context, c *Client, r request) (*call, error) {
	call := &call{request: r, ctx: ctx, config: c.config, projectID: c.projectID}
	if err := call.build(); err != nil {
		return nil, err
	}
	call.httpClient = http.Client{Transport: call, CheckRedirect: call.checkRedirect}
	if c.config.httpClient != nil {
		call.httpClient.Jar = c.config.httpClient.Jar
	}
	call.retrier = retryablehttp.Client{
		HTTPClient:   &call.httpClient,
		RetryWaitMin: c.config.retryWaitMin,
		RetryWaitMax: c.config.retryWaitMax,
		RetryMax:     r.retries,
		CheckRetry:   call.checkRetry,
		Backoff:      call.backoff,
		PrepareRetry: dropHeader,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return call, nil
}

func (c *call) build() (err error) {
	c.httpReq.Request, err = http.NewRequestWithContext(c.ctx, c.method, c.url, nil)
	if err != nil {
		return err
	}
	c.httpReq.URL.RawQuery = c.query.Encode()
	if c.body == nil {
		return nil
	}
	body, err := encodeJSON(c.body)
	if err != nil {
		return err
	}
	return c.httpReq.SetBody(body)
}

// dropHeader takes away what http.Client has put in the request's header for the
// last try, which are cookies: it puts them in anew.
func dropHeader(req *http.Request) error {
	req.Header = http.Header{}
	return nil
}

// run sends the request until it succeeds or may not be sent again. What came of it
// is the call's own record: go-retryablehttp forgets it when a back-off is cancelled.
func (c *call) run() error {
	_, err := c.retrier.Do(&c.httpReq) //nolint:bodyclose // readAnswer has closed it
	if c.err == nil {
		return err // nil, or why there was no try
	}
	if c.mayRetry() && c.ctx.Err() != nil {
		c.err = c.unsent(contextError(c.ctx))
	}
	if c.method == http.MethodPost && c.mayHaveActed() {
		return &outcomeUnknownError{c.err}
	}
	return c.err
}

// checkRetry notes what came of a try, and says whether there may be another. That
// may hang on the body too, so it is read here: go-retryablehttp's own handler of
// answers comes only after this.
func (c *call) checkRetry(_ context.Context, resp *http.Response, err error) (bool, error) {
	defer c.try.end()
	if err != nil {
		c.err = c.sendErrorOf(err)
		c.log(0)
	} else {
		c.err = c.readAnswer(resp)
		c.log(resp.StatusCode)
	}
	return c.mayRetry() && c.ctx.Err() == nil, nil
}

// sendErrorOf returns RoundTrip's error without http.Client's wrapping, or one
// for an error of http.Client itself, such as a redirect to what is no URL.
func (c *call) sendErrorOf(err error) *sendError {
	var own *sendError
	if errors.As(err, &own) {
		return own
	}
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	own = c.noAnswer(err)
	own.final = true
	return own
}

// readAnswer decodes the answer, or makes an error of it. Its body is used up then, and
// is taken away from go-retryablehttp, which would drain it before a retry.
func (c *call) readAnswer(resp *http.Response) error {
	b, _ := c.config.buffers.Get().(*bytes.Buffer)
	if b == nil {
		b = new(bytes.Buffer)
	}
	b.Reset()
	readErr := c.try.read(resp.Body, b)
	resp.Body = http.NoBody
	err := c.interpret(resp, bytes.TrimPrefix(b.Bytes(), []byte("\ufeff")), readErr)
	if b.Cap() <= 1<<20 {
		c.config.buffers.Put(b)
	}
	return err
}

func (c *call) interpret(resp *http.Response, body []byte, readErr error) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.apiError(resp, body)
	}
	decodeErr := c.into.decode(body)
	if len(body) > maxBody {
		return c.responseError(resp, body, "it is larger than 10 MiB")
	}
	if decodeErr == nil {
		return nil // whole, even if the connection then broke
	}
	if readErr == nil {
		return c.responseError(resp, body, decodeErr.Error())
	}
	if c.ctx.Err() != nil && c.method == http.MethodGet {
		return c.noAnswer(readErr)
	}
	cutOff := c.safe(readErr)
	malformed := c.responseError(resp, body, fmt.Sprintf("it was cut off after %d bytes: %v", len(body), cutOff))
	malformed.cutOff = cutOff
	return malformed
}

func (c *call) apiError(resp *http.Response, body []byte) *APIError {
	header := c.blot.header(resp.Header)
	message, details := words{c.blot}.ofError(body)
	return &APIError{
		Operation:  c.operation,
		StatusCode: resp.StatusCode,
		Message:    message,
		Details:    details,
		RequestID:  header.Get("X-Request-Id"),
		RetryAfter: retryAfter(header),
		Attempts:   c.attempts,
		Method:     c.method,
		Path:       c.httpReq.URL.EscapedPath(),
		Header:     header,
		Body:       c.blot.body(body),
	}
}

func (c *call) responseError(resp *http.Response, body []byte, reason string) *ResponseError {
	return &ResponseError{
		Operation:  c.operation,
		StatusCode: resp.StatusCode,
		Reason:     c.blot.text(reason),
		Header:     c.blot.header(resp.Header),
		Body:       c.blot.body(body),
		excerpt:    words{c.blot}.excerpt(body),
	}
}

// unsent is the error of a request that was not let go.
func (c *call) unsent(err error) *sendError {
	e := c.sendError(err)
	e.previous, e.unsent, e.final = c.err, true, true
	return e
}

// noAnswer is the error of a request that was let go and brought no answer.
func (c *call) noAnswer(err error) *sendError {
	if c.ctx.Err() != nil {
		e := c.sendError(contextError(c.ctx))
		e.previous, e.unsent, e.final = c.err, c.try.neverSent(), true
		return e
	}
	if timeout, ok := context.Cause(c.try.ctx).(*timeoutError); ok {
		err = timeout
	}
	e := c.sendError(c.safe(err))
	e.unsent, e.final = c.try.neverSent(), isCertificateError(err)
	return e
}

func (c *call) sendError(err error) *sendError {
	return &sendError{operation: c.operation, method: c.method, url: c.httpReq.URL.String(), attempts: c.attempts, err: err}
}

// mayRetry reports whether what the last try came to allows another. A POST
// needs proof that the service did not act.
func (c *call) mayRetry() bool {
	isGet := c.method == http.MethodGet
	switch err := c.err.(type) {
	case *sendError:
		return !err.final && (isGet || err.unsent)
	case *ResponseError:
		return isGet && err.cutOff != nil
	case *APIError:
		if err.RetryAfter > c.config.retryWaitMax {
			return false
		}
		switch err.StatusCode {
		case http.StatusTooManyRequests:
			return true
		case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return isGet
		}
	}
	return false
}

// mayHaveActed reports whether the service may have acted on the last try. The
// tries before it certainly did nothing, or a POST would not have been sent again.
func (c *call) mayHaveActed() bool {
	switch err := c.err.(type) {
	case *sendError:
		return !err.unsent
	case *APIError:
		return err.StatusCode < 400 || err.StatusCode > 499 || err.StatusCode == http.StatusRequestTimeout
	}
	return true
}

func isCertificateError(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.HostnameError)) ||
		errors.As(err, new(x509.CertificateInvalidError))
}

// backoff is how long to wait before the next try: what the service asks for,
// else by full jitter under a bound that doubles from min to max.
func (c *call) backoff(minWait, maxWait time.Duration, retry int, _ *http.Response) time.Duration {
	var wait time.Duration
	var apiErr *APIError
	if errors.As(c.err, &apiErr) && apiErr.RetryAfter > 0 {
		wait = apiErr.RetryAfter
	} else if bound := min(float64(minWait)*float64(uint64(1)<<min(retry, 62)), float64(maxWait)); bound >= 1 {
		wait = rand.N(time.Duration(bound))
	}
	c.config.logger.LogAttrs(c.ctx, slog.LevelWarn, "mintlify: request failed and will be sent again",
		slog.String("operation", string(c.operation)), slog.Int("attempt", c.attempts),
		slog.Duration("wait", wait), slog.String("error", c.err.Error()))
	return wait
}

const maxDuration = time.Duration(math.MaxInt64)

// retryAfter is how long the service asks to be left alone: 0 where it does not
// say, or says nonsense.
func retryAfter(header http.Header) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range, seconds is the nearest number
		if seconds > int64(maxDuration/time.Second) {
			return maxDuration
		}
		return time.Duration(max(0, seconds)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}

func (c *call) log(status int) {
	if !c.config.logger.Enabled(c.ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", string(c.operation)), slog.String("method", c.method),
		slog.String("path", c.httpReq.URL.EscapedPath()), slog.Int("attempt", c.attempts),
	}
	if status != 0 {
		attrs = append(attrs, slog.Int("status", status))
	}
	if c.try != nil {
		attrs = append(attrs, slog.Duration("duration", time.Since(c.try.start)))
	}
	if c.err != nil {
		attrs = append(attrs, slog.String("error", c.err.Error()))
	}
	c.config.logger.LogAttrs(c.ctx, slog.LevelDebug, "mintlify: request", attrs...)
}

// safe makes an error of the transport fit to be returned.
func (c *call) safe(err error) error {
	if timeout, ok := err.(*timeoutError); ok {
		return timeout
	}
	return &transportError{err: err, message: oneLine(c.blot.text(err.Error()), maxWords)}
}

package mintlify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const maxDuration = time.Duration(math.MaxInt64)

// isRetryable reports whether an attempt that ended with err may be followed by
// another. A POST needs proof that the service did not act. A Retry-After of more than
// maxWait is the caller's to wait for.
func isRetryable(err error, method string, maxWait time.Duration) bool {
	isGet := method == http.MethodGet
	switch err := err.(type) {
	case *sendError:
		return !err.final && (isGet || err.notSent)
	case *ResponseError:
		return isGet && err.truncated != nil
	case *APIError:
		if err.RetryAfter > maxWait {
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

// mayHaveActed reports whether the service may have acted on an attempt that ended
// with err. The attempts before it certainly did nothing, or a POST would not have
// been retried.
func mayHaveActed(err error) bool {
	switch err := err.(type) {
	case *sendError:
		return !err.notSent
	case *APIError:
		return err.StatusCode < 400 || err.StatusCode > 499 || err.StatusCode == http.StatusRequestTimeout
	}
	return true
}

// RetryAfter reports whether the call that ended with err may be made again later, and
// that may help: ok is true where it is certain that the service did not act (429, no
// connection, an error of the rate limiter or the key source), and for a GET also after
// network errors, truncated responses, 408, 425 and 5xx. wait is how long the service
// asked to be left alone; 0 where it did not say.
//
// ok is false for nil, for [ErrOutcomeUnknown] and [ErrInvalidArgument], for other 3xx and
// 4xx responses, a malformed response, a refused certificate, an ended context, and a job
// that failed. A [*PageError]'s and a [*WaitError]'s result is their cause's.
func RetryAfter(err error) (wait time.Duration, ok bool) {
	if errors.Is(err, ErrOutcomeUnknown) || errors.Is(err, ErrInvalidArgument) {
		return 0, false
	}
	var waitErr *WaitError
	if errors.As(err, &waitErr) {
		return waitErr.retryAfter()
	}
	var sendErr *sendError
	if errors.As(err, &sendErr) {
		return 0, sendErr.worthRetrying
	}
	var apiErr *APIError
	if errors.As(err, &apiErr) && apiErr.interrupted == nil {
		if ok = apiErr.worthRetrying(); ok {
			wait = apiErr.RetryAfter
		}
		return wait, ok
	}
	var responseErr *ResponseError
	return 0, errors.As(err, &responseErr) && responseErr.truncated != nil
}

func (e *APIError) worthRetrying() bool {
	switch e.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return e.Method == http.MethodGet
	}
	return e.Method == http.MethodGet && e.StatusCode >= 500
}

// retryAfter is that of the last poll: it is what a wait that no context ended, ended with.
func (e *WaitError) retryAfter() (time.Duration, bool) {
	if errors.Is(e.Err, context.Canceled) || errors.Is(e.Err, context.DeadlineExceeded) {
		return 0, false
	}
	return RetryAfter(e.LastErr)
}

func isCertificateError(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.HostnameError)) ||
		errors.As(err, new(x509.CertificateInvalidError))
}

// backoff is how long to wait before the next attempt: what the service asks for, else
// by full jitter under a bound that doubles from minWait to maxWait.
func backoff(err error, minWait, maxWait time.Duration, retry int) time.Duration {
	var apiErr *APIError
	if errors.As(err, &apiErr) && apiErr.RetryAfter > 0 {
		return apiErr.RetryAfter
	}
	bound := min(float64(minWait)*float64(uint64(1)<<min(retry, 62)), float64(maxWait))
	if bound < 1 {
		return 0
	}
	return rand.N(time.Duration(bound))
}

// retryAfter is how long the service asks to be left alone: 0 where it does not say,
// or what it says cannot be parsed.
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

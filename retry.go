package mintlify

import (
	"cmp"
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

	"github.com/mintlify-community/mintlify-go/internal/status"
	"github.com/mintlify-community/mintlify-go/internal/transport"
)

const maxDuration = time.Duration(math.MaxInt64)

// leastBackoff bounds the first wait if the caller's bound starts at 0, which cannot be doubled.
const leastBackoff = 10 * time.Millisecond

// How long RetryAfter waits if the service does not say.
const (
	defaultRetryAfter = 30 * time.Second
	quotaRetryAfter   = 10 * time.Minute // after a 429 of analytics, whose quota is for an hour
)

// isRetryable reports whether there may be another attempt after one that ended with err.
// A POST needs proof that the service did not act. A Retry-After of more than maxWait is
// left to the caller.
func isRetryable(err error, op Operation, maxWait time.Duration) bool {
	isGet := !op.isPost()
	switch err := err.(type) {
	case *sendError:
		return !err.final && (isGet || err.notSent)
	case *MalformedResponseError:
		return isGet && err.truncated != nil
	case *APIError:
		meaning := status.Of(err.StatusCode)
		return meaning.Passes && (isGet || !meaning.MayHaveActed) && err.RetryAfter <= maxWait
	}
	return false
}

// mayHaveActed reports whether the service may have acted on a POST that ended with err. It
// did not act on earlier attempts, or there would have been no retry.
func mayHaveActed(err error) bool {
	switch err := err.(type) {
	case *sendError:
		return !err.notSent
	case *APIError:
		return status.Of(err.StatusCode).MayHaveActed
	}
	return true
}

// RetryAfter reports whether it may help to make the call that ended with err again later.
// ok is true if the service certainly did not act (425, 429, no connection, an error of the rate
// limiter or the key source), and for a GET also after network errors, truncated responses,
// 408, 499, and 5xx but 501, 505 and 511. wait is then more than 0: what the service asked for, else 10 minutes after a
// 429 of an export, whose quota is for an hour, and 30 s after anything else. To learn whether the
// service asked, read [APIError.RetryAfter].
//
// ok is false for nil, for [ErrOutcomeUnknown], for [ErrInvalidArgument] except a bad key of a key
// source, for other 3xx and 4xx responses, a malformed response, a refused certificate, an ended
// context, and a job that failed. For a [*ExportError] and a [*WaitError] their cause decides.
//
// err is the error of one call. If [errors.Join] has joined several, only one of them decides,
// and which one depends on their order: ask about each before you join them.
func RetryAfter(err error) (wait time.Duration, ok bool) {
	asked, ok := askedToRetryAfter(err)
	switch {
	case !ok:
		return 0, false
	case asked > 0:
		return asked, true
	}

	var apiErr *APIError
	isOverQuota := errors.As(err, &apiErr) && apiErr.isRateLimit()
	if isOverQuota && apiErr.Operation.isAnalytics() {
		return quotaRetryAfter, true
	}
	return defaultRetryAfter, true
}

// askedToRetryAfter is RetryAfter with a wait of 0 if the service did not say.
func askedToRetryAfter(err error) (time.Duration, bool) {
	if errors.Is(err, ErrOutcomeUnknown) {
		return 0, false
	}

	var waitErr *WaitError
	if errors.As(err, &waitErr) {
		return waitErr.retryAfter()
	}

	var sendErr *sendError
	if errors.As(err, &sendErr) { // before the arguments: a key source may have returned a bad key for a while
		return 0, sendErr.worthRetrying
	}
	if errors.Is(err, ErrInvalidArgument) {
		return 0, false
	}

	var apiErr *APIError
	if errors.As(err, &apiErr) && apiErr.interrupted == nil {
		if !apiErr.worthRetrying() {
			return 0, false
		}
		return apiErr.RetryAfter, true
	}

	var responseErr *MalformedResponseError
	truncated := errors.As(err, &responseErr) && responseErr.truncated != nil
	return 0, truncated
}

func (e *APIError) worthRetrying() bool {
	meaning := status.Of(e.StatusCode)
	return meaning.Passes && (!e.isPost() || !meaning.MayHaveActed)
}

// retryAfter applies askedToRetryAfter to the last poll's error. It reports false if the context
// ended the wait.
func (e *WaitError) retryAfter() (time.Duration, bool) {
	if errors.Is(e.Err, context.Canceled) || errors.Is(e.Err, context.DeadlineExceeded) {
		return 0, false
	}
	return askedToRetryAfter(e.LastErr)
}

func isCertificateError(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.HostnameError)) ||
		errors.As(err, new(x509.CertificateInvalidError))
}

// isFinalOfProxy reports whether a proxy refuses the tunnel to the service for good.
func isFinalOfProxy(err error) bool {
	var refused *transport.ProxyError
	return errors.As(err, &refused) && refused.IsFinal()
}

// backoff returns how long to wait before the next attempt: what the service asks for, else
// full jitter under a bound that doubles from minWait to maxWait.
func backoff(err error, minWait, maxWait time.Duration, retry int) time.Duration {
	var apiErr *APIError
	if errors.As(err, &apiErr) && apiErr.RetryAfter > 0 {
		return apiErr.RetryAfter
	}

	doubled := float64(cmp.Or(minWait, leastBackoff)) * float64(uint64(1)<<min(retry, 62))
	bound := min(doubled, float64(maxWait), float64(maxDuration/2)) // more would overflow
	if bound < 1 {
		return 0
	}
	return rand.N(time.Duration(bound))
}

// retryAfter returns how long the service asks to wait: 0 if it does not say, or if that
// cannot be parsed. A fraction of a second is rounded up. A date counts from the response's own Date,
// so that clocks need not agree.
func retryAfter(header http.Header) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	whole, fraction, _ := strings.Cut(value, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	isNumber := err == nil || errors.Is(err, strconv.ErrRange) // out of range, seconds is the nearest number

	if isNumber && strings.Trim(fraction, "0123456789") == "" {
		if strings.Trim(fraction, "0") != "" && seconds < math.MaxInt64 {
			seconds++
		}
		if seconds > int64(maxDuration/time.Second) {
			return maxDuration
		}
		return time.Duration(max(0, seconds)) * time.Second
	}

	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, date.Sub(now))
}

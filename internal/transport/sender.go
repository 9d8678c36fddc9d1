// Package transport sends requests with the API key, and watches how far each gets. It knows
// HTTP, and nothing of jobs or exports.
package transport

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
)

const defaultTimeout = 60 * time.Second

// Settings are what all calls of a client share.
type Settings struct {
	// Client is the caller's, whose Transport and Timeout are used. nil means that there is none.
	Client *http.Client
	// Base is used if Client has no Transport. If it is nil, Pool is.
	Base http.RoundTripper
	// Limit is asked before each attempt. With nil there is no limit.
	Limit func(context.Context) error
	// Key is the key source. It is asked before each attempt, after Limit.
	Key func(context.Context) (string, error)
	// UserAgent is the User-Agent header of each request.
	UserAgent string
	// Pool is used if there is no other transport.
	Pool Pool
}

// Sender is the [http.RoundTripper] of one call. It asks the limiter, adds the key, starts
// an attempt and keeps its result. It has no CloseIdleConnections on purpose:
// go-retryablehttp would close the connections of all other calls.
type Sender struct {
	Settings *Settings
	// Context is the caller's.
	Context context.Context
	// Tag returns a context with what the request of an attempt is for. With nil there is none.
	Tag func(ctx context.Context, attempt int) context.Context

	// Attempts counts the attempts that were started.
	Attempts int
	// Attempt is the last attempt. It is nil if none was started.
	Attempt *Attempt
	// Key redacts the key of the last attempt.
	Key redact.Key
	// Refused is why the last request was not sent.
	Refused error
	// Err is why the last attempt brought no response.
	Err error

	next string // the key of the next request, if the key source was asked for it already
}

// RoundTrip implements [http.RoundTripper]. [http.Client] calls it again for each
// redirect that it follows. The caller has to end the last Attempt.
func (s *Sender) RoundTrip(req *http.Request) (*http.Response, error) {
	s.Attempt.End()
	s.Err = nil

	ctx := s.Context
	if s.Tag != nil {
		ctx = s.Tag(ctx, s.Attempts+1)
	}
	key, base, err := s.authorize(ctx)
	s.Refused = err
	if err != nil {
		return nil, err
	}

	s.Key = redact.NewKey(key)
	s.Attempt = newAttempt(ctx, s.timeout(), req)
	out := s.Attempt.prepare(req, s.header(req, key))
	if PastDeadline(s.Context) {
		s.Refused = context.DeadlineExceeded
		return nil, s.Refused
	}

	s.Attempts++
	resp, err := roundTrip(base, out)
	if err != nil {
		if isOfProxy(err, base, out) {
			s.Attempt.record(proxyFailed)
		}
		s.Err = s.Attempt.judge(err)
		return nil, s.Err
	}
	s.Attempt.respond(resp)
	return resp, nil
}

// roundTrip returns a response with a body, or an error, even if base breaks its contract.
func roundTrip(base http.RoundTripper, req *http.Request) (*http.Response, error) {
	resp, err := base.RoundTrip(req)
	if err == nil && resp == nil {
		err = errors.New("the http.RoundTripper returned neither a response nor an error")
	}
	if err != nil {
		if resp != nil && resp.Body != nil {
			resp.Body.Close()
		}
		return nil, err
	}

	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	return resp, nil
}

// PastDeadline compares ctx's deadline with the wall clock. The timer that ends ctx is late
// on a machine that was suspended: the monotonic clock stands still meanwhile.
func PastDeadline(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !time.Now().Round(0).Before(deadline.Round(0))
}

// authorize asks the limiter for permission to send the next request, and the key source for its
// key.
func (s *Sender) authorize(ctx context.Context) (string, http.RoundTripper, error) {
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	base := s.base()
	if base == nil {
		return "", nil, errors.New("http.DefaultTransport is nil")
	}

	key, err := s.askForKey(ctx)
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	return key, base, err
}

// NextKey asks the key source for the key of the next request, and reports whether it differs from the
// last attempt's. If it does, the next request has it, and the source is not asked again for that.
func (s *Sender) NextKey() (bool, error) {
	ctx := s.Context
	if s.Tag != nil {
		ctx = s.Tag(ctx, s.Attempts+1)
	}

	key, err := s.Settings.Key(ctx)
	if err != nil || redact.NewKey(key) == s.Key {
		return false, err
	}
	s.next = key
	return true, nil
}

// askForKey returns the key, once the limiter lets the request pass.
func (s *Sender) askForKey(ctx context.Context) (string, error) {
	if s.Settings.Limit != nil {
		if err := s.Settings.Limit(ctx); err != nil {
			return "", fmt.Errorf("rate limiter: %w", err)
		}
	}

	if key := s.next; key != "" {
		s.next = ""
		return key, nil
	}
	return s.Settings.Key(ctx)
}

func (s *Sender) base() http.RoundTripper {
	if hc := s.Settings.Client; hc != nil && hc.Transport != nil {
		return hc.Transport
	}
	if s.Settings.Base != nil {
		return s.Settings.Base
	}
	return s.Settings.Pool.roundTripper()
}

func (s *Sender) timeout() time.Duration {
	if hc := s.Settings.Client; hc != nil && hc.Timeout > 0 {
		return hc.Timeout
	}
	return defaultTimeout
}

// header returns the header of a request: a redirect's Referer and cookies, which http.Client
// has put in it, and what each request of the SDK has.
func (s *Sender) header(req *http.Request, key string) http.Header {
	// The values share an array: one allocation.
	values := [...]string{"application/json", s.Settings.UserAgent, "application/json", "Bearer " + key}
	header := http.Header{"Accept": values[0:1:1], "User-Agent": values[1:2:2]}
	if req.Body != nil {
		header["Content-Type"] = values[2:3:3]
	}

	maps.Copy(header, req.Header)
	header["Authorization"] = values[3:4:4] // last: http.Client sets one for a redirect to a URL with user info
	return header
}

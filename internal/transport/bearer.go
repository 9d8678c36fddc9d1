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
	Client    *http.Client                          // the caller's, for its Transport and Timeout; nil: none
	Key       func(context.Context) (string, error) // the key source, asked before each attempt
	UserAgent string
	Pool      Pool // used if Client has no Transport
}

// Bearer is the [http.RoundTripper] of one call. It asks the limiter, adds the key, starts
// an attempt and keeps its result. It has no CloseIdleConnections on purpose:
// go-retryablehttp would close the connections of all other calls.
type Bearer struct {
	Settings *Settings
	Context  context.Context             // the caller's
	Limit    func(context.Context) error // asked before each attempt; nil: no limit

	Attempts int        // that were started
	Attempt  *Attempt   // the last of them; nil: none
	Key      redact.Key // of the last of them
	Refused  error      // why the last request was not sent
	Err      error      // why the last attempt brought no response
}

// RoundTrip implements [http.RoundTripper]. [http.Client] calls it again for each
// redirect that it follows. The caller has to end the last Attempt.
func (b *Bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	b.Attempt.End()
	b.Err = nil
	var key string
	var base http.RoundTripper
	if key, base, b.Refused = b.authorize(); b.Refused != nil {
		return nil, b.Refused
	}
	b.Key = redact.NewKey(key)
	b.Attempt = newAttempt(b.Context, b.timeout(), req)
	out := b.Attempt.prepare(req, b.header(req, key))
	if PastDeadline(b.Context) {
		b.Refused = context.DeadlineExceeded
		return nil, b.Refused
	}
	b.Attempts++
	resp, err := base.RoundTrip(out)
	if err == nil && resp == nil {
		err = errors.New("the http.RoundTripper returned neither a response nor an error")
	}
	if err != nil {
		if resp != nil && resp.Body != nil {
			resp.Body.Close()
		}
		b.Attempt.noProxy = isOfProxy(err, base, out)
		b.Err = b.Attempt.explain(err)
		return nil, b.Err
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	b.Attempt.respond(resp)
	return resp, nil
}

// PastDeadline compares ctx's deadline with the wall clock. The timer that ends ctx is late
// on a machine that was suspended: the monotonic clock stands still meanwhile.
func PastDeadline(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !time.Now().Round(0).Before(deadline.Round(0))
}

// authorize asks the limiter for leave to send the next request, and the key source for its
// key.
func (b *Bearer) authorize() (key string, base http.RoundTripper, err error) {
	if b.Context.Err() != nil {
		return "", nil, context.Cause(b.Context)
	}
	if base = b.base(); base == nil {
		return "", nil, errors.New("http.DefaultTransport is nil")
	}
	if b.Limit != nil {
		if err = b.Limit(b.Context); err != nil {
			err = fmt.Errorf("rate limiter: %w", err)
		}
	}
	if err == nil {
		key, err = b.Settings.Key(b.Context)
	}
	if b.Context.Err() != nil {
		return "", nil, context.Cause(b.Context)
	}
	return key, base, err
}

func (b *Bearer) base() http.RoundTripper {
	if hc := b.Settings.Client; hc != nil && hc.Transport != nil {
		return hc.Transport
	}
	return b.Settings.Pool.roundTripper()
}

func (b *Bearer) timeout() time.Duration {
	if hc := b.Settings.Client; hc != nil && hc.Timeout > 0 {
		return hc.Timeout
	}
	return defaultTimeout
}

// header returns the header of a request: a redirect's Referer and cookies, which http.Client
// has put in it, and what each request of the SDK has.
func (b *Bearer) header(req *http.Request, key string) http.Header {
	values := [...]string{"application/json", b.Settings.UserAgent, "application/json", "Bearer " + key} // one allocation
	header := http.Header{"Accept": values[0:1:1], "User-Agent": values[1:2:2]}
	if req.Body != nil {
		header["Content-Type"] = values[2:3:3]
	}
	maps.Copy(header, req.Header)
	header["Authorization"] = values[3:4:4] // last: http.Client sets one for a redirect to a URL with user info
	return header
}

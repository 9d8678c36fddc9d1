package mintlify

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/transport"
)

// Option configures a [Client].
type Option func(*config) error

// WithBaseURL sends requests to another address instead of [DefaultBaseURL]: an https URL, with a
// path prefix if needed, without user info, query or fragment. "" changes nothing. Plain http works
// for a loopback host only, unless [WithInsecureHTTP] is given too.
//
// If a mesh or gateway at that address retries by itself, switch that off for POSTs: else the
// service may act on a prompt twice.
func WithBaseURL(rawURL string) Option {
	if strings.TrimSpace(rawURL) == "" {
		return func(*config) error { return nil }
	}
	return withBaseURL(argument{name: "baseURL", value: rawURL})
}

func withBaseURL(baseURL argument) Option {
	return func(cfg *config) error {
		cfg.baseURL = baseURL
		return nil
	}
}

// WithInsecureHTTP allows a plain http base URL for any host, for a mesh that does TLS
// outside the process. The key is sent unencrypted over that network. Switch off the mesh's
// retries of POSTs: see [WithBaseURL].
func WithInsecureHTTP() Option {
	return func(cfg *config) error {
		cfg.insecureHTTP = true
		return nil
	}
}

// WithHTTPClient sends requests with three fields of hc, and ignores its other fields:
//
//   - Transport sends each request. If it is nil, that of an earlier WithHTTPClient does, else the
//     SDK's own: see [NewTransport].
//   - Timeout limits each attempt. If it is 0, the limit is 60 s.
//   - Jar keeps cookies.
//
// The SDK reads the fields anew at each request, and never changes hc.
//
// To add telemetry, a proxy or a client certificate, wrap or change a [NewTransport]. If you write
// a Transport of your own:
//
//   - Pass the request's context on. Its httptrace events tell the SDK how far a request got.
//   - Read the body only when you send it.
//   - Make other requests, such as one for a token, under another context.
//   - End the response's body when the context ends or the body is closed.
//
// Otherwise a failed POST can match [ErrOutcomeUnknown] though nothing was sent, or a call can hang:
// https://github.com/mintlify-community/mintlify-go/blob/main/docs/faults.md#transports-of-your-own
func WithHTTPClient(hc *http.Client) Option {
	return func(cfg *config) error {
		if hc == nil {
			return &ArgumentError{"httpClient", "is nil"}
		}

		if before := cfg.transport.Client; before != nil && before.Transport != nil {
			cfg.transport.Base = before.Transport
		}
		cfg.transport.Client = hc
		return nil
	}
}

// NewTransport returns a transport like the SDK's own: [http.DefaultTransport] with room for
// many idle connections, and pings for an HTTP/2 connection that has gone silent. Wrap it, in
// telemetry or a recorder, and give it back with [WithHTTPClient].
func NewTransport() *http.Transport { return transport.New() }

// WithKeySource asks key for the API key before each attempt, so that the key can rotate. This
// time does not count towards the attempt's timeout. It takes precedence over NewClient's
// apiKey, which may then be "". If key returns an error nothing is sent, and the call returns
// the error. After a 401 the SDK asks once more a call: with another key it makes the call again at
// once, also with WithMaxRetries(0). key must be safe for use by many goroutines and heed its context.
func WithKeySource(key func(context.Context) (string, error)) Option {
	return func(cfg *config) error {
		if key == nil {
			return &ArgumentError{"keySource", "is nil"}
		}

		cfg.transport.Key = func(ctx context.Context) (string, error) {
			raw, err := key(ctx)
			if err != nil {
				return "", fmt.Errorf("key source: %w", err)
			}
			return cleanKey(argument{name: "apiKey", value: raw, missing: "from the key source is empty"})
		}
		return nil
	}
}

// WithUserAgent puts product, such as "docs-bot/1.2", in front of the SDK's own name in the
// User-Agent header.
func WithUserAgent(product string) Option {
	return func(cfg *config) error {
		product = strings.TrimSpace(product)
		if product == "" {
			return &ArgumentError{"userAgent", "is empty"}
		}
		if strings.ContainsFunc(product, func(r rune) bool { return r < ' ' || r > '~' }) {
			return &ArgumentError{"userAgent", "contains a character that is not printable ASCII"}
		}

		cfg.transport.UserAgent = product + " " + ownAgent
		return nil
	}
}

// WithMaxRetries sets how often a request may be retried, 3 unless set; 0 turns retries off.
// The package documentation says what is retried and what never. A request that a gateway refuses
// before it acts, because it renews the connection, is made again also with 0.
func WithMaxRetries(n int) Option {
	return func(cfg *config) error {
		if n < 0 {
			return &ArgumentError{"maxRetries", fmt.Sprintf("is %d, want 0 or more", n)}
		}
		cfg.maxRetries = n
		return nil
	}
}

// WithRetryWait bounds the wait before a retry, 500 ms and 30 s unless set. The bound doubles
// from min to max, from 10 ms if min is 0, and the wait is random between 0 and the bound (full
// jitter). With a max of 0 there is no wait. The service's Retry-After takes precedence. If it
// exceeds max, or the wait would reach the context's deadline, the call returns the error instead of
// sleeping.
func WithRetryWait(min, max time.Duration) Option {
	return func(cfg *config) error {
		if min < 0 || max < min {
			return &ArgumentError{"retryWait", fmt.Sprintf("is %v to %v, want 0 <= min <= max", min, max)}
		}

		cfg.retryWaitMin = min
		cfg.retryWaitMax = max
		return nil
	}
}

// WithRateLimiter calls wait before every request, also before retries and polls. This time
// does not count towards the attempt's timeout. If wait returns an error nothing is sent, and
// the call returns the error. In a WaitUntilDone or a Poll, that is a failed poll: the wait goes
// on, for 10 minutes of such errors unless [WithMaxOutage] is given. wait must be safe for use by
// many goroutines and heed its context. Given twice, both are called, in order.
//
// Choose by Operation: polls have no quota, and would wait behind exports. A burst of 10 and 90
// more an hour keep a quota of 100 an hour; a burst of 100 and 100 more an hour would send 200 in
// the first hour. With golang.org/x/time/rate:
//
//	limiter := rate.NewLimiter(rate.Every(time.Hour/90), 10)
//	mintlify.WithRateLimiter(func(ctx context.Context, r mintlify.RequestInfo) error {
//		if r.Operation == mintlify.OpGetJob || r.Operation == mintlify.OpGetDeployment {
//			return nil
//		}
//		return limiter.Wait(ctx)
//	})
func WithRateLimiter(wait func(context.Context, RequestInfo) error) Option {
	return func(cfg *config) error {
		if wait == nil {
			return &ArgumentError{"rateLimiter", "is nil"}
		}

		before := cfg.transport.Limit
		cfg.transport.Limit = func(ctx context.Context) error {
			if before != nil {
				if err := before(ctx); err != nil {
					return err
				}
			}

			info, _ := RequestFromContext(ctx)
			return wait(ctx, info)
		}
		return nil
	}
}

// WithWaitDefaults sets options for every WaitUntilDone and Poll of the client, of jobs and
// of deployments. If an option of the wait sets the same, the wait's takes precedence, but for
// [WithOnPoll]: each function is called.
func WithWaitDefaults(opts ...WaitOption) Option {
	return func(cfg *config) error { return apply(&cfg.wait, opts) }
}

// WithLogger logs to l: requests at debug level; retries, failed polls, unknown statuses and
// short pages as warnings. Keys and prompts are never logged; errors are, with the service's
// words. Without it, or with nil, the SDK is silent.
func WithLogger(l *slog.Logger) Option {
	return func(cfg *config) error {
		if l == nil {
			l = slog.New(slog.DiscardHandler)
		}
		cfg.logger = l
		return nil
	}
}

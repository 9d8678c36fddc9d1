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

// Option sets up a [Client].
type Option func(*config) error

// WithBaseURL sends requests to another origin than [DefaultBaseURL]: https, a
// path prefix allowed, no user info, query or fragment. Plain http is for a
// loopback host only, unless [WithInsecureHTTP] is given too.
func WithBaseURL(rawURL string) Option {
	return withBaseURL(argument{name: "baseURL", value: rawURL})
}

func withBaseURL(baseURL argument) Option {
	return func(cfg *config) error {
		cfg.baseURL = baseURL
		return nil
	}
}

// WithInsecureHTTP allows a base URL of plain http to any host, for a mesh that
// does TLS outside the process. The key crosses that network in the clear.
func WithInsecureHTTP() Option {
	return func(cfg *config) error {
		cfg.insecureHTTP = true
		return nil
	}
}

// WithHTTPClient uses hc's Transport, Timeout and Jar, read anew at each request: the
// Transport instead of the SDK's own (nil: the SDK's own, see [NewTransport]), the
// Timeout for each attempt (0: 60 s), and the Jar for cookies. Nothing else of hc is
// used, and hc is never changed.
//
// A Transport that has several ways to send a request should fire httptrace events on each of them,
// as http.Transport does, or on none: events that tell of a connection that could
// not be made are what the SDK takes for proof that nothing was sent.
func WithHTTPClient(hc *http.Client) Option {
	return func(cfg *config) error {
		if hc == nil {
			return &ArgumentError{"httpClient", "is nil"}
		}
		cfg.transport.Client = hc
		return nil
	}
}

// NewTransport returns a transport like the SDK's own, which is [http.DefaultTransport]
// with room for many idle connections: to be wrapped, by telemetry or a recorder, and
// given back by [WithHTTPClient]. Its connections are its own.
func NewTransport() *http.Transport { return transport.New() }

// WithKeySource asks key for the API key before each attempt, outside the attempt's
// time, so that it can be rotated. It wins over NewClient's apiKey, which may
// then be "". After an error of key nothing was sent; the call returns the
// error. key must be safe for use by many goroutines and heed its context.
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

// WithUserAgent puts product, such as "docs-bot/1.2", before the SDK's own token
// in the User-Agent header.
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

// WithMaxRetries sets how often a request may be retried, 3 unless set; 0 turns
// retries off. What is retried, and what never, is in the package documentation.
func WithMaxRetries(n int) Option {
	return func(cfg *config) error {
		if n < 0 {
			return &ArgumentError{"maxRetries", fmt.Sprintf("is %d, want 0 or more", n)}
		}
		cfg.maxRetries = n
		return nil
	}
}

// WithRetryWait bounds the wait before a retry, 500 ms and 30 s unless set. The
// bound doubles from min to max, and the wait is drawn evenly from 0 to it (full
// jitter). The service's Retry-After goes before; one beyond max is returned as
// an error instead of being slept through.
func WithRetryWait(min, max time.Duration) Option {
	return func(cfg *config) error {
		if min < 0 || max < min {
			return &ArgumentError{"retryWait", fmt.Sprintf("is %v to %v, want 0 <= min <= max", min, max)}
		}
		cfg.retryWaitMin, cfg.retryWaitMax = min, max
		return nil
	}
}

// WithRateLimiter asks wait before every request, retries and polls included,
// outside the attempt's time. After an error of wait nothing was sent; the call
// returns the error. wait must be safe for use by many goroutines and heed its
// context.
//
// Let polls pass: they have no quota. 10 requests at once and 90 more an hour keep a quota
// of 100 an hour, where 100 at once and 100 an hour would send 200 in the first. With
// golang.org/x/time/rate:
//
//	limiter := rate.NewLimiter(rate.Every(time.Hour/90), 10)
//	mintlify.WithRateLimiter(func(ctx context.Context, op mintlify.Operation, _ string) error {
//		if op == mintlify.OpGetJob || op == mintlify.OpGetDeployment {
//			return nil
//		}
//		return limiter.Wait(ctx)
//	})
func WithRateLimiter(wait func(ctx context.Context, op Operation, projectID string) error) Option {
	return func(cfg *config) error {
		if wait == nil {
			return &ArgumentError{"rateLimiter", "is nil"}
		}
		before := cfg.limit
		cfg.limit = func(ctx context.Context, op Operation, projectID string) error {
			if before != nil {
				if err := before(ctx, op, projectID); err != nil {
					return err
				}
			}
			return wait(ctx, op, projectID)
		}
		return nil
	}
}

// WithWaitDefaults sets options for every [JobsService.WaitUntilDone] of the
// client. A wait's own options win over them. Given twice, the options add up.
func WithWaitDefaults(opts ...WaitOption) Option {
	return func(cfg *config) error { return cfg.wait.apply(opts) }
}

// WithLogger logs every request, retry and failed poll to l: requests at debug level,
// retries and failed polls as warnings. Keys and prompts are not
// logged; errors are, with the service's words. Without it, or with nil, the SDK is
// silent.
func WithLogger(l *slog.Logger) Option {
	return func(cfg *config) error {
		if l == nil {
			l = slog.New(slog.DiscardHandler)
		}
		cfg.logger = l
		return nil
	}
}

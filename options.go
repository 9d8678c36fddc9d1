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
// path prefix if needed, without user info, query or fragment. Plain http works for a
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

// WithInsecureHTTP allows a plain http base URL for any host, for a mesh that does TLS
// outside the process. The key is sent unencrypted over that network.
func WithInsecureHTTP() Option {
	return func(cfg *config) error {
		cfg.insecureHTTP = true
		return nil
	}
}

// WithHTTPClient uses hc's Transport, Timeout and Jar, read anew at each request: the
// Transport instead of the SDK's own (nil: the SDK's own, see [NewTransport]), the
// Timeout for each attempt (0: 60 s), and the Jar for cookies. The SDK uses nothing else of
// hc, and never changes it.
//
// A Transport should fire httptrace events for every request, as http.Transport does, or for
// none: if it asks for a connection and never writes a header, or never reads the body, the
// SDK takes that as proof that nothing was sent, and makes later reads of the body fail. An
// attempt ends once ten headers are written.
//
// A Transport may make requests of its own, such as one for a token, under the context of a
// request. A POST without a body ([DeploymentsService.TriggerUpdate],
// [AutomationsService.Trigger]) cannot be told from them and fails with [ErrOutcomeUnknown]:
// make them under another context. A Transport whose response bodies ignore both their
// context and Close can hang its own calls.
func WithHTTPClient(hc *http.Client) Option {
	return func(cfg *config) error {
		if hc == nil {
			return &ArgumentError{"httpClient", "is nil"}
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
// the error. key must be safe for use by many goroutines and heed its context.
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
// The package documentation says what is retried and what never.
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
// from min to max, and the wait is random between 0 and the bound (full jitter). The
// service's Retry-After takes precedence; if it exceeds max, the call returns the error
// instead of sleeping.
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
// the call returns the error. wait must be safe for use by many goroutines and heed its
// context. Given twice, both are called, in order.
//
// Let polls pass: they have no quota. A burst of 10 and 90 more an hour keep a quota of 100
// an hour; a burst of 100 and 100 more an hour would send 200 in the first hour. With
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

// WithWaitDefaults sets options for every WaitUntilDone and Poll of the client, of jobs and
// of deployments. The wait's own options take precedence. Given twice, the options add up.
func WithWaitDefaults(opts ...WaitOption) Option {
	return func(cfg *config) error { return cfg.wait.apply(opts) }
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

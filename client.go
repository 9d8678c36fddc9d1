package mintlify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
)

// DefaultBaseURL is where the service is, unless [WithBaseURL] says otherwise.
const DefaultBaseURL = "https://api.mintlify.com"

const (
	version  = "0.1.0"
	ownAgent = "mintlify-go/" + version
)

// Operation is one of the calls, by the name used in errors, logs, the rate
// limiter and mintlifytest.
type Operation string

// The operations of the service.
const (
	OpCreateJob   Operation = "create job"
	OpSendMessage Operation = "send message"
	OpGetJob      Operation = "get job"
	OpGetVisitors Operation = "get visitors"
)

// Client talks to the service on behalf of one project. Make it with
// [NewClient], once, and share it: it is safe for use by many goroutines and
// keeps a pool of connections.
type Client struct {
	Jobs      *JobsService      // the agent's jobs
	Analytics *AnalyticsService // visitors of the documentation

	config    *config
	projectID string
}

// config is what clients of several projects share. The key stands in it as a
// function only, so that no format verb can reach it.
type config struct {
	baseURL      argument
	origin       *url.URL // of the base URL
	prefix       string   // the base URL, without a slash at its end
	insecureHTTP bool
	httpClient   *http.Client
	pool         pool
	buffers      sync.Pool
	key          func(context.Context) (string, error)
	userAgent    string
	maxRetries   int
	retryWaitMin time.Duration
	retryWaitMax time.Duration
	limit        func(context.Context, Operation, string) error
	wait         waitConfig
	logger       *slog.Logger
}

// Option sets up a [Client].
type Option func(*config) error

// NewClient returns a client that authenticates with apiKey, an admin API key
// from the API keys page of the dashboard, and works on projectID, from the same
// page. White space around both and a "Bearer " before the key are taken off.
//
// It sends nothing. An argument or option that could never work is an
// [*ArgumentError].
func NewClient(apiKey, projectID string, opts ...Option) (*Client, error) {
	return newClient(
		argument{name: "apiKey", value: apiKey, missing: "is empty"},
		argument{name: "projectID", value: projectID, missing: "is empty"}, opts)
}

// NewClientFromEnv is [NewClient] with the key in MINTLIFY_API_KEY, the project
// in MINTLIFY_PROJECT_ID and, where MINTLIFY_BASE_URL is set, that base URL. An
// option wins over the environment. A variable that is missing or cannot work
// is an [*ArgumentError] with its name.
func NewClientFromEnv(opts ...Option) (*Client, error) {
	if baseURL := environment("MINTLIFY_BASE_URL"); baseURL.value != "" {
		opts = append([]Option{withBaseURL(baseURL)}, opts...)
	}
	return newClient(environment("MINTLIFY_API_KEY"), environment("MINTLIFY_PROJECT_ID"), opts)
}

func newClient(apiKey, projectID argument, opts []Option) (*Client, error) {
	cfg := &config{
		baseURL:      argument{name: "baseURL", value: DefaultBaseURL},
		userAgent:    ownAgent,
		maxRetries:   3,
		retryWaitMin: 500 * time.Millisecond,
		retryWaitMax: 30 * time.Second,
		wait:         defaultWait(),
		logger:       slog.New(slog.DiscardHandler),
	}
	for i, opt := range opts {
		if opt == nil {
			return nil, &ArgumentError{"opts", fmt.Sprintf("has a nil option at index %d", i)}
		}
		if err := opt(cfg); err != nil {
			return nil, err
		}
	}
	if err := cfg.parseBaseURL(); err != nil {
		return nil, err
	}
	if cfg.key == nil {
		key, err := cleanKey(apiKey)
		if err != nil {
			return nil, err
		}
		cfg.key = func(context.Context) (string, error) { return key, nil }
	}
	return cfg.client(projectID)
}

func (cfg *config) client(projectID argument) (*Client, error) {
	id, err := cleanProjectID(projectID)
	if err != nil {
		return nil, err
	}
	c := &Client{config: cfg, projectID: id}
	c.Jobs = &JobsService{client: c, url: cfg.prefix + "/v2/agent/" + url.PathEscape(id) + "/job"}
	c.Analytics = &AnalyticsService{client: c, url: cfg.prefix + "/v1/analytics/" + url.PathEscape(id)}
	return c, nil
}

// ForProject returns a client for another project that shares c's key,
// connections and options. A project id that could never work is an
// [*ArgumentError]. It sends nothing.
func (c *Client) ForProject(projectID string) (*Client, error) {
	return c.config.client(argument{name: "projectID", value: projectID, missing: "is empty"})
}

// CloseIdleConnections closes the connections that the SDK's own transport keeps
// for later requests, those of [Client.ForProject]'s clients included. A
// transport given by [WithHTTPClient] is left alone. Requests on their way go
// on, and later ones connect anew.
func (c *Client) CloseIdleConnections() { c.config.pool.closeIdleConnections() }

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

// WithHTTPClient has hc's Transport, Timeout and Jar used, read anew at each
// request: the Transport instead of the SDK's own (nil: the SDK's own), the
// Timeout for each try (0: 60 s), and the Jar for cookies. Nothing else of hc is
// used, and hc is never changed.
//
// A Transport that tries several ways should fire httptrace events on each of them,
// as http.Transport does, or on none: events that tell of a connection that could
// not be made are what the SDK takes for proof that nothing was sent.
func WithHTTPClient(hc *http.Client) Option {
	return func(cfg *config) error {
		if hc == nil {
			return &ArgumentError{"httpClient", "is nil"}
		}
		cfg.httpClient = hc
		return nil
	}
}

// WithKeySource asks key for the API key before each try, outside the try's
// time, so that it can be rotated. It wins over NewClient's apiKey, which may
// then be "". After an error of key nothing was sent; the call returns the
// error. key must be safe for use by many goroutines and heed its context.
func WithKeySource(key func(context.Context) (string, error)) Option {
	return func(cfg *config) error {
		if key == nil {
			return &ArgumentError{"keySource", "is nil"}
		}
		cfg.key = func(ctx context.Context) (string, error) {
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
			return &ArgumentError{"userAgent", "has a character that is not printable ASCII"}
		}
		cfg.userAgent = product + " " + ownAgent
		return nil
	}
}

// WithMaxRetries sets how often a request may be sent again after a failure, 3
// unless set; 0 turns retries off. What is sent again, and what never, is in the
// package documentation.
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
// outside the try's time. After an error of wait nothing was sent; the call
// returns the error. wait must be safe for use by many goroutines and heed its
// context. A limiter of golang.org/x/time/rate:
//
//	mintlify.WithRateLimiter(func(ctx context.Context, _ mintlify.Operation, _ string) error { return limiter.Wait(ctx) })
func WithRateLimiter(wait func(ctx context.Context, op Operation, projectID string) error) Option {
	return func(cfg *config) error {
		if wait == nil {
			return &ArgumentError{"rateLimiter", "is nil"}
		}
		cfg.limit = wait
		return nil
	}
}

// WithWaitDefaults sets options for every [JobsService.WaitUntilDone] of the
// client. A wait's own options win over them. Given twice, the options add up.
func WithWaitDefaults(opts ...WaitOption) Option {
	return func(cfg *config) error { return cfg.wait.apply(opts) }
}

// WithLogger has every request, retry and failed poll logged to l: requests at
// debug level, retries and failed polls as warnings. Keys and prompts are not
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

// argument is a value from the caller, by the name the caller knows it by.
type argument struct {
	name, value string
	missing     string // said of it where it is empty
}

func environment(name string) argument {
	return argument{name: name, value: os.Getenv(name), missing: "is not set"}
}

func (a argument) refuse(reason string) error { return &ArgumentError{a.name, reason} }

// cleanKey takes off what gets pasted along with a key and refuses what cannot
// be an admin key, without showing it.
func cleanKey(arg argument) (string, error) {
	key := trimScheme(arg.value)
	switch {
	case key == "":
		return "", arg.refuse(arg.missing)
	case strings.ContainsFunc(key, unicode.IsSpace):
		return "", arg.refuse("has white space or a line break within it")
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", arg.refuse("has a control, invisible or non-ASCII character: copy it again from the dashboard")
	case strings.HasPrefix(key, "mint_dsc_"):
		return "", arg.refuse("is an assistant key (mint_dsc_…), which does not work here: make an admin key")
	case strings.HasPrefix(key, "mint_us_"):
		return "", arg.refuse("is an index key (mint_us_…), which does not work here: make an admin key")
	}
	return key, nil
}

// trimScheme takes white space and a pasted "Bearer " off a key.
func trimScheme(text string) string {
	const scheme = "bearer"
	text = strings.TrimSpace(text)
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return text
	}
	if rest := strings.TrimSpace(text[len(scheme):]); rest == "" || rest != text[len(scheme):] {
		return rest
	}
	return text // a key that begins so
}

func cleanProjectID(arg argument) (string, error) {
	id := strings.TrimSpace(arg.value)
	if strings.HasPrefix(trimScheme(id), "mint_") {
		return "", arg.refuse("begins as an API key does: the key and the project id are swapped")
	}
	if reason := refusedID(id); reason != "" {
		if id == "" {
			reason = arg.missing
		}
		return "", arg.refuse(reason)
	}
	return id, nil
}

// refusedID says why id cannot be a segment of a path; "" if it can.
func refusedID(id string) string {
	switch {
	case strings.TrimSpace(id) == "":
		return "is empty"
	case id == "." || id == "..":
		return fmt.Sprintf("is %q, which is no id", id)
	}
	return ""
}

// parseBaseURL sets origin and prefix. The URL is not shown where it is refused:
// it may hold a password, or be the key.
func (cfg *config) parseBaseURL() error {
	u, err := url.Parse(strings.TrimSpace(cfg.baseURL.value))
	switch {
	case err != nil:
		return cfg.baseURL.refuse("is not a URL: want one such as " + DefaultBaseURL)
	case u.Scheme != "https" && u.Scheme != "http":
		return cfg.baseURL.refuse("does not begin with https://")
	case !hasHost(u):
		return cfg.baseURL.refuse("has no host")
	case u.User != nil:
		return cfg.baseURL.refuse("has user info: the API key is what authenticates")
	case u.RawQuery != "" || u.ForceQuery:
		return cfg.baseURL.refuse("has a query")
	case u.Fragment != "":
		return cfg.baseURL.refuse("has a fragment")
	case u.Scheme == "http" && !cfg.insecureHTTP && !isLoopback(u.Hostname()):
		return cfg.baseURL.refuse("is plain http, which would show the key to the network: use https, or WithInsecureHTTP")
	}
	cfg.origin = &url.URL{Scheme: u.Scheme, Host: u.Host}
	cfg.prefix = cfg.origin.String() + strings.TrimRight(u.EscapedPath(), "/")
	return nil
}

func hasHost(u *url.URL) bool {
	host := u.Hostname()
	if strings.Contains(host, ":") || strings.HasPrefix(u.Host, "[") {
		_, err := netip.ParseAddr(host)
		return err == nil && strings.HasPrefix(u.Host, "[")
	}
	return host != ""
}

func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// request is a call as a service describes it.
type request struct {
	operation Operation
	method    string
	url       string // without its query
	query     url.Values
	body      any     // sent as JSON; nil for none
	retries   int     // at most
	into      decoder // of a 2xx answer
}

// decoder takes what an answer says. The error says what is wrong with data.
type decoder interface {
	decode(data []byte) error
}

// do sends r and returns what came of it as one of the errors in errors.go.
func (c *Client) do(ctx context.Context, r request) error {
	if ctx == nil {
		return &ArgumentError{"ctx", "is nil"}
	}
	call, err := newCall(ctx, c, r)
	if err != nil {
		return fmt.Errorf("mintlify: %s: %w", r.operation, err)
	}
	return call.run()
}

// encodeJSON is json.Marshal that leaves <, > and & as they are.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

package mintlify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/internal/transport"
	"github.com/mintlify-community/mintlify-go/internal/wire"
)

// DefaultBaseURL is the service's address unless [WithBaseURL] sets another.
const DefaultBaseURL = "https://api.mintlify.com"

const (
	version  = "0.1.0"
	ownAgent = "mintlify-go/" + version
)

// Operation names a call in errors, logs, the rate limiter and mintlifytest. A
// [Client.Call] is named by its method and path, such as "GET /v1/things".
type Operation string

// The operations of the service.
const (
	OpCreateJob   Operation = "create job"
	OpSendMessage Operation = "send message"
	OpGetJob      Operation = "get job"

	OpGetVisitors       Operation = "get visitors"
	OpGetViews          Operation = "get views"
	OpGetSearches       Operation = "get searches"
	OpGetFeedback       Operation = "get feedback"
	OpGetFeedbackCounts Operation = "get feedback counts"
	OpGetConversations  Operation = "get conversations"
	OpGetThread         Operation = "get thread"
	OpGetCallerStats    Operation = "get caller stats"

	OpTriggerUpdate  Operation = "trigger update"
	OpTriggerPreview Operation = "trigger preview"
	OpGetDeployment  Operation = "get deployment"

	OpTriggerAutomation Operation = "trigger automation"
)

// isPost reports whether the operation changes something.
func (op Operation) isPost() bool {
	switch op {
	case OpCreateJob, OpSendMessage, OpTriggerUpdate, OpTriggerPreview, OpTriggerAutomation:
		return true
	}
	method, path, _ := strings.Cut(string(op), " ")
	return strings.HasPrefix(path, "/") && changes(method)
}

// changes reports whether a request with this method may change something. "" is not a method.
func changes(method string) bool {
	return method != "" && method != http.MethodGet && method != http.MethodHead
}

// isAnalytics reports whether the operation counts against the hourly quota of analytics.
func (op Operation) isAnalytics() bool {
	switch op {
	case OpGetVisitors, OpGetViews, OpGetSearches, OpGetFeedback, OpGetFeedbackCounts,
		OpGetConversations, OpGetThread, OpGetCallerStats:
		return true
	}
	return false
}

// RequestInfo says what a request is for.
type RequestInfo struct {
	// Operation is the call that the request belongs to. That of a [Client.Call] holds the call's
	// path, which may have ids in it: give its spans and metrics a name of your own.
	Operation Operation
	// ProjectID is the project of the client.
	ProjectID string
	// Attempt counts the requests of the call, from 1, like [APIError.Attempts]. A redirect that
	// is followed counts as one. It is 1 in each poll of a wait.
	Attempt int
}

type requestKey struct{}

// RequestFromContext returns what a request of the SDK is for. It is for a transport that names
// spans or metrics, with the request's context, and for a key source, with the context that it
// is given. ok is false if ctx does not belong to a request of the SDK.
func RequestFromContext(ctx context.Context) (info RequestInfo, ok bool) {
	info, ok = ctx.Value(requestKey{}).(RequestInfo)
	return info, ok
}

// Client talks to the service on behalf of one project. Make one with [NewClient] and
// share it: it is safe for use by many goroutines and keeps a pool of connections.
type Client struct {
	// Jobs runs the agent's jobs.
	Jobs *JobsService
	// Deployments publishes updates and previews of the documentation site.
	Deployments *DeploymentsService
	// Automations triggers agent runs that are set up in the dashboard.
	Automations *AutomationsService
	// Analytics exports how humans and AIs use the documentation.
	Analytics *AnalyticsService

	config    *config
	projectID string
}

// config holds what clients of several projects share. It holds the key as a function only,
// so that no format verb can reach it.
type config struct {
	baseURL      argument
	origin       *url.URL // of the base URL
	prefix       string   // the base URL, without a slash at its end
	insecureHTTP bool
	transport    transport.Settings
	buffers      sync.Pool // of response bodies
	maxRetries   int
	retryWaitMin time.Duration
	retryWaitMax time.Duration
	wait         waitConfig
	memory       memory
	logger       *slog.Logger
}

// NewClient returns a client that authenticates with apiKey, an admin API key
// from the API keys page of the dashboard, and works on projectID, from the same
// page. White space around both and a "Bearer " before the key are removed.
//
// It sends nothing. An argument or option that cannot work is an [*ArgumentError].
func NewClient(apiKey, projectID string, opts ...Option) (*Client, error) {
	return newClient(parameter("apiKey", apiKey), parameter("projectID", projectID), opts)
}

// NewClientFromEnv is [NewClient] with the key in MINTLIFY_API_KEY, the project in
// MINTLIFY_PROJECT_ID and, unless blank, the base URL in MINTLIFY_BASE_URL. Options take
// precedence over the environment. A variable that is missing or cannot work is an
// [*ArgumentError] with its name, or with both names if both are missing.
func NewClientFromEnv(opts ...Option) (*Client, error) {
	if baseURL := environment("MINTLIFY_BASE_URL"); !baseURL.isBlank() {
		opts = append([]Option{withBaseURL(baseURL)}, opts...)
	}
	return newClient(environment("MINTLIFY_API_KEY"), environment("MINTLIFY_PROJECT_ID"), opts)
}

func newClient(apiKey, projectID argument, opts []Option) (*Client, error) {
	cfg := &config{
		baseURL:      argument{name: "baseURL", value: DefaultBaseURL},
		transport:    transport.Settings{UserAgent: ownAgent},
		maxRetries:   3,
		retryWaitMin: 500 * time.Millisecond,
		retryWaitMax: 30 * time.Second,
		wait:         defaultWait(),
		logger:       slog.New(slog.DiscardHandler),
	}

	if err := apply(cfg, opts); err != nil {
		return nil, err
	}
	if err := cfg.parseBaseURL(); err != nil {
		return nil, err
	}

	if cfg.transport.Key == nil {
		if apiKey.isBlank() && projectID.isBlank() {
			return nil, &ArgumentError{apiKey.name + ", " + projectID.name, apiKey.bothMissing}
		}
		key, err := cleanKey(apiKey)
		if err != nil {
			return nil, err
		}
		cfg.transport.Key = func(context.Context) (string, error) { return key, nil }
	}

	return cfg.client(projectID)
}

// apply applies options to a configuration: of a client, a wait or an export.
func apply[C any, O ~func(C) error](cfg C, opts []O) error {
	for i, opt := range opts {
		if opt == nil {
			return &ArgumentError{"opts", fmt.Sprintf("has a nil option at index %d", i)}
		}
		if err := opt(cfg); err != nil {
			return err
		}
	}
	return nil
}

func (cfg *config) client(projectID argument) (*Client, error) {
	id, err := cleanProjectID(projectID)
	if err != nil {
		return nil, err
	}

	c := &Client{config: cfg, projectID: id}
	c.Jobs = newJobsService(c)
	c.Deployments = &DeploymentsService{client: c}
	c.Automations = &AutomationsService{client: c}
	c.Analytics = newAnalyticsService(c)
	return c, nil
}

// ForProject returns a client for another project that shares c's key, connections and
// options. It sends nothing. A project id that cannot work is an [*ArgumentError].
func (c *Client) ForProject(projectID string) (*Client, error) {
	return c.config.client(parameter("projectID", projectID))
}

// ProjectID returns the id of the project that c works on.
func (c *Client) ProjectID() string { return c.projectID }

// url returns the URL of a path whose segments are escaped here.
func (c *Client) url(path string, segments ...string) string {
	for _, segment := range segments {
		path += "/" + url.PathEscape(segment)
	}
	return c.config.prefix + path
}

// CloseIdleConnections closes the idle connections of the SDK's own transport, which c shares
// with the clients that [Client.ForProject] returns. It does not affect requests in progress,
// nor a transport given by [WithHTTPClient]. Later requests open new connections.
func (c *Client) CloseIdleConnections() { c.config.transport.Pool.CloseIdleConnections() }

// CallParams is one request to a path that the SDK does not cover yet: see [Client.Call].
type CallParams struct {
	// Method is the HTTP method. GET and HEAD are retried like reads; any other is treated as a
	// POST.
	Method string
	// Path begins with "/", has no query, and is sent as given: escape its segments with
	// url.PathEscape.
	Path string
	// Query is optional.
	Query url.Values
	// Header is added to each attempt: an Idempotency-Key, for example, or an Accept or a
	// Content-Type instead of application/json. It cannot set Authorization, Host, User-Agent,
	// Content-Length, Transfer-Encoding or Connection.
	Header http.Header
	// Body is sent as JSON. A json.RawMessage is sent without the white space between its values.
	// With nil, or a nil pointer, map or slice, the request has no body.
	Body any
}

// Call sends one authenticated request, with the retries, limits, redaction and errors of
// the other operations. Its operation is "METHOD path", so it holds the ids in the path.
//
// Call reads nothing but JSON: it decodes the body of a 2xx response into the value that into
// points to. If into is nil the body is ignored, whatever it is, else an empty body is a
// [*MalformedResponseError]. Errors do not quote a 2xx body.
//
// A call that is not a GET or HEAD is NOT safe to make again after an error that matches
// [ErrOutcomeUnknown].
//
// Errors: [*ArgumentError] for an empty method, CONNECT, TRACE, a path with a segment . or .., a
// path or a header that cannot be sent as it is, a body that cannot be encoded or is a []byte or an
// [io.Reader], or an into that is not a pointer; [*APIError], [*MalformedResponseError], or the
// network's or context's error.
func (c *Client) Call(ctx context.Context, call CallParams, into any) error {
	if isNil(call.Body) {
		call.Body = nil
	}
	if err := call.check(into); err != nil {
		return err
	}

	r := request{
		operation: Operation(safetext.WithoutKeys(call.Method + " " + call.Path)),
		method:    call.Method,
		url:       c.config.prefix + call.Path,
		query:     call.Query,
		header:    call.Header,
		body:      call.Body,
		personal:  true,
		outcome:   func() string { return "the service may have acted: check before calling again" },
	}

	if into != nil {
		r.into = anyResult{into}
	}
	return c.do(ctx, r)
}

func (call CallParams) check(into any) error {
	if !isMethod(call.Method) {
		return &ArgumentError{"method", fmt.Sprintf("is %.20q, want an HTTP method such as GET", call.Method)}
	}
	if reason := refusedPath(call.Path); reason != "" {
		return &ArgumentError{"path", reason}
	}

	if err := checkHeader(call.Header); err != nil {
		return err
	}

	switch call.Body.(type) {
	case []byte, io.Reader: // encoding/json would make base64 of it, or {}
		return &ArgumentError{"body", fmt.Sprintf("is a %T: give JSON as a json.RawMessage", call.Body)}
	}
	if _, err := wire.Encode(call.Body); err != nil {
		return &ArgumentError{"body", "cannot be encoded as JSON: " + err.Error()}
	}

	if into != nil && !isPointer(into) {
		return &ArgumentError{"into", "is not a pointer"}
	}
	return nil
}

// isMethod reports whether Call can send method: the response to a CONNECT is a tunnel, and the one to
// a TRACE quotes the key.
func isMethod(method string) bool {
	switch method {
	case "", http.MethodConnect, http.MethodTrace:
		return false
	}
	return !strings.ContainsFunc(method, func(r rune) bool { return r < 'A' || r > 'Z' })
}

// refusedPath says why path cannot be sent without a change; "" if it can.
func refusedPath(path string) string {
	u, err := url.Parse(path)
	switch {
	case strings.HasPrefix(path, "//"):
		return `starts with "//", as if a host followed: give one "/"`
	case err != nil || !strings.HasPrefix(path, "/") || u.EscapedPath() != path:
		return `has to start with "/", be escaped, and have no query`
	}

	for segment := range strings.SplitSeq(path, "/") {
		plain, _ := url.PathUnescape(segment)
		if plain == "." || plain == ".." {
			return `has a segment "." or "..", which leads to another path`
		}
	}
	return ""
}

// isNil reports whether v is nil, or a nil pointer, map or slice.
func isNil(v any) bool {
	value := reflect.ValueOf(v)
	switch value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return value.IsNil()
	}
	return false
}

// isPointer reports whether v points to something.
func isPointer(v any) bool {
	value := reflect.ValueOf(v)
	return value.Kind() == reflect.Pointer && !value.IsNil()
}

// anyResult is what a Call decodes into.
type anyResult struct {
	into any
}

func (r anyResult) decode(data []byte) error {
	err := json.Unmarshal(data, r.into)

	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax), errors.As(err, &mismatch):
		return wire.Invalid("this call", err)
	}
	// The error of a type's own UnmarshalJSON may quote the value.
	return fmt.Errorf("a value cannot be decoded into the caller's %T", r.into)
}

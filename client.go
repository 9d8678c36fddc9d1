package mintlify

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/transport"
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

	OpGetVisitors       Operation = "get visitors"
	OpGetViews          Operation = "get views"
	OpGetSearches       Operation = "get searches"
	OpGetFeedback       Operation = "get feedback"
	OpGetFeedbackByPage Operation = "get feedback by page"
	OpGetConversations  Operation = "get conversations"
	OpGetThread         Operation = "get thread"
	OpGetCallerStats    Operation = "get caller stats"

	OpTriggerUpdate  Operation = "trigger update"
	OpTriggerPreview Operation = "trigger preview"
	OpGetDeployment  Operation = "get deployment"

	OpTriggerAutomation Operation = "trigger automation"
)

// Client talks to the service on behalf of one project. Make it with
// [NewClient], once, and share it: it is safe for use by many goroutines and
// keeps a pool of connections.
type Client struct {
	Jobs        *JobsService        // the agent's jobs
	Deployments *DeploymentsService // updates and previews of the documentation site
	Automations *AutomationsService // runs of the agent that are set up in the dashboard
	Analytics   *AnalyticsService   // how humans and AIs use the documentation

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
	transport    transport.Settings
	buffers      sync.Pool // of response bodies
	maxRetries   int
	retryWaitMin time.Duration
	retryWaitMax time.Duration
	limit        func(context.Context, Operation, string) error
	wait         waitConfig
	logger       *slog.Logger
}

// NewClient returns a client that authenticates with apiKey, an admin API key
// from the API keys page of the dashboard, and works on projectID, from the same
// page. White space around both and a "Bearer " before the key are removed.
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
// option wins over the environment. A variable that is missing or cannot work is an
// [*ArgumentError] with its name, or with both names where both are missing.
func NewClientFromEnv(opts ...Option) (*Client, error) {
	if baseURL := environment("MINTLIFY_BASE_URL"); baseURL.value != "" {
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
	if cfg.transport.Key == nil {
		if apiKey.isBlank() && projectID.isBlank() {
			return nil, &ArgumentError{apiKey.name + ", " + projectID.name, strings.Replace(apiKey.missing, "is ", "are ", 1)}
		}
		key, err := cleanKey(apiKey)
		if err != nil {
			return nil, err
		}
		cfg.transport.Key = func(context.Context) (string, error) { return key, nil }
	}
	return cfg.client(projectID)
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

// ForProject returns a client for another project that shares c's key,
// connections and options. A project id that could never work is an
// [*ArgumentError]. It sends nothing.
func (c *Client) ForProject(projectID string) (*Client, error) {
	return c.config.client(argument{name: "projectID", value: projectID, missing: "is empty"})
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

// CloseIdleConnections closes the connections that the SDK's own transport keeps
// for later requests, those of [Client.ForProject]'s clients included. A
// transport given by [WithHTTPClient] is left alone. Requests under way are
// not affected, and later ones connect anew.
func (c *Client) CloseIdleConnections() { c.config.transport.Pool.CloseIdleConnections() }

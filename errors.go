package mintlify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/internal/status"
)

// The kinds of error, for errors.Is. The types below hold the details, for
// errors.As.
var (
	// ErrInvalidArgument matches an argument that was refused before anything
	// was sent: an [*ArgumentError].
	ErrInvalidArgument = errors.New("mintlify: invalid argument")

	// ErrBadRequest matches an [*APIError] of status 400 or 422.
	ErrBadRequest = errors.New("mintlify: bad request")
	// ErrUnauthorized matches an [*APIError] of status 401.
	ErrUnauthorized = errors.New("mintlify: unauthorized")
	// ErrPaymentRequired matches an [*APIError] of status 402: the credits or the plan do not cover
	// the call.
	ErrPaymentRequired = errors.New("mintlify: payment required")
	// ErrForbidden matches an [*APIError] of status 403.
	ErrForbidden = errors.New("mintlify: forbidden")
	// ErrNotFound matches an [*APIError] of status 404.
	ErrNotFound = errors.New("mintlify: not found")
	// ErrRateLimited matches an [*APIError] of status 429. If the context of a POST ended while it was
	// retried, the error matches [ErrOutcomeUnknown], too: check that first.
	ErrRateLimited = errors.New("mintlify: rate limited")
	// ErrServer matches an [*APIError] of any 5xx status.
	ErrServer = errors.New("mintlify: server error")

	// ErrMalformedResponse matches a 2xx response that is not what the interface
	// promises: a [*MalformedResponseError].
	ErrMalformedResponse = errors.New("mintlify: malformed response")

	// ErrOutcomeUnknown matches every error of a POST, such as [JobsService.Create], after
	// which the service may have acted. If you call again, it may act twice: look first. Only
	// [DeploymentsService.TriggerUpdate] and [DeploymentsService.TriggerPreview] are safe to call
	// again all the same: acting twice costs a build. See
	// https://github.com/mintlify-community/mintlify-go/blob/main/docs/once.md
	ErrOutcomeUnknown = errors.New("mintlify: outcome unknown")

	// ErrDeploymentFailed matches the end of a wait for a deployment that failed: a
	// [*DeploymentFailedError].
	ErrDeploymentFailed = errors.New("mintlify: deployment failed")

	// ErrJobFailed matches the end of a wait for a job that failed: a
	// [*JobFailedError].
	ErrJobFailed = errors.New("mintlify: job failed")
)

const (
	maxMessage = 800 // bytes of a message; the errors that wrap it add less than 200
	maxPath    = 200 // bytes of a path in a message
)

// ArgumentError is an argument, option or environment variable that the service
// could never accept. Nothing was sent. It matches [ErrInvalidArgument].
type ArgumentError struct {
	// Name is the name of the argument: prompt, id, apiKey, MINTLIFY_API_KEY.
	Name string
	// Reason says what is wrong with the argument. It never shows a value that may be a key.
	Reason string
}

func (e *ArgumentError) Error() string {
	return safetext.OneLine("mintlify: "+e.Name+" "+e.Reason, maxMessage)
}

// Is reports whether target is [ErrInvalidArgument].
func (e *ArgumentError) Is(target error) bool { return target == ErrInvalidArgument }

// APIError is a response whose status is not 2xx. It matches the kind of its
// status, such as [ErrNotFound].
type APIError struct {
	// Operation is the call that failed.
	Operation Operation
	// StatusCode is the status of the response.
	StatusCode int
	// Message is what the service says, on one line: the body's error, title, message,
	// error_description and detail, each once. If the body is not JSON, it is the start of the body.
	Message string
	// Details are further messages of the service, if any.
	Details []string
	// RequestID is the response's X-Request-Id, or else its Cf-Ray, if it has one.
	RequestID string
	// RetryAfter is how long the service asks to wait. It is 0 if the service does not say.
	RetryAfter time.Duration
	// Attempts counts the requests sent for this call, this one included.
	Attempts int
	// Method is the method of the request.
	Method string
	// Path is the path of the request as sent, escaped.
	Path string
	// Header is the header of the response, the API key redacted.
	Header http.Header
	// Body is the first 64 KiB of the response, the API key redacted.
	Body []byte

	interrupted error // the context's, if it ended before the whole response had come
	keyErr      error // of the key source, if it was asked for another key after a 401
}

func (e *APIError) Error() string {
	var b strings.Builder

	code := fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode))
	b.WriteString(prefix(e.Operation) + ": " + strings.TrimSpace(code))
	if !strings.EqualFold(strings.TrimRight(e.Message, " ."), http.StatusText(e.StatusCode)) && e.Message != "" {
		b.WriteString(": " + safetext.OneLine(e.Message, safetext.MaxServiceText))
	}
	if len(e.Details) > 0 {
		b.WriteString(": " + safetext.OneLine(strings.Join(e.Details, "; "), maxPath))
	}
	b.WriteString(inBrackets(e.Operation, e.Method, e.Path))

	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; retry after %v", e.RetryAfter)
	}
	if cause := e.likelyCause(); cause != "" {
		b.WriteString(" (" + cause + ")")
	}

	if e.RequestID != "" {
		b.WriteString(" [request " + safetext.OneLine(e.RequestID, 80) + "]")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " [%d attempts]", e.Attempts)
	}
	if e.interrupted != nil {
		b.WriteString("; interrupted: " + e.interrupted.Error())
	}
	if e.keyErr != nil {
		b.WriteString("; asked for another key" + because(e.keyErr))
	}

	return safetext.OneLine(b.String(), maxMessage)
}

// LogValue returns the error's fields as a group, without Header and Body: operation, status, message,
// requestID and attempts.
func (e *APIError) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("operation", string(e.Operation)),
		slog.Int("status", e.StatusCode),
		slog.String("message", safetext.OneLine(e.Message, maxMessage)),
		slog.String("requestID", safetext.OneLine(e.RequestID, maxPath)),
		slog.Int("attempts", e.Attempts))
}

// Unwrap returns the context's error and cause if the context ended before the whole
// response had come, the key source's error if it failed when it was asked again after a 401, else nil.
func (e *APIError) Unwrap() error {
	if e.interrupted != nil {
		return e.interrupted
	}
	return e.keyErr
}

func (e *APIError) likelyCause() string {
	hasPrompt := e.Operation == OpCreateJob || e.Operation == OpSendMessage
	isBlocked := status.IsCloudflares(e.StatusCode, e.Header, e.Body)
	said := strings.ToLower(" " + e.Message + " " + strings.Join(e.Details, " "))
	namesPlan := strings.Contains(said, "upgrade") || strings.Contains(said, " plan")

	switch code := e.StatusCode; {
	case isBlocked && hasPrompt && !status.Of(code).Passes:
		return "Cloudflare, in front of the service, blocked the request: the prompt's text may be the cause, " +
			"such as code in it; else try another network, or ask the service with the request's id"
	case isBlocked:
		return "Cloudflare, in front of the service, blocked the request: " +
			"try it from another network, or ask the service with the request's id"
	case code >= 300 && code < 400 && e.Header.Get("Location") != "":
		return "it redirects to " + redirectTarget(e.Header.Get("Location")) + "; the SDK follows a redirect " +
			"only of a GET, within the origin of the base URL, and 10 in a row: check the base URL"
	case code == http.StatusUnauthorized && namesPlan:
		return "the organization's plan may not include the API, which needs Pro or Enterprise, " +
			"or the API key is wrong, revoked or expired"
	case code == http.StatusUnauthorized:
		return "the API key is wrong, revoked or expired; keys expire after 90 days by default"
	case code == http.StatusPaymentRequired, code == http.StatusForbidden && namesPlan:
		return "the organization's credits or plan do not cover this"
	case code == http.StatusRequestEntityTooLarge && hasPrompt:
		return "the prompt is too long: shorten it"
	case code == http.StatusNotFound, code < 500 && strings.Contains(said, "project id"):
		return "check " + e.Operation.ids() + ", that the API key is of the same organization, and the base URL"
	case code == http.StatusForbidden:
		return "the API key may lack the scope, read for GET and write for the rest, " +
			"or this machine is not on its IP allowlist"
	}
	return ""
}

// redirectTarget returns where a redirect leads, without the parts that may hold a secret.
func redirectTarget(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return "a URL that cannot be read"
	}

	u.User = nil
	u.RawQuery = ""
	u.Fragment = ""
	return safetext.OneLine(u.String(), maxPath)
}

// isPost reports whether e is the response to a POST. A stub may have either field.
func (e *APIError) isPost() bool { return e.Operation.isPost() || changes(e.Method) }

// ids names the ids in the path of an operation.
func (op Operation) ids() string {
	switch op {
	case OpGetJob, OpSendMessage:
		return "the job id and the project id"
	case OpGetDeployment:
		return "the deployment id"
	case OpGetThread:
		return "the thread id and the project id"
	case OpTriggerAutomation:
		return "the automation id and the project id"
	}

	return "the project id"
}

// Is reports whether target is the kind of e's status. It also matches [ErrOutcomeUnknown]
// if e is the response to a POST that the service may have acted on.
func (e *APIError) Is(target error) bool {
	if target == ErrOutcomeUnknown {
		return e.isPost() && mayHaveActed(e)
	}

	switch status.Of(e.StatusCode).Kind {
	case status.BadRequest:
		return target == ErrBadRequest
	case status.Unauthorized:
		return target == ErrUnauthorized
	case status.PaymentRequired:
		return target == ErrPaymentRequired
	case status.Forbidden:
		return target == ErrForbidden
	case status.NotFound:
		return target == ErrNotFound
	case status.RateLimited:
		return target == ErrRateLimited
	case status.Server:
		return target == ErrServer
	}
	return false
}

// MalformedResponseError is a 2xx response that is not what the interface promises. It
// matches [ErrMalformedResponse].
type MalformedResponseError struct {
	// Operation is the call that failed.
	Operation Operation
	// StatusCode is the status of the response, 2xx.
	StatusCode int
	// Path is the path of the request as sent, escaped.
	Path string
	// Reason says what is wrong with the response.
	Reason string
	// Header is the header of the response, the API key redacted.
	Header http.Header
	// Body is the first 64 KiB of the response, the API key redacted. The body of an
	// export can hold personal data, so Error does not quote it.
	Body []byte

	truncated error  // why the body is truncated, if it is
	excerpt   string // of the body
}

func (e *MalformedResponseError) Error() string {
	reason := safetext.OneLine(e.Reason, safetext.MaxServiceText)
	message := fmt.Sprintf("%s: malformed response (status %d): %s", prefix(e.Operation), e.StatusCode, reason)
	message += inBrackets(e.Operation, "", e.Path)
	if e.excerpt != "" {
		message += fmt.Sprintf(" (body starts %q)", e.excerpt)
	}
	return safetext.OneLine(message, maxMessage)
}

// Is reports whether target is [ErrMalformedResponse]. The response to a POST also matches
// [ErrOutcomeUnknown].
func (e *MalformedResponseError) Is(target error) bool {
	if target == ErrOutcomeUnknown {
		return e.Operation.isPost()
	}
	return target == ErrMalformedResponse
}

// Unwrap returns the network's error if the response was truncated, else nil.
func (e *MalformedResponseError) Unwrap() error { return e.truncated }

// ExportError is an export, or another list, that failed partway. Every row before Offset,
// or before Cursor, was delivered. To resume, set the Offset or Cursor of the export's
// params, with the same dates. It matches Err's kinds.
type ExportError struct {
	// Offset is the offset of the page that failed, in an export by offset. An export from there
	// loses no row. It repeats some rows of the page before only if the service removes rows after it
	// has applied the limit.
	Offset int
	// Cursor is the cursor of the page that failed, in an export by cursor. "" is the first
	// page.
	Cursor string
	// Err is why the page failed.
	Err error
}

func (e *ExportError) Error() string {
	at := "the first page"
	switch {
	case e.Cursor != "":
		at = fmt.Sprintf("cursor %q", safetext.Name(e.Cursor, 40))
	case e.Offset != 0:
		at = fmt.Sprintf("offset %d", e.Offset)
	}
	return safetext.OneLine("mintlify: list stopped at "+at+because(e.Err), maxMessage)
}

// Unwrap returns e.Err.
func (e *ExportError) Unwrap() error { return e.Err }

// WaitError is a wait that its context or an outage interrupted. The job or deployment goes
// on: resume the wait by its id.
type WaitError struct {
	// Job is the job as last seen, in a wait for a job. It is zero if no poll succeeded.
	Job Job
	// Deployment is the deployment as last seen, in a wait for a deployment. It is zero if no
	// poll succeeded.
	Deployment Deployment
	// Polls is the number of polls made.
	Polls int
	// Waited is the time since the wait began.
	Waited time.Duration
	// LastErr is the error of the last poll that the context did not interrupt. It is nil if
	// that poll succeeded.
	LastErr error
	// Err is the context's error and cause, or the outage.
	Err error

	id string // "job " or "deployment ", and the id
}

func (e *WaitError) Error() string {
	message := "mintlify: wait"
	if e.id != "" {
		message += " for " + safetext.Name(e.id, safetext.MaxServiceText)
	}
	message += because(e.Err)
	message += fmt.Sprintf(", after %v and %d polls", e.Waited.Round(time.Millisecond), e.Polls)

	if status := cmp.Or(string(e.Job.Status), string(e.Deployment.Status)); status != "" {
		message += "; last seen " + safetext.Name(status, 40)
	}
	if e.LastErr != nil {
		message += "; last poll" + because(e.LastErr)
	}
	return safetext.OneLine(message, maxMessage)
}

// Unwrap returns what interrupted the wait and the last poll's error.
func (e *WaitError) Unwrap() []error {
	if e.LastErr == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.LastErr}
}

// outcomeUnknownError is an error of a POST after which the service may have acted.
type outcomeUnknownError struct {
	err  error
	hint string // what is known, and what to do
}

func (e *outcomeUnknownError) Error() string {
	return e.err.Error() + "; " + e.hint
}

func (e *outcomeUnknownError) Is(target error) bool { return target == ErrOutcomeUnknown }
func (e *outcomeUnknownError) Unwrap() error        { return e.err }

// sendError is an attempt that brought no response. See the causes in request.go.
type sendError struct {
	sent     sentRequest
	err      error // why no response came
	previous error // of the attempt before, if there was one

	notSent       bool // it is certain that the service got nothing
	final         bool // another attempt at once would not help
	worthRetrying bool // calling again later may help
}

// sentRequest holds what an error says about the request.
type sentRequest struct {
	operation Operation
	url       string // with the method
	attempts  int
}

func (e *sendError) Error() string {
	message := prefix(e.sent.operation) + ": " + safetext.OneLine(e.sent.url, safetext.MaxServiceText) + because(e.err)

	if e.sent.attempts > 1 {
		message += fmt.Sprintf(" [%d attempts]", e.sent.attempts)
	}
	if e.previous != nil {
		message += "; previous attempt: " + strings.TrimPrefix(e.previous.Error(), "mintlify: ")
	}

	return safetext.OneLine(message, maxMessage)
}

// Unwrap returns why no response came, and the attempt before. A 401 that another key has followed lends
// neither its kind nor its type: the new key may be right.
func (e *sendError) Unwrap() []error {
	var before *APIError
	isOutdated := errors.As(e.previous, &before) && status.Of(before.StatusCode).Kind == status.Unauthorized
	if e.previous == nil || isOutdated {
		return []error{e.err}
	}
	return []error{e.err, e.previous}
}

// redactedError is an error of the caller's code whose message contained the key.
type redactedError struct {
	err     error
	message string
}

func (e *redactedError) Error() string { return e.message }
func (e *redactedError) Unwrap() error { return e.err }

func prefix(op Operation) string {
	if op == "" {
		return "mintlify"
	}
	return "mintlify: " + safetext.OneLine(string(op), maxPath)
}

// inBrackets returns the request's method and path for the end of a message: the path shows
// the project's id, and the job's if there is one. It returns "" for a [Client.Call], whose
// operation has both already.
func inBrackets(op Operation, method, path string) string {
	if path == "" || strings.HasSuffix(string(op), " "+path) {
		return ""
	}
	return " [" + strings.TrimSpace(method+" "+safetext.OneLine(path, maxPath)) + "]"
}

// because returns the cause of an error for the end of the message; "" for nil.
func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + safetext.OneLine(strings.TrimPrefix(err.Error(), "mintlify: "), safetext.MaxServiceText)
}

// transportError is an error of the transport, in words that are safe to print. It does not
// match a context's error, although a dialer's timeout does: the caller's context has not ended.
type transportError struct {
	err     error
	message string
}

func (e *transportError) Error() string { return e.message }

func (e *transportError) Is(target error) bool {
	return target != context.DeadlineExceeded && target != context.Canceled && errors.Is(e.err, target)
}

func (e *transportError) As(target any) bool { return errors.As(e.err, target) }

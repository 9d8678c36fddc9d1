package mintlify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
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
	// ErrForbidden matches an [*APIError] of status 403.
	ErrForbidden = errors.New("mintlify: forbidden")
	// ErrNotFound matches an [*APIError] of status 404.
	ErrNotFound = errors.New("mintlify: not found")
	// ErrConflict matches an [*APIError] of status 409.
	ErrConflict = errors.New("mintlify: conflict")
	// ErrRateLimited matches an [*APIError] of status 429.
	ErrRateLimited = errors.New("mintlify: rate limited")
	// ErrServer matches an [*APIError] of any 5xx status.
	ErrServer = errors.New("mintlify: server error")

	// ErrMalformedResponse matches a 2xx answer that is not what the interface
	// promises: a [*ResponseError].
	ErrMalformedResponse = errors.New("mintlify: malformed response")

	// ErrOutcomeUnknown matches every error of [JobsService.Create] and
	// [JobsService.Message] after which the service may have acted on the
	// prompt. Calling again may have it acted on twice.
	ErrOutcomeUnknown = errors.New("mintlify: outcome unknown")

	// ErrJobFailed matches the end of a wait for a job that failed: a
	// [*JobFailedError].
	ErrJobFailed = errors.New("mintlify: job failed")
)

const (
	maxErrorBody = 64 << 10 // bytes of an answer kept in an error
	maxWords     = 300      // bytes of the service's words in a message
	maxMessage   = 800      // bytes of a message; the errors that wrap it add less than 200
)

// ArgumentError is an argument, option or environment variable that the service
// could never accept. Nothing was sent. It matches [ErrInvalidArgument].
type ArgumentError struct {
	Name   string // of the argument: prompt, id, apiKey, MINTLIFY_API_KEY
	Reason string // what is wrong with it, never its value where that may be a key
}

func (e *ArgumentError) Error() string {
	return oneLine("mintlify: "+e.Name+" "+e.Reason, maxMessage)
}

// Is reports whether target is [ErrInvalidArgument].
func (e *ArgumentError) Is(target error) bool { return target == ErrInvalidArgument }

// APIError is an answer whose status is not 2xx. It matches the kind of its
// status, such as [ErrNotFound].
type APIError struct {
	Operation  Operation     // that was tried
	StatusCode int           // of the answer
	Message    string        // the service's words on one line; the start of the body where it is no JSON
	Details    []string      // the service's further messages, if any
	RequestID  string        // the answer's X-Request-Id, if it has one
	RetryAfter time.Duration // how long the service asks to wait; 0 where it does not say
	Attempts   int           // requests sent for this call, this one included
	Method     string        // as sent
	Path       string        // as sent, escaped
	Header     http.Header   // of the answer, the API key blotted out
	Body       []byte        // of the answer, its first 64 KiB, the API key blotted out
}

func (e *APIError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "mintlify: %s: %d %s", e.Operation, e.StatusCode, http.StatusText(e.StatusCode))
	if e.Message != "" && e.Message != http.StatusText(e.StatusCode) {
		b.WriteString(": " + oneLine(e.Message, maxWords))
	}
	if len(e.Details) > 0 {
		b.WriteString(": " + oneLine(strings.Join(e.Details, "; "), maxWords))
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; retry after %v", e.RetryAfter)
	}
	if cause := e.likelyCause(); cause != "" {
		b.WriteString(" (" + cause + ")")
	}
	if e.RequestID != "" {
		b.WriteString(" [request " + oneLine(e.RequestID, 80) + "]")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " [%d tries]", e.Attempts)
	}
	return oneLine(b.String(), maxMessage)
}

func (e *APIError) likelyCause() string {
	switch {
	case e.StatusCode >= 300 && e.StatusCode < 400 && e.Header.Get("Location") != "":
		return "redirects of a POST, to another origin, or without end are not followed: check the base URL"
	case e.StatusCode == http.StatusUnauthorized:
		return "the API key is wrong, revoked or expired; keys expire after 90 days by default"
	case e.StatusCode == http.StatusForbidden:
		return "the API key may lack the scope, read for GET and write for the rest, or its IP allowlist leaves this machine out"
	case e.StatusCode == http.StatusNotFound:
		return "check the job id and the project id, that the API key is of the same organization, and the base URL"
	}
	return ""
}

// Is reports whether target is the kind of e's status.
func (e *APIError) Is(target error) bool {
	switch e.StatusCode {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return target == ErrBadRequest
	case http.StatusUnauthorized:
		return target == ErrUnauthorized
	case http.StatusForbidden:
		return target == ErrForbidden
	case http.StatusNotFound:
		return target == ErrNotFound
	case http.StatusConflict:
		return target == ErrConflict
	case http.StatusTooManyRequests:
		return target == ErrRateLimited
	}
	return e.StatusCode >= 500 && target == ErrServer
}

// ResponseError is a 2xx answer that is not what the interface promises. It
// matches [ErrMalformedResponse].
type ResponseError struct {
	Operation  Operation   // that was tried
	StatusCode int         // of the answer, 2xx
	Reason     string      // what is wrong with the answer
	Header     http.Header // of the answer, the API key blotted out
	Body       []byte      // of the answer, its first 64 KiB, the API key blotted out

	cutOff  error  // why the body ended midway, if it did
	excerpt string // of the body
}

func (e *ResponseError) Error() string {
	message := fmt.Sprintf("mintlify: %s: malformed answer with status %d: %s", e.Operation, e.StatusCode, oneLine(e.Reason, maxWords))
	if e.excerpt != "" {
		message += fmt.Sprintf(" (it begins %q)", e.excerpt)
	}
	return oneLine(message, maxMessage)
}

// Is reports whether target is [ErrMalformedResponse].
func (e *ResponseError) Is(target error) bool { return target == ErrMalformedResponse }

// Unwrap returns the network's error where the answer was cut off midway, else nil.
func (e *ResponseError) Unwrap() error { return e.cutOff }

// PageError is an error in the course of an export. Every row before Offset was
// delivered: go on from there with VisitorsParams.Offset. It matches Err's kinds.
type PageError struct {
	Offset int   // of the page that could not be had
	Err    error // why
}

func (e *PageError) Error() string {
	return oneLine(fmt.Sprintf("mintlify: export stopped at offset %d: %s", e.Offset, strings.TrimPrefix(e.Err.Error(), "mintlify: ")), maxMessage)
}

// Unwrap returns e.Err.
func (e *PageError) Unwrap() error { return e.Err }

// JobFailedError ends a wait for a job that failed. It matches [ErrJobFailed].
type JobFailedError struct {
	Job *Job // as last seen, status failed
}

func (e *JobFailedError) Error() string {
	id := ""
	if e.Job != nil {
		id = " " + e.Job.ID
	}
	return oneLine("mintlify: job"+id+" failed: the agent hit an unrecoverable error", maxMessage)
}

// Is reports whether target is [ErrJobFailed].
func (e *JobFailedError) Is(target error) bool { return target == ErrJobFailed }

// WaitError is a wait cut short by its context or by an outage. The job goes on
// without it: wait again by its id.
type WaitError struct {
	Job     *Job          // as last seen; nil if no poll was answered
	Polls   int           // made
	Waited  time.Duration // since the wait began
	LastErr error         // of the last poll, if it failed by itself
	Err     error         // what cut the wait short: the context's error and cause, or the outage

	id string
}

func (e *WaitError) Error() string {
	message := fmt.Sprintf("mintlify: wait for job %s: %v, after %v and %d polls", oneLine(e.id, maxWords), e.Err, e.Waited.Round(time.Millisecond), e.Polls)
	if e.Job != nil {
		message += "; last seen " + oneLine(string(e.Job.Status), 40)
	}
	if e.LastErr != nil {
		message += "; last poll: " + oneLine(strings.TrimPrefix(e.LastErr.Error(), "mintlify: "), maxWords)
	}
	return oneLine(message, maxMessage)
}

// Unwrap returns what cut the wait short and the last poll's error.
func (e *WaitError) Unwrap() []error {
	if e.LastErr == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.LastErr}
}

// outcomeUnknownError is an error of a POST after which the service may have acted.
type outcomeUnknownError struct {
	err error
}

func (e *outcomeUnknownError) Error() string {
	return e.err.Error() + "; the service may have acted on the prompt, so look before sending it again"
}

func (e *outcomeUnknownError) Is(target error) bool { return target == ErrOutcomeUnknown }
func (e *outcomeUnknownError) Unwrap() error        { return e.err }

// sendError is a try that brought no answer.
type sendError struct {
	operation Operation
	method    string
	url       string
	attempts  int
	err       error // why there is no answer
	previous  error // of the try before, if there was one
	unsent    bool  // it is certain that the service got nothing
	final     bool  // another try would not help
}

func (e *sendError) Error() string {
	message := fmt.Sprintf("mintlify: %s: %s %s: %s", e.operation, e.method, oneLine(e.url, maxWords), oneLine(strings.TrimPrefix(e.err.Error(), "mintlify: "), maxWords))
	if e.attempts > 1 {
		message += fmt.Sprintf(" [%d tries]", e.attempts)
	}
	if e.previous != nil {
		message += "; the try before: " + strings.TrimPrefix(e.previous.Error(), "mintlify: ")
	}
	return oneLine(message, maxMessage)
}

func (e *sendError) Unwrap() []error {
	if e.previous == nil {
		return []error{e.err}
	}
	return []error{e.err, e.previous}
}

// transportError is an error of the transport, in words that are safe to print.
// It never passes for the end of the caller's context: a dialer's timeout does.
type transportError struct {
	err     error
	message string
}

func (e *transportError) Error() string { return e.message }

func (e *transportError) Is(target error) bool {
	return target != context.DeadlineExceeded && target != context.Canceled && errors.Is(e.err, target)
}

func (e *transportError) As(target any) bool { return errors.As(e.err, target) }

// timeoutError is the end of the time that the SDK gives a try. It is a
// net.Error, and not context.DeadlineExceeded: the caller's deadline has not passed.
type timeoutError struct {
	message string
}

func (e *timeoutError) Error() string { return e.message }
func (e *timeoutError) Timeout() bool { return true }

// Temporary completes net.Error.
func (e *timeoutError) Temporary() bool { return true }

// contextError returns the error of a context that has ended, with its cause.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// words are what the service says in the body of an answer. The key is blotted out
// of it before it is cut, or part of the key could stay.
type words struct {
	blot blot
}

// ofError finds the message and the details of an error.
func (w words) ofError(body []byte) (message string, details []string) {
	var answer struct {
		Error   json.RawMessage   `json:"error"`
		Message json.RawMessage   `json:"message"`
		Details []json.RawMessage `json:"details"`
	}
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &answer); err != nil && !errors.As(err, &wrongType) {
		return w.excerpt(body), nil
	}
	for _, raw := range answer.Details[:min(len(answer.Details), 10)] {
		if text := w.message(raw); text != "" {
			details = append(details, text)
		}
	}
	message = w.message(answer.Error)
	if message == "" {
		message = w.message(answer.Message)
	}
	if message == "" && len(details) == 0 {
		message = w.excerpt(body)
	}
	return message, details
}

// message reads a message given as "text" or as {"message": "text"}.
func (w words) message(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return w.line(text)
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return w.line(object.Message)
	}
	return ""
}

// excerpt returns the start of a text body.
func (w words) excerpt(body []byte) string {
	return w.line(string(body[:min(len(body), maxErrorBody)]))
}

// htmlPatterns are compiled when first needed, not in every program that imports the
// package.
var htmlPatterns = sync.OnceValue(func() (p struct{ start, title, code, tag *regexp.Regexp }) {
	p.start = regexp.MustCompile(`(?i)<(?:!doctype|html|head|body|title|meta|style|script|div|center|pre|h[1-6]|p)\b`)
	p.title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	p.code = regexp.MustCompile(`(?is)<(?:style|script)\b.*?</(?:style|script)>`)
	p.tag = regexp.MustCompile(`(?s)<[^>]*(?:>|$)`)
	return p
})

// line returns text on one line, and of an HTML page its title, or else its text.
func (w words) line(text string) string {
	if strings.Contains(text, "<") {
		text = withoutHTML(text)
	}
	return oneLine(w.blot.text(text), maxWords)
}

func withoutHTML(text string) string {
	page := htmlPatterns()
	if !page.start.MatchString(text) {
		return text
	}
	if title := page.title.FindStringSubmatch(text); title != nil {
		text = title[1]
	}
	return html.UnescapeString(page.tag.ReplaceAllString(page.code.ReplaceAllString(text, " "), " "))
}

// oneLine makes text from outside fit for a message: no control or invisible
// characters, white space folded, at most limit bytes.
func oneLine(text string, limit int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 8*limit)], " ") // what is taken out parts what it stood between
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

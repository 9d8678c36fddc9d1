package recording

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// Settings say what to record.
type Settings struct {
	// About begins the recording's own line about how it was made.
	About string
	// Key and ProjectID are the admin key and the project.
	Key, ProjectID string
	// Options are the client's.
	Options []mintlify.Option
	// Transport sends the requests. It must send each at most once.
	Transport http.RoundTripper
	// Terminal is told what the recording does not hold: ids, links and errors.
	Terminal io.Writer

	// JobID is the id of a job that is read, too.
	JobID string
	// Job creates a job with Prompt, and polls it until it ends.
	Job    bool
	Prompt string
	// Message sends a message to the job of JobID or of Job, if it has ended.
	Message bool
	// Preview is a branch to deploy a preview of; "" is none.
	Preview string
	// Update deploys the site.
	Update bool
	// Timeout is how long to wait for an end.
	Timeout time.Duration
}

var errRedirect = errors.New("a redirect, which is not followed")

// recorder sends the requests, one at a time, and keeps the responses. It is the transport of its
// clients.
type recorder struct {
	settings Settings
	options  []mintlify.Option
	client   *mintlify.Client
	asking   *request  // that is being sent
	all      exchanges // in order
}

// exchange is a request, and what came of it.
type exchange struct {
	*request
	notSent string
	status  int // 0: no response came
	header  http.Header
	content []byte
	object  map[string]any // of the content; nil if it is not a JSON object
	err     error          // of the call
	at      time.Time
}

type exchanges []*exchange

// Record sends the requests, until ctx ends. The error is about the settings, or says that nobody is
// there.
func Record(ctx context.Context, s Settings) (*Result, error) {
	r := &recorder{settings: s}
	r.options = append([]mintlify.Option{mintlify.WithMaxRetries(0)}, s.Options...)
	r.options = append(r.options, mintlify.WithHTTPClient(&http.Client{Transport: r}))
	client, err := mintlify.NewClient(s.Key, s.ProjectID, r.options...)
	if err != nil {
		return nil, err
	}
	r.client = client

	for i, q := range readingRequests(s) {
		r.ask(ctx, q)
		if i == 2 && ctx.Err() == nil && !slices.ContainsFunc(r.all, (*exchange).isResponse) {
			return nil, fmt.Errorf("nobody is there: %w", r.all[0].err)
		}
	}
	for _, q := range writingRequests(s) {
		r.ask(ctx, q)
	}
	return newResult(s.About, r.all), nil
}

func (e *exchange) isResponse() bool { return e.status != 0 }

// isGood reports whether a response came that only the service sends.
func (e *exchange) isGood() bool { return e.status/100 == 2 && e.object != nil }

// ask sends a request, and waits for the end of what it makes. It notes why a request is not sent.
func (r *recorder) ask(ctx context.Context, q *request) {
	if why := r.whyNot(ctx, q); why != "" {
		r.all = append(r.all, &exchange{request: q, notSent: why})
		return
	}

	before := len(r.all)
	r.asking = q
	err := r.send(ctx, q)
	if len(r.all) == before { // nothing reached the transport
		r.all = append(r.all, &exchange{request: q})
	}

	sent := r.all[len(r.all)-1]
	sent.err = err
	r.tell(sent)
	if id := sent.id(); id != "" && q.wait != nil {
		r.poll(ctx, q.wait, id)
	}
}

func (r *recorder) whyNot(ctx context.Context, q *request) string {
	if ctx.Err() != nil {
		return "interrupted"
	}

	isLimited := func(e *exchange) bool { return e.status == http.StatusTooManyRequests && e.part() == q.part() }
	switch {
	case slices.ContainsFunc(r.all, isLimited):
		return "a response of 429 before"
	case q.method == http.MethodPost && !slices.ContainsFunc(r.all, (*exchange).isGood):
		return "no good response before"
	case q.prepare != nil:
		return q.prepare(r, q)
	}
	return ""
}

func (r *recorder) send(ctx context.Context, q *request) error {
	client := r.client
	if q.key != "" {
		other, err := mintlify.NewClient(q.key, r.settings.ProjectID, r.options...)
		if err != nil {
			return err
		}
		client = other
	}

	return client.Call(ctx, mintlify.CallParams{
		Method: cmp.Or(q.method, http.MethodGet),
		Path:   q.target(client.ProjectID()),
		Query:  q.query,
		Body:   q.body,
	}, nil)
}

// poll polls a job or a deployment until its end, as the SDK does.
func (r *recorder) poll(ctx context.Context, q *request, id string) {
	fmt.Fprintf(r.settings.Terminal, "Waiting up to %v for its end.\n", r.settings.Timeout)
	ctx, cancel := context.WithTimeout(ctx, r.settings.Timeout)
	defer cancel()
	q.id = id
	r.asking = q

	var err error
	switch {
	case q.label == pollsOfMessage: // the end from before it may be reported for a while
		_, err = r.client.Jobs.WaitUntilDone(ctx, id, mintlify.WithSettleTime(5*time.Minute))
	case q.path == jobPath:
		_, err = r.client.Jobs.WaitUntilDone(ctx, id)
	default:
		_, err = r.client.Deployments.WaitUntilDone(ctx, id)
	}

	last := r.all[len(r.all)-1]
	last.err = err
	r.tell(last)
}

// RoundTrip implements [http.RoundTripper].
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Response != nil { // the redirect that req follows
		return nil, errRedirect
	}

	e := &exchange{request: r.asking, at: time.Now()}
	resp, err := r.settings.Transport.RoundTrip(req)
	if err != nil {
		r.keep(req, e)
		return nil, err
	}

	e.status = resp.StatusCode
	e.header = resp.Header.Clone()
	e.content, err = io.ReadAll(io.LimitReader(resp.Body, 16<<20)) // more than the SDK reads
	resp.Body.Close()
	r.keep(req, e)

	if err != nil {
		return nil, err
	}
	_ = json.Unmarshal(e.content, &e.object)
	resp.Body = io.NopCloser(bytes.NewReader(e.content))
	return resp, nil
}

// keep keeps an exchange, unless it is a poll that the end of the wait has interrupted.
func (r *recorder) keep(req *http.Request, e *exchange) {
	if e.status == 0 && e.polls && req.Context().Err() != nil {
		return
	}
	r.all = append(r.all, e)
}

// last returns the last exchange with a label; an empty one if there is none.
func (all exchanges) last(label string) *exchange {
	found := &exchange{request: &request{}}
	for _, e := range all {
		if e.label == label {
			found = e
		}
	}
	return found
}

// tell says on the terminal what the recording does not hold.
func (r *recorder) tell(e *exchange) {
	say := func(text string) {
		fmt.Fprintf(r.settings.Terminal, "%s: %s\n", e.label, safetext.OneLine(text, 1000))
	}

	if e.err != nil && (e.status == 0 || e.leaves != "" || e.polls) {
		say(e.err.Error())
	}
	if id := e.id(); id != "" && e.leaves != "" {
		say("its id is " + id + ": " + e.leaves)
	}
	if link := e.text("prLink"); link != "" && e.polls {
		say("its pull request is " + link)
	}
	if e.isUncertain() {
		say("the service may have acted, and no id came. Perhaps " + e.leaves)
	}
}

// isUncertain reports whether a POST may have made something whose id is unknown.
func (e *exchange) isUncertain() bool {
	isUnknown := errors.Is(e.err, mintlify.ErrOutcomeUnknown) || e.status/100 == 2
	return e.leaves != "" && isUnknown && e.id() == ""
}

// id returns the id of what a POST has made; "" if there is none.
func (e *exchange) id() string {
	if e.method != http.MethodPost || e.status/100 != 2 {
		return ""
	}
	return cmp.Or(e.text("id"), e.text("statusId"))
}

// text returns a text of the response; "" if there is none.
func (e *exchange) text(name string) string {
	text, _ := e.object[name].(string)
	return text
}

// rows returns the rows of a page.
func (e *exchange) rows() []map[string]any {
	var rows []map[string]any
	for _, field := range e.object {
		values, _ := field.([]any)
		for _, value := range values {
			row, _ := value.(map[string]any)
			rows = append(rows, row)
		}
	}
	return rows
}

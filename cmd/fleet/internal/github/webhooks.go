// Package github turns GitHub's webhooks into prompts and messages, looks for pull requests, and comments on them.
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-github/v92/github"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// HandlerTime is how long a response may take. GitHub gives up after 10 s.
const HandlerTime = 8 * time.Second

const (
	// MaxEvent is how many bytes a delivery may have.
	MaxEvent = 2 << 20

	maxBodies = 4 // in memory at once

	lookUpTime = HandlerTime / 2 // of a job, while GitHub waits
	bodyTime   = 2 * time.Second // to read a body
)

// Webhooks takes GitHub's webhooks.
type Webhooks struct {
	Queue    queue.Queue
	API      *API // nil: without a token
	secret   []byte
	projects atomic.Pointer[Projects]
	skip     Authors
	priority int
	bodies   chan struct{} // one for each body in memory

	// Counts counts webhooks by event and status.
	Counts *prometheus.CounterVec

	// LookUp looks up the job of a record.
	LookUp func(ctx context.Context, key string) error
}

// NewWebhooks returns webhooks for a worker's queue.
func NewWebhooks(w *queue.Worker, secret string, known Projects, skip Authors, priority int) *Webhooks {
	h := &Webhooks{
		Queue:    w.Queue,
		Counts:   newCounts(),
		secret:   []byte(secret),
		skip:     skip,
		priority: priority,
		bodies:   make(chan struct{}, maxBodies),
		LookUp:   w.LookUp,
	}
	h.SetProjects(known)
	return h
}

// newCounts returns the counter of webhooks, with the series that alerts need from the start.
func newCounts() *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fleet_webhooks_total",
		Help: "Webhooks that this process has responded to. The event is other until the signature is proved.",
	}, []string{"event", "status"})

	for _, event := range []string{"push", "pull_request", "issue_comment", "ping", "other"} {
		for _, status := range []string{"200", "202", "401", "500", "503"} {
			counts.WithLabelValues(event, status)
		}
	}
	return counts
}

// SetProjects replaces the projects that document repositories.
func (h *Webhooks) SetProjects(known Projects) { h.projects.Store(&known) }

// LeftOutRepositories returns the repositories that are left out: the documentation's.
func (h *Webhooks) LeftOutRepositories() []string {
	var names []string
	for name, project := range *h.projects.Load() {
		if name != "" && project == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Docs returns the repositories of the documentation.
func (h *Webhooks) Docs() Docs {
	return Docs{Queue: h.Queue, API: h.API, LeftOut: h.LeftOutRepositories}
}

// response is what GitHub shows as the response to a delivery.
type response struct {
	Status int
	Text   string
	Reason string // why the event is left out; "" if it is not
	About  Merge  // what the log says it is about; the zero value if nothing is known
	Event  string // push, pull_request, issue_comment, ping or other; "" before the signature is proved
	isKept bool   // fleet show says why it was left out
}

// refused is the response to a delivery that somebody has to fix or to deliver again.
func refused(status int, text string) response { return response{Status: status, Text: text} }

// accepted is the response to a delivery that leads to a prompt.
func accepted(text string) response { return response{Status: http.StatusAccepted, Text: text} }

// leftOut is the response to an event that asks for nothing.
func leftOut(reason string) response {
	return response{Status: http.StatusOK, Text: "nothing to do: " + reason, Reason: reason}
}

// keptOut is the response to an event of which fleet show says why it is left out.
func keptOut(reason string) response {
	resp := leftOut(reason)
	resp.isKept = true
	return resp
}

// Handler takes deliveries at /github.
func (h *Webhooks) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /github", func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), HandlerTime)
		defer cancel()

		resp := h.receive(rw, r.WithContext(ctx))
		h.Counts.WithLabelValues(cmp.Or(resp.Event, "other"), strconv.Itoa(resp.Status)).Inc()
		h.log(r, resp)
		http.Error(rw, resp.Text, resp.Status)
	})
	return mux
}

func (h *Webhooks) log(r *http.Request, resp response) {
	logger := h.Queue.Logger
	level := slog.LevelInfo
	switch {
	case resp.Status >= 500:
		logger = h.Queue.Calm
		level = slog.LevelError
	case resp.Status == http.StatusUnauthorized: // a rotated secret would lose each merge in silence
		level = slog.LevelWarn
	}

	logger.Log(r.Context(), level, "webhook",
		"status", resp.Status,
		"delivery", redact.OneLine(github.DeliveryID(r), 80),
		"event", redact.OneLine(github.WebHookType(r), 80),
		"repository", redact.OneLine(resp.About.Repository, 150),
		"sha", redact.OneLine(resp.About.SHA, 80),
		"number", resp.About.Pulls,
		"response", resp.Text,
		"reason", redact.OneLine(resp.Reason, 200))
}

// receive responds with 202 once a merge is stored, and with 200 to an event that asks for nothing.
func (h *Webhooks) receive(rw http.ResponseWriter, r *http.Request) response {
	signature := r.Header.Get(github.SHA256SignatureHeader)
	if !strings.HasPrefix(signature, "sha256=") {
		return refused(http.StatusUnauthorized, "no SHA-256 signature: set the webhook's secret")
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind != "application/json" {
		return refused(http.StatusUnsupportedMediaType, "set the webhook's content type to application/json")
	}

	select {
	case h.bodies <- struct{}{}:
		defer func() { <-h.bodies }()
	case <-r.Context().Done():
		return refused(http.StatusServiceUnavailable, "too much at once: deliver it again")
	}

	body, err := h.readBody(rw, r, kind, signature)
	if err != nil {
		return refusedBody(err)
	}

	if err := h.Queue.CheckVersion(r.Context()); err != nil {
		return h.notStored(err)
	}
	event, err := github.ParseWebHook(github.WebHookType(r), body)
	if err != nil {
		return refused(http.StatusBadRequest, "not an event of GitHub: "+redact.OneLine(err.Error(), 200))
	}

	resp := h.act(r.Context(), event)
	resp.Event = nameOf(event)
	return resp
}

func (h *Webhooks) notStored(err error) response {
	h.Queue.Calm.Error("a webhook could not be stored", "error", err)
	return refused(http.StatusServiceUnavailable, "not stored: deliver it again")
}

// readBody reads a body and proves its signature. A client that sends slowly must not keep a place from others.
func (h *Webhooks) readBody(rw http.ResponseWriter, r *http.Request, kind, signature string) ([]byte, error) {
	deadlines := http.NewResponseController(rw)
	if err := deadlines.SetReadDeadline(time.Now().Add(bodyTime)); err == nil {
		defer deadlines.SetReadDeadline(time.Time{}) //nolint:errcheck // it has just worked
	}
	return github.ValidatePayloadFromBody(kind, http.MaxBytesReader(rw, r.Body, MaxEvent), signature, h.secret)
}

// refusedBody is the response to a body that could not be read, or that the signature does not prove.
func refusedBody(err error) response {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return refused(http.StatusRequestEntityTooLarge, "the event is larger than 2 MiB")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refused(http.StatusRequestTimeout, "the body took longer than 2 s: deliver it again")
	}
	return refused(http.StatusUnauthorized, "the signature is not of this body and this server's secret")
}

func nameOf(event any) string {
	switch event.(type) {
	case *github.PushEvent:
		return "push"
	case *github.PullRequestEvent:
		return "pull_request"
	case *github.IssueCommentEvent:
		return "issue_comment"
	case *github.PingEvent:
		return "ping"
	}
	return "other"
}

func (h *Webhooks) act(ctx context.Context, event any) response {
	noted := ""
	switch e := event.(type) {
	case *github.IssueCommentEvent:
		return h.Review(ctx, e)
	case *github.PullRequestEvent:
		var err error
		if noted, err = h.sight(ctx, e); err != nil {
			return h.notStored(err)
		}
	}

	m, why, err := h.mergeOf(ctx, event)
	if err != nil {
		return h.notStored(err)
	}

	var resp response
	switch {
	case why == "":
		resp = h.Enqueue(ctx, m)
	case noted != "" && !m.isMerged:
		resp = response{Status: http.StatusOK, Text: "noted: it is the pull request of " + noted}
	default:
		resp = h.leaveOut(ctx, m, why)
	}

	resp.About = m
	if resp.isKept {
		h.keepLeftOut(ctx, m, resp.Reason)
	}
	return resp
}

// mergeOf returns the merge that an event reports, or why there is none. A push is left out if its pull request has
// said so before, and a pull request if its push has.
func (h *Webhooks) mergeOf(ctx context.Context, event any) (Merge, string, error) {
	m, why := h.skip.mergeOf(event)
	if !m.isMerged || why != "" || len(m.Pulls) > 1 {
		return m, why, nil
	}

	saysNone, err := h.Queue.WasLeftOut(ctx, m.Repository, m.SHA, merges.None)
	if saysNone {
		why = merges.None
	}
	return m, why, err
}

// sight notes a pull request of the agent's, which may be that of an unknown prompt. It returns the prompt's key, ""
// if it notes nothing.
func (h *Webhooks) sight(ctx context.Context, e *github.PullRequestEvent) (string, error) {
	pr := e.GetPullRequest()
	repository := e.GetRepo().GetFullName()
	isNews := slices.Contains([]string{"opened", "edited", "closed"}, e.GetAction())
	key, found := once.FindMarker(pr.GetBody())
	if !isNews || !found || isFork(pr, repository) {
		return "", nil
	}

	key = database.FoldCase(key)
	isNoted, err := h.Docs().note(ctx, sighting{
		key:        key,
		repository: repository,
		link:       pr.GetHTMLURL(),
		author:     pr.GetUser().GetLogin(),
		opened:     pr.GetCreatedAt().Time,
	})
	if err != nil || !isNoted {
		return "", err
	}
	return key, nil
}

// leaveOut leaves out an event. It cancels the prompt of a merge whose pull request says that it needs none, since
// its push may have come before, unless that is too late. It leaves the prompt of a push with other pull requests.
func (h *Webhooks) leaveOut(ctx context.Context, m Merge, why string) response {
	resp := leftOut(why)
	resp.isKept = m.isMerged
	if why != merges.None || !m.isMerged {
		return resp
	}

	err := h.cancelUnlessShared(ctx, m)
	var refused *once.StateError
	switch {
	case errors.As(err, &refused) && refused.State != once.Canceled:
		return leftOut(fmt.Sprintf("%s came too late: %s is %s", why, refused.Key, database.NameOf(refused.State)))
	case err != nil && refused == nil:
		h.Queue.Calm.Warn("a prompt could not be canceled", "sha", m.SHA, "error", err)
	}
	return resp
}

func (h *Webhooks) cancelUnlessShared(ctx context.Context, m Merge) error {
	key, err := keyOf(ctx, h.Queue, m)
	if err != nil {
		return err
	}
	rows, err := h.Queue.Rows(ctx, "key = $1", key)
	if err != nil || len(rows) == 0 || rows[0].Pulls != "" && rows[0].Pulls != m.pulls() {
		return err
	}

	_, err = h.Queue.Runner(nil, h.Queue.DB).Cancel(ctx, key)
	return err
}

func (h *Webhooks) keepLeftOut(ctx context.Context, m Merge, reason string) {
	pulls := strings.Fields(m.pulls())
	if len(pulls) == 0 {
		pulls = []string{""}
	}

	for _, pull := range pulls {
		err := h.Queue.KeepLeftOut(ctx, database.LeftOut{
			Kind:       "merge",
			Repository: redact.OneLine(m.Repository, 150),
			SHA:        redact.OneLine(m.SHA, 80),
			Pull:       pull,
			Author:     redact.OneLine(strings.Join(m.authors, " "), 1000),
			Reason:     redact.OneLine(reason, 200),
		})

		if err != nil {
			h.Queue.Calm.Warn("what is left out could not be stored", "error", err)
		}
	}
}

// Enqueue stores a merge, if a project documents its repository.
func (h *Webhooks) Enqueue(ctx context.Context, m Merge) response {
	project, known := h.projects.Load().Of(m.Repository)
	if !known {
		reason := "no project documents this repository: see fleet serve -project"
		return response{Status: http.StatusUnprocessableEntity, Text: reason, Reason: reason, isKept: true}
	}

	if project == "" {
		return keptOut("the repository is left out")
	}

	p, err := m.Prompt(project, h.priority)
	if err != nil {
		return refused(http.StatusBadRequest, err.Error())
	}

	added, err := addMerge(ctx, h.Queue, &p, m)
	if err != nil {
		return h.notStored(err)
	}
	if !added {
		return accepted("known already: " + p.Key)
	}
	return accepted("enqueued: " + p.Key)
}

// Review stores a new comment, and makes it a follow-up if the link of the job's pull request is known. It has one
// that was edited or deleted be sent as it is now, or not at all.
func (h *Webhooks) Review(ctx context.Context, e *github.IssueCommentEvent) response {
	r, why := reviewOf(e, h.API != nil)
	resp := h.actOnReview(ctx, e, r, why)
	resp.About = Merge{Repository: e.GetRepo().GetFullName(), Pulls: []int{e.GetIssue().GetNumber()}}
	if resp.isKept {
		h.Docs().leaveOut(ctx, r, resp.Reason)
	}
	return resp
}

func (h *Webhooks) actOnReview(ctx context.Context, e *github.IssueCommentEvent, r Review, why string) response {
	action := e.GetAction()
	switch action {
	case "created":
		if why == "" {
			return h.takeReview(ctx, e, r)
		}

	case "edited", "deleted":
		if resp := h.amendReview(ctx, r, action); resp.Status > 0 {
			return resp
		}
		why = cmp.Or(why, "it was edited, and only a new one counts")
	default:
		return leftOut("the comment is not new")
	}

	resp := leftOut(why)
	resp.isKept = action != "deleted" && meantForm.MatchString(e.GetComment().GetBody())
	return resp
}

func (h *Webhooks) takeReview(ctx context.Context, e *github.IssueCommentEvent, r Review) response {
	_, err := r.prompt()
	if e.GetIssue().GetState() == "closed" {
		err = errors.New("the pull request is closed")
	}

	if err != nil {
		if r.MayAsk {
			h.Docs().reactTo(ctx, r, decision{reason: err.Error()})
		}
		return keptOut(err.Error())
	}

	if r.MayAsk { // so the pull request that it names is the agent's
		h.sightReviewed(ctx, e, r)
	}
	if err := h.Docs().KeepReview(ctx, r); err != nil {
		return h.notStored(err)
	}

	looking, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	if err := h.LookUp(looking, r.Key); err != nil {
		h.Queue.Calm.Warn("a job could not be looked up", "key", r.Key, "error", err)
	}
	return h.decide(ctx, r)
}

// decide decides about a review that is kept. If a newer fleet has changed the tables meanwhile, it stays, and GitHub
// may deliver it again.
func (h *Webhooks) decide(ctx context.Context, r Review) response {
	d, err := h.Docs().decideUpTo(ctx, r)
	if errors.Is(err, database.ErrNewer) {
		return h.notStored(err)
	}
	if err != nil { // the next pass of a worker decides
		h.Queue.Calm.Warn("comments could not be decided about yet", "key", r.Key, "error", err)
	}

	switch {
	case d.waits:
		return accepted("noted until it can be decided about: " + r.FollowUp())
	case d.reason != "":
		return leftOut(d.reason)
	}
	return accepted("enqueued: " + r.FollowUp())
}

// amendReview changes or cancels what waits. It returns no response if fleet knows no such comment.
func (h *Webhooks) amendReview(ctx context.Context, r Review, action string) response {
	isKnown, late, err := h.Docs().amend(ctx, r)
	if usage.Is(err) && !errors.Is(err, database.ErrNewer) {
		late = err.Error()
		err = nil
	}
	if err != nil {
		return h.notStored(err)
	}

	switch {
	case late != "":
		return keptOut(fmt.Sprintf("it was %s too late: %s", action, late))
	case !isKnown:
		return response{}
	case r.Text == "":
		return response{Status: http.StatusOK, Text: "not sent: " + r.FollowUp()}
	}
	return response{Status: http.StatusOK, Text: "changed: " + r.FollowUp()}
}

// sightReviewed notes the pull request that a review is on, which may be that of an unknown prompt.
func (h *Webhooks) sightReviewed(ctx context.Context, e *github.IssueCommentEvent, r Review) {
	_, err := h.Docs().note(ctx, sighting{
		key:        r.Key,
		repository: e.GetRepo().GetFullName(),
		link:       r.URL,
		author:     e.GetIssue().GetUser().GetLogin(),
		opened:     e.GetIssue().GetCreatedAt().Time,
	})
	if err != nil {
		h.Queue.Calm.Warn("a pull request of the agent's could not be noted", "key", r.Key, "error", err)
	}
}

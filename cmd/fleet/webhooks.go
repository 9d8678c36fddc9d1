package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/internal/redact"
)

const (
	maxEvent  = 2 << 20 // bytes
	maxBodies = 4       // in memory at once

	lookUpTime = handlerTime / 2 // of a job, while GitHub waits
)

// webhooks takes GitHub's webhooks.
type webhooks struct {
	store    store
	secret   []byte
	projects projects
	skip     authors
	priority int
	bodies   chan struct{} // one for each body in memory

	// lookUp looks up the job of a record.
	lookUp func(ctx context.Context, key string) error
}

// newWebhooks returns the webhooks that the flags of p describe.
func (p *program) newWebhooks(w *worker, secret string) *webhooks {
	return &webhooks{
		store:    w.store,
		secret:   []byte(secret),
		projects: p.projects,
		skip:     p.skip,
		priority: p.prompt.Priority,
		bodies:   make(chan struct{}, maxBodies),
		lookUp:   w.lookUp,
	}
}

// response is what GitHub shows as the response to a delivery.
type response struct {
	status int
	text   string
	reason string // why the event is left out; "" if it is not
	about  merge  // what the log says it is about; the zero value if nothing is known
}

// refused is the response to a delivery that somebody has to fix or to deliver again.
func refused(status int, text string) response { return response{status: status, text: text} }

// leftOut is the response to an event that asks for nothing.
func leftOut(reason string) response {
	return response{status: http.StatusOK, text: "nothing to do: " + reason, reason: reason}
}

func (h *webhooks) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /github", func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), handlerTime)
		defer cancel()

		resp := h.receive(rw, r.WithContext(ctx))
		h.log(r, resp)
		http.Error(rw, resp.text, resp.status)
	})
	return mux
}

func (h *webhooks) log(r *http.Request, resp response) {
	logger := h.store.logger
	level := slog.LevelInfo
	if resp.status >= 500 {
		logger = h.store.calm
		level = slog.LevelError
	}

	attributes := []any{
		"status", resp.status,
		"delivery", redact.OneLine(github.DeliveryID(r), 80),
		"event", redact.OneLine(github.WebHookType(r), 80),
		"response", resp.text,
	}
	if resp.about.Repository != "" {
		attributes = append(attributes,
			"repository", redact.OneLine(resp.about.Repository, 150),
			"sha", redact.OneLine(resp.about.SHA, 80),
			"number", resp.about.Pulls)
	}
	if resp.reason != "" {
		attributes = append(attributes, "reason", redact.OneLine(resp.reason, 200))
	}
	logger.Log(r.Context(), level, "webhook", attributes...)
}

// receive responds with 202 once a merge is stored, and with 200 to an event that asks for nothing.
func (h *webhooks) receive(rw http.ResponseWriter, r *http.Request) response {
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

	body, err := github.ValidatePayloadFromBody(kind, http.MaxBytesReader(rw, r.Body, maxEvent), signature, h.secret)
	if errors.As(err, new(*http.MaxBytesError)) {
		return refused(http.StatusRequestEntityTooLarge, "the event is larger than 2 MiB")
	}
	if err != nil {
		return refused(http.StatusUnauthorized, "the signature is not of this body and this server's secret")
	}

	event, err := github.ParseWebHook(github.WebHookType(r), body)
	if err != nil {
		return refused(http.StatusBadRequest, "not an event of GitHub: "+redact.OneLine(err.Error(), 200))
	}
	return h.act(r.Context(), event)
}

// act does what an event asks for.
func (h *webhooks) act(ctx context.Context, event any) response {
	if e, isComment := event.(*github.IssueCommentEvent); isComment {
		return h.review(ctx, e)
	}

	m, why := h.skip.mergeOf(event)
	resp := leftOut(why)
	if why == "" {
		resp = h.enqueue(ctx, m)
	}
	resp.about = m
	return resp
}

// enqueue stores a merge, if a project documents its repository.
func (h *webhooks) enqueue(ctx context.Context, m merge) response {
	project, known := h.projects.of(m.Repository)
	if !known {
		reason := "no project documents this repository: see fleet serve -project"
		return response{status: http.StatusUnprocessableEntity, text: reason, reason: reason}
	}
	if project == "" {
		return leftOut("the repository is left out")
	}

	p, err := m.prompt(project, h.priority)
	if err != nil {
		return refused(http.StatusBadRequest, err.Error())
	}

	added, err := h.store.addMerge(ctx, &p, m)
	if err != nil {
		h.store.calm.Error("a merge could not be stored", "key", p.Key, "error", err)
		return refused(http.StatusServiceUnavailable, "not stored: deliver it again")
	}
	if !added {
		return response{status: http.StatusAccepted, text: "known already: " + p.Key}
	}
	return response{status: http.StatusAccepted, text: "enqueued: " + p.Key}
}

// review stores a comment, and makes it a follow-up if the link of the job's pull request is known.
func (h *webhooks) review(ctx context.Context, e *github.IssueCommentEvent) response {
	r, why := reviewOf(e)
	resp := leftOut(why)
	if why == "" {
		resp = h.takeReview(ctx, r)
	}
	resp.about = merge{Repository: e.GetRepo().GetFullName(), Pulls: []int{e.GetIssue().GetNumber()}}
	return resp
}

func (h *webhooks) takeReview(ctx context.Context, r review) response {
	if _, err := r.prompt(h.priority); err != nil {
		return leftOut("it cannot be sent: " + err.Error())
	}

	if err := h.store.keepReview(ctx, r); err != nil {
		h.store.calm.Error("a comment could not be stored", "key", r.Key, "error", err)
		return refused(http.StatusServiceUnavailable, "not stored: deliver it again")
	}
	looking, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	if err := h.lookUp(looking, r.Key); err != nil {
		h.store.calm.Warn("a job could not be looked up", "key", r.Key, "error", err)
	}

	standing, err := h.store.decideReview(ctx, r, h.priority)
	switch {
	case err != nil: // the next pass of a worker decides
		h.store.calm.Warn("a comment could not be decided about yet", "key", r.Key, "error", err)
	case standing == isForeign:
		return leftOut("the record of " + r.Key + " has another pull request, or none")
	case standing == isUnfit:
		return leftOut("fleet has no prompt of the key " + r.Key)
	case standing == isKnown:
		return response{status: http.StatusAccepted, text: "known already: " + r.key()}
	case standing == isForJob:
		return response{status: http.StatusAccepted, text: "enqueued: " + r.key()}
	}
	return response{status: http.StatusAccepted, text: "noted until the job's pull request is known: " + r.key()}
}

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
)

// webhooks takes GitHub's webhooks.
type webhooks struct {
	store    store
	secret   []byte
	projects projects
	skip     authors
	priority int
	bodies   chan struct{} // one for each body in memory
}

func newWebhooks(s store, secret string, known projects, skip authors, priority int) *webhooks {
	return &webhooks{
		store:    s,
		secret:   []byte(secret),
		projects: known,
		skip:     skip,
		priority: priority,
		bodies:   make(chan struct{}, maxBodies),
	}
}

// response is what GitHub shows as the response to a delivery.
type response struct {
	status int
	text   string
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

	logger.Log(r.Context(), level, "webhook",
		"status", resp.status,
		"delivery", redact.OneLine(github.DeliveryID(r), 80),
		"event", redact.OneLine(github.WebHookType(r), 80),
		"response", resp.text)
}

// receive responds with 202 once a merge is stored, and with 200 to an event that asks for nothing.
func (h *webhooks) receive(rw http.ResponseWriter, r *http.Request) response {
	signature := r.Header.Get(github.SHA256SignatureHeader)
	if !strings.HasPrefix(signature, "sha256=") {
		return response{http.StatusUnauthorized, "no SHA-256 signature: set the webhook's secret"}
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind != "application/json" {
		return response{http.StatusUnsupportedMediaType, "set the webhook's content type to application/json"}
	}

	select {
	case h.bodies <- struct{}{}:
		defer func() { <-h.bodies }()
	case <-r.Context().Done():
		return response{http.StatusServiceUnavailable, "too much at once: deliver it again"}
	}

	body, err := github.ValidatePayloadFromBody(kind, http.MaxBytesReader(rw, r.Body, maxEvent), signature, h.secret)
	if errors.As(err, new(*http.MaxBytesError)) {
		return response{http.StatusRequestEntityTooLarge, "the event is larger than 2 MiB"}
	}
	if err != nil {
		return response{http.StatusUnauthorized, "the signature is not of this body and this server's secret"}
	}

	event, err := github.ParseWebHook(github.WebHookType(r), body)
	if err != nil {
		return response{http.StatusBadRequest, "not an event of GitHub: " + redact.OneLine(err.Error(), 200)}
	}
	return h.act(r.Context(), event)
}

// act does what an event asks for.
func (h *webhooks) act(ctx context.Context, event any) response {
	m, why := h.skip.mergeOf(event)
	if why != "" {
		return response{http.StatusOK, "nothing to do: " + why}
	}

	return h.enqueue(ctx, m)
}

// enqueue stores a merge, if a project documents its repository.
func (h *webhooks) enqueue(ctx context.Context, m merge) response {
	project, known := h.projects.of(m.Repository)
	if !known {
		return response{http.StatusUnprocessableEntity, "no project documents this repository: see fleet serve -project"}
	}
	if project == "" {
		return response{http.StatusOK, "nothing to do: the repository is left out"}
	}

	p, err := m.prompt(project, h.priority)
	if err != nil {
		return response{http.StatusBadRequest, err.Error()}
	}

	added, err := h.store.addMerge(ctx, &p, m)
	if err != nil {
		h.store.calm.Error("a merge could not be stored", "key", p.Key, "error", err)
		return response{http.StatusServiceUnavailable, "not stored: deliver it again"}
	}
	if !added {
		return response{http.StatusAccepted, "known already: " + p.Key}
	}
	return response{http.StatusAccepted, "enqueued: " + p.Key}
}

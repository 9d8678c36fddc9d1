package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"
	"golang.org/x/sync/errgroup"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/internal/redact"
)

const (
	maxEvent    = 2 << 20         // bytes
	maxBodies   = 4               // in memory at once
	handlerTime = 8 * time.Second // GitHub gives up after 10 s
)

// projects says which of the service's projects documents a repository.
type projects struct {
	byRepository map[string]string // "" leaves the repository out
	rest         string            // of all other repositories; "" for none
}

// set takes owner/repo=project, owner/repo=, or a project for all other repositories.
func (p *projects) set(text string) error {
	repository, project, found := strings.Cut(text, "=")
	if !found {
		repository, project = "", text
	}
	if found && !isRepository(repository) {
		return errors.New("want owner/repo=project, or a project for all other repositories")
	}
	if project != "" || !found {
		if _, err := mintlify.NewClient("any-key", project); err != nil {
			return err
		}
	}
	if !found {
		p.rest = project
		return nil
	}
	p.byRepository[strings.ToLower(repository)] = project
	return nil
}

// of returns the project of a repository. known: it is "" on purpose.
func (p *projects) of(repository string) (project string, known bool) {
	if project, known = p.byRepository[strings.ToLower(repository)]; known {
		return project, true
	}
	return p.rest, p.rest != ""
}

// webhooks takes GitHub's webhooks.
type webhooks struct {
	secret   []byte
	projects projects
	skip     authors
	priority int
	store    store
	bodies   chan struct{} // one for each body in memory
}

func (h *webhooks) handler() http.Handler {
	h.bodies = make(chan struct{}, maxBodies)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /github", func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), handlerTime)
		defer cancel()
		status, text := h.receive(rw, r.WithContext(ctx))
		logger, level := h.store.logger, slog.LevelInfo
		if status >= 500 {
			logger, level = h.store.calm, slog.LevelError
		}
		logger.Log(ctx, level, "webhook", "status", status, "delivery", redact.OneLine(github.DeliveryID(r), 80), "event", redact.OneLine(github.WebHookType(r), 80), "response", text)
		http.Error(rw, text, status)
	})
	return mux
}

// receive returns 202 once a merge is stored, and 200 for an event that asks for nothing.
func (h *webhooks) receive(rw http.ResponseWriter, r *http.Request) (status int, text string) {
	signature, found := strings.CutPrefix(r.Header.Get(github.SHA256SignatureHeader), "sha256=")
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) //nolint:errcheck // then it is none
	switch {
	case !found:
		return http.StatusUnauthorized, "no SHA-256 signature: set the webhook's secret"
	case kind != "application/json":
		return http.StatusUnsupportedMediaType, "set the webhook's content type to application/json"
	case r.ContentLength > maxEvent:
		return http.StatusRequestEntityTooLarge, "the event is larger than 2 MiB"
	}
	select {
	case h.bodies <- struct{}{}:
		defer func() { <-h.bodies }()
	case <-r.Context().Done():
		return http.StatusServiceUnavailable, "too much at once: deliver it again"
	}
	var body bytes.Buffer
	mac := hmac.New(sha256.New, h.secret)
	_, err := io.Copy(io.MultiWriter(&body, mac), http.MaxBytesReader(rw, r.Body, maxEvent))
	if errors.As(err, new(*http.MaxBytesError)) {
		return http.StatusRequestEntityTooLarge, "the event is larger than 2 MiB"
	}
	sum, hexErr := hex.DecodeString(signature)
	if err != nil || hexErr != nil || !hmac.Equal(sum, mac.Sum(nil)) {
		return http.StatusUnauthorized, "the signature is not of this body and this server's secret"
	}
	event, err := github.ParseWebHook(github.WebHookType(r), body.Bytes())
	if err != nil {
		return http.StatusBadRequest, "not an event of GitHub: " + redact.OneLine(err.Error(), 200)
	}
	m, why := h.skip.mergeOf(event)
	if why != "" {
		return http.StatusOK, "nothing to do: " + why
	}
	return h.enqueue(r.Context(), m)
}

func (h *webhooks) enqueue(ctx context.Context, m merge) (status int, text string) {
	project, known := h.projects.of(m.Repository)
	switch {
	case !known:
		return http.StatusUnprocessableEntity, "no project documents this repository: see fleet serve -project"
	case project == "":
		return http.StatusOK, "nothing to do: the repository is left out"
	}
	p, err := m.prompt(project, h.priority)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	own := p.Key
	if p.Key, err = h.store.pushedWith(ctx, m); err == nil && p.Key != own {
		p.commits = nil
	}
	added := 0
	if err == nil {
		added, err = h.store.add(ctx, p)
	}
	if err == nil && added == 0 {
		err = h.store.describe(ctx, p.Key, m)
	}
	switch {
	case err != nil:
		h.store.calm.Error("a merge could not be stored", "key", p.Key, "error", err)
		return http.StatusServiceUnavailable, "not stored: deliver it again"
	case added == 0:
		return http.StatusAccepted, "known already: " + p.Key
	}
	return http.StatusAccepted, "enqueued: " + p.Key
}

// serveAndWork serves and works until ctx ends, or one of them fails. It goes on serving
// until the POSTs in progress have ended: GitHub delivers no webhook again by itself.
func serveAndWork(ctx context.Context, servers map[net.Listener]http.Handler, work func(context.Context) error) error {
	all, ctx := errgroup.WithContext(ctx)
	worked := make(chan struct{})
	all.Go(func() error {
		defer close(worked)
		return work(ctx)
	})
	for listener, handler := range servers {
		server := &http.Server{Handler: handler, ReadTimeout: handlerTime, WriteTimeout: 2 * handlerTime, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
		all.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve: %w", err)
			}
			return nil
		})
		all.Go(func() error {
			<-worked
			shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), handlerTime)
			defer cancel()
			return server.Shutdown(shutdown)
		})
	}
	return all.Wait()
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

const (
	maxEvent    = 2 << 20         // bytes
	maxBodies   = 4               // in memory at once
	handlerTime = 8 * time.Second // GitHub gives up after 10 s
)

// projects are those that document repositories, by owner/repo in lower case, and by "" for
// all other repositories. The project "" leaves a repository out.
type projects map[string]string

// set takes owner/repo=project, owner/repo=, or a project for all other repositories.
func (p projects) set(text string) error {
	name, project, found := strings.Cut(text, "=")
	if !found {
		name, project = "", text
	}
	if text == "" || found != repository.MatchString(name) {
		return errors.New("want owner/repo=project, or a project for all other repositories")
	}
	p[strings.ToLower(name)] = project
	_, err := mintlify.NewClient("any-key", cmp.Or(project, "none"))
	return err
}

func (p projects) of(repository string) (project string, known bool) {
	if project, known = p[strings.ToLower(repository)]; !known {
		project, known = p[""]
	}
	return project, known
}

// webhooks takes GitHub's webhooks.
type webhooks struct {
	store    store
	secret   []byte
	projects projects
	skip     authors
	priority int
	bodies   chan struct{} // one for each body in memory
}

func (h *webhooks) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /github", func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), handlerTime)
		defer cancel()
		status, text := h.receive(rw, r.WithContext(ctx))
		logger, level := h.store.logger, slog.LevelInfo
		if status >= 500 {
			logger, level = h.store.calm, slog.LevelError
		}
		logger.Log(ctx, level, "webhook", "status", status, "delivery", redact.OneLine(github.DeliveryID(r), 80),
			"event", redact.OneLine(github.WebHookType(r), 80), "response", text)
		http.Error(rw, text, status)
	})
	return mux
}

// receive returns 202 once a merge is stored, and 200 for an event that asks for nothing.
func (h *webhooks) receive(rw http.ResponseWriter, r *http.Request) (status int, text string) {
	signature := r.Header.Get(github.SHA256SignatureHeader)
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch {
	case !strings.HasPrefix(signature, "sha256="):
		return http.StatusUnauthorized, "no SHA-256 signature: set the webhook's secret"
	case kind != "application/json":
		return http.StatusUnsupportedMediaType, "set the webhook's content type to application/json"
	}
	select {
	case h.bodies <- struct{}{}:
		defer func() { <-h.bodies }()
	case <-r.Context().Done():
		return http.StatusServiceUnavailable, "too much at once: deliver it again"
	}
	body, err := github.ValidatePayloadFromBody(kind, http.MaxBytesReader(rw, r.Body, maxEvent), signature, h.secret)
	if errors.As(err, new(*http.MaxBytesError)) {
		return http.StatusRequestEntityTooLarge, "the event is larger than 2 MiB"
	} else if err != nil {
		return http.StatusUnauthorized, "the signature is not of this body and this server's secret"
	}
	event, err := github.ParseWebHook(github.WebHookType(r), body)
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
	added, err := h.store.addMerge(ctx, &p, m)
	switch {
	case err != nil:
		h.store.calm.Error("a merge could not be stored", "key", p.Key, "error", err)
		return http.StatusServiceUnavailable, "not stored: deliver it again"
	case added == 0:
		return http.StatusAccepted, "known already: " + p.Key
	}
	return http.StatusAccepted, "enqueued: " + p.Key
}

// newServer limits how long a client can hold a connection.
func newServer(addr string, handler http.Handler) *http.Server {
	return &http.Server{Addr: addr, Handler: handler, ReadTimeout: handlerTime, WriteTimeout: 2 * handlerTime,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
}

// serveAndWork serves and works until ctx ends, or one of them fails. It goes on serving
// until the POSTs in progress have ended: GitHub delivers no webhook again by itself.
func serveAndWork(ctx context.Context, w *worker, servers map[string]*http.Server) error {
	all, ctx := errgroup.WithContext(ctx)
	for name, server := range servers {
		if server.Addr == "" {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", server.Addr)
		if err != nil {
			return usageError("%w", err)
		}
		w.logger.Info("listening", "for", name, "addr", listener.Addr().String())
		all.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", name, err)
			}
			return nil
		})
	}
	all.Go(func() error {
		err := w.work(ctx)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handlerTime)
		defer cancel()
		for _, server := range servers {
			err = errors.Join(err, server.Shutdown(ctx))
		}
		return err
	})
	return all.Wait()
}

// admin is for those who run fleet: its health and its metrics.
type admin struct{ store }

func (a admin) handler(posts *prometheus.CounterVec) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(a, posts)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), handlerTime)
		defer cancel()
		if err := a.checkVersion(ctx); err != nil {
			a.calm.Error("the database cannot be reached", "error", err)
			http.Error(rw, "the database cannot be reached", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(rw, "ok")
	})
	limits := promhttp.HandlerOpts{MaxRequestsInFlight: 2, Timeout: handlerTime}
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, limits))
	return mux
}

// Describe implements [prometheus.Collector]: projects come and go.
func (a admin) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (a admin) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), handlerTime)
	defer cancel()
	all, err := a.projectsStatus(ctx)
	if err != nil {
		a.calm.Error("no metrics", "error", err)
		metrics <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
		return
	}
	gauge := func(name, help string, value float64, labels ...string) {
		desc := prometheus.NewDesc(name, help, []string{"project", "state"}[:len(labels)], nil)
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for _, p := range all {
		paused, oldest := 0.0, 0.0
		if !p.PausedUntil.IsZero() {
			paused = 1
		}
		if !p.Oldest.IsZero() {
			oldest = time.Since(p.Oldest).Seconds()
		}
		gauge("fleet_paused", "1 while the project, or * for all, is paused.", paused, cmp.Or(p.Project, "*"))
		if p.Project == "" {
			continue
		}
		for state, n := range p.Counts {
			gauge("fleet_prompts", "Prompts by project and state.", float64(n), p.Project, state)
		}
		gauge("fleet_quota_left", "Prompts that may be sent now.", float64(p.QuotaLeft), p.Project)
		gauge("fleet_oldest_queued_seconds", "Age of the oldest prompt that is queued.", oldest, p.Project)
		gauge("fleet_overdue", "Jobs that have been running for more than 24 hours.", float64(p.Overdue), p.Project)
	}
}

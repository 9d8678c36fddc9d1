package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mintlify-community/mintlify-go/once"
)

// admin is for those who run fleet: its health and its metrics.
type admin struct {
	store
	posts *prometheus.CounterVec
}

func newAdmin(s store) admin {
	return admin{s, prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fleet_posts_total",
		Help: "POSTs of this process, by the state that they led to."}, []string{"result"})}
}

func (a admin) posted(result once.State) { a.posts.WithLabelValues(nameOf(result)).Inc() }

func (a admin) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(a, a.posts)
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
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2, Timeout: handlerTime}))
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

// calm is a handler that passes on one record a minute.
type calm struct {
	slog.Handler
	last *atomic.Int64
}

func (c calm) Handle(ctx context.Context, r slog.Record) error {
	last, now := c.last.Load(), r.Time.UnixMilli()
	if last != 0 && now-last < time.Minute.Milliseconds() || !c.last.CompareAndSwap(last, now) {
		return nil
	}
	return c.Handler.Handle(ctx, r)
}

func (c calm) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calm{c.Handler.WithAttrs(attrs), c.last}
}
func (c calm) WithGroup(name string) slog.Handler { return calm{c.Handler.WithGroup(name), c.last} }

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// admin is for those who run fleet: its health and its metrics.
type admin struct {
	store
	settings
	posts *prometheus.CounterVec
}

func newAdmin(s store, c settings) *admin {
	return &admin{s, c, prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fleet_posts_total", Help: "POSTs of this process, by the state that they led to."}, []string{"result"})}
}

func (a *admin) handler() http.Handler {
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

var (
	promptsMetric = prometheus.NewDesc("fleet_prompts", "Prompts by project and state.", []string{"project", "state"}, nil)
	quotaMetric   = prometheus.NewDesc("fleet_quota_left", "Prompts that may be sent now.", []string{"project"}, nil)
	pausedMetric  = prometheus.NewDesc("fleet_paused", "1 while the project, or * for all, is paused.", []string{"project"}, nil)
	oldestMetric  = prometheus.NewDesc("fleet_oldest_queued_seconds", "Age of the oldest prompt that is queued.", []string{"project"}, nil)
	overdueMetric = prometheus.NewDesc("fleet_overdue", "Jobs that have been running for more than 24 hours.", []string{"project"}, nil)
)

// Describe implements [prometheus.Collector].
func (a *admin) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{promptsMetric, quotaMetric, pausedMetric, oldestMetric, overdueMetric} {
		descs <- desc
	}
}

// Collect implements [prometheus.Collector].
func (a *admin) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), handlerTime)
	defer cancel()
	all, err := a.projectsStatus(ctx, a.settings)
	if err != nil {
		a.calm.Error("no metrics", "error", err)
		metrics <- prometheus.NewInvalidMetric(promptsMetric, err)
		return
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for _, p := range all {
		paused := 0.0
		if !p.PausedUntil.IsZero() {
			paused = 1
		}
		if p.Project == "" {
			gauge(pausedMetric, paused, "*")
			continue
		}
		for _, state := range states {
			gauge(promptsMetric, float64(p.Counts[nameOf(state)]), p.Project, nameOf(state))
		}
		oldest := 0.0
		if !p.Oldest.IsZero() {
			oldest = time.Since(p.Oldest).Seconds()
		}
		gauge(pausedMetric, paused, p.Project)
		gauge(quotaMetric, float64(p.QuotaLeft), p.Project)
		gauge(oldestMetric, oldest, p.Project)
		gauge(overdueMetric, float64(p.Overdue), p.Project)
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

package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// admin serves fleet's health and metrics to the people who run fleet.
type admin struct{ store }

func (a admin) handler(posts *prometheus.CounterVec) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(a, posts)
	limits := promhttp.HandlerOpts{MaxRequestsInFlight: 2, Timeout: handlerTime}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, limits))
	return mux
}

func (a admin) ready(rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), handlerTime)
	defer cancel()

	if err := a.checkVersion(ctx); err != nil {
		a.calm.Error("the database cannot be reached", "error", err)
		http.Error(rw, "the database cannot be reached", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(rw, "ok")
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

	for _, p := range all {
		p.collect(metrics)
	}
}

func (p *projectStatus) collect(metrics chan<- prometheus.Metric) {
	gauge := func(name, help string, value float64, labels ...string) {
		desc := prometheus.NewDesc(name, help, []string{"project", "state"}[:len(labels)], nil)
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}

	paused := 0.0
	if !p.PausedUntil.IsZero() {
		paused = 1
	}
	gauge("fleet_paused", "1 while the project, or * for all, is paused.", paused, cmp.Or(p.Project, "*"))
	if p.Project == "" {
		return
	}

	for state, n := range p.Counts {
		gauge("fleet_prompts", "Prompts by project and state.", float64(n), p.Project, state)
	}
	oldest := 0.0
	if !p.Oldest.IsZero() {
		oldest = time.Since(p.Oldest).Seconds()
	}
	gauge("fleet_oldest_queued_seconds", "Age of the oldest prompt that is queued.", oldest, p.Project)
	gauge("fleet_quota_left", "Prompts that may be sent now.", float64(p.QuotaLeft), p.Project)
	gauge("fleet_overdue", "Jobs that have been running for more than 24 hours.", float64(p.Overdue), p.Project)
}

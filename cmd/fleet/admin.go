package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
)

// admin serves fleet's health and metrics to the people who run fleet.
type admin struct {
	queue.Queue
	tells bool // results are told to somebody
}

func (a admin) handler(posts prometheus.Collector, counts ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(a, posts, collectors.NewGoCollector(), buildInfo(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(counts...)
	limits := promhttp.HandlerOpts{MaxRequestsInFlight: 2, Timeout: github.HandlerTime}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, limits))
	return mux
}

// buildInfo is a gauge that is 1, with the version.
func buildInfo() prometheus.Collector {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "fleet_build_info",
		Help: "1, with the version of this process.",
	}, []string{"version"})
	info.WithLabelValues(strings.TrimPrefix(version.String("fleet"), "fleet ")).Set(1)
	return info
}

func (a admin) ready(rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), github.HandlerTime)
	defer cancel()

	if err := a.CheckVersion(ctx); err != nil {
		a.Calm.Error("the database cannot be used", "error", err)
		http.Error(rw, "the database cannot be used: the log says why", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(rw, "ok")
}

// Describe implements [prometheus.Collector]: projects come and go.
func (a admin) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (a admin) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), github.HandlerTime)
	defer cancel()
	if err := a.collectAll(ctx, metrics); err != nil {
		a.Calm.Error("no metrics", "error", err)
		metrics <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
	}
}

// collectAll collects the figures of each project, and what is counted over all.
func (a admin) collectAll(ctx context.Context, metrics chan<- prometheus.Metric) error {
	all, err := a.ProjectsStatus(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		collect(p, metrics)
	}

	waiting := int64(0)
	if a.tells {
		untold, err := queue.CountUntold(ctx, a.DB)
		if err != nil {
			return err
		}
		waiting = untold
	}

	problems, err := queue.CountProblems(ctx, a.DB)
	if err != nil {
		return err
	}
	pauses, err := a.Pauses(ctx)
	if err != nil {
		return err
	}

	gauge(metrics, "fleet_results_waiting", "Results that nobody has been told yet.", float64(waiting), nil)
	gauge(metrics, "fleet_running_problems", "Running jobs with a problem that a person has to mend.",
		float64(problems), nil)
	for _, p := range pauses {
		gauge(metrics, "fleet_paused", "1 for each pause of a project, or of * for all.", 1, labels{
			{"project", cmp.Or(p.Project, "*")}, {"source", p.Source}, {"reason", p.Cause},
		})
	}
	return nil
}

type labels [][2]string

func gauge(metrics chan<- prometheus.Metric, name, help string, value float64, with labels) {
	var names, values []string
	for _, label := range with {
		names = append(names, label[0])
		values = append(values, label[1])
	}
	desc := prometheus.NewDesc(name, help, names, nil)
	metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, values...)
}

// collect collects the figures of a project, which come from the database: each process has the same.
func collect(p *queue.ProjectStatus, metrics chan<- prometheus.Metric) {
	if p.Project == "" {
		return
	}

	for state, n := range p.Counts {
		gauge(metrics, "fleet_prompts", "Prompts by project and state.", float64(n),
			labels{{"project", p.Project}, {"state", state}})
	}
	if p.Counts["queued"]+p.Counts["sending"]+p.Counts["running"] == 0 && p.PausedUntil.IsZero() {
		return
	}

	oldest := 0.0
	if !p.OldestFree.IsZero() {
		oldest = time.Since(p.OldestFree).Seconds()
	}

	ofProject := labels{{"project", p.Project}}
	gauge(metrics, "fleet_oldest_queued_seconds", "Age of the oldest prompt that is queued, but for those that a "+
		"pause of their repository or the limit of a day holds back.", oldest, ofProject)
	gauge(metrics, "fleet_quota_left", "Prompts that may be sent now.", float64(p.QuotaLeft), ofProject)
	gauge(metrics, "fleet_overdue", "Jobs that run for more than 24 hours.", float64(p.Overdue), ofProject)
}

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
	"golang.org/x/sync/singleflight"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
)

// admin serves fleet's health and metrics to the people who run fleet.
type admin struct {
	queue.Queue
	tells bool               // results are told to somebody
	reads singleflight.Group // one read for the metrics at a time: SQLite hears no end of a context
}

func (a *admin) handler(posts prometheus.Collector, counts ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(a, posts,
		collectors.NewGoCollector(), buildInfo(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(counts...)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}

func buildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "fleet_build_info",
		Help:        "1, with the version of this process.",
		ConstLabels: prometheus.Labels{"version": strings.TrimPrefix(version.String("fleet"), "fleet ")},
	}, func() float64 { return 1 })
}

func (a *admin) ready(rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), github.HandlerTime)
	defer cancel()

	err := a.CheckVersion(ctx)
	if err == nil {
		err = a.CheckWrites(ctx)
	}

	if err != nil {
		a.Calm.Error("the database cannot be used", "error", err)
		http.Error(rw, "the database cannot be used: the log says why", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(rw, "ok")
}

// metricsTime is how long the database may take for the metrics. Prometheus gives up after 10 s.
const metricsTime = 4 * time.Second

// Describe implements [prometheus.Collector]: projects come and go.
func (*admin) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]: all that the database says, or nothing but that it does not answer.
func (a *admin) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), metricsTime)
	defer cancel()

	up := 1.0
	all, err := a.read(ctx)
	if err != nil {
		up = 0
		a.Calm.Error("no metrics of the database", "error", err)
	}

	for _, metric := range all {
		metrics <- metric
	}
	metrics <- gauge("fleet_database_up", "1 if the database answers this process.", up, nil)
}

// read reads the metrics of the database, until ctx ends.
func (a *admin) read(ctx context.Context) ([]prometheus.Metric, error) {
	reading := a.reads.DoChan("", func() (any, error) { return a.collectAll(ctx) })
	select {
	case read := <-reading:
		metrics, _ := read.Val.([]prometheus.Metric)
		return metrics, read.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *admin) collectAll(ctx context.Context) ([]prometheus.Metric, error) {
	now, err := statusOf(ctx, a.Queue)
	if err != nil {
		return nil, err
	}

	waiting := int64(0)
	if a.tells {
		waiting, err = queue.CountUntold(ctx, a.DB)
		if err != nil {
			return nil, err
		}
	}

	type pair struct{ kind, cause string }
	counted := map[pair]int{}
	for _, need := range now.NeedsPerson {
		counted[pair{need.Kind, need.Cause}]++
	}

	var metrics []prometheus.Metric
	for _, kind := range kinds {
		for _, cause := range causes {
			metrics = append(metrics, gauge("fleet_person_needed", "Reasons why a person is needed, as fleet status "+
				"has them.", float64(counted[pair{kind, cause}]), prometheus.Labels{"kind": kind, "cause": cause}))
		}
	}

	problems := 0
	for _, p := range now.Projects {
		problems += p.Problems
		metrics = append(metrics, metricsOf(p)...)
	}

	return append(metrics,
		gauge("fleet_running_problems", "Running jobs with a problem that a person has to mend.", float64(problems),
			nil),
		gauge("fleet_results_waiting", "Results that nobody has been told yet.", float64(waiting), nil)), nil
}

func gauge(name, help string, value float64, labels prometheus.Labels) prometheus.Metric {
	desc := prometheus.NewDesc(name, help, nil, labels)
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
}

// metricsOf returns the figures of a project, which come from the database: each process has the same.
func metricsOf(p *queue.ProjectStatus) []prometheus.Metric {
	var metrics []prometheus.Metric
	for _, pause := range p.Queue.Pauses() {
		labels := prometheus.Labels{
			"project": cmp.Or(p.Project, "*"), "source": pause.Source, "reason": pause.Cause,
		}
		metrics = append(metrics, gauge("fleet_paused", "1 for each pause of a project, or of * for all.", 1, labels))
	}
	if p.Project == "" {
		return metrics
	}

	for state, n := range p.Counts {
		metrics = append(metrics, gauge("fleet_prompts", "Prompts by project and state.", float64(n),
			prometheus.Labels{"project": p.Project, "state": state}))
	}
	if p.Counts["queued"]+p.Counts["sending"]+p.Counts["running"] == 0 && !p.Paused {
		return metrics
	}

	oldest := 0.0
	if !p.OldestFree.IsZero() {
		oldest = time.Since(p.OldestFree).Seconds()
	}
	ofProject := prometheus.Labels{"project": p.Project}
	return append(metrics,
		gauge("fleet_oldest_queued_seconds", "Age of the oldest prompt that is queued, but for those that a job, a "+
			"pause of their repository or the limit of a day holds back.", oldest, ofProject),
		gauge("fleet_quota_left", "Prompts that may be sent now.", float64(p.QuotaLeft), ofProject))
}

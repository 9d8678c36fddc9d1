package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	demoMerges  = 12
	demoWorkers = 3
	demoKill    = 5 // the prompt whose sender is killed
	demoFail    = 8 // the prompt with which an outage begins
	demoOutage  = 3 * time.Second
)

// demo is a fleet of processes on a fake of the service and an SQLite file. One of them
// is killed at the worst of moments, the service fails for a while, and what a person would
// do about it is done.
type demo struct {
	program
	store   store
	dir     string
	start   time.Time
	fake    *mintlifytest.Service
	workers sync.WaitGroup

	mu    sync.Mutex
	acted map[string][]string // ids of the jobs that the fake has made, by key
	posts int
	fails time.Time // until then the service does
}

func (p *program) demo(ctx context.Context, arguments []string) error {
	if err := p.parse(newFlags("demo"), arguments, 0); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is temporary
	d := &demo{program: *p, dir: dir, start: time.Now(), fake: mintlifytest.NewService(), acted: map[string][]string{}}
	d.getenv = func(name string) string {
		return map[string]string{"DATABASE_URL": "sqlite:" + filepath.Join(dir, "fleet.db")}[name]
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	err = d.withStore(ctx, true, slog.LevelError, func(s store) error {
		d.store = s
		return d.run(ctx)
	})
	cancel() // which kills the workers
	d.workers.Wait()
	return err
}

func (d *demo) say(format string, arguments ...any) {
	fmt.Fprintf(d.stdout, "%5.1f s  %s\n", time.Since(d.start).Seconds(), fmt.Sprintf(format, arguments...))
}

func (d *demo) run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()     //nolint:errcheck // nothing comes after
	go http.Serve(listener, d) //nolint:errcheck,gosec // without it the demo ends by its time limit
	d.say("a fake of the service is at %s, the queue is an SQLite file: nothing leaves this machine", listener.Addr())
	return errors.Join(d.enqueueMerges(ctx), d.enqueueMerges(ctx), d.startWorkers(ctx, "http://"+listener.Addr().String()),
		d.await(ctx), d.decide(ctx), d.await(ctx), d.sum(ctx))
}

func (d *demo) enqueueMerges(ctx context.Context) error {
	var prompts []prompt
	for i := range demoMerges {
		m := merge{Repository: fmt.Sprintf("acme/service-%d", i%4+1), SHA: fmt.Sprintf("%040x", i+1), Pulls: []int{i + 1}, Title: "Add the flag --json"}
		p, err := m.prompt(fmt.Sprintf("project-%d", i%4+1), 2)
		if err != nil {
			return err
		}
		prompts = append(prompts, p)
	}
	added, err := d.store.add(ctx, prompts...)
	d.say("webhooks tell of %d merges: %d enqueued, %d known already", demoMerges, added, demoMerges-added)
	return err
}

func (d *demo) startWorkers(ctx context.Context, baseURL string) error {
	self, err := os.Executable()
	for range demoWorkers {
		worker := exec.CommandContext(ctx, self, "demo-worker")
		worker.Env = append(os.Environ(), "DATABASE_URL="+d.getenv("DATABASE_URL"), "MINTLIFY_BASE_URL="+baseURL, "MINTLIFY_API_KEY="+mintlifytest.APIKey)
		if err = errors.Join(err, worker.Start()); err != nil {
			return err
		}
		d.workers.Go(func() { _ = worker.Wait() }) // it is killed one way or the other
		d.say("worker %d started", worker.Process.Pid)
	}
	return nil
}

// demoWorker is one of the demo's processes: work, but quicker.
func (p *program) demoWorker(ctx context.Context, arguments []string) error {
	p.settings.N, p.settings.SendTime, p.settings.Pass, p.settings.PauseMin = 2, time.Second, time.Second, time.Second
	p.options = []mintlify.Option{mintlify.WithUserAgent(fmt.Sprint(os.Getpid())), mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))}
	return p.work(ctx, arguments)
}

// await shows the counts until nothing is left to do.
func (d *demo) await(ctx context.Context) error {
	for shown := ""; ; time.Sleep(200 * time.Millisecond) {
		status, err := d.store.status(ctx, d.settings)
		if err != nil {
			return err
		}
		c := status.Counts
		text := fmt.Sprintf("queued %d, sending %d, running %d, done %d, unknown %d", c["queued"], c["sending"], c["running"], c["done"], c["unknown"])
		if len(status.Projects) > 0 && status.Projects[0].Project == "" && !status.Projects[0].PausedUntil.IsZero() {
			text += "; all projects are paused"
		}
		if text != shown {
			shown = text
			d.say("%s", text)
		}
		if c["queued"]+c["sending"]+c["running"] == 0 {
			return nil
		}
	}
}

// decide does what status advises, with the fake in place of dashboard and forge.
func (d *demo) decide(ctx context.Context) error {
	status, err := d.store.status(ctx, d.settings)
	if err != nil {
		return err
	}
	fmt.Fprint(d.stdout, "\nfleet status\n\n")
	err = status.write(d.stdout, false)
	for _, a := range status.NeedsPerson {
		arguments := []string{"-key", a.Key, "-again"}
		d.mu.Lock()
		if jobs := d.acted[a.Key]; len(jobs) > 0 {
			arguments = []string{"-key", a.Key, "-job", jobs[0]}
		}
		d.mu.Unlock()
		d.say("a person has looked for the marker: fleet retry %s", strings.Join(arguments, " "))
		err = errors.Join(err, d.retry(ctx, arguments))
	}
	return err
}

func (d *demo) sum(ctx context.Context) error {
	status, err := d.store.status(ctx, d.settings)
	twice := 0
	for _, jobs := range d.acted {
		twice += len(jobs) - 1
	}
	done := status.Counts["done"]
	d.say("%d of %d merges done, %d acted on twice", done, demoMerges, twice)
	if err == nil && (done != demoMerges || twice > 0) {
		err = fmt.Errorf("that is not what fleet promises: %v", status.Counts)
	}
	return err
}

// ServeHTTP is the fake's, but for its outage and the prompt after which its sender is killed.
func (d *demo) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, 1<<20))
	isPost := r.Method == http.MethodPost
	post, down := d.count(isPost)
	if err != nil || down {
		http.Error(rw, "the service is down", http.StatusServiceUnavailable)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	response := httptest.NewRecorder()
	d.fake.ServeHTTP(response, r)
	if isPost {
		d.note(markerOf(body), response.Body.Bytes())
		if post == demoKill {
			d.kill(r.UserAgent(), markerOf(body))
			return
		}
		time.Sleep(300 * time.Millisecond) // so that there is something to see
	}
	rw.WriteHeader(response.Code)
	_, _ = response.Body.WriteTo(rw)
}

// count counts the POSTs, and begins the outage.
func (d *demo) count(isPost bool) (post int, down bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if isPost {
		if d.posts++; d.posts == demoFail {
			d.fails = time.Now().Add(demoOutage)
			d.say("the service fails: 503 to every request for %v", demoOutage)
		}
	}
	return d.posts, time.Now().Before(d.fails)
}

// note notes the job that was made for a key.
func (d *demo) note(key string, response []byte) {
	var job mintlify.Job
	_ = json.Unmarshal(response, &job) // anything but a job has no id
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acted[key] = append(d.acted[key], job.ID)
}

func (d *demo) kill(userAgent, key string) {
	first, _, _ := strings.Cut(userAgent, " ")
	pid, _ := strconv.Atoi(first) //nolint:errcheck // that of a demo worker is a number
	if worker, err := os.FindProcess(pid); err == nil && pid > 1 {
		_ = worker.Kill() // the sum shows if it has not worked
	}
	d.say("worker %d is killed, kill -9: the service has acted on %s, and nobody has heard of it", pid, key)
}

// markerOf returns the key that a request's prompt is marked with.
func markerOf(body []byte) string {
	var params mintlify.CreateJobParams
	_ = json.Unmarshal(body, &params) // without a prompt there is no marker
	key, _ := once.FindMarker(params.Prompt)
	return key
}

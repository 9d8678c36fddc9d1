package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	demoMerges  = 12
	demoWorkers = 3
	demoKill    = 5 // the POST whose sender is killed
	demoFail    = 8 // the POST with which an outage begins
	demoOutage  = 3 * time.Second
)

// demo is a fleet of processes on a fake of the service and an SQLite file.
type demo struct {
	program
	store store
	start time.Time
	fake  *mintlifytest.Service
	posts atomic.Int32
	fails atomic.Int64 // until then, in Unix milliseconds, the service does
}

func (p *program) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is temporary
	d := &demo{program: *p, start: time.Now(), fake: mintlifytest.NewService()}
	environment := map[string]string{"DATABASE_URL": "sqlite:" + filepath.Join(dir, "fleet.db")}
	d.getenv = func(name string) string { return environment[name] }
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return d.withStore(ctx, true, slog.LevelError, func(s store) error {
		d.store = s
		return d.play(ctx)
	})
}

func (d *demo) say(format string, arguments ...any) {
	fmt.Fprintf(d.stdout, "%5.1f s  %s\n", time.Since(d.start).Seconds(), fmt.Sprintf(format, arguments...))
}

func (d *demo) play(ctx context.Context) error {
	service := httptest.NewServer(d)
	defer service.Close()
	d.say("a fake of the service is at %s, the queue is an SQLite file: nothing leaves this machine", service.URL)
	if err := errors.Join(d.enqueueMerges(ctx), d.enqueueMerges(ctx)); err != nil {
		return err
	}
	ctx, kill := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer kill()
	for range demoWorkers {
		worker := exec.CommandContext(ctx, os.Args[0], "demo-worker")
		worker.Env = append(os.Environ(), "DATABASE_URL="+d.getenv("DATABASE_URL"),
			"MINTLIFY_BASE_URL="+service.URL, "MINTLIFY_API_KEY="+mintlifytest.APIKey)
		if err := worker.Start(); err != nil {
			return err
		}
		running.Go(func() { _ = worker.Wait() }) // it is killed one way or the other
		d.say("worker %d started", worker.Process.Pid)
	}
	before, err := d.await(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(d.stdout, "\nfleet status\n\n")
	if err := errors.Join(before.write(d.stdout, false), d.decide(ctx, before.NeedsPerson)); err != nil {
		return err
	}
	after, err := d.await(ctx)
	twice := len(d.fake.Jobs()) - len(d.jobs())
	d.say("%d of %d merges done, %d acted on twice", after.Counts["done"], demoMerges, twice)
	if err == nil && (after.Counts["done"] != demoMerges || twice > 0) {
		err = errors.New("that is not what fleet promises")
	}
	return err
}

func (d *demo) enqueueMerges(ctx context.Context) error {
	prompts := make([]prompt, demoMerges)
	for i := range prompts {
		prompts[i] = prompt{Key: fmt.Sprintf("acme/service-%d@%040x", i%6+1, i+1),
			Project: fmt.Sprint("project-", i%6+1), Prompt: "Document the flag --json.", Priority: 2}
	}
	added, err := d.store.add(ctx, prompts...)
	d.say("webhooks tell of %d merges: %d enqueued, %d known already", demoMerges, added, demoMerges-added)
	return err
}

// demoWorker is one of the demo's processes: work, but quicker.
func (p *program) demoWorker(ctx context.Context) error {
	p.N, p.SendTime, p.Pass, p.PauseMin = 2, time.Second, time.Second, time.Second
	polls := mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))
	p.options = []mintlify.Option{mintlify.WithUserAgent(fmt.Sprint(os.Getpid())), polls}
	return p.work(ctx)
}

// await shows the counts until nothing is left to do.
func (d *demo) await(ctx context.Context) (status, error) {
	for shown := ""; ; time.Sleep(200 * time.Millisecond) {
		status, err := d.store.status(ctx)
		c, pauses := status.Counts, 0
		for _, p := range status.Projects {
			if !p.PausedUntil.IsZero() {
				pauses++
			}
		}
		text := fmt.Sprintf("queued %d, sending %d, running %d, done %d, unknown %d; pauses %d",
			c["queued"], c["sending"], c["running"], c["done"], c["unknown"], pauses)
		if text != shown {
			shown = text
			d.say("%s", text)
		}
		if err != nil || c["queued"]+c["sending"]+c["running"] == 0 {
			return status, err
		}
	}
}

// jobs returns the ids of the jobs that the fake has made, by key.
func (d *demo) jobs() map[string]string {
	made, byKey := d.fake.Jobs(), map[string]string{}
	for _, r := range d.fake.Requests() {
		if key, found := once.FindMarker(r.Prompt); found && r.Acted {
			byKey[key], made = made[0].ID, made[1:]
		}
	}
	return byKey
}

// decide does what status advises, with the fake in place of dashboard and forge.
func (d *demo) decide(ctx context.Context, needs []attention) (err error) {
	jobs := d.jobs()
	for _, a := range needs {
		arguments := []string{"retry", "-key", a.Key, "-again"}
		if id, found := jobs[a.Key]; found {
			arguments = []string{"retry", "-key", a.Key, "-job", id}
		}
		d.say("a person has looked for the marker: fleet %s", strings.Join(arguments, " "))
		err = errors.Join(err, d.run(ctx, arguments))
	}
	return err
}

// ServeHTTP is the fake's, but for its outage and the POST after which its sender is killed.
func (d *demo) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	post := 0
	if r.Method == http.MethodPost {
		if post = int(d.posts.Add(1)); post == demoFail {
			d.fails.Store(time.Now().Add(demoOutage).UnixMilli())
			d.say("the service fails: 503 to every request for %v", demoOutage)
		}
	}
	if time.Now().UnixMilli() < d.fails.Load() {
		http.Error(rw, "the service is down", http.StatusServiceUnavailable)
		return
	}
	response := httptest.NewRecorder()
	d.fake.ServeHTTP(response, r)
	if post == demoKill {
		first, _, _ := strings.Cut(r.UserAgent(), " ")
		pid, _ := strconv.Atoi(first) //nolint:errcheck // that of a demo worker is a number
		if worker, err := os.FindProcess(pid); err == nil && pid > 1 {
			_ = worker.Kill() // the sum shows if it has not worked
		}
		d.say("worker %d is killed, kill -9: the service has acted on its prompt, and nobody has heard of it", pid)
		return
	}
	if post > 0 {
		time.Sleep(300 * time.Millisecond) // so that there is something to see
	}
	rw.WriteHeader(response.Code)
	_, _ = response.Body.WriteTo(rw)
}

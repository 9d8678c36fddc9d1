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
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"

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
	queue queue.Queue
	start time.Time
	fake  *mintlifytest.Service
	posts atomic.Int32
	fails atomic.Int64 // when the outage ends, in Unix milliseconds
}

// demoCommand shows fleet at work.
type demoCommand struct {
	*program
	noFlags
}

func (c *demoCommand) run(ctx context.Context) error {
	p := c.program
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the folder is temporary

	d := &demo{program: *p, start: time.Now(), fake: mintlifytest.NewService()}
	environment := map[string]string{"DATABASE_URL": "sqlite:" + filepath.Join(dir, "fleet.db")}
	d.getenv = func(name string) string { return environment[name] }

	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return d.withStore(ctx, true, slog.LevelError, func(s queue.Queue) error {
		d.queue = s
		return d.play(ctx)
	})
}

func (d *demo) say(format string, arguments ...any) {
	fmt.Fprintf(d.stdout, "%5.1f s  %s\n", time.Since(d.start).Seconds(), fmt.Sprintf(format, arguments...))
}

// play delivers merges to three workers by webhooks, kills one worker, and does what status
// advises.
func (d *demo) play(ctx context.Context) error {
	service := httptest.NewServer(d)
	defer service.Close()
	d.say("a fake of the service is at %s, the queue is an SQLite file: nothing leaves this machine", service.URL)

	for range 2 { // each webhook is delivered twice
		if err := d.enqueueMerges(ctx); err != nil {
			return err
		}
	}

	ctx, kill := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer kill()
	for range demoWorkers {
		if err := d.startWorker(ctx, service.URL, &running); err != nil {
			return err
		}
	}

	before, err := d.await(ctx)
	if err != nil {
		return err
	}

	fmt.Fprint(d.stdout, "\nfleet status\n\n")
	if err := before.write(d.stdout, false); err != nil {
		return err
	}
	if err := d.decideAsAdvised(ctx, before.NeedsPerson); err != nil {
		return err
	}

	after, err := d.await(ctx)
	if err != nil {
		return err
	}
	return d.sumUp(after)
}

func (d *demo) enqueueMerges(ctx context.Context) error {
	prompts := make([]database.Prompt, demoMerges)
	for i := range prompts {
		prompts[i] = database.Prompt{
			Key:      fmt.Sprintf("acme/service-%d@%040x", i%6+1, i+1),
			Project:  fmt.Sprint("project-", i%6+1),
			Prompt:   "Document the flag --json.",
			Priority: 2,
		}
	}

	known, err := d.queue.Enqueue(ctx, prompts...)
	d.say("webhooks tell of %d merges: %d enqueued, %d known already", demoMerges, demoMerges-len(known), len(known))
	return err
}

// withoutSettings leaves out of an environment what the user has set for work: results must not leave this machine.
func withoutSettings(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		return strings.HasPrefix(variable, "FLEET_") || strings.HasPrefix(variable, "GITHUB_") ||
			strings.HasPrefix(variable, "MINTLIFY_")
	})
}

// startWorker starts a process that ends with ctx.
func (d *demo) startWorker(ctx context.Context, serviceURL string, running *sync.WaitGroup) error {
	worker := exec.CommandContext(ctx, os.Args[0], "demo-worker")
	worker.Env = append(withoutSettings(os.Environ()),
		"DATABASE_URL="+d.getenv("DATABASE_URL"),
		"MINTLIFY_BASE_URL="+serviceURL,
		"MINTLIFY_API_KEY="+mintlifytest.APIKey)
	if err := worker.Start(); err != nil {
		return err
	}

	running.Go(func() { _ = worker.Wait() }) // it is killed one way or the other
	d.say("worker %d started", worker.Process.Pid)
	return nil
}

func (d *demo) sumUp(after status) error {
	twice := len(d.fake.Jobs()) - len(d.jobs())
	d.say("%d of %d merges done, %d acted on twice", after.Counts["done"], demoMerges, twice)
	if after.Counts["done"] != demoMerges || twice > 0 {
		return errors.New("that is not what fleet promises")
	}
	return nil
}

// demoWorkerCommand is one of the demo's processes: work, but quicker.
type demoWorkerCommand struct {
	*program
	noFlags
}

func (c *demoWorkerCommand) run(ctx context.Context) error {
	p := c.program
	p.logFormat = "text"
	p.N = 2
	p.SendTime = time.Second
	p.Pass = time.Second
	p.PauseMin = time.Second

	polls := mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))
	p.options = []mintlify.Option{mintlify.WithUserAgent(fmt.Sprint(os.Getpid())), polls}
	work := workCommand{program: p}
	return work.run(ctx)
}

// await shows the counts until nothing is left to do.
func (d *demo) await(ctx context.Context) (status, error) {
	shown := ""
	for {
		now, err := statusOf(ctx, d.queue)
		if err != nil {
			return now, err
		}

		if text := demoCounts(now); text != shown {
			d.say("%s", text)
			shown = text
		}
		if left := now.Counts["queued"] + now.Counts["sending"] + now.Counts["running"]; left == 0 {
			return now, nil
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func demoCounts(s status) string {
	pauses := 0
	for _, p := range s.Projects {
		if !p.PausedUntil.IsZero() {
			pauses++
		}
	}
	c := s.Counts
	return fmt.Sprintf("queued %d, sending %d, running %d, done %d, unknown %d; pauses %d",
		c["queued"], c["sending"], c["running"], c["done"], c["unknown"], pauses)
}

// jobs returns the ids of the fake's jobs by key.
func (d *demo) jobs() map[string]string {
	made := d.fake.Jobs()
	byKey := map[string]string{}
	for _, r := range d.fake.Requests() {
		if key, found := once.FindMarker(r.Prompt); found && r.Acted {
			byKey[key] = made[0].ID
			made = made[1:]
		}
	}
	return byKey
}

// decideAsAdvised does what status advises. It asks the fake, as a person would look at the
// dashboard and the pull requests.
func (d *demo) decideAsAdvised(ctx context.Context, needs []attention) error {
	jobs := d.jobs()
	for _, a := range needs {
		arguments := []string{"retry", "-key", a.Key, "-again"}
		if id, found := jobs[a.Key]; found {
			arguments = []string{"retry", "-key", a.Key, "-job", id}
		}

		d.say("a person has looked for the marker: fleet %s", strings.Join(arguments, " "))
		if err := d.program.run(ctx, arguments); err != nil {
			return err
		}
	}
	return nil
}

// ServeHTTP lets the fake respond, except during the outage and for the POST whose sender it
// kills.
func (d *demo) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	post := 0
	if r.Method == http.MethodPost {
		post = int(d.posts.Add(1))
	}
	if post == demoFail {
		d.fails.Store(time.Now().Add(demoOutage).UnixMilli())
		d.say("the service fails: 503 to every request for %v", demoOutage)
	}

	if time.Now().UnixMilli() < d.fails.Load() {
		http.Error(rw, "the service is down", http.StatusServiceUnavailable)
		return
	}

	response := httptest.NewRecorder()
	d.fake.ServeHTTP(response, r)
	if post == demoKill {
		d.kill(r.UserAgent())
		return
	}

	if post > 0 {
		time.Sleep(300 * time.Millisecond) // so that there is something to see
	}
	rw.WriteHeader(response.Code)
	_, _ = response.Body.WriteTo(rw)
}

// kill kills the worker that sends this user agent, which begins with the process id.
func (d *demo) kill(userAgent string) {
	first, _, _ := strings.Cut(userAgent, " ")
	pid, err := strconv.Atoi(first)
	if err != nil || pid <= 1 {
		return
	}

	if worker, err := os.FindProcess(pid); err == nil {
		_ = worker.Kill() // the sum shows if it has not worked
	}
	d.say("worker %d is killed, kill -9: the service has acted on its prompt, and nobody has heard of it", pid)
}

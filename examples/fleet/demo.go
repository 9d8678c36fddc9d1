package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const (
	demoMerges  = 12
	demoWorkers = 3
	demoKill    = 5 // the prompt whose sender is killed
)

// demo runs a fleet of processes on a fake of the service and an SQLite file, kills
// one of them at the worst of moments, and does what a person would do about it.
func (p *program) demo(ctx context.Context, arguments []string) error {
	if err := p.parse(flag.NewFlagSet("demo", flag.ContinueOnError), arguments); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	d := &demo{program: *p, dir: dir, service: newDemoService(), start: time.Now()}
	d.getenv = func(name string) string { return map[string]string{"DATABASE_URL": d.file("fleet.db")}[name] }
	defer d.service.stopAll()
	if err := d.run(ctx); err != nil {
		log, _ := os.ReadFile(d.file("workers.log")) //nolint:errcheck // there may be none
		return fmt.Errorf("%w\n%s", err, log)
	}
	return nil
}

// demo is a demo under way.
type demo struct {
	program
	dir     string
	service *demoService
	start   time.Time
}

func (d *demo) file(name string) string { return filepath.Join(d.dir, name) }

func (d *demo) say(format string, arguments ...any) {
	fmt.Fprintf(d.stdout, "%5.1f s  %s\n", time.Since(d.start).Seconds(), fmt.Sprintf(format, arguments...))
}

func (d *demo) run(ctx context.Context) error {
	store, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer store.database.close()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serveCtx, stopServing := context.WithCancel(ctx)
	defer stopServing()
	go listenAndServe(serveCtx, listener, d.service) //nolint:errcheck // without it the demo ends by its time limit

	d.say("a fake of the service listens on %s, the queue is an SQLite file: nothing leaves this machine", listener.Addr())
	for range 2 {
		if err := d.enqueueMerges(ctx, store); err != nil {
			return err
		}
	}
	if err := d.startWorkers(ctx, "http://"+listener.Addr().String()); err != nil {
		return err
	}
	if err := d.await(ctx, store); err != nil {
		return err
	}
	if err := d.adopt(ctx, store); err != nil {
		return err
	}
	if err := d.await(ctx, store); err != nil {
		return err
	}
	return d.sum(ctx, store)
}

func (d *demo) enqueueMerges(ctx context.Context, store store) error {
	var prompts []prompt
	for i := range demoMerges {
		m := merge{Repository: fmt.Sprintf("acme/service-%d", i%4+1), SHA: fmt.Sprintf("%040x", i+1), Pull: i + 1, Title: "Add the flag --json"}
		p, err := m.prompt("demo-project")
		if err != nil {
			return err
		}
		prompts = append(prompts, p)
	}
	added, err := store.add(ctx, prompts...)
	d.say("%d merges told: %d enqueued, %d known already", demoMerges, added, demoMerges-added)
	return err
}

func (d *demo) startWorkers(ctx context.Context, baseURL string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(d.file("workers.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	for i := range demoWorkers {
		name := fmt.Sprint("worker-", i+1)
		cmd := exec.CommandContext(ctx, self, "demo-worker", "-name", name)
		cmd.Env = append(os.Environ(), "DATABASE_URL="+d.file("fleet.db"), "MINTLIFY_BASE_URL="+baseURL, "MINTLIFY_API_KEY="+mintlifytest.APIKey)
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			return err
		}
		d.service.watch(name, cmd.Process, func(prompt string) {
			d.say("killed %s, kill -9: the service has acted on %s, and the worker will never hear of it", name, prompt)
		})
		d.say("started %s, process %d", name, cmd.Process.Pid)
	}
	return nil
}

// await shows the counts until nothing is left to do.
func (d *demo) await(ctx context.Context, store store) error {
	shown := ""
	for {
		counts, err := store.counts(ctx)
		if err != nil {
			return err
		}
		if text := fmt.Sprintf("queued %d, sending %d, waiting %d, done %d, unknown %d", counts[queued], counts[sending], counts[waiting], counts[done], counts[unknown]); text != shown {
			shown = text
			d.say("%s", text)
		}
		if counts[queued]+counts[sending]+counts[waiting] == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the prompts are not done: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// adopt does what status advises, with the fake in place of dashboard and forge.
func (d *demo) adopt(ctx context.Context, store store) error {
	fmt.Fprintf(d.stdout, "\nfleet status\n\n")
	if err := d.status(ctx, nil); err != nil {
		return err
	}
	fmt.Fprintln(d.stdout)
	rows, err := store.attention(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		job := d.service.jobOf(r.Key)
		d.say("a person finds the marker, and adopts the job: fleet retry -key %s -job %s", r.Key, job)
		if err := store.retry(ctx, r.Key, job); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) sum(ctx context.Context, store store) error {
	counts, err := store.counts(ctx)
	if err != nil {
		return err
	}
	twice := d.service.twice()
	d.say("%d of %d merges done, %d acted on twice", counts[done], demoMerges, twice)
	if counts[done] != demoMerges || twice > 0 {
		return errors.New("that is not what fleet promises")
	}
	return nil
}

// demoWorker is one of the demo's processes: work, but quicker.
func (p *program) demoWorker(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("demo-worker", flag.ContinueOnError)
	name := flags.String("name", "", "by which the fake tells it from the others")
	if err := p.parse(flags, arguments); err != nil {
		return err
	}
	p.settings.N, p.settings.SendTime = 2, 2*time.Second
	p.options = []mintlify.Option{mintlify.WithUserAgent(*name), mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))}
	return p.work(ctx, nil)
}

// demoService is the fake, with an eye on who sends what.
type demoService struct {
	*mintlifytest.Service

	mu      sync.Mutex
	acted   map[string][]string // ids of jobs, by key
	posts   int
	workers map[string]demoProcess
}

type demoProcess struct {
	*os.Process
	killed func(key string) // tells of it
}

func newDemoService() *demoService {
	return &demoService{Service: mintlifytest.NewService(), acted: map[string][]string{}, workers: map[string]demoProcess{}}
}

func (s *demoService) watch(name string, p *os.Process, killed func(key string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers[name] = demoProcess{p, killed}
}

// stopAll ends all workers.
func (s *demoService) stopAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, worker := range s.workers {
		_ = worker.Kill() // it may be dead
		_, _ = worker.Wait()
	}
}

// ServeHTTP acts on a request and responds, but for one response that has nobody left
// to hear it.
func (s *demoService) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.Service.ServeHTTP(rw, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, 1<<20))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	response := httptest.NewRecorder()
	s.Service.ServeHTTP(response, r)
	key := markerOf(body)
	if s.note(key, response.Body.Bytes()) {
		name, _, _ := strings.Cut(r.UserAgent(), " ")
		s.kill(name, key)
		return
	}
	time.Sleep(300 * time.Millisecond) // so that there is something to see
	rw.WriteHeader(response.Code)
	_, _ = response.Body.WriteTo(rw)
}

// markerOf returns the key that a prompt is marked with.
func markerOf(body []byte) string {
	var params mintlify.CreateJobParams
	_ = json.Unmarshal(body, &params) // without a prompt there is no marker
	_, key, _ := strings.Cut(params.Prompt, "\nfleet: ")
	return strings.TrimSpace(key)
}

// note notes which job was made, and says whether its sender is to be killed.
func (s *demoService) note(key string, response []byte) (kill bool) {
	var job mintlify.Job
	_ = json.Unmarshal(response, &job) // a job without an id is noted as that
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acted[key] = append(s.acted[key], job.ID)
	s.posts++
	return s.posts == demoKill
}

func (s *demoService) kill(name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	worker := s.workers[name]
	_ = worker.Kill() // the sum shows if it has not worked
	worker.killed(key)
}

func (s *demoService) jobOf(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acted[key][0]
}

func (s *demoService) twice() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, jobs := range s.acted {
		if len(jobs) > 1 {
			n++
		}
	}
	return n
}

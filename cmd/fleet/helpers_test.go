//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const testProject = "project-1"

// timeToDo is how long a few prompts may take on a machine that has much else to do.
const timeToDo = 2 * time.Minute

func promptOf(i int, project string) database.Prompt {
	return database.Prompt{Key: fmt.Sprintf("acme/repo@%d", i), Project: project, Prompt: "Do it."}
}

// prompts returns n prompts, spread over projects.
func prompts(n, projects int) []database.Prompt {
	all := make([]database.Prompt, n)
	for i := range all {
		all[i] = promptOf(i, fmt.Sprint("project-", i%projects+1))
	}
	return all
}

// fleet is processes of the program on one database, and the service they talk to.
type fleet struct {
	t        *testing.T
	url      string
	store    queue.Queue
	settings queue.Settings
	service  *httptest.Server
	log      *os.File

	running []*processes.Run
}

// quick are settings for tests with real processes.
var quick = queue.Settings{
	N: 8, Posts: 4, SendTime: 2 * time.Second, Quota: 1000, Window: time.Hour, PauseMin: time.Second,
	PauseMax: time.Second, Pass: time.Second, Poll: 250 * time.Millisecond,
}

func newFleet(t *testing.T, url string, s queue.Settings, service http.Handler) *fleet {
	f := &fleet{t: t, url: url, store: openStore(t, url), settings: s, service: httptest.NewServer(service)}
	f.store.Settings = s
	var err error
	f.log, err = os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	t.Cleanup(func() {
		f.service.CloseClientConnections()
		f.service.Close()
		if t.Failed() {
			log, _ := os.ReadFile(f.log.Name())
			t.Logf("%s", log[max(0, len(log)-20_000):])
		}
	})
	return f
}

// command is a process of the program, not started yet.
func (f *fleet) command(env []string, arguments ...string) *exec.Cmd {
	return programCommand(
		f.t, f.url, f.settings,
		append(env, "MINTLIFY_API_KEY="+mintlifytest.APIKey, "MINTLIFY_BASE_URL="+f.service.URL),
		arguments...,
	)
}

func programCommand(t *testing.T, url string, s queue.Settings, env []string, arguments ...string) *exec.Cmd {
	text, err := json.Marshal(s)
	require.NoError(t, err)
	cmd := processes.Self(t, arguments...)
	cmd.Env = append(append(os.Environ(), "TEST_SETTINGS="+string(text), "DATABASE_URL="+url), env...)
	return cmd
}

// start starts a worker.
func (f *fleet) start(env ...string) *processes.Run {
	cmd := f.command(
		env, "work", "-n", fmt.Sprint(f.settings.N), "-posts", fmt.Sprint(f.settings.Posts), "-send-time", f.settings.SendTime.String(), "-pause-min",
		f.settings.PauseMin.String(), "-pause-max", f.settings.PauseMax.String(),
	)
	cmd.Stderr = f.log
	return f.run(cmd)
}

func (f *fleet) run(cmd *exec.Cmd) *processes.Run {
	run := processes.Start(f.t, cmd)
	f.running = append(f.running, run)
	return run
}

// end sends a worker a signal and waits until it is gone.
func (f *fleet) end(run *processes.Run, signal os.Signal) error { return run.End(signal) }

// isLong reports whether tests may take long.
func isLong() bool { return os.Getenv("MINTLIFY_LONG") != "" }

// enqueue enqueues prompts, twice at once, as webhooks are delivered.
func (f *fleet) enqueue(prompts ...database.Prompt) {
	var both sync.WaitGroup
	added := make([]int, 2)
	for i := range added {
		both.Go(func() {
			known, err := f.store.Enqueue(context.Background(), prompts...)
			if err != nil {
				f.t.Error(err)
			}
			added[i] = len(prompts) - len(known)
		})
	}
	both.Wait()
	require.Equal(f.t, len(prompts), added[0]+added[1])
}

// counts returns how many prompts are in each state. Tests ask for it all the time, so it is one query.
func (f *fleet) counts() map[string]int {
	counts := database.ZeroCounts()
	err := sqldb.Scan(context.Background(), f.store.DB, func(rows *sql.Rows) error {
		var state once.State
		var n int
		err := rows.Scan(&state, &n)
		counts[database.NameOf(state)] = n
		return err
	}, "SELECT state, count(*) FROM fleet_prompts GROUP BY state")
	require.NoError(f.t, err)
	return counts
}

// left is how many prompts are not at an end.
func left(counts map[string]int) int { return counts["queued"] + counts["sending"] + counts["running"] }

// await waits until nothing is left to do.
func (f *fleet) await(limit time.Duration) (counts map[string]int) {
	f.until(limit, "the prompts to be done", func() bool {
		counts = f.counts()
		return left(counts) == 0
	})
	return counts
}

// until polls what has no way of telling, and gives up after a limit.
func (f *fleet) until(limit time.Duration, what string, done func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("waited %v for %s: %v", limit, what, f.counts())
		}
	}
}

// execute executes a statement.
func execute(t *testing.T, s queue.Queue, statement string, args ...any) {
	t.Helper()
	_, err := s.ExecContext(t.Context(), statement, args...)
	require.NoError(t, err)
}

// number returns the number that a query finds.
func number(t *testing.T, s queue.Queue, query string, args ...any) int64 {
	t.Helper()
	n, err := sqldb.Number(t.Context(), s.DB, query, args...)
	require.NoError(t, err)
	return n
}

// kept counts the comments that are not decided about.
func kept(t *testing.T, s queue.Queue) int64 {
	return number(t, s, "SELECT count(*) FROM fleet_comments")
}

// add enqueues prompts.
func add(t *testing.T, s queue.Queue, prompts ...database.Prompt) {
	t.Helper()
	_, err := s.Enqueue(t.Context(), prompts...)
	require.NoError(t, err)
}

func rowOf(t *testing.T, s queue.Queue, key string) database.Row {
	t.Helper()
	r, err := s.Row(t.Context(), key)
	require.NoError(t, err)
	return r
}

func pausesOf(t *testing.T, s queue.Queue) []queue.Pause {
	t.Helper()
	projects, err := s.Projects(t.Context())
	require.NoError(t, err)
	var pauses []queue.Pause
	for _, p := range projects {
		pauses = append(pauses, p.Pauses()...)
	}
	return pauses
}

// logged returns what the processes have logged so far.
func (f *fleet) logged() string {
	log, err := os.ReadFile(f.log.Name())
	require.NoError(f.t, err)
	return string(log)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// environment is what a program finds in its environment.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

// testPostgres is the Postgres that the tests share, started by the first that needs it.
var testPostgres processes.Postgres

// eachDatabase runs f on a Postgres database and on an SQLite file, both empty, beside other tests.
func eachDatabase(t *testing.T, f func(t *testing.T, url string)) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, testPostgres.Database(t))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, "sqlite:"+sqliteFile(t))
	})
}

// sqliteFile is the name of a file that is not there yet: in memory where Linux has it,
// so that tests at the same time do not wait for one disk.
func sqliteFile(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "fleet-")
	if err != nil {
		return filepath.Join(t.TempDir(), "fleet.db")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "fleet.db")
}

func openStore(t *testing.T, url string) queue.Queue {
	t.Helper()
	return openStoreAs(t, "enqueue", url)
}

// openStoreAs opens a database as a command does.
func openStoreAs(t *testing.T, command, url string) queue.Queue {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	db, err := database.Open(context.Background(), url, database.Options{
		Create: true,
		Busy:   (&program{command: command}).busy(),
		Logger: quiet,
	})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	store := database.Store{DB: db, SendTime: queue.Production.SendTime, Logger: quiet, Calm: quiet}
	return queue.Queue{Store: store, Settings: queue.Production}
}

// workerOf returns a worker whose client sends to a service.
func workerOf(t *testing.T, s queue.Queue, service http.RoundTripper) *queue.Worker {
	t.Helper()
	getenv := environment{"MINTLIFY_API_KEY": mintlifytest.APIKey}.get
	client, err := (&program{getenv: getenv, Settings: queue.Production, transport: service}).client()
	require.NoError(t, err)
	return queue.NewWorker(s, client, nil)
}

// TestMain lets the test's program be any process of a fleet: with TEST_SETTINGS
// it is the program itself, quicker than in production.
func TestMain(m *testing.M) {
	if text := os.Getenv("TEST_SETTINGS"); text != "" {
		os.Exit(beProgram(text))
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // or programs inherit that it is ignored, under nohup
	_ = flag.Set("test.parallel", "8")                     // unless the command line says otherwise: they wait more than they work
	code := m.Run()
	testPostgres.Close()
	os.Exit(code)
}

func beProgram(text string) int {
	ctx := untilSignal()
	p := program{
		getenv: os.Getenv, stdin: os.Stdin, stdout: bufio.NewWriter(os.Stdout), stderr: os.Stderr,
		transport: mintlify.NewTransport(),
	}
	err := json.Unmarshal([]byte(text), &p.Settings)
	if os.Getenv("TEST_REAL_POLLS") == "" {
		p.options = []mintlify.Option{
			mintlify.WithWaitDefaults(mintlify.WithPollInterval(300*time.Millisecond, 300*time.Millisecond)),
		}
	}
	if err == nil {
		err = p.run(ctx, os.Args[1:])
	}
	return p.exit(err)
}

// countingService is the fake on a socket. It counts what it acted on, fails as often
// as it is told to, and takes its time to respond.
type countingService struct {
	fake    *mintlifytest.Service
	faults  float64       // of requests
	slow    time.Duration // at most, a response to one
	quota   int           // per window and project; 0 for none
	window  time.Duration
	mu      sync.Mutex
	acted   map[string]int // by marker
	posts   map[string][]time.Time
	refused int

	opened func(key, job string) // is told of each job that was made for the prompt of a key; nil: nobody is
}

func newCountingService() *countingService {
	return &countingService{fake: mintlifytest.NewService(), acted: map[string]int{}, posts: map[string][]time.Time{}}
}

func (s *countingService) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	fault := rand.Float64() < s.faults
	kind := rand.IntN(5)
	if fault && kind == 0 { // the connection is lost on the way there
		panic(http.ErrAbortHandler)
	}
	if fault && kind == 1 {
		rw.WriteHeader(http.StatusTooManyRequests)
		return
	}
	response := s.act(r)
	if r.Method == http.MethodPost && s.slow > 0 {
		time.Sleep(s.slow/2 + rand.N(s.slow/2))
	}
	switch {
	case fault && kind == 2: // … or on the way back
		panic(http.ErrAbortHandler)
	case fault && kind == 3: // a gateway's
		rw.WriteHeader(http.StatusGatewayTimeout)
	case fault && kind == 4:
		_, _ = rw.Write([]byte("<html>"))
	default:
		rw.WriteHeader(response.Code)
		_, _ = response.Body.WriteTo(rw)
	}
}

func (s *countingService) act(r *http.Request) *httptest.ResponseRecorder {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	defer s.mu.Unlock()
	response := httptest.NewRecorder()
	if r.Method == http.MethodPost && s.full(r.URL.Path) {
		s.refused++
		response.WriteHeader(http.StatusTooManyRequests)
		return response
	}
	s.fake.ServeHTTP(response, r)
	if r.Method == http.MethodPost {
		s.acted[markerOf(body)]++
	}
	if r.Method == http.MethodPost && s.opened != nil && strings.HasSuffix(r.URL.Path, "/job") {
		var job mintlify.Job
		_ = json.Unmarshal(response.Body.Bytes(), &job)
		s.opened(markerOf(body), job.ID)
	}
	return response
}

// full counts the requests of the window by arrival, as the service does.
func (s *countingService) full(path string) bool {
	now := time.Now()
	n := 0
	for _, at := range s.posts[path] {
		if now.Sub(at) < s.window {
			n++
		}
	}
	if s.quota > 0 && n >= s.quota {
		return true
	}
	s.posts[path] = append(s.posts[path], now)
	return false
}

// count returns how many prompts were acted on, and how many of them more than once.
func (s *countingService) count() (acted, twice int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.acted {
		if n > 1 {
			twice++
		}
	}
	return len(s.acted), twice
}

func (s *countingService) of(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acted[key]
}

// markerOf returns the key that a request's prompt is marked with, or that a message names after "follow-up".
func markerOf(body []byte) string {
	var params mintlify.CreateJobParams
	_ = json.Unmarshal(body, &params)
	if _, key, found := strings.Cut(params.Prompt, "follow-up "); found {
		return key
	}
	key, _ := once.FindMarker(params.Prompt)
	return key
}

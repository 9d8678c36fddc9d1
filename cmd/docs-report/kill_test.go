//go:build unix

package main

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/docstest"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

var kills = flag.Int("kills", 40, "how often to kill a run, on each database")

const (
	demoPages    = 800 // 4 requests a window
	requestsEach = 4
	ample        = 1_000_000 // a budget that does not end
)

func TestSQLiteOutlivesKills(t *testing.T) {
	newProcess(t).outliveKills(func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "docs.db") })
}

func TestPostgresOutlivesKills(t *testing.T) {
	p := newProcess(t)
	p.outliveKills(startPostgres(t).Database)
}

func TestSQLiteOutlivesTwoRunsAtOnce(t *testing.T) {
	newProcess(t).runTwice("sqlite:" + filepath.Join(t.TempDir(), "docs.db"))
}

func TestPostgresOutlivesTwoRunsAtOnce(t *testing.T) {
	p := newProcess(t)
	p.runTwice(startPostgres(t).Database(t))
}

// startPostgres returns a server that ends with the test.
func startPostgres(t *testing.T) *processtest.Postgres {
	t.Helper()
	server := &processtest.Postgres{}
	t.Cleanup(server.Close)
	return server
}

// process is sync as a process of its own: this test's binary.
type process struct {
	t    *testing.T
	from mintlify.Date
}

const asProcess = "DOCS_REPORT_TEST_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(asProcess); args != "" {
		p := program{getenv: os.Getenv, demoPages: demoPages, stdout: os.Stdout, stderr: os.Stderr}
		os.Exit(p.run(context.Background(), strings.Split(args, "\n")))
	}
	os.Exit(m.Run())
}

func newProcess(t *testing.T) process {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a while")
	}
	return process{t, mintlify.DayOf(time.Now().UTC()).AddDays(-14)}
}

// command returns sync with a database and more flags.
func (p process) command(db string, flags ...string) *exec.Cmd {
	executable, err := os.Executable()
	require.NoError(p.t, err)

	command := exec.Command(executable)
	args := []string{
		"sync",
		"-db", db,
		"-budget", strconv.Itoa(ample),
		"-from", p.from.String(),
	}
	args = append(args, flags...)
	command.Env = append(os.Environ(), asProcess+"="+strings.Join(args, "\n"))
	return command
}

// demo returns sync with the demo's numbers.
func (p process) demo(db string) *exec.Cmd {
	return p.command(db, "-demo", "-projects", "docs,handbook")
}

func (p process) windows() []store.Window {
	var all []store.Window
	for _, project := range []string{"docs", "handbook"} {
		for _, span := range []store.Span{store.Day, store.Week, store.Month} {
			from := p.from
			if span == store.Month { // sync loads the last months, too
				from = mintlify.DayOf(time.Now().UTC().AddDate(0, -monthsLoaded-1, 1))
			}
			all = append(all, store.Windows(project, span, from, mintlify.DayOf(time.Now().UTC()))...)
		}
	}
	return all
}

// requireAll asserts that the database holds all that the demo reports, and returns how
// many requests for visitors that took.
func (p process) requireAll(db string) (requests int) {
	p.t.Helper()
	docstest.RequireWindows(p.t, db, demo.Visitors(demoPages), p.windows())

	s, err := store.Open(p.t.Context(), db, store.Demo, p.t.Logf)
	require.NoError(p.t, err)
	defer s.Close()

	left, err := s.Left(p.t.Context(), ample)
	require.NoError(p.t, err)
	return ample - left - p.lists(db)
}

// lists returns how many requests the lists in the database took.
func (p process) lists(db string) int {
	requests := 0
	const statement = `SELECT COALESCE(SUM(pages_loaded), 0) FROM docs_exports WHERE kind <> 'visitors'`
	require.NoError(p.t, rawDatabase(p.t, db).QueryRowContext(p.t.Context(), statement).Scan(&requests))
	return requests
}

func (p process) outliveKills(newDatabase func(*testing.T) string) {
	t := p.t
	start := time.Now()
	require.True(t, p.run(newDatabase(t), -1))
	killWithin := time.Since(start) / 8 // whatever the machine is busy with
	partial := 0                        // kills within a window

	for killed := 0; killed < *kills; {
		db := newDatabase(t)
		killedHere := 0

		for done := false; !done; {
			killAfter := time.Duration(-1)
			if killed < *kills {
				killAfter = rand.N(killWithin)
			}

			if done = p.run(db, killAfter); !done {
				killed++
				killedHere++
				partial += p.underWay(db)
			}
		}

		requests := p.requireAll(db)
		needed := requestsEach * len(p.windows())
		assert.GreaterOrEqual(t, requests, needed)
		assert.LessOrEqual(t, requests, needed+killedHere, "a kill loses one page at most")
		t.Logf("%d kills: %d requests instead of %d", killedHere, requests, needed)
	}

	t.Logf("%d of %d kills came within a window", partial, *kills)
	assert.NotZero(t, partial)
}

// run runs the command, and kills it that long after its first sign of life, or never.
func (p process) run(db string, killAfter time.Duration) (done bool) {
	p.t.Helper()

	command := p.demo(db)
	messages := &signOfLife{came: make(chan struct{})}
	command.Stderr = messages
	require.NoError(p.t, command.Start())

	if killAfter >= 0 {
		go func() {
			<-messages.came
			time.AfterFunc(killAfter, func() { _ = command.Process.Kill() })
		}()
	}

	err := command.Wait()
	if command.ProcessState.ExitCode() == -1 { // by a signal
		return false
	}
	require.NoError(p.t, err, "%s", messages.text.String())
	return true
}

// underWay returns 1 if an export stopped within its window, else 0.
func (p process) underWay(db string) int {
	p.t.Helper()
	s, err := store.Open(p.t.Context(), db, store.Demo, p.t.Logf)
	require.NoError(p.t, err)
	defer s.Close()

	for _, w := range p.windows() {
		_, running, err := s.Find(p.t.Context(), w, store.Visitors)
		require.NoError(p.t, err)
		if running.Rows > 0 {
			return 1
		}
	}
	return 0
}

// signOfLife keeps what a process prints, and tells when the first of it comes.
type signOfLife struct {
	once sync.Once
	came chan struct{}
	text bytes.Buffer
}

func (s *signOfLife) Write(data []byte) (int, error) {
	s.once.Do(func() { close(s.came) })
	return s.text.Write(data)
}

func (p process) runTwice(db string) {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			output, err := p.demo(db).CombinedOutput()
			assert.NoError(p.t, err, "%s", output)
		})
	}

	both.Wait()

	requests := p.requireAll(db)
	needed := requestsEach * len(p.windows())
	p.t.Logf("%d requests instead of %d", requests, needed)
	assert.GreaterOrEqual(p.t, requests, needed)
	assert.Equal(p.t, needed, requests, "no page twice")
}

// The service caps its pages, or removes rows after it has applied the limit. A run is killed when it
// asks for a page that is not the first of an export: the one before is stored, and nothing else.
func TestRunsKilledBetweenShortPagesStoreEachRowOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		rows  int
		short docstest.ShortPages
	}{
		"capped":   {120, docstest.ShortPages{Cap: 50}},
		"filtered": {600, docstest.ShortPages{Removes: func(path string) bool { return strings.HasSuffix(path, "7") }}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t)
			service := mintlifytest.NewService()
			service.SetVisitorsFunc(site(tc.rows))
			tc.short.RoundTripper = service
			killing := &killing{next: &tc.short}
			server := httptest.NewServer(killing)
			defer server.Close()

			db := "sqlite:" + filepath.Join(t.TempDir(), "docs.db")
			for !p.runWith(db, server.URL, killing) {
				require.Less(t, killing.kills, 100)
			}
			require.Greater(t, killing.kills, 5)

			windows := slices.DeleteFunc(p.windows(), func(w store.Window) bool { return w.Project != "docs" })
			docstest.RequireWindows(t, db, tc.short.Left(site(tc.rows)), windows)
			t.Logf("%d kills", killing.kills)
		})
	}
}

// killing is the service on a socket. It kills the process at each seventh page that is not the first
// of an export of visitors.
type killing struct {
	next  http.RoundTripper
	mu    sync.Mutex
	of    *os.Process
	pages int
	kills int
}

func (k *killing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/visitors") && r.URL.Query().Get("offset") != "" && k.isDue() {
		<-r.Context().Done() // the process is gone
		return
	}

	proxy := &httputil.ReverseProxy{Transport: k.next, Rewrite: func(*httputil.ProxyRequest) {}}
	proxy.ServeHTTP(w, r)
}

func (k *killing) isDue() bool {
	k.mu.Lock()
	defer k.mu.Unlock()

	k.pages++
	if k.pages%7 != 0 {
		return false
	}
	k.kills++
	_ = k.of.Kill()
	return true
}

// runWith runs the command with a service, which may kill it.
func (p process) runWith(db, service string, killing *killing) (done bool) {
	command := p.command(db, "-projects", "docs")
	command.Env = append(command.Env,
		"MINTLIFY_BASE_URL="+service, "MINTLIFY_API_KEY="+mintlifytest.APIKey, "MINTLIFY_PROJECT_ID=docs")
	var output bytes.Buffer
	command.Stderr = &output

	killing.mu.Lock()
	err := command.Start()
	killing.of = command.Process
	killing.mu.Unlock()
	require.NoError(p.t, err)

	err = command.Wait()
	if command.ProcessState.ExitCode() == -1 { // by a signal
		return false
	}
	require.NoError(p.t, err, "%s", output.String())
	return true
}

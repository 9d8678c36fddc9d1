//go:build unix

package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/docstest"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
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

func TestOneSyncAtATime(t *testing.T) {
	p := newProcess(t)
	for name, newDatabase := range databases(t) {
		t.Run(name, func(t *testing.T) { p.runTwice(newDatabase(t)) })
	}
}

// databases returns what makes a new database of each kind.
func databases(t *testing.T) map[string]func(*testing.T) string {
	return map[string]func(*testing.T) string{
		"SQLite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "docs.db") },
		"Postgres": startPostgres(t).Database,
	}
}

// startPostgres returns a server that ends with the test.
func startPostgres(t *testing.T) *processes.Postgres {
	t.Helper()
	server := &processes.Postgres{}
	t.Cleanup(server.Close)
	return server
}

// process is sync as a process of its own: this test's binary.
type process struct {
	t    *testing.T
	from mintlify.Date
}

const (
	asProcess = "DOCS_REPORT_TEST_ARGS"
	asWriter  = "DOCS_REPORT_TEST_WRITER"
)

func TestMain(m *testing.M) {
	if args := os.Getenv(asProcess); args != "" {
		p := program{getenv: os.Getenv, demoPages: demoPages, stdout: os.Stdout, stderr: os.Stderr}
		os.Exit(p.run(context.Background(), strings.Split(args, "\n")))
	}
	if db := os.Getenv(asWriter); db != "" {
		writeHalf(db)
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
	command := processes.Self(p.t)
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

func (p process) windowsOf(project string) []store.Window {
	return slices.DeleteFunc(p.windows(), func(w store.Window) bool { return w.Project != project })
}

// requireAll asserts that the database holds all that the demo reports, and returns how
// many requests for visitors that took.
func (p process) requireAll(db string) (requests int) {
	p.t.Helper()
	docstest.RequireWindows(p.t, db, demo.Visitors(demoPages), p.windows())

	s, err := store.Open(p.t.Context(), db, store.Demo)
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
				endLease(t, db)
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

	run := processes.Start(p.t, p.demo(db))
	if killAfter >= 0 {
		run.UntilSignOfLife()
		if run.KillAfter(killAfter) {
			return false
		}
	}
	require.NoError(p.t, run.Wait(), run.Output)
	return true
}

// underWay returns 1 if an export stopped within its window, else 0.
func (p process) underWay(db string) int {
	p.t.Helper()
	s, err := store.Open(p.t.Context(), db, store.Demo)
	require.NoError(p.t, err)
	defer s.Close()

	for _, project := range []string{"docs", "handbook"} {
		all, err := s.Exports(p.t.Context(), project)
		require.NoError(p.t, err)
		isUnderWay := func(e store.Export) bool { return e.State == store.Begun && e.Offset > 0 && e.Kind == store.Visitors }
		if slices.ContainsFunc(all, isUnderWay) {
			return 1
		}
	}
	return 0
}

// runTwice runs the command while another one is at work.
func (p process) runTwice(db string) {
	first := processes.Start(p.t, p.demo(db))
	first.UntilSignOfLife()

	output, err := p.demo(db).CombinedOutput()
	require.Error(p.t, err)
	var exit *exec.ExitError
	require.ErrorAs(p.t, err, &exit)
	assert.Equal(p.t, exitQuota, exit.ExitCode(), "%s", output)
	assert.Contains(p.t, string(output), fmt.Sprintf("another sync (process %d on ", first.Process.Pid))

	output, err = p.command(db, "-demo", "-projects", "docs,handbook", "-wait").CombinedOutput()
	require.NoError(p.t, err, "%s", output)
	assert.Contains(p.t, string(output), "Waiting: another sync")
	require.NoError(p.t, first.Wait(), first.Output)

	assert.Equal(p.t, requestsEach*len(p.windows()), p.requireAll(db), "no page twice")
}

// A sync that was stopped while a page was on its way stores nothing of it when it wakes up, since another
// one has taken the database.
func TestASyncThatWakesUpStoresNothing(t *testing.T) {
	const rows = 120
	p := newProcess(t)
	for name, newDatabase := range databases(t) {
		t.Run(name, func(t *testing.T) {
			db := newDatabase(t)
			stopped := make(chan struct{})
			wakesUp := make(chan struct{})
			server := newSignaling(t, rows, func(page int64, sync *os.Process) {
				if page == 5 {
					_ = sync.Signal(syscall.SIGSTOP)
					close(stopped)
					<-wakesUp
				}
			})

			sleeper := server.start(p, db)
			<-stopped

			endLease(t, db)
			other := server.start(p, db)
			require.NoError(t, other.Wait(), other.Output)
			ended := p.rowsAndSyncs(db)

			close(wakesUp)
			require.NoError(t, sleeper.Process.Signal(syscall.SIGCONT))
			require.Error(t, sleeper.Wait())
			assert.Equal(t, exitQuota, sleeper.ProcessState.ExitCode(), sleeper.Output)
			assert.Contains(t, sleeper.Output.String(), "another one has taken the database")
			assert.Equal(t, ended, p.rowsAndSyncs(db))
			docstest.RequireWindows(t, db, site(rows), p.windowsOf("docs"))
		})
	}
}

// rowsAndSyncs returns what a sync has changed in the database.
func (p process) rowsAndSyncs(db string) string {
	text := ""
	const statement = `SELECT (SELECT COUNT(*) FROM docs_visitors) || ' ' || (SELECT COUNT(*) FROM docs_exports)
		|| ' ' || (SELECT COUNT(*) FROM docs_requests) || ' ' || (SELECT MAX(ended_at) FROM docs_syncs)`
	require.NoError(p.t, rawDatabase(p.t, db).QueryRowContext(p.t.Context(), statement).Scan(&text))
	return text
}

// endLease lets two minutes go by after a kill.
func endLease(t *testing.T, db string) {
	t.Helper()
	_, err := rawDatabase(t, db).ExecContext(t.Context(), `UPDATE docs_service SET held_until = 0`)
	require.True(t, err == nil || sqldb.IsNoTable(err), "%v", err)
}

// signaling is the service on a socket, whose pages have 50 rows. It calls onPage when a process asks for a
// page of visitors that is not the first of an export.
type signaling struct {
	http.Handler
	address string
	onPage  func(page int64, process *os.Process)
	process atomic.Pointer[os.Process]
	pages   atomic.Int64
}

func newSignaling(t *testing.T, rows int, onPage func(int64, *os.Process)) *signaling {
	t.Helper()
	service := mintlifytest.NewService()
	service.SetVisitorsFunc(site(rows))
	silent := log.New(io.Discard, "", 0) // a killed process has gone away
	proxy := &httputil.ReverseProxy{Transport: service, ErrorLog: silent, Rewrite: func(r *httputil.ProxyRequest) {
		query := r.Out.URL.Query()
		query.Set("limit", "50")
		r.Out.URL.RawQuery = query.Encode()
	}}

	s := &signaling{Handler: proxy, onPage: onPage}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.address = server.URL
	return s
}

func (s *signaling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/visitors") && r.URL.Query().Get("offset") != "" {
		s.onPage(s.pages.Add(1), s.process.Load())
	}
	s.Handler.ServeHTTP(w, r)
}

// start starts a sync of the service.
func (s *signaling) start(p process, db string) *processes.Run {
	command := p.command(db, "-projects", "docs")
	command.Env = append(command.Env, "MINTLIFY_BASE_URL="+s.address, "MINTLIFY_API_KEY="+mintlifytest.APIKey)
	run := processes.Start(p.t, command)
	s.process.Store(run.Process) // before it asks for a second page
	return run
}

// A reader is refused after a kill within a commit, since it may not undo what is half written. It says what
// does: the next sync.
func TestAReaderAfterAKillInACommit(t *testing.T) {
	r := newRig(t, site(3))
	r.synced()
	r.ok("digest")
	before := r.stdout

	command := processes.Self(t)
	command.Env = append(os.Environ(), asWriter+"="+r.db)
	writer := processes.Start(t, command)
	writer.UntilSignOfLife()
	require.Error(t, writer.End(os.Kill))
	require.Equal(t, "half\n", writer.Output.String())

	assert.Equal(t, exitUsage, r.run(t.Context(), "digest"))
	assert.Contains(t, r.messages, "a sync was killed while it stored a page")
	assert.Contains(t, r.messages, "the next docs-report sync does")
	assert.Empty(t, r.stdout)

	r.synced()
	r.ok("digest")
	assert.Equal(t, before, r.stdout)
}

// writeHalf writes into a database's file, without an end, as a commit does.
func writeHalf(db string) {
	address, err := sqldb.ParseAddress(db)
	if err != nil {
		panic(err)
	}
	file, err := sql.Open("sqlite", address.SQLite(url.Values{"_pragma": {"cache_size(1)"}}))
	if err != nil {
		panic(err)
	}
	tx, err := file.Begin()
	if err != nil {
		panic(err)
	}
	for range 10 {
		if _, err := tx.Exec(`UPDATE docs_visitors SET path = path || hex(randomblob(2000))`); err != nil {
			panic(err)
		}
	}

	fmt.Println("half")
	select {}
}

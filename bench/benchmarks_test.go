package bench_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/clients"
	"github.com/mintlify-community/mintlify-go/bench/service"
	"github.com/mintlify-community/mintlify-go/once"
)

// each measures every client as a sub-benchmark, which benchstat puts side by side.
func each(b *testing.B, columns []clients.Column, measure func(*testing.B, clients.Column)) {
	for _, column := range columns {
		b.Run("client="+column.Name, func(b *testing.B) { measure(b, column) })
	}
}

// BenchmarkCall measures what a call costs the client itself.
func BenchmarkCall(b *testing.B) {
	for _, call := range service.Calls {
		b.Run(call.Name, func(b *testing.B) {
			each(b, clients.All, func(b *testing.B, column clients.Column) {
				client := column.New(service.Nowhere, service.Standard(call.Response))
				b.ReportAllocs()
				before := bench.CPUTime()
				for b.Loop() {
					require.NoError(b, call.Do(b.Context(), client))
				}
				b.ReportMetric((bench.CPUTime()-before)/float64(b.N), "cpu-ns/op")
			})
		})
	}
}

// BenchmarkRequests counts the requests of an export with the client's own page size.
func BenchmarkRequests(b *testing.B) {
	const rows = 100_000
	each(b, clients.Exporting, func(b *testing.B, column clients.Column) {
		transport := &counter{next: service.New(rows)}
		client := column.New(service.Nowhere, transport)
		for b.Loop() {
			require.NoError(b, bench.Export(b.Context(), client, 0, column.Prefetch, func(bench.Row) {}))
		}
		b.ReportMetric(float64(transport.count.Load())/float64(b.N), "requests/op")
	})
}

type counter struct {
	next  http.RoundTripper
	count atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.count.Add(1)
	return c.next.RoundTrip(r)
}

// BenchmarkExport measures how long an export takes if the service needs 20 ms for a page, and the
// loop over the rows works for some time on each page.
func BenchmarkExport(b *testing.B) {
	const rows = 25_000
	server := httptest.NewServer(service.New(rows))
	defer server.Close()

	for _, work := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(fmt.Sprint("work=", work), func(b *testing.B) {
			each(b, clients.Exporting, func(b *testing.B, column clients.Column) {
				client := column.New(server.URL+"/20ms", nil)
				for b.Loop() {
					require.Equal(b, rows, export(b, client, column.Prefetch, work))
				}
			})
		})
	}
}

// export returns the number of rows.
func export(b *testing.B, client bench.Client, prefetch int, work time.Duration) int {
	rows := 0
	err := bench.Export(b.Context(), client, bench.MaxLimit, prefetch, func(bench.Row) {
		rows++
		if rows%bench.MaxLimit == 0 {
			time.Sleep(work)
		}
	})
	require.NoError(b, err)
	return rows
}

// BenchmarkWaits measures what one of many waits holds between two polls.
func BenchmarkWaits(b *testing.B) {
	const waits = 10_000
	each(b, clients.All, func(b *testing.B, column clients.Column) {
		var held int64
		for b.Loop() {
			transport := &counter{next: service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}}
			client := column.New(service.Nowhere, service.Standard(transport))
			ctx, cancel := context.WithCancel(b.Context())
			before := bench.MemoryInUse()

			var all sync.WaitGroup
			for range waits {
				all.Go(func() { _ = bench.Wait(ctx, client, "job_1") })
			}
			for transport.count.Load() < waits {
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(500 * time.Millisecond) // until all are done with their first poll
			held = bench.MemoryInUse() - before

			cancel()
			all.Wait()
		}
		b.ReportMetric(float64(held)/waits, "B/wait")
	})
}

// BenchmarkSchedule simulates waits for jobs: how often they poll, and how late they notice the end.
// Responses take no time. Two jobs in three take between 1.8 and 9 minutes.
func BenchmarkSchedule(b *testing.B) {
	const (
		jobs        = 5000
		shortestJob = 20 * time.Second
		medianJob   = 4 * time.Minute
		longestJob  = 45 * time.Minute
		sigma       = 0.8 // of the logarithm
	)
	byHand := func(time.Duration) time.Duration { return bench.PollInterval }

	for name, interval := range map[string]func(time.Duration) time.Duration{"byhand": byHand, "sdk": sdkInterval(b)} {
		b.Run("client="+name, func(b *testing.B) {
			var polls, pollsOfLongest int
			var late time.Duration
			for b.Loop() {
				polls = 0
				late = 0
				random := rand.New(rand.NewPCG(1, 2)) // the same jobs for both
				for range jobs {
					length := time.Duration(float64(medianJob) * math.Exp(sigma*random.NormFloat64()))
					itsPolls, itsLate := simulate(min(max(length, shortestJob), longestJob), interval)
					polls += itsPolls
					late += itsLate
				}
				pollsOfLongest, _ = simulate(longestJob, interval)
			}
			b.ReportMetric(float64(polls)/jobs, "polls/wait")
			b.ReportMetric(float64(pollsOfLongest), "polls/45min")
			b.ReportMetric(late.Seconds()/jobs, "s-late/wait")
		})
	}
}

// sdkInterval returns the interval of the SDK, which says itself when its next poll is.
func sdkInterval(b *testing.B) func(time.Duration) time.Duration {
	client := newSDK(b, service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)})
	return func(waited time.Duration) time.Duration {
		poll, err := client.Jobs.Poll(b.Context(), "job_1", waited)
		require.NoError(b, err)
		return poll.Next
	}
}

func newSDK(b *testing.B, transport http.RoundTripper) *mintlify.Client {
	client, err := mintlify.NewClient(bench.Key, bench.Project,
		mintlify.WithBaseURL(service.Nowhere), mintlify.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(b, err)
	return client
}

// simulate returns how often a wait polls, and how long after the end of the job the last poll is.
func simulate(length time.Duration, interval func(time.Duration) time.Duration) (int, time.Duration) {
	polls := 1
	var waited time.Duration
	for waited < length {
		waited += interval(waited)
		polls++
	}
	return polls, waited - length
}

// BenchmarkBurst makes a thousand calls at once, and again. It counts the connections that the second
// burst opens, and measures what both ends of those hold that the first one has left idle.
func BenchmarkBurst(b *testing.B) {
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(service.New(0))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()

	each(b, clients.All, func(b *testing.B, column clients.Column) {
		var held, again int64
		for b.Loop() {
			client := column.New(server.URL+"/200ms", nil) // all calls are in progress at once
			before := bench.MemoryInUse()
			createAtOnce(b, client)
			held = bench.MemoryInUse() - before

			opened.Store(0)
			createAtOnce(b, client)
			again = opened.Load()
		}
		b.ReportMetric(float64(held)/(1<<20), "idle-MiB")
		b.ReportMetric(float64(again), "connections")
	})
}

// createAtOnce returns once the connections that the calls have used are idle, or closed.
func createAtOnce(b *testing.B, client bench.Client) {
	var all sync.WaitGroup
	errs := make([]error, 1000)
	for i := range errs {
		all.Go(func() { _, errs[i] = client.Create(b.Context(), "Fix the typos") })
	}
	all.Wait()
	require.Empty(b, slices.DeleteFunc(errs, func(err error) bool { return err == nil }))
	time.Sleep(100 * time.Millisecond)
}

// doneJob is a service whose jobs are done at once. It has no job of the id that package once
// asks for first.
type doneJob struct{}

var noJob = service.Fixed{
	Status: http.StatusNotFound,
	Body:   []byte(`{"error":"Job not found"}`),
}

var completedJob = service.Fixed{
	Status: http.StatusCreated,
	Body:   []byte(strings.Replace(service.JobBody, `"active"`, `"completed"`, 1)),
}

// RoundTrip implements [http.RoundTripper].
func (doneJob) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/preflight") {
		return noJob.RoundTrip(r)
	}
	return completedJob.RoundTrip(r)
}

// BenchmarkOnce measures Do of package once with a store in SQLite, from the prompt to the job's end.
func BenchmarkOnce(b *testing.B) {
	const pragmas = "?_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "once.db")+pragmas)
	require.NoError(b, err)
	defer db.Close()

	store := once.NewSQL(db)
	require.NoError(b, store.CreateTable(b.Context()))
	runner, err := once.New(newSDK(b, service.Standard(doneJob{})), store)
	require.NoError(b, err)

	b.ReportAllocs()
	keys := 0
	for b.Loop() {
		keys++
		_, err := runner.Do(b.Context(), once.Task{Key: fmt.Sprint("acme/api@", keys), Prompt: "Fix the typos"})
		require.NoError(b, err)
	}
}

// program exports with one client, whose package the %s is.
const program = `package main

import (
	"context"
	"os"

	"github.com/mintlify-community/mintlify-go/bench"
	client "github.com/mintlify-community/mintlify-go/bench/%s"
)

func main() {
	c := client.New(os.Args[1], nil)
	if err := bench.Export(context.Background(), c, bench.MaxLimit, 0, func(bench.Row) {}); err != nil {
		panic(err)
	}
}
`

// BenchmarkProgram builds a program, and measures what it links.
func BenchmarkProgram(b *testing.B) {
	each(b, clients.All, func(b *testing.B, column clients.Column) {
		source := filepath.Join(b.TempDir(), "main.go")
		require.NoError(b, os.WriteFile(source, fmt.Appendf(nil, program, column.Name), 0o600))
		binary := filepath.Join(b.TempDir(), "program")

		for b.Loop() {
			goCommand(b, "build", "-trimpath", "-ldflags=-s -w", "-o", binary, source)
		}
		info, err := os.Stat(binary)
		require.NoError(b, err)
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB")

		modules := strings.Fields(goCommand(b, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", source))
		slices.Sort(modules)
		b.ReportMetric(float64(len(slices.Compact(modules))-1), "modules") // without this one
	})
}

func goCommand(b *testing.B, args ...string) string {
	output, err := exec.CommandContext(b.Context(), "go", args...).Output()
	require.NoError(b, err)
	return string(output)
}

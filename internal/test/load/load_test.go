package load

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func skipIfShort(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

// script is a job of n polls.
func script(n int) []mintlifytest.JobStep {
	last := mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/1"}
	return append(make([]mintlifytest.JobStep, n), last)
}

// through wires a client to rt, with the SDK's own schedule.
func through(svc *mintlifytest.Service, rt http.RoundTripper) *mintlify.Client {
	return svc.Client(mintlify.WithHTTPClient(&http.Client{Transport: rt}), mintlifytest.WithRealSchedule())
}

// response is a 200.
func response(body string) *http.Response {
	content := io.NopCloser(strings.NewReader(body))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: content}
}

// acted returns how often the service has acted on each prompt.
func acted(svc *mintlifytest.Service) map[string]int {
	times := map[string]int{}
	for _, request := range svc.Requests() {
		if request.Acted {
			times[request.Prompt]++
		}
	}
	return times
}

func TestTenThousandWaitsOnOneClient(t *testing.T) {
	skipIfShort(t)
	const (
		waits = 10_000
		polls = 15
	)
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		service := &Faulty{Next: newJobs(polls), Refused: 0.05, Failing: 0.20}
		client := through(mintlifytest.NewService(), service)
		before := memory()
		goroutines := runtime.NumGoroutine()

		var done atomic.Int32
		for i := range waits {
			go func() {
				job, err := client.Jobs.WaitUntilDone(t.Context(), strconv.Itoa(i))
				if assert.NoError(t, err) {
					assert.Equal(t, mintlify.JobCompleted, job.Status)
					assert.Equal(t, strconv.Itoa(i), job.ID)
				}
				done.Add(1)
			}()
		}

		time.Sleep(30 * time.Second)
		synctest.Wait() // each wait is between two polls
		assert.Equal(t, waits, runtime.NumGoroutine()-goroutines, "one goroutine a wait")
		now := memory()
		t.Logf("between polls a wait is %d bytes of heap and %d of stack",
			(now.heap-before.heap)/waits, (now.stacks-before.stacks)/waits)

		time.Sleep(30 * time.Minute)
		synctest.Wait()
		assert.EqualValues(t, waits, done.Load(), "all end")
	})
}

// usage is the memory in use.
type usage struct{ heap, stacks uint64 }

func memory() usage {
	runtime.GC()
	runtime.GC() // what was pooled

	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return usage{heap: stats.HeapAlloc, stacks: stats.StackInuse}
}

// jobs is a service of jobs that exist as soon as they are asked for, and are
// completed at their last poll.
type jobs struct {
	polls int
	mu    sync.Mutex
	seen  map[string]int
}

func newJobs(polls int) *jobs { return &jobs{polls: polls, seen: make(map[string]int, 10_000)} }

func (j *jobs) RoundTrip(r *http.Request) (*http.Response, error) {
	id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	return response(fmt.Sprintf(`{"id":%q,"status":%q}`, id, j.poll(id))), nil
}

func (j *jobs) poll(id string) mintlify.JobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen[id]++
	if j.seen[id] >= j.polls {
		return mintlify.JobCompleted
	}
	return mintlify.JobActive
}

func TestWaitsLeaveNoConnectionAndNoGoroutine(t *testing.T) {
	const waits = 200
	svc := mintlifytest.NewService()
	var open atomic.Int32
	server := httptest.NewUnstartedServer(svc)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
	server.Start()
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID,
		mintlify.WithBaseURL(server.URL), mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, 0)))
	require.NoError(t, err)

	for i := range waits {
		svc.AddJob(strconv.Itoa(i), script(10)...)
	}
	svc.FailNext(mintlify.OpGetJob, waits, mintlifytest.Fault{Status: 503})
	svc.FailNext(mintlify.OpGetJob, waits, mintlifytest.Fault{Drop: true})
	svc.FailNext(mintlify.OpGetJob, waits, mintlifytest.Fault{Truncate: true})

	var all sync.WaitGroup
	for i := range waits {
		all.Go(func() {
			_, err := client.Jobs.WaitUntilDone(t.Context(), strconv.Itoa(i))
			assert.NoError(t, err)
		})
	}
	all.Wait()

	client.CloseIdleConnections()
	server.Close() // returns once each connection is closed
	assert.Zero(t, open.Load())
	goleak.VerifyNone(t)
}

// rows is an export of n rows, a page at a time, of which nothing is kept.
type rows struct{ n int }

func (s rows) RoundTrip(r *http.Request) (*http.Response, error) {
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	end := min(offset+limit, s.n)

	body := []byte(`{"totals":{"human":1,"ai":1,"total":1},"visitors":[`)
	for i := offset; i < end; i++ {
		if i > offset {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"path":"/page/%d","human":%d,"ai":1,"total":2}`, i, i)
	}
	body = fmt.Appendf(body, `],"hasMore":%t}`, end < s.n)
	return response(string(body)), nil
}

func TestExportOfAMillionRowsUnderFaults(t *testing.T) {
	skipIfShort(t)
	for name, opts := range map[string][]mintlify.ExportOption{
		"one page at a time": nil,
		"with prefetch":      {mintlify.WithPrefetch(1)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { exportAMillionRows(t, opts...) })
		})
	}
}

func exportAMillionRows(t *testing.T, opts ...mintlify.ExportOption) {
	const n = 1_000_000
	client := through(mintlifytest.NewService(), &Faulty{Next: rows{n}, Refused: 0.005, Failing: 0.015})

	i := 0
	var at100k, at1M usage
	for row, err := range client.Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}, opts...) {
		require.NoError(t, err)
		if row.Human != int64(i) || row.Path != "/page/"+strconv.Itoa(i) {
			t.Fatalf("row %d is %+v", i, row)
		}

		i++
		switch i {
		case 100_000:
			at100k = memory()
		case n:
			at1M = memory()
		}
	}

	assert.Equal(t, n, i)
	t.Logf("in use after 100,000 rows %d KB, after 1,000,000 rows %d KB", at100k.heap>>10, at1M.heap>>10)
	assert.Less(t, at1M.heap, at100k.heap+1<<20, "flat")
}

func TestCreatesUnderFaultsMakeNoJobTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const creates = 1000
		service := &Faulty{Next: mintlifytest.NewService(), Refused: 0.05, Failing: 0.20}
		client := through(mintlifytest.NewService(), service)

		var fine, unknown, other int
		for i := range creates {
			prompt := strconv.Itoa(i)
			_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: prompt})
			acted := service.Acted(prompt)
			switch {
			case err == nil:
				fine++
				require.Equal(t, 1, acted, "exactly one job for every nil error")
			case errors.Is(err, mintlify.ErrOutcomeUnknown):
				unknown++
				require.LessOrEqual(t, acted, 1, "at most one for every unknown outcome")
			default:
				other++
				require.Zero(t, acted, "none for any other error")
			}
		}

		t.Logf("%d fine, %d unknown, %d others", fine, unknown, other)
		assert.NotZero(t, fine)
		assert.NotZero(t, unknown)
	})
}

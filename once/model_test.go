package once_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// TestRandomModel runs several processes on one store, with chains of follow-ups, faults of the
// service and of the store, processes that die at any moment, and people who decide. Whatever
// happens, the service acts at most once on each prompt between two decisions of a person, gets
// no message for a job at work, and nothing stays open.
func TestRandomModel(t *testing.T) {
	seeds := uint64(8)
	if os.Getenv("MINTLIFY_LONG") != "" {
		seeds = 200
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, seed)
				m.run()
				m.check()
			})
		})
	}
}

const modelTasks, modelProcesses = 12, 3

// model is a world in which everything fails now and then.
type model struct {
	*world
	mu      sync.Mutex
	random  *rand.Rand
	calm    bool // nothing fails
	outage  time.Time
	resumed sync.WaitGroup
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{random: rand.New(rand.NewPCG(seed, 31)), calm: true}
	m.world = newWorld(t, &hooked{Store: once.NewMemory()})
	store := m.store.(*hooked)
	store.get = func(ctx context.Context, key string) (once.Record, error) {
		if m.chance(30) {
			return once.Record{}, errors.New("the database is down")
		}
		return store.Store.Get(ctx, key)
	}
	store.put = func(ctx context.Context, r once.Record) error {
		if m.chance(30) {
			return errors.New("the database is down")
		}
		err := store.Store.Put(ctx, r)
		if err == nil && m.chance(30) {
			return errors.New("the database is down, but stored it")
		}
		return err
	}
	return m
}

// chance is true once in n times, while anything fails.
func (m *model) chance(n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.random.IntN(n) == 0 && !m.calm
}

func (m *model) intN(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.random.IntN(n)
}

// RoundTrip is the way to the service.
func (m *model) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(m.intN(2000)) * time.Millisecond)
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	m.mu.Lock()
	isDown := time.Now().Before(m.outage)
	m.mu.Unlock()
	switch {
	case isDown, m.chance(20):
		return respond(r, http.StatusServiceUnavailable, http.Header{}), nil
	case m.chance(30):
		return respond(r, http.StatusTooManyRequests, http.Header{"Retry-After": {"20"}}), nil
	case m.chance(100):
		m.mu.Lock()
		m.outage = time.Now().Add(5 * time.Minute)
		m.mu.Unlock()
	}

	if strings.HasSuffix(r.URL.Path, "/message") {
		m.checkIdle(strings.Split(r.URL.Path, "/")[5])
	}
	response, err := m.svc.RoundTrip(r)
	if err == nil && m.chance(20) { // the response is lost
		_, _ = io.Copy(io.Discard, response.Body)
		return nil, errors.New("connection reset")
	}
	return response, err
}

// checkIdle checks that a job that gets a message has ended, as far as polls could tell.
func (m *model) checkIdle(id string) {
	for _, job := range m.svc.Jobs() {
		if job.ID == id {
			assert.True(m.t, job.Status.IsTerminal(), "a message for %s, which is %s", id, job.Status)
		}
	}
}

func (m *model) run() {
	for i := range modelTasks {
		task := once.Task{Key: fmt.Sprint("k", i), Prompt: fmt.Sprint("prompt of k", i)}
		if i > 0 && m.intN(3) > 0 {
			task.After = fmt.Sprint("k", i-1) // one follow-up each: a chain
		}
		end := mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://example.com/1"}
		if m.intN(6) == 0 {
			end = mintlifytest.Step{Status: mintlify.JobFailed}
		}
		m.svc.ScriptJob(mintlifytest.Step{}, mintlifytest.Step{}, end)
		m.put(once.Record{Task: task, State: once.Pending})
	}

	m.setCalm(false)
	life, end := context.WithCancel(m.t.Context())
	for range modelProcesses {
		m.resumed.Go(func() { m.process(life) })
	}
	m.resumed.Go(func() { m.people(life) })
	time.Sleep(2 * time.Hour)
	m.setCalm(true)
	time.Sleep(2 * time.Hour)
	end()
	m.resumed.Wait()
}

func (m *model) setCalm(calm bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.calm = calm
}

// process is a process that dies now and then. A Runner's death is the end of its memory: what
// it knows of the project, and what it was waiting for.
func (m *model) process(life context.Context) {
	for life.Err() == nil {
		way := mintlify.WithHTTPClient(&http.Client{Transport: m})
		r, err := once.New(m.svc.Client(mintlifytest.WithRealSchedule(), way), m.store, once.WithLogger(m.logger))
		require.NoError(m.t, err)

		ctx, cancel := context.WithTimeout(life, time.Duration(1+m.intN(600))*time.Second)
		if m.intN(2) == 0 {
			_ = r.Run(ctx)
		} else {
			_ = r.Resume(ctx)
		}
		cancel()
		time.Sleep(time.Duration(m.intN(60)) * time.Second)
	}
}

// people decide about what needs them, by what the service has done.
func (m *model) people(life context.Context) {
	r, err := once.New(nil, m.store)
	require.NoError(m.t, err)

	for life.Err() == nil {
		time.Sleep(5 * time.Minute)
		all, err := m.store.List(context.Background(), once.Unknown, once.Refused, once.Canceled, once.Failed)
		require.NoError(m.t, err)

		for _, record := range all {
			acted, jobID := m.acted(record)
			switch { // what fails is done the next time
			case record.State == once.Failed:
				_, _ = r.MarkDone(context.Background(), record.Key, "")
			case acted > 0:
				_, _ = r.Adopt(context.Background(), record.Key, jobID)
			default:
				_, _ = r.SendAgain(context.Background(), record.Key)
			}
		}

		open, err := m.store.List(context.Background(), once.Pending)
		require.NoError(m.t, err)

		for _, record := range open {
			if m.chance(10) {
				_, _ = r.Cancel(context.Background(), record.Key)
			}
		}
	}
}

// acted returns how often the service acted on a record's prompt, and the job that it made or
// that got the message, as a person finds it.
func (m *model) acted(record once.Record) (n int, jobID string) {
	jobs := 0
	for _, request := range m.svc.Requests() {
		if request.Operation == mintlify.OpCreateJob && request.Acted {
			jobs++
		}
		if !request.Acted || !strings.HasPrefix(request.Prompt+"\n", record.Prompt+"\n") {
			continue
		}
		n++
		jobID = fmt.Sprint("job_", jobs)
		if request.Operation == mintlify.OpSendMessage {
			jobID = strings.Split(request.Path, "/")[5]
		}
	}
	return n, jobID
}

func (m *model) check() {
	all, err := m.store.List(context.Background())
	require.NoError(m.t, err)
	require.Len(m.t, all, modelTasks)

	for _, record := range all {
		acted, jobID := m.acted(record)
		assert.Equal(m.t, 1, acted, record.Key)
		assert.Equal(m.t, once.Done, record.State, "%s: %s", record.Key, record.Problem)
		assert.Equal(m.t, jobID, record.JobID)
	}
	assert.NotContains(m.t, m.log.String(), "level=ERROR")

	log := m.log.String()
	m.t.Logf("%d unknown, %d pending with a problem, %d messages, %d asked first", strings.Count(log, "once: unknown"),
		strings.Count(log, `level=WARN msg="once: pending`), m.messages(), m.preflights())
}

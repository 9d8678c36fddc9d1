package once_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
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
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// TestRandomModel runs several processes on one store, with threads of follow-ups that several
// webhooks add, faults of the service, of the store and of the chat, clocks that differ, processes
// that die at any moment, and people who decide. Whatever happens, the service acts at most once on
// each prompt between two decisions of a person, gets no message for a job at work nor two within the
// settle time, and none before an earlier one of its thread that can be sent; each end is reported, and
// nothing stays open. In every fourth history the store cannot list; in another it lists threads and news.
//
// MINTLIFY_HISTORIES=100-200 runs these histories alone.
func TestRandomModel(t *testing.T) {
	first, end := uint64(0), uint64(8)
	if os.Getenv("MINTLIFY_LONG") != "" {
		end = manyHistories
	}
	if some := os.Getenv("MINTLIFY_HISTORIES"); some != "" {
		_, err := fmt.Sscanf(some, "%d-%d", &first, &end)
		require.NoError(t, err)
	}
	for seed := first; seed < end; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, seed)
				m.run()
				m.check()
			})
		})
	}
}

const (
	modelFirsts    = 4
	modelComments  = 8
	modelThreads   = 2 // of a store that cannot list
	modelProcesses = 3
	modelSettle    = 25 * time.Second // a little less than 30 s, since responses take time
)

// model is a world in which everything fails now and then.
type model struct {
	*world
	mu      sync.Mutex
	random  *rand.Rand
	calm    bool // nothing fails
	outage  time.Time
	resumed sync.WaitGroup

	cannotList bool // what a view shows
	hasLists   bool // of a thread, and of what was not reported

	down     time.Duration        // for which the chat is down from the start
	began    time.Time            // when the history began
	messages map[string]time.Time // when each job got its last message
	acts     map[string][]string  // the job of each act on a prompt
	allowed  map[string]int       // how often the service may act on a prompt, if a person has decided
	reports  map[string]int       // reports that were taken of records that are done

	puts    int             // how many Puts there were
	stored  map[string]int  // the Put that added each record
	claimed map[string]int  // the latest Put of each record as sending
	excused map[string]bool // records that were unknown or refused, or that a person has decided anew
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		random:   rand.New(rand.NewPCG(seed, 31)),
		calm:     true,
		began:    time.Now(),
		messages: map[string]time.Time{},
		acts:     map[string][]string{},
		allowed:  map[string]int{},
		reports:  map[string]int{},
		stored:   map[string]int{},
		claimed:  map[string]int{},
		excused:  map[string]bool{},
	}
	m.cannotList = seed%4 == 3
	m.hasLists = seed%4 == 1
	m.world = newWorld(t, oncetest.NewStore())
	if seed%100 == 7 {
		m.down = 72 * time.Hour
	}
	return m
}

// view is the store as a process sees it: through faults, and by its own clock.
type view struct {
	m    *model
	skew time.Duration
}

func (m *model) view() once.Store {
	v := &view{m, time.Duration(m.intN(90)-45) * time.Second}
	if m.hasLists {
		return listingView{v}
	}
	return v
}

// listingView is a view of a store that finds threads and news by itself, as SQL does.
type listingView struct{ *view }

func (v listingView) ListThread(ctx context.Context, thread string) ([]once.Record, error) {
	all, err := v.List(ctx)
	isOther := func(r once.Record) bool { return r.Thread != thread && r.Key != thread }
	return slices.DeleteFunc(all, isOther), err
}

func (v listingView) ListUnreported(ctx context.Context) ([]once.Record, error) {
	all, err := v.List(ctx, once.Done, once.Failed, once.Refused, once.Unknown, once.Running, once.Sending)
	isNone := func(r once.Record) bool { return r.Reported == r.State || r.State.IsOpen() && r.Problem == "" }
	return slices.DeleteFunc(all, isNone), err
}

// by returns a record with its times by another clock.
func by(r once.Record, d time.Duration) once.Record {
	for _, at := range []*time.Time{&r.Deadline, &r.UpdatedAt, &r.AddedAt} {
		if !at.IsZero() {
			*at = at.Add(d)
		}
	}
	return r
}

func (v *view) Get(ctx context.Context, key string) (once.Record, error) {
	if v.m.chance(30) {
		return once.Record{}, errors.New("the database is down")
	}
	r, err := v.m.store.Get(ctx, key)
	return by(r, -v.skew), err
}

func (v *view) Put(ctx context.Context, r once.Record) error {
	if v.m.chance(30) {
		return errors.New("the database is down")
	}
	err := v.m.store.Put(ctx, by(r, v.skew))
	if err == nil {
		v.m.note(r)
	}
	if err == nil && v.m.chance(30) {
		return errors.New("the database is down, but stored it")
	}
	if err == nil && v.m.chance(20) { // the client resends what was stored
		return v.m.store.Put(ctx, by(r, v.skew))
	}
	return err
}

// note notes a Put, for the order of messages.
func (m *model) note(r once.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.puts++
	switch {
	case r.Version == 1:
		m.stored[r.Key] = m.puts
	case r.State == once.Sending:
		m.claimed[r.Key] = m.puts
	case r.State == once.Unknown, r.State == once.Refused:
		m.excused[r.Key] = true
	}
}

func (v *view) List(ctx context.Context, states ...once.State) ([]once.Record, error) {
	if v.m.cannotList {
		return nil, errors.ErrUnsupported
	}
	if v.m.chance(100) {
		return nil, errors.New("the database is down")
	}
	records, err := v.m.store.List(ctx, states...)
	for i, r := range records {
		records[i] = by(r, -v.skew)
	}
	return records, err
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
	case r.Method == http.MethodPost && m.chance(20):
		return m.refuse(r), nil
	case m.chance(100):
		m.mu.Lock()
		m.outage = time.Now().Add(5 * time.Minute)
		m.mu.Unlock()
	}

	if r.Method == http.MethodPost {
		return m.act(r)
	}
	response, err := m.svc.RoundTrip(r)
	if err == nil && m.chance(20) { // the response is lost
		_, _ = io.Copy(io.Discard, response.Body)
		return nil, errors.New("connection reset")
	}
	return response, err
}

// refuse is a response to a prompt that nobody acts on.
func (m *model) refuse(r *http.Request) *http.Response {
	statuses := []int{400, 401, 402, 404, 407, 409, 415, 451, 501, 511, 522}
	n := m.intN(len(statuses) + 1)
	if n == len(statuses) {
		page := respond(r, cloudflarePage.Status, cloudflarePage.Header)
		page.Body = io.NopCloser(strings.NewReader(cloudflarePage.Body))
		return page
	}
	return respond(r, statuses[n], http.Header{"Retry-After": {"1800"}})
}

// act has the service act on a prompt, and notes what it has done.
func (m *model) act(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	job := fmt.Sprint("job_", len(m.svc.Jobs())+1)
	if strings.HasSuffix(r.URL.Path, "/message") {
		job = strings.Split(r.URL.Path, "/")[5]
		m.checkIdle(job)
	}
	body, err := io.ReadAll(r.Body)
	require.NoError(m.t, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var sent struct{ Prompt string }
	require.NoError(m.t, json.Unmarshal(body, &sent))
	key, _, _ := strings.Cut(strings.TrimPrefix(sent.Prompt, "prompt of "), "\n")
	m.checkOrder(key)

	response, err := m.svc.RoundTrip(r)
	if err != nil || response.StatusCode >= 300 {
		return response, err
	}
	m.acts[key] = append(m.acts[key], job)
	if !m.calm && m.random.IntN(10) == 0 {
		_, _ = io.Copy(io.Discard, response.Body)
		return nil, errors.New("connection reset")
	}
	return response, nil
}

// checkIdle checks that a job that gets a message has ended, as far as polls could tell, and that it
// has not got another just before.
func (m *model) checkIdle(id string) {
	for _, job := range m.svc.Jobs() {
		if job.ID == id {
			assert.True(m.t, job.Status.IsTerminal(), "a message for %s, which is %s", id, job.Status)
		}
	}
	last, known := m.messages[id]
	assert.False(m.t, known && time.Since(last) < modelSettle, "two messages for %s within %v", id, time.Since(last))
	m.messages[id] = time.Now()
}

// checkOrder checks that no earlier message of its thread could be sent when that of key is. The lock is held.
func (m *model) checkOrder(key string) {
	sent, err := m.store.Get(context.Background(), key)
	require.NoError(m.t, err)
	pending, err := m.store.List(context.Background(), once.Pending)
	require.NoError(m.t, err)

	for _, other := range pending {
		isInThread := sent.After != "" && other.After != "" && other.Thread == sent.Thread
		isExcused := m.excused[other.Key] || m.stored[other.Key] > m.claimed[key]
		if isInThread && !isExcused && m.isBefore(other, sent) {
			assert.Fail(m.t, "out of order", "%s is sent before %s, which was added before", key, other.Key)
		}
	}
}

// isBefore reports whether a was added before b. In a store that cannot list, b names what is before it.
func (m *model) isBefore(a, b once.Record) bool {
	if !m.cannotList {
		return a.AddedAt.Before(b.AddedAt) || a.AddedAt.Equal(b.AddedAt) && a.Key < b.Key
	}

	for b.After != "" && b.After != a.Key {
		var err error
		b, err = m.store.Get(context.Background(), b.After)
		require.NoError(m.t, err)
	}
	return b.After == a.Key
}

func (m *model) run() {
	failed := mintlifytest.JobStep{Status: mintlify.JobFailed}
	for i := range modelFirsts {
		end := mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://example.com/1"}
		if m.intN(4) == 0 {
			end = failed
		}
		m.svc.ScriptJob(mintlifytest.JobStep{}, mintlifytest.JobStep{}, end)
		m.add(once.Task{Key: fmt.Sprint("k", i), Prompt: fmt.Sprint("prompt of k", i)})
	}
	m.svc.ScriptJob(mintlifytest.JobStep{}, failed) // of a first record that fails twice

	m.setCalm(false)
	life, end := context.WithCancel(m.t.Context())
	for range modelProcesses {
		m.resumed.Go(func() { m.process(life) })
	}
	m.resumed.Go(func() { m.people(life) })
	for i := range modelComments {
		m.resumed.Go(func() { m.comment(life, i) })
	}
	time.Sleep(time.Hour)
	m.setCalm(true)
	time.Sleep(m.down)
	for wait := 0; wait < 50 && !m.isOver(); wait++ {
		time.Sleep(10 * time.Minute)
	}
	end()
	m.resumed.Wait()
}

// isOver reports whether each record is done and reported.
func (m *model) isOver() bool {
	all, err := m.store.List(context.Background())
	require.NoError(m.t, err)
	for _, record := range all {
		isReported := record.Reported == once.Done || m.cannotList
		if record.State != once.Done || !isReported || record.JobID == "" {
			return false
		}
	}
	return len(all) == modelFirsts+modelComments
}

// comment is a comment that two webhooks get, at any time. It names the first record of its thread, or
// a comment before it.
func (m *model) comment(life context.Context, i int) {
	key := fmt.Sprint("c", i)
	after := fmt.Sprint("k", m.intN(modelFirsts))
	switch {
	case m.cannotList && i >= modelThreads: // a chain
		after = fmt.Sprint("c", i-modelThreads)
	case m.cannotList:
		after = fmt.Sprint("k", i)
	case i > 0 && m.intN(4) == 0:
		after = fmt.Sprint("c", m.intN(i))
	}
	task := once.Task{Key: key, Prompt: "prompt of " + key, After: after}
	time.Sleep(time.Duration(m.intN(2000)) * time.Second)

	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			time.Sleep(time.Duration(m.intN(20)) * time.Second)
			r := m.newRunner()
			if m.intN(4) == 0 {
				ctx, cancel := context.WithTimeout(life, time.Duration(m.intN(900))*time.Second)
				_, _ = r.Do(ctx, task)
				cancel()
			}
			for life.Err() == nil {
				_, _, err := r.Add(life, task)
				if err == nil {
					return
				}
				time.Sleep(time.Minute) // the forge delivers it again
			}
		})
	}
	both.Wait()
}

func (m *model) setCalm(calm bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.calm = calm
}

// newRunner is a Runner of a new process.
func (m *model) newRunner() *once.Runner {
	way := mintlify.WithHTTPClient(&http.Client{Transport: m})
	r, err := once.New(m.svc.Client(mintlifytest.WithRealSchedule(), way), m.view(),
		once.WithLogger(m.logger), once.WithReport(m.report), once.WithFinder(m.find))
	require.NoError(m.t, err)
	return r
}

// process is a process that dies now and then. A Runner's death is the end of its memory: what
// it knows of the project, and what it was waiting for.
func (m *model) process(life context.Context) {
	for life.Err() == nil {
		ctx, cancel := context.WithTimeout(life, time.Duration(1+m.intN(900))*time.Second)
		way := m.intN(3)
		if m.cannotList {
			way = 0
		}
		switch way {
		case 0:
			m.queue(ctx)
		case 1:
			_ = m.newRunner().Resume(ctx)
		default:
			_ = m.newRunner().Run(ctx)
		}
		cancel()
		time.Sleep(time.Duration(m.intN(60)) * time.Second)
	}
}

// queue is a job queue whose workers make a new Runner for each step.
func (m *model) queue(ctx context.Context) {
	due := map[string]time.Time{}
	for ctx.Err() == nil {
		open, _ := m.store.List(context.Background(), once.Pending, once.Sending, once.Running)
		for _, record := range open {
			if time.Now().Before(due[record.Key]) || ctx.Err() != nil {
				continue
			}
			step, _ := m.newRunner().Step(ctx, record.Key)
			due[record.Key] = time.Now().Add(step.Next)
		}
		time.Sleep(3 * time.Second)
	}
}

// report is a chat.
func (m *model) report(_ context.Context, r once.Record) error {
	time.Sleep(time.Duration(m.intN(5)) * time.Second)
	if m.chance(4) || time.Since(m.began) < m.down {
		return errors.New("the chat is down")
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	if r.State == once.Done {
		m.reports[r.Key]++
	}
	return nil
}

// find finds what the service has done, late, and sometimes only the link.
func (m *model) find(_ context.Context, r once.Record) (once.Found, error) {
	if m.chance(3) {
		return once.Found{}, errors.New("the forge is down")
	}
	n, job := m.acted(r.Key)
	switch {
	case n == 0 || time.Since(r.UpdatedAt) < 7*time.Minute:
		return once.Found{}, nil
	case m.intN(4) == 0:
		return once.Found{PRLink: "https://example.com/1"}, nil
	}
	return once.Found{JobID: job}, nil
}

// people decide about what needs them, by what the service has done.
func (m *model) people(life context.Context) {
	r, err := once.New(nil, m.store)
	require.NoError(m.t, err)

	for life.Err() == nil {
		time.Sleep(5 * time.Minute)
		all, err := m.store.List(context.Background(), once.Unknown, once.Refused, once.Canceled, once.Failed, once.Done)
		require.NoError(m.t, err)
		for _, record := range all {
			m.decide(r, record)
		}

		open, err := m.store.List(context.Background(), once.Pending)
		require.NoError(m.t, err)
		for _, record := range open {
			if m.chance(20) {
				_, _ = r.Cancel(context.Background(), record.Key)
			}
		}
	}
}

// decide is a person's decision about a record. What fails is done the next time.
func (m *model) decide(r *once.Runner, record once.Record) {
	acted, jobID := m.acted(record.Key)
	ctx := context.Background()
	switch {
	case m.cannotList && record.After != "" && m.isOpen(record.Thread): // later ones would not see this one
	case record.State == once.Done && record.JobID == "" && record.After == "" && acted > 0:
		_, _ = r.Adopt(ctx, record.Key, jobID)
	case record.State == once.Done:
	case record.State == once.Failed && m.intN(2) == 0:
		_, _ = r.MarkDone(ctx, record.Key, "")
	case record.State == once.Failed || acted == 0:
		m.excuse(record.Key)
		_, err := r.SendAgain(ctx, record.Key)
		if err == nil {
			m.mu.Lock()
			m.allowed[record.Key] = len(m.acts[record.Key]) + 1
			m.mu.Unlock()
		}
	case record.State == once.Unknown:
		_, _ = r.Adopt(ctx, record.Key, jobID)
	default:
		m.excuse(record.Key)
		_, _ = r.SendAgain(ctx, record.Key)
	}
}

// isOpen reports whether a follow-up of a thread is open, or may be added.
func (m *model) isOpen(thread string) bool {
	all, err := m.store.List(context.Background())
	require.NoError(m.t, err)
	isOpen := func(r once.Record) bool { return r.Thread == thread && r.State.IsOpen() }
	return len(all) < modelFirsts+modelComments || slices.ContainsFunc(all, isOpen)
}

// excuse notes that a person decides a record anew.
func (m *model) excuse(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.excused[key] = true
}

// acted returns how often the service acted on a record's prompt, and the job that it made or
// that got the message, as a person finds it.
func (m *model) acted(key string) (n int, jobID string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	jobs := m.acts[key]
	if len(jobs) == 0 {
		return 0, ""
	}
	return len(jobs), jobs[len(jobs)-1]
}

func (m *model) check() {
	all, err := m.store.List(context.Background())
	require.NoError(m.t, err)
	require.Len(m.t, all, modelFirsts+modelComments)

	for _, record := range all {
		acted, jobID := m.acted(record.Key)
		assert.GreaterOrEqual(m.t, acted, 1, record.Key)
		assert.LessOrEqual(m.t, acted, max(1, m.allowed[record.Key]), record.Key)
		assert.Equal(m.t, once.Done, record.State, "%s: %s", record.Key, record.Problem)
		assert.Equal(m.t, jobID, record.JobID, record.Key)
		if m.cannotList {
			continue // without Run nothing is reported
		}
		assert.Equal(m.t, once.Done, record.Reported, record.Key)
		assert.GreaterOrEqual(m.t, m.reports[record.Key], 1, record.Key)
	}

	log := m.log.String()
	if m.t.Failed() {
		m.t.Log(log)
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=ERROR") {
			assert.Contains(m.t, line, "but the record went on")
		}
	}
	m.t.Logf("%d unknown, %d messages, %d asked first", strings.Count(log, "once: unknown"),
		m.count(mintlify.OpSendMessage), m.preflights())
}

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// weather is the service, which takes a second, or fails.
type weather struct {
	svc   *mintlifytest.Service
	slow  time.Duration
	fails func(r *http.Request) int // the status, 0 if it does not, -1 for no response

	failsBody func(key string) int       // the status of a POST, 0 if it does not fail; nil: none does
	atWork    func(r *http.Request) bool // whether a GET finds its job active, whatever it is; nil: none does

	mu          sync.Mutex
	order       []string             // keys in the order of their POSTs
	at          map[string]time.Time // by key, when the first POST came
	gets, posts int
	now, most   int // POSTs in progress
}

func (s *weather) RoundTrip(r *http.Request) (*http.Response, error) {
	isPost := r.Method == http.MethodPost
	status := 0
	s.mu.Lock()
	if isPost {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.order = append(s.order, markerOf(body))
		if s.at[markerOf(body)].IsZero() {
			s.at[markerOf(body)] = time.Now()
		}
		if s.failsBody != nil {
			status = s.failsBody(markerOf(body))
		}
		s.posts++
		s.now++
		s.most = max(s.most, s.now)
	} else {
		s.gets++
	}
	s.mu.Unlock()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(s.slow):
	}
	if isPost {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}
	if !isPost || s.failsBody == nil {
		status = s.fails(r)
	}
	if status > 0 {
		return &http.Response{
			StatusCode: status, Status: fmt.Sprint(status), Proto: "HTTP/1.1", Header: http.Header{},
			Body: io.NopCloser(strings.NewReader("down")), Request: r,
		}, nil
	} else if status < 0 {
		return nil, errors.New("connection reset")
	}
	if !isPost && s.atWork != nil && s.atWork(r) {
		body := io.NopCloser(strings.NewReader(`{"id":"job_1","status":"active"}`))
		return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", Header: http.Header{}, Body: body, Request: r}, nil
	}
	return s.svc.RoundTrip(r)
}

// sent returns when the first POST of a prompt came.
func (s *weather) sent(key string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[key]
}

// bench is a worker in virtual time.
type bench struct {
	*queue.Worker
	t    *testing.T
	file string
	svc  *weather
	ctx  context.Context
	stop func() // the worker, until start
}

// inBubble calls f beside a worker. change changes the worker's settings before it starts, if there is one.
func inBubble(t *testing.T, f func(b *bench), change ...func(s *queue.Settings)) {
	file := sqliteFile(t)
	synctest.Test(t, func(t *testing.T) {
		b := &bench{
			t:    t,
			file: file,
			ctx:  t.Context(),
			svc: &weather{
				svc: mintlifytest.NewService(), slow: time.Second, at: map[string]time.Time{},
				fails: func(*http.Request) int { return 0 },
			},
		}
		b.Worker = workerOf(t, openStore(t, "sqlite:"+file), b.svc)
		b.Settings.Poll = 5 * time.Second // each poll costs this machine time
		for _, set := range change {
			set(&b.Settings)
		}
		b.start()
		defer func() { b.stop() }()
		f(b)
	})
}

// start starts the worker.
func (b *bench) start() {
	ctx, stop := context.WithCancel(b.ctx)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(b.t, b.Run(ctx)) })
	b.stop = func() {
		stop()
		running.Wait()
	}
}

// untilDone waits until so many prompts are done, which must be within a time.
func (b *bench) untilDone(prompts int, limit time.Duration) {
	b.t.Helper()
	for began := time.Now(); b.counts()["done"] < prompts && time.Since(began) < limit; {
		time.Sleep(time.Minute)
	}
	assert.Equal(b.t, prompts, b.counts()["done"])
}

// skip lets time pass without a worker.
func (b *bench) skip(d time.Duration) {
	b.stop()
	time.Sleep(d)
	b.start()
	time.Sleep(30 * time.Second)
}

// enqueue adds prompts, which River works off.
func (b *bench) enqueue(prompts ...database.Prompt) {
	add(b.t, b.Queue, prompts...)
}

func (b *bench) status() status {
	status, err := statusOf(b.ctx, b.Queue)
	require.NoError(b.t, err)
	return status
}

func (b *bench) counts() map[string]int { return b.status().Counts }

func (b *bench) needs() []need { return b.status().NeedsPerson }

func (b *bench) pauses() []queue.Pause { return pausesOf(b.t, b.Queue) }

// counted returns how many POSTs the metrics count that led to a state.
func (b *bench) counted(result string) float64 {
	var metric dto.Metric
	require.NoError(b.t, b.Worker.Posts.WithLabelValues(result).Write(&metric))
	return metric.GetCounter().GetValue()
}

// failing is a service that fails with a status from now on for a while.
func (b *bench) failing(status int, d time.Duration) {
	end := time.Now().Add(d)
	b.svc.fails = func(*http.Request) int {
		if time.Now().Before(end) {
			return status
		}
		return 0
	}
}

// TestOutage is 40 queued prompts that meet an outage of the service.
func TestOutage(t *testing.T) {
	for _, c := range []struct {
		name             string
		status, projects int
		getsWork         bool
		most, mostInHour int
	}{
		{"503, one project", 503, 1, false, 0, 0},
		{"503, 20 projects", 503, 20, false, 0, 0},
		{"503 for POSTs alone, one project", 503, 1, true, 3, 6},
		{"503 for POSTs alone, 20 projects", 503, 20, true, 8, 15},
		{"no response, 20 projects", -1, 20, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				down := true
				b.svc.fails = func(r *http.Request) int {
					if down && (r.Method == http.MethodPost || !c.getsWork) {
						return c.status
					}
					return 0
				}
				b.enqueue(prompts(40, c.projects)...)
				time.Sleep(2 * time.Minute)
				counts := b.counts()
				t.Logf("after 2 minutes %v, %d POSTs", counts, b.svc.posts)
				assert.LessOrEqual(t, counts["unknown"], c.most)
				assert.Equal(t, 40, counts["queued"]+counts["unknown"])

				time.Sleep(58 * time.Minute)
				counts = b.counts()
				t.Logf("after an hour %v, %d POSTs, %d GETs", counts, b.svc.posts, b.svc.gets)
				assert.LessOrEqual(t, counts["unknown"], c.mostInHour)
				assert.Zero(t, counts["failed"])

				down = false
				b.untilDone(40-counts["unknown"], 2*time.Hour)
				after := b.counts()
				assert.Equal(t, counts["unknown"], after["unknown"])
				assert.Equal(t, 40-after["unknown"], after["done"], "the rest goes on by itself: %v", after)
				assert.LessOrEqual(t, b.svc.most, queue.Production.Posts)
				if !c.getsWork {
					assert.InDelta(t, 40, b.counted("running"), 0)
					assert.Zero(t, b.counted("queued"), "a question in vain is not a POST")
				}
			})
		})
	}
}

// TestCreditsUsedUp has the service respond 402 for a while: no prompt fails. Nobody knows when the queue is empty while
// a person has to mend something.
func TestCreditsUsedUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.failing(402, time.Hour)
		b.enqueue(prompts(80, 1)...)
		time.Sleep(time.Hour)
		counts := b.counts()
		t.Logf("%v, %d POSTs", counts, b.svc.posts)
		assert.Equal(t, 80, counts["queued"])
		assert.Less(t, b.svc.posts, 12)

		status := b.status()
		var out strings.Builder
		require.NoError(t, status.write(&out, false))
		assert.Regexp(t, `project-1 +80 +20.* 100 +- +a person +breaker: .*402`, out.String())
		assert.Zero(t, status.EmptyAbout)
		assert.Zero(t, status.Projects[0].EmptyAbout)
		require.NotEmpty(t, status.NeedsPerson)
		assert.Equal(t, "pause", status.NeedsPerson[0].Kind)
		assert.Contains(t, status.NeedsPerson[0].Advice, "Mend the credits, then: fleet resume -project project-1.")

		b.untilDone(80, 2*time.Hour)
	})
}

// TestClockAhead has a record from a machine whose clock was a year ahead.
func TestClockAhead(t *testing.T) {
	inBubble(t, func(b *bench) {
		ahead := time.Now().AddDate(1, 0, 0)
		_, err := b.Enqueue(b.ctx, promptOf(1, testProject))
		require.NoError(t, err)
		execute(b.t, b.Queue, "UPDATE fleet_prompts SET added = $1, queued = $1", ahead.UnixNano())
		require.NoError(t, b.MakePass(b.ctx))
		time.Sleep(10 * time.Minute)
		assert.Equal(t, 1, b.counts()["done"])
	})
}

// TestPassGoesOn after a step that has failed, and says which one.
func TestPassGoesOn(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.Decide = func(context.Context) error { return errors.New("GitHub is down") }
		execute(b.t, b.Queue, "INSERT INTO fleet_found (key, link, at) VALUES ('k', 'l', 1)")
		assert.EqualError(t, b.MakePass(b.ctx), "decide about comments: GitHub is down")
		assert.Zero(t, number(b.t, b.Queue, "SELECT count(*) FROM fleet_found"))
		b.Decide = func(context.Context) error { return nil }
	})
}

// TestJobThatDoesNotEnd is listed after six hours, told once a day later, and then polled every 30 minutes.
func TestJobThatDoesNotEnd(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.svc.svc.ScriptJob(mintlifytest.JobStep{Status: "active"})
		b.enqueue(promptOf(1, testProject))
		told := &notebook{}
		tell := queue.NewWorker(b.Queue, nil, told.tell)
		time.Sleep(time.Hour)
		b.skip(4 * time.Hour)
		assert.Empty(t, b.needs())

		time.Sleep(2 * time.Hour)
		b.skip(26 * time.Hour)
		require.Len(t, b.needs(), 1)
		assert.Contains(t, b.needs()[0].Advice, "fleet close")

		for range 3 {
			_ = tell.Tell(b.ctx, nil)
			time.Sleep(2 * time.Minute)
		}
		require.Len(t, told.rows, 1, "once")

		gets := b.svc.gets
		time.Sleep(2 * time.Hour)
		assert.InDelta(t, 4, b.svc.gets-gets, 1)

		_, err := b.Runner(nil).MarkDone(b.ctx, promptOf(1, "").Key, "")
		require.NoError(t, err)
		assert.Empty(t, b.needs())
	})
}

// TestWhatCameBackGoesBehind the others of its priority: a firewall refuses one prompt by its
// content, and the others are sent meanwhile.
func TestWhatCameBackGoesBehind(t *testing.T) {
	inBubble(t, func(b *bench) {
		refused := promptOf(0, testProject)
		b.svc.failsBody = func(key string) int {
			if key == refused.Key {
				return 403
			}
			return 0
		}
		all := append(prompts(3, 1), promptOf(9, testProject))
		for i := range all {
			all[i].Priority = 2
		}
		urgent := &all[3]
		urgent.Priority = 1
		b.enqueue(all...)
		time.Sleep(30 * time.Minute)
		assert.Equal(t, 3, b.counts()["done"])
		assert.Equal(
			t, []string{urgent.Key, refused.Key, promptOf(1, "").Key, promptOf(2, "").Key, refused.Key},
			b.svc.order[:5],
		)

		later := promptOf(5, testProject)
		later.Priority = 2
		b.enqueue(later)
		time.Sleep(10 * time.Minute)
		assert.Equal(t, 4, b.counts()["done"], "one that is enqueued later still goes")
	})
}

// TestMaxPerDay: what is over waits day by day, and other repositories pass it. What a person retries counts, and does
// not wait. Messages do neither.
func TestMaxPerDay(t *testing.T) {
	inBubble(t, func(b *bench) {
		require.NoError(t, b.SetLimits(b.ctx, map[string]int{"": 2, "acme/free": 1000}))
		b.enqueue(prompts(5, 1)...)
		free := database.Prompt{Key: "acme/free@1", Project: testProject, Prompt: "x", Priority: 4}
		b.enqueue(free)
		assert.Zero(t, b.status().Projects[0].EmptyAbout, "nobody knows: the limit is reached today")
		time.Sleep(time.Hour)
		assert.Equal(t, map[string]int{"done": 3, "queued": 3}, some(b.counts()))

		status := b.status()
		var out strings.Builder
		require.NoError(t, status.write(&out, false))
		assert.Contains(t, out.String(), "\n3 wait and go from tomorrow (UTC) on, 2 a day: -max-per-day 2\n")
		assert.Contains(t, out.String(), "\n0 wait for tomorrow (UTC): -max-per-day acme/free=1000\n")
		assert.NotContains(t, out.String(), "will be empty")
		assert.Equal(t, 3, status.Projects[0].Limited)
		assert.Zero(t, status.Projects[0].OldestFree)
		assert.Contains(t, status.Projects[0].Why, "-max-per-day")

		require.NoError(t, database.NoteRetry(b.ctx, b.DB, promptOf(4, "").Key))
		b.enqueue(database.Prompt{Key: "acme/free@2", Project: testProject, Prompt: "x"})
		time.Sleep(time.Hour)
		assert.Equal(t, map[string]int{"done": 5, "queued": 2}, some(b.counts()))

		b.skip(24 * time.Hour)
		assert.Equal(t, 7, b.counts()["done"])

		b.skip(24 * time.Hour)
		add(b.t, b.Queue, promptOf(10, testProject))
		require.NoError(t, database.NoteRetry(b.ctx, b.DB, promptOf(10, "").Key))
		time.Sleep(time.Hour)
		b.enqueue(database.Prompt{Key: "acme/repo@10#comment-1", Prompt: "x", After: promptOf(10, "").Key})
		time.Sleep(time.Hour)
		b.enqueue(promptOf(11, testProject), promptOf(12, testProject))
		time.Sleep(time.Hour)
		assert.Equal(t, map[string]int{"done": 10, "queued": 1}, some(b.counts()))
	})
}

// TestStatusTellsOfFailures from the first on, also between two pauses, until a prompt is sent. It needs nobody.
func TestStatusTellsOfFailures(t *testing.T) {
	inBubble(t, func(b *bench) {
		begin := time.Now()
		b.failing(503, 40*time.Minute)
		b.enqueue(prompts(12, 4)...)
		time.Sleep(30 * time.Minute)
		tells := "failures since " + begin.UTC().Format("2006-01-02 15:04:0") + `\d UTC \(\d+ so far\).*` +
			"; nothing to do about them: fleet tries again by itself"

		for _, change := range []string{"paused_until = paused_until", "paused_until = 0, turn_until = 0"} {
			execute(b.t, b.Queue, "UPDATE fleet_projects SET "+change)
			status := b.status()
			assert.Empty(t, status.NeedsPerson)

			var out strings.Builder
			require.NoError(t, status.write(&out, false))
			for _, name := range []string{"all", "project-1", "project-4"} {
				assert.Regexp(t, "(?m)^"+name+" .*"+tells, out.String())
			}

			for i := range 4 {
				why, _, err := b.WhyQueued(b.ctx, rowOf(b.t, b.Queue, promptOf(i, "").Key))
				require.NoError(t, err)
				assert.Regexp(t, tells, why)
			}
			assert.Equal(t, 5, strings.Count(out.String(), "503"), "%s", out.String())
		}

		time.Sleep(time.Hour)
		for _, p := range b.status().Projects {
			assert.NotContains(t, p.Why, "failures")
		}
		assert.Equal(t, 12, b.counts()["done"])
	})
}

// failingProjects has the POSTs of some projects fail, after all others have worked.
func (b *bench) failingProjects(names ...string) {
	b.svc.fails = func(r *http.Request) int {
		for _, name := range names {
			if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/"+name+"/") {
				return 503
			}
		}
		return 0
	}
	for _, name := range names {
		for i := range 20 {
			b.enqueue(database.Prompt{Key: fmt.Sprint(name, "-", i), Project: name, Prompt: "x"})
		}
	}
}

// soonest returns how long a new prompt of another project waits until it is sent.
func (b *bench) soonest(key string) time.Duration {
	began := time.Now()
	b.enqueue(database.Prompt{Key: key, Project: "good", Prompt: "x"})
	for b.svc.sent(key).IsZero() && time.Since(began) < time.Hour {
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(began)
}

// TestOthersGoOn: the POSTs of one project fail for an hour, and prompts of another go out within two seconds. Those
// of two fail, and a third's goes out when the pause of all ends.
func TestOthersGoOn(t *testing.T) {
	for names, most := range map[string]time.Duration{
		"bad":       2 * time.Second,
		"bad1 bad2": 15 * time.Second,
	} {
		t.Run(names, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				b.svc.slow = 100 * time.Millisecond
				b.failingProjects(strings.Fields(names)...)
				for i := range 6 {
					time.Sleep(10 * time.Minute)
					rows, err := b.Projects(b.ctx)
					require.NoError(t, err)
					pause := max(0, time.Until(rows[0].PausedUntil))
					assert.LessOrEqual(t, b.soonest(fmt.Sprint("good-", i)), pause+most)
				}
			}, func(s *queue.Settings) { s.Poll = time.Second })
		})
	}
}

// TestFirstPromptAfterAnOutage of any length comes soon, and nothing was sent during it but at its onset.
func TestFirstPromptAfterAnOutage(t *testing.T) {
	lengths := []time.Duration{5, 31}
	if os.Getenv("FLEET_LOAD") != "" {
		lengths = []time.Duration{5, 7, 10, 15, 20, 31, 45, 60, 90, 130}
	}
	for status, most := range map[int]time.Duration{503: 75 * time.Second, -1: 90 * time.Second} {
		for _, length := range lengths {
			for _, projects := range []int{1, 20} {
				name := fmt.Sprintf("%d for %d minutes, %d projects", status, length, projects)
				t.Run(name, func(t *testing.T) {
					inBubble(t, func(b *bench) { afterAnOutage(b, status, length*time.Minute, projects, most) })
				})
			}
		}
	}
}

func afterAnOutage(b *bench, status int, length time.Duration, projects int, most time.Duration) {
	b.enqueue(prompts(90*projects, projects)...)
	time.Sleep(10 * time.Second)
	begin := time.Now()
	end := begin.Add(length)
	b.svc.fails = func(r *http.Request) int {
		if !time.Now().Before(end) {
			return 0
		}
		if status < 0 && r.Method == http.MethodGet { // nothing responds
			select {
			case <-r.Context().Done():
			case <-time.After(time.Until(end)):
			}
		}
		return status
	}
	time.Sleep(length)
	unknown := b.counts()["unknown"]
	assert.LessOrEqual(b.t, unknown, queue.Production.Posts, "at the onset")

	posts := b.svc.posts
	for b.svc.posts == posts && time.Since(end) < time.Hour {
		time.Sleep(time.Second)
	}
	assert.LessOrEqual(b.t, time.Since(end), most)
	time.Sleep(time.Minute)
	assert.Equal(b.t, unknown, b.counts()["unknown"])
}

// TestStopDuringQuestions pauses nothing, and logs no warning.
func TestStopDuringQuestions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		asked := make(chan bool, 100)
		s := quick
		s.SendTime = 20 * time.Second
		s.Posts = 10
		f := newFleet(t, url, s, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked <- true
			<-r.Context().Done()
		}))
		f.enqueue(prompts(20, 10)...)
		worker := f.start()
		for range 10 {
			<-asked
		}
		require.NoError(t, f.end(worker, syscall.SIGTERM))

		assert.Empty(t, pausesOf(t, f.store))
		rows, err := f.store.Projects(t.Context())
		require.NoError(t, err)
		for _, row := range rows {
			assert.Zero(t, row.Last, row.Name)
		}
		assert.NotContains(t, f.logged(), "level=WARN")
		assert.NotContains(t, f.logged(), "level=ERROR")
		assert.Equal(t, 20, f.counts()["queued"])
	})
}

// untilAsleep waits until a worker has looked at the queue of a project, and has put off the next look.
func (f *fleet) untilAsleep(project string) {
	f.awaits("the queue of "+project+" to sleep", func() bool {
		return number(f.t, f.store, `SELECT count(*) FROM river_job j JOIN fleet_projects q ON q.river = j.id
WHERE j.state = 'scheduled' AND q.project = $1`, project) == 1
	})
}

// untilActed waits until the service has acted on a prompt.
func (f *fleet) untilActed(svc *countingService, key string) {
	f.awaits(key+" to be sent", func() bool { return svc.of(key) > 0 })
}

// awaits waits as until does, in any goroutine: it does not end the test.
func (f *fleet) awaits(what string, done func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(timeToDo); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Errorf("waited %v for %s", timeToDo, what)
			return
		}
	}
}

// TestNothingLooksJustInCase: a worker looks at a paused project about once an hour, and sends at once after the resume.
func TestNothingLooksJustInCase(t *testing.T) {
	const projects = 100
	inBubble(t, func(b *bench) {
		execute(b.t, b.Queue, "CREATE TABLE looks (job BIGINT)")
		execute(b.t, b.Queue, `CREATE TRIGGER look AFTER INSERT ON river_job WHEN NEW.kind = 'fleet_send'
BEGIN INSERT INTO looks VALUES (NEW.id); END`)
		require.NoError(b.t, b.Stop(b.ctx, "", "jane"))
		b.enqueue(prompts(3*projects, projects)...)
		time.Sleep(time.Minute)
		looks := func() int64 { return number(b.t, b.Queue, "SELECT count(*) FROM looks") }

		before := looks()
		time.Sleep(time.Minute)
		assert.Equal(b.t, before, looks(), "in the minute after the pause")
		time.Sleep(3 * time.Hour)
		t.Logf("%d looks at %d projects in three hours", looks()-before, projects)
		assert.LessOrEqual(b.t, looks()-before, int64(4*projects))

		_, err := b.Resume(b.ctx, "")
		require.NoError(b.t, err)
		time.Sleep(30 * time.Minute)
		assert.Equal(b.t, 3*projects, b.counts()["done"])
	})
}

// TestProjectGoesOnAfterAKill: after kill -9 of the sender during a POST the project's next prompt goes out soon, with
// the settings of production. It logs the time.
func TestProjectGoesOnAfterAKill(t *testing.T) {
	if !isLong() {
		t.Skip("it takes a minute and a half: set MINTLIFY_LONG=1")
	}
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		var hangs atomic.Bool
		hangs.Store(true)
		arrived := make(chan bool, 1)
		f := newFleet(t, url, queue.Production, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && hangs.CompareAndSwap(true, false) {
				svc.act(r)
				arrived <- true
				<-r.Context().Done()
				return
			}
			svc.ServeHTTP(rw, r)
		}))
		f.enqueue(prompts(2, 1)...)
		sender := f.start()
		<-arrived
		f.start()
		killed := time.Now()
		_ = f.end(sender, os.Kill)

		f.until(4*time.Minute, "the next prompt", func() bool { return svc.of(promptOf(1, "").Key) == 1 })
		t.Logf("the next prompt went out %v after the kill", time.Since(killed))
		require.Equal(t, 1, svc.of(promptOf(0, "").Key))
	})
}

// TestLimitsWakeTheQueues, but only if they have changed: the queues have slept until tomorrow.
func TestLimitsWakeTheQueues(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		isWoken := func(limits map[string]int) bool {
			before := number(t, s, "SELECT count(*) FROM river_job WHERE kind = 'fleet_wake'")
			require.NoError(t, s.SetLimits(t.Context(), limits))
			return number(t, s, "SELECT count(*) FROM river_job WHERE kind = 'fleet_wake'") > before
		}

		assert.False(t, isWoken(nil))
		assert.True(t, isWoken(map[string]int{"acme/repo": 0}))
		assert.False(t, isWoken(map[string]int{"acme/repo": 0}))
		assert.True(t, isWoken(map[string]int{"acme/repo": 1}))
		assert.True(t, isWoken(nil))
	})
}

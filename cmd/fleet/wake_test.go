//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// TestResumeDuringALook: River stores a snooze only after the look has ended, so that a wake-up during it is lost.
// Passes are too far apart to make up for it.
func TestResumeDuringALook(t *testing.T) {
	wakeDuringLooks(t, time.Hour, func(f *fleet, svc *countingService, project, key string) time.Duration {
		c := terminal{f.t, f.url}
		c.wants(0, "pause", "-project", project)
		c.wants(0, "enqueue", "-key", key, "-project", project, "-prompt", "x")
		f.untilAsleep(project)

		looking := make(chan bool)
		go func() {
			defer close(looking)
			for range 3 {
				_ = f.store.LookNow(f.t.Context(), []string{project})
				time.Sleep(rand.N(100 * time.Millisecond))
			}
		}()
		time.Sleep(rand.N(300 * time.Millisecond))
		start := time.Now()
		c.wants(0, "resume", "-project", project)
		f.untilActed(svc, key)
		<-looking
		return time.Since(start)
	})
}

// TestEnqueueDuringALook enqueues about when the look comes that would end the project's job. The next pass makes up for
// it.
func TestEnqueueDuringALook(t *testing.T) {
	wakeDuringLooks(t, queue.Production.Pass, func(f *fleet, svc *countingService, project, key string) time.Duration {
		before := database.Prompt{Key: key + "-before", Project: project, Prompt: "x"}
		add(f.t, f.store, before)
		f.untilActed(svc, before.Key)

		time.Sleep(rand.N(1500 * time.Millisecond))
		start := time.Now()
		terminal{f.t, f.url}.wants(0, "enqueue", "-key", key, "-project", project, "-prompt", "x")
		f.untilActed(svc, key)
		return time.Since(start)
	})
}

// wakeDuringLooks calls wake for many projects at once, which returns how long its prompt has waited.
func wakeDuringLooks(
	t *testing.T, pass time.Duration,
	wake func(f *fleet, svc *countingService, project, key string) time.Duration,
) {
	projects, times := 4, 1
	if isLong() {
		projects, times = 20, 10
	}

	eachDatabase(t, func(t *testing.T, url string) {
		s := quick
		s.Pass = pass
		svc := newCountingService()
		f := newFleet(t, url, s, svc)
		f.start()
		f.start()

		var mu sync.Mutex
		var slowest time.Duration
		var all sync.WaitGroup
		for project := range projects {
			all.Go(func() {
				for i := range times {
					waited := wake(f, svc, fmt.Sprint("project-", project), fmt.Sprintf("%d-%d", project, i))

					mu.Lock()
					slowest = max(slowest, waited)
					mu.Unlock()
				}
			})
		}
		all.Wait()

		t.Logf("%d times: the slowest took %v", projects*times, slowest)
		_, twice := svc.count()
		assert.Zero(t, twice)
	})
}

// untilAsleep waits until the queue of a project sleeps, so long that what is done within timeToDo is not its own
// waking. It gives the queue its job, as a pass does: when a prompt came, the last one may have been at its end.
func (f *fleet) untilAsleep(project string) {
	isAsleep := func() bool {
		f.store.InsertSends(f.t.Context(), project)
		return number(f.t, f.store, `SELECT count(*) FROM river_job
WHERE kind = 'fleet_send' AND state = 'scheduled' AND scheduled_at > $1 AND args->>'project' = $2`,
			queue.RiverTime(time.Now().Add(timeToDo+time.Minute)), project) == 1
	}
	f.awaits("the queue of "+project+" to sleep", isAsleep)
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

// TestProjectGoesOnAfterAKill: after kill -9 of the sender during a POST the project's next prompt goes out soon, with
// the settings of production. River alone would take an hour. It logs the time: 83 s.
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

// isRescued reports whether a pass makes a River job of a kind, of the queue of testProject if it sends, available again
// that a process began so long ago.
func isRescued(t *testing.T, s queue.Queue, kind string, age time.Duration) bool {
	execute(t, s, "UPDATE river_job SET state = 'running', attempted_at = $1 WHERE kind = $2",
		queue.RiverTime(time.Now().Add(-age)), kind)
	require.NoError(t, queue.NewWorker(s, nil, nil).MakePass(t.Context()))
	return number(t, s, `SELECT count(*) FROM river_job WHERE kind = $1 AND state = 'available'
AND (args->>'project' = $2 OR kind <> 'fleet_send')`, kind, testProject) == 1
}

// TestKilledLook: the River job of a look whose process is dead is available again long before that of a POST. A row
// of fleet_projects tells them apart.
func TestKilledLook(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		add(t, s, promptOf(0, testProject), promptOf(1, "another"))
		isLookRescued := func(age time.Duration) bool { return isRescued(t, s, "fleet_send", age) }
		assert.False(t, isLookRescued(10*time.Second), "it may be at work")
		assert.True(t, isLookRescued(20*time.Second), "nothing is sent")

		execute(t, s, "UPDATE fleet_projects SET turn_until = $2 WHERE project = $1",
			testProject, time.Now().UnixMilli()+50_000)
		assert.False(t, isLookRescued(20*time.Second), "a POST may be in progress")
		assert.True(t, isLookRescued(80*time.Second), "no POST takes that long")
	})
}

// TestLimitsWakeTheQueues, but only if they have changed: the queues have slept until tomorrow.
func TestLimitsWakeTheQueues(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		add(t, s, promptOf(0, testProject))
		isWoken := func(limits map[string]int) bool {
			execute(t, s, "UPDATE river_job SET state = 'scheduled', scheduled_at = $1",
				queue.RiverTime(time.Now().Add(5*time.Minute)))
			require.NoError(t, s.SetLimits(t.Context(), limits))
			return number(t, s, "SELECT count(*) FROM river_job WHERE state = 'available'") == 1
		}

		assert.False(t, isWoken(nil))
		assert.True(t, isWoken(map[string]int{"acme/repo": 0}))
		assert.False(t, isWoken(map[string]int{"acme/repo": 0}))
		assert.True(t, isWoken(map[string]int{"acme/repo": 1}))
		assert.True(t, isWoken(nil))
	})
}

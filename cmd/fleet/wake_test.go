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

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// TestWakeDuringALook resumes and enqueues while workers look at the queue: River stores when a look is to be
// repeated only after it has ended, so that a wake-up meanwhile is lost. Passes are as far apart as in production.
func TestWakeDuringALook(t *testing.T) {
	projects, times := 4, 1
	if isLong() {
		projects, times = 20, 10
	}
	eachDatabase(t, func(t *testing.T, url string) {
		s := quick
		s.Pass = queue.Production.Pass
		svc := newCountingService()
		f := newFleet(t, url, s, svc)
		f.start()
		f.start()

		var mu sync.Mutex
		var slowestResume, slowestEnqueue time.Duration
		var all sync.WaitGroup
		for project := range projects {
			all.Go(func() {
				for i := range times {
					resumed := f.resumeDuringALook(svc, fmt.Sprint("project-", project), fmt.Sprintf("r%d-%d", project, i))
					enqueued := f.enqueueDuringALook(svc, fmt.Sprint("project-", project), fmt.Sprintf("e%d-%d", project, i))
					assert.Less(t, resumed, 15*time.Second, "a resume: 3 s, or more on a busy machine")
					assert.Less(t, enqueued, 40*time.Second, "an enqueue: 16 s, likewise")

					mu.Lock()
					slowestResume = max(slowestResume, resumed)
					slowestEnqueue = max(slowestEnqueue, enqueued)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		t.Logf("%d times each: the slowest resume %v, the slowest enqueue %v", projects*times, slowestResume,
			slowestEnqueue)
		_, twice := svc.count()
		assert.Zero(t, twice)
	})
}

// resumeDuringALook returns how long it takes from a resume to the POST.
func (f *fleet) resumeDuringALook(svc *countingService, project, key string) time.Duration {
	c := terminal{f.t, f.url}
	c.wants(0, "pause", "-project", project)
	c.wants(0, "enqueue", "-key", key, "-project", project, "-prompt", "x")

	looking := make(chan bool)
	go func() {
		defer close(looking)
		for range 3 {
			_ = f.store.WakeQueues(f.t.Context(), f.store.DB, project)
			time.Sleep(rand.N(100 * time.Millisecond))
		}
	}()
	time.Sleep(rand.N(300 * time.Millisecond))
	start := time.Now()
	c.wants(0, "resume", "-project", project)
	f.untilActed(svc, key)
	<-looking
	return time.Since(start)
}

// enqueueDuringALook enqueues about when the look comes that would end the project's job, and returns how long it
// takes to the POST.
func (f *fleet) enqueueDuringALook(svc *countingService, project, key string) time.Duration {
	time.Sleep(rand.N(1500 * time.Millisecond))
	start := time.Now()
	terminal{f.t, f.url}.wants(0, "enqueue", "-key", key, "-project", project, "-prompt", "x")
	f.untilActed(svc, key)
	return time.Since(start)
}

func (f *fleet) untilActed(svc *countingService, key string) {
	for deadline := time.Now().Add(timeToDo); svc.of(key) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Errorf("%s is not sent", key)
			return
		}
	}
}

// TestProjectGoesOnAfterAKill: after kill -9 of the sender during a POST the project's next prompt goes out within
// 90 s, with the settings of production.
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

		f.until(2*time.Minute, "the next prompt", func() bool { return svc.of(promptOf(1, "").Key) == 1 })
		t.Logf("the next prompt went out %v after the kill", time.Since(killed))
		assert.Less(t, time.Since(killed), 90*time.Second)
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
// of fleet_posts tells them apart.
func TestKilledLook(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		add(t, s, promptOf(0, testProject), promptOf(1, "another"))
		isLookRescued := func(age time.Duration) bool { return isRescued(t, s, "fleet_send", age) }
		assert.False(t, isLookRescued(10*time.Second), "it may be at work")
		assert.True(t, isLookRescued(20*time.Second), "nothing is sent")

		now := time.Now().UnixMilli()
		execute(t, s, "INSERT INTO fleet_posts (id, project, at, ends) VALUES ('x', $1, $2, $3)",
			testProject, now, now+50_000)
		assert.False(t, isLookRescued(20*time.Second), "a POST may be in progress")
		assert.True(t, isLookRescued(80*time.Second), "no POST takes that long")
	})
}

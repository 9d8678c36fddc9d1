//go:build unix

package main

import (
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

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

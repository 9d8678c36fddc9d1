package main

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onslaught is how much a fleet has to go through: little, unless FLEET_TEST_LONG is set.
type onslaught struct {
	merges, projects int
	every            time.Duration // a worker ends
	slow             time.Duration // the service's response
}

func theOnslaught() onslaught {
	if os.Getenv("FLEET_TEST_LONG") != "" {
		return onslaught{merges: 200, projects: 20, every: time.Second, slow: 2 * time.Second}
	}
	return onslaught{merges: 50, projects: 5, every: 500 * time.Millisecond, slow: time.Second}
}

// disturb keeps three workers running, and sends one of them a signal now and then,
// until stop is closed. It returns how often.
func (f *fleet) disturb(signal os.Signal, every time.Duration, stop <-chan struct{}) (times int) {
	workers := []*exec.Cmd{f.start(), f.start(), f.start()}
	for ticker := time.NewTicker(every); ; {
		select {
		case <-stop:
			ticker.Stop()
			return times
		case <-ticker.C:
		}
		i := rand.IntN(len(workers))
		err := f.end(workers[i], signal)
		if signal != os.Kill {
			assert.NoError(f.t, err, "a worker that is asked to stop")
		}
		workers[i] = f.start()
		times++
	}
}

// TestKills kills workers until all is done. See the README for its table.
func TestKills(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught()
		svc := newCountingService()
		svc.faults, svc.slow = 0.05, load.slow
		f := newFleet(t, url, quick, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		kills, counts := f.underFire(os.Kill, load, func() {})

		acted, twice := svc.count()
		t.Logf("| %s | %d | %d | %d | %d | %d | %d | %d |", t.Name(), load.merges, kills, counts[done], counts[unknown], counts[failed], twice, load.merges-counts[done]-counts[unknown]-counts[failed])
		assert.Zero(t, twice, "acted on twice")
		assert.Zero(t, counts[failed])
		assert.Equal(t, load.merges, counts[done]+counts[unknown], "none is lost")
		assert.GreaterOrEqual(t, acted, counts[done])
		assert.Greater(t, kills, 5)
		rows, err := rowsOf(t.Context(), f.store, "WHERE state = 'done'")
		require.NoError(t, err)
		for _, r := range rows {
			assert.Equal(t, 1, svc.of(r.Key), "acted on %s", r.Key)
		}
	})
}

// TestKillsWithoutTheRule is the control: the same, where what is unknown is sent again
// as a queue does it that promises to run each job at least once.
func TestKillsWithoutTheRule(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught()
		svc := newCountingService()
		svc.faults, svc.slow = 0.05, load.slow
		f := newFleet(t, url, quick, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		kills, counts := f.underFire(os.Kill, load, func() {
			rows, err := rowsOf(context.Background(), f.store, "WHERE state = 'unknown'")
			assert.NoError(t, err)
			for _, r := range rows {
				assert.NoError(t, f.store.retry(context.Background(), r.Key, ""))
			}
		})
		_, twice := svc.count()
		t.Logf("| %s | %d | %d | %d | %d | %d | %d | |", t.Name(), load.merges, kills, counts[done], counts[unknown], counts[failed], twice)
		assert.NotZero(t, twice, "without the rule prompts are acted on twice, or this test shows nothing")
	})
}

// TestRollingShutdown asks workers to stop, as deployments do: nothing is unknown.
func TestRollingShutdown(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught()
		svc := newCountingService()
		svc.slow = load.slow
		s := quick
		s.SendTime = 20 * time.Second
		f := newFleet(t, url, s, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		stops, counts := f.underFire(syscall.SIGTERM, load, func() {})
		t.Logf("%d stops: %v", stops, counts)
		assert.Equal(t, load.merges, counts[done])
		acted, twice := svc.count()
		assert.Equal(t, load.merges, acted)
		assert.Zero(t, twice)
		assert.Greater(t, stops, 3)
	})
}

// underFire disturbs the fleet until all that is left to do is polls and sweeps, and
// waits for these.
func (f *fleet) underFire(signal os.Signal, load onslaught, meanwhile func()) (times int, counts map[state]int) {
	stop := make(chan struct{})
	var disturbing sync.WaitGroup
	disturbing.Go(func() { times = f.disturb(signal, load.every, stop) })
	f.until(3*time.Minute, "the prompts to be sent", func() bool {
		meanwhile()
		counts, err := f.store.counts(context.Background())
		require.NoError(f.t, err)
		return counts[queued]+counts[sending]+counts[waiting] <= load.merges/20
	})
	close(stop)
	disturbing.Wait()
	f.until(2*time.Minute, "the prompts to be done", func() bool {
		meanwhile()
		counts, err := f.store.counts(context.Background())
		require.NoError(f.t, err)
		return counts[queued]+counts[sending]+counts[waiting] == 0
	})
	return times, f.await(time.Second)
}

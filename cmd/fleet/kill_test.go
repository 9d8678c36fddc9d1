//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
	"github.com/mintlify-community/mintlify-go/once"
)

// onslaught is how much a fleet has to go through: little, unless MINTLIFY_LONG is set.
type onslaught struct {
	merges, projects int
	followUps        int           // in a row, of each second merge
	slow             time.Duration // the service's response
	every            time.Duration // a worker ends
	times            int           // at most
}

func theOnslaught() onslaught {
	if isLong() {
		return onslaught{
			merges: 120, projects: 20, followUps: 2, slow: 2 * time.Second, every: 2 * time.Second, times: 80,
		}
	}
	return onslaught{
		merges: 24, projects: 6, followUps: 1, slow: 500 * time.Millisecond, every: 500 * time.Millisecond,
		times: 20,
	}
}

// disturb keeps three processes running, which start starts by their number, and sends one of them a signal
// now and then, until stop is closed. It returns how often.
func (f *fleet) disturb(start func(i int) *exec.Cmd, signal os.Signal, load onslaught, stop <-chan struct{}) (times int) {
	workers := []*exec.Cmd{start(0), start(1), start(2)}
	ticker := time.NewTicker(load.every)
	defer ticker.Stop()
	for times < load.times {
		select {
		case <-stop:
			return times
		case <-ticker.C:
		}
		i := rand.IntN(len(workers))
		_ = f.end(workers[i], signal) // it has been killed, or was asked to stop as it started
		workers[i] = start(i)
		times++
	}
	return times
}

// TestKills kills workers until all is done. See the README for its table.
func TestKills(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught()
		svc := newCountingService()
		svc.faults, svc.slow = 0.05, load.slow
		f := newFleet(t, url, quick, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		f.enqueue(followUps(load.merges/2, load.followUps)...)
		load.merges += load.merges / 2 * load.followUps
		kills, counts := f.underFire(os.Kill, load)

		acted, twice := svc.count()
		t.Logf(
			"| %s | %d | %d | %d | %d | %d | %d | %d |", t.Name(), load.merges, kills, counts["done"],
			counts["unknown"], counts["failed"], twice,
			load.merges-counts["done"]-counts["unknown"]-counts["queued"]-counts["failed"],
		)
		assert.Zero(t, twice, "acted on twice")
		assert.Zero(t, counts["failed"])
		assert.Equal(t, load.merges, counts["done"]+counts["unknown"]+counts["queued"], "none is lost")
		assert.Equal(t, f.stranded(), counts["queued"], "those that follow an unknown one wait for a person")
		assert.GreaterOrEqual(t, acted, counts["done"])
		assert.Greater(t, kills, 5)

		rows, err := f.store.Choose(t.Context(), database.Choice{State: once.Done})
		require.NoError(t, err)
		for _, r := range rows {
			assert.Equal(t, 1, svc.of(r.Key), "acted on %s", r.Key)
		}
	})
}

// TestRollingShutdown asks workers to stop, as deployments do: nothing is unknown.
func TestRollingShutdown(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught()
		svc := newCountingService()
		svc.slow = load.slow
		s := quick
		s.SendTime = 20 * time.Second
		f := newFleet(t, url, s, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		stops, counts := f.underFire(syscall.SIGTERM, load)
		t.Logf("%d stops: %v", stops, counts)
		assert.Equal(t, load.merges, counts["done"])

		acted, twice := svc.count()
		assert.Equal(t, load.merges, acted)
		assert.Zero(t, twice)
		assert.Greater(t, stops, 3)
	})
}

// underFire disturbs the fleet until almost all that is left to do is polls and sweeps,
// or enough, and waits for the rest.
func (f *fleet) underFire(signal os.Signal, load onslaught) (times int, counts map[string]int) {
	stop := make(chan struct{})
	var disturbing sync.WaitGroup
	startWorker := func(int) *exec.Cmd { return f.start() }
	disturbing.Go(func() { times = f.disturb(startWorker, signal, load, stop) })
	f.until(10*time.Minute, "the prompts to be sent", func() bool { return f.left() <= load.merges/20 })
	close(stop)
	disturbing.Wait()
	f.until(5*time.Minute, "the prompts to be done", func() bool { return f.left() == 0 })
	return times, f.counts()
}

// left is how many prompts need more work, but no person.
func (f *fleet) left() int { return left(f.counts()) - f.stranded() }

// stranded counts the messages to jobs that there are not, unless a person decides.
func (f *fleet) stranded() int {
	rows, err := f.store.Rows(f.t.Context(), "o.state = 'pending' AND "+database.IsStranded)
	require.NoError(f.t, err)
	return len(rows)
}

// followUps returns prompts that follow each of the first n, some in a row.
func followUps(n, inARow int) []database.Prompt {
	var all []database.Prompt
	for i := range n {
		for j := range inARow {
			first := promptOf(i, "")
			key := fmt.Sprintf("%s#comment-%d", first.Key, j)
			all = append(all, database.Prompt{Key: key, Prompt: "follow-up " + key, After: first.Key})
		}
	}
	return all
}

// TestPostgresRestarts stops the database under the workers, as a person in a hurry does.
func TestPostgresRestarts(t *testing.T) {
	t.Parallel()
	own := &processtest.Postgres{}
	url := own.Database(t)
	t.Cleanup(own.Close)
	merges, times := 20, 1
	if isLong() {
		merges, times = 100, 5
	}
	svc := newCountingService()
	svc.slow = time.Second
	f := newFleet(t, url, quick, svc)
	f.enqueue(prompts(merges, 10)...)
	f.start()
	f.start()
	for range times {
		time.Sleep(2 * time.Second)
		own.Stop()
		time.Sleep(2 * time.Second)
		require.NoError(t, own.Start())
	}
	counts := f.await(3 * time.Minute)
	_, twice := svc.count()
	t.Logf("%d restarts: %v", times, counts)
	assert.Zero(t, twice)
	assert.Equal(t, merges, counts["done"]+counts["unknown"])

	log, err := os.ReadFile(f.log.Name())
	require.NoError(t, err)
	lines := 0
	for line := range bytes.Lines(log) {
		isBad := bytes.Contains(line, []byte("level=WARN")) || bytes.Contains(line, []byte("level=ERROR"))
		if isBad && !bytes.Contains(line, []byte("once: ")) { // these are one for each POST in progress
			lines++
			t.Logf("%s", line)
		}
	}
	assert.LessOrEqual(t, lines, 2*(1+merges*times/100)+2, "lines on the outage, of two processes")
}

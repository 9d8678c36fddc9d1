//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/once"
)

// onslaught is how much a fleet has to go through: little, unless MINTLIFY_LONG is set. FLEET_KILLS sets how often a
// process ends.
type onslaught struct {
	merges, projects int
	followUps        int           // messages, each to the job of another merge
	slow             time.Duration // the service's response, at most
	every            time.Duration // a worker ends
	times            int
}

func theOnslaught(t *testing.T) onslaught {
	if isLong() {
		return onslaught{
			merges: 60, projects: 15, followUps: 30, slow: time.Second, every: 750 * time.Millisecond, times: kills(t, 40),
		}
	}
	return onslaught{
		merges: 24, projects: 6, followUps: 12, slow: 500 * time.Millisecond, every: 500 * time.Millisecond,
		times: kills(t, 20),
	}
}

// kills returns what FLEET_KILLS says, or a number.
func kills(t *testing.T, unlessSet int) int {
	text := os.Getenv("FLEET_KILLS")
	if text == "" {
		return unlessSet
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// disturb keeps three processes running, which start starts by their number, and sends one of them a signal now and
// then.
func (f *fleet) disturb(start func(i int) *processes.Run, signal os.Signal, load onslaught) {
	workers := []*processes.Run{start(0), start(1), start(2)}
	ticker := time.NewTicker(load.every)
	defer ticker.Stop()
	for range load.times {
		<-ticker.C
		i := rand.IntN(len(workers))
		_ = f.end(workers[i], signal) // it has been killed, or was asked to stop as it started
		workers[i] = start(i)
	}
}

// underFire disturbs the fleet, and waits until the rest is done.
func (f *fleet) underFire(signal os.Signal, load onslaught) {
	f.disturb(func(int) *processes.Run { return f.start() }, signal, load)
	f.until(5*time.Minute, "the prompts to be sent", func() bool { return f.busy() == 0 })
}

// busy counts what may be sent still, and the jobs of merges that run. A message that was sent is on its way: package
// once waits half a minute for it to settle. One whose response is lost it watches for two minutes, and the messages
// behind it wait.
func (f *fleet) busy() int {
	rows, err := f.store.Rows(f.t.Context(), "state IN ('pending', 'sending', 'running')")
	require.NoError(f.t, err)

	isWatched := map[string]bool{} // by thread
	for _, r := range rows {
		if isLost(r) {
			isWatched[r.Thread] = true
		}
	}

	busy := 0
	for _, r := range rows {
		isSent := r.Thread != "" && r.State == once.Running
		if !isSent && !isWatched[r.Thread] && !r.IsStranded {
			busy++
		}
	}
	return busy
}

// isLost reports whether r is a message whose response is lost.
func isLost(r database.Row) bool {
	return r.Thread != "" && r.State == once.Sending && time.Since(r.Deadline) > 10*time.Second
}

// TestKills kills workers while they send. See the README for its table.
func TestKills(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught(t)
		svc := newCountingService()
		svc.faults = 0.05
		svc.slow = load.slow
		f := newFleet(t, url, quick, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		f.enqueue(followUps(load.followUps)...)
		f.underFire(os.Kill, load)

		rows, err := f.store.Rows(t.Context(), "1 = 1")
		require.NoError(t, err)
		var sent, unknown, behind, lost int
		for _, r := range rows {
			switch {
			case r.State == once.Done, r.State == once.Running:
				sent++
				assert.Equal(t, 1, svc.of(r.Key), "acted on %s", r.Key)
			case r.State == once.Unknown, isLost(r):
				unknown++
			case r.IsStranded:
				behind++ // it waits for a person
			default:
				lost++
			}
		}

		_, twice := svc.count()
		t.Logf("| %s | %d | %d | %d | %d | %d | %d | %d |", t.Name(), len(rows), load.times, sent, unknown, behind, lost,
			twice)
		assert.Len(t, rows, load.merges+load.followUps)
		assert.Zero(t, lost)
		assert.Zero(t, twice, "acted on twice")
	})
}

// TestRollingShutdown asks workers to stop, as deployments do: nothing is unknown.
func TestRollingShutdown(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught(t)
		svc := newCountingService()
		svc.slow = load.slow
		s := quick
		s.SendTime = 20 * time.Second
		f := newFleet(t, url, s, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		f.underFire(syscall.SIGTERM, load)
		assert.Equal(t, load.merges, f.counts()["done"])

		acted, twice := svc.count()
		assert.Equal(t, load.merges, acted)
		assert.Zero(t, twice)
	})
}

// followUps returns a message to the job of each of the first n prompts.
func followUps(n int) []database.Prompt {
	all := make([]database.Prompt, n)
	for i := range all {
		key := promptOf(i, "").Key + "#follow-up"
		all[i] = database.Prompt{Key: key, Prompt: "follow-up " + key, After: promptOf(i, "").Key}
	}
	return all
}

// TestPostgresRestarts stops the database under the workers, as a person in a hurry does.
func TestPostgresRestarts(t *testing.T) {
	t.Parallel()
	own := &processes.Postgres{}
	url := own.Database(t)
	t.Cleanup(own.Close)
	merges, times := 20, 1
	if isLong() {
		merges, times = 40, 3
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
	counts := f.await(5 * time.Minute)
	_, twice := svc.count()
	t.Logf("%d restarts: %v", times, counts)
	assert.Zero(t, twice)
	assert.Equal(t, merges, counts["done"]+counts["unknown"])

	lines := 0
	for line := range strings.Lines(f.logged()) {
		isBad := strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR")
		if isBad && !strings.Contains(line, "once: ") { // these are one for each POST in progress
			lines++
			t.Logf("%s", line)
		}
	}
	assert.LessOrEqual(t, lines, 2*(1+merges*times/100)+2, "lines on the outage, of two processes")
}

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	loadProjects = 100
	loadEvery    = 500 * time.Millisecond // 72 prompts an hour for each project
)

// TestLoad has three machines send two prompts a second, over 100 projects, for FLEET_LOAD, such as 1h. One machine
// is killed every ten minutes and started again.
func TestLoad(t *testing.T) {
	length := loadTime(t)
	url := testPostgres.Database(t)
	svc := newCountingService()
	svc.slow = time.Second
	svc.quota, svc.window = queue.Production.Quota, queue.Production.Window
	f := newFleet(t, url, queue.Production, svc)
	f.fillTheHour()
	machines := make([]*processes.Run, 3)
	for i := range machines {
		machines[i] = f.start("TEST_REAL_POLLS=1")
	}

	began := time.Now()
	ticker := time.NewTicker(loadEvery)
	defer ticker.Stop()
	killed, minutes := 0, 0
	firstBlocks := 0
	for n := 0; time.Since(began) < length; n++ {
		<-ticker.C
		add(t, f.store, promptOf(n, fmt.Sprint("project-", n%loadProjects)))

		if now := int(time.Since(began) / min(10*time.Minute, length/3)); now > killed {
			i := killed % len(machines)
			killed = now
			_ = f.end(machines[i], os.Kill)
			machines[i] = f.start("TEST_REAL_POLLS=1")
		}
		if now := int(time.Since(began) / time.Minute); now > minutes {
			minutes = now
			blocks := blocksOfALook(t, url, fmt.Sprint("project-", n%loadProjects))
			if firstBlocks == 0 {
				firstBlocks = blocks
			}
			t.Logf("%3d min: %v, the longest was queued for %v, a look reads %d blocks", now, some(f.counts()),
				f.longestQueued(), blocks)
		}
	}

	f.until(5*time.Minute, "the rest to be sent", func() bool { return f.counts()["queued"] == 0 })
	lastBlocks := blocksOfALook(t, url, "project-0")
	acted, twice := svc.count()
	t.Logf("%v, %d kills: %d acted on, %d twice, %d refused for the quota; the longest was queued for %v; a look reads "+
		"%d blocks in the first minute and %d in the last", length, killed, acted, twice, svc.refused, f.longestQueued(),
		firstBlocks, lastBlocks)
	assert.Zero(t, twice)
	assert.Zero(t, svc.refused)
	assert.LessOrEqual(t, f.longestQueued(), 2*time.Minute)
}

// loadTime returns FLEET_LOAD, how long a test of load takes.
func loadTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("FLEET_LOAD")
	if text == "" {
		t.Skip("FLEET_LOAD is not set: 1h is the run of docs/load.md, and 2m a short one")
	}
	length, err := time.ParseDuration(text)
	require.NoError(t, err)
	return length
}

// TestLoadOfPOSTsThatFail, and no other request does: of 1,000 projects on three machines few prompts are unknown after
// an hour.
func TestLoadOfPOSTsThatFail(t *testing.T) {
	length := loadTime(t)
	svc := newCountingService()
	f := newFleet(t, testPostgres.Database(t), queue.Production, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		svc.ServeHTTP(rw, r)
	}))
	add(t, f.store, prompts(3000, 1000)...)
	for range 3 {
		f.start("TEST_REAL_POLLS=1")
	}

	time.Sleep(length)
	counts := f.counts()
	t.Logf("after %v: %v", length, some(counts))
	assert.LessOrEqual(t, counts["unknown"], 30)
}

// TestLoadOfAPause of all counts the looks at 1,000 queues with 10,000 prompts: each is one River job.
func TestLoadOfAPause(t *testing.T) {
	length := loadTime(t)
	f := newFleet(t, testPostgres.Database(t), queue.Production, newCountingService())
	require.NoError(t, f.store.Stop(t.Context(), "", "jane"))
	add(t, f.store, prompts(10_000, 1000)...)
	f.start("TEST_REAL_POLLS=1")
	looks := func() int64 {
		return number(t, f.store, "SELECT max(id) FROM river_job WHERE kind = 'fleet_send'")
	}

	time.Sleep(time.Minute)
	before := looks()
	time.Sleep(time.Minute)
	assert.Equal(t, before, looks(), "in the minute after the pause")

	time.Sleep(length)
	t.Logf("at most %d looks in %v", looks()-before, length)
	assert.LessOrEqual(t, float64(looks()-before), 0.4*length.Seconds(), "River's other jobs have ids, too")
}

// fillTheHour adds what the fleet has sent within the hour before: the quota counts it.
func (f *fleet) fillTheHour() {
	before := promptOf(-1, testProject)
	add(f.t, f.store, before)
	put(f.t, f.store, before.Key, func(r *once.Record) { r.State, r.Reported, r.JobID = once.Done, once.Done, "job_0" })
	execute(f.t, f.store, `INSERT INTO fleet_prompts SELECT (jsonb_populate_record(p, jsonb_build_object(
	'key', p.key || '-' || n, 'project', 'project-' || n % $2, 'deadline', $3::bigint - $4::bigint * n,
	'added', $3::bigint - $4::bigint * n))).*
FROM fleet_prompts p, generate_series(1, $5::bigint) n WHERE p.key = $1`,
		before.Key, loadProjects, time.Now().UnixNano(), loadEvery.Nanoseconds(), int(time.Hour/loadEvery))
}

// longestQueued returns the longest time for which a prompt was queued, or is so far.
func (f *fleet) longestQueued() time.Duration {
	sent := number(f.t, f.store, "SELECT max(deadline - added) FROM fleet_prompts WHERE deadline > 0")
	oldest := number(f.t, f.store, "SELECT min(added) FROM fleet_prompts WHERE state = 'pending'")
	longest := time.Duration(sent) - f.settings.SendTime
	if oldest > 0 {
		longest = max(longest, time.Since(time.Unix(0, oldest)))
	}
	return longest.Round(time.Second / 10)
}

// blocksOfALook returns how many blocks of Postgres a look at the queue of a project reads.
func blocksOfALook(t *testing.T, url, project string) int {
	t.Helper()
	s := openStore(t, url)
	seen := record(t, s.DB, url)
	var row database.Row
	row.ProjectID = project
	_, _, err := s.WhyQueued(t.Context(), row)
	require.NoError(t, err)
	for query, args := range seen.args {
		if strings.Contains(query, "FROM fleet_projects q WHERE q.project IN") {
			return blocksOf(t, s, query, args...)
		}
	}
	t.Fatal("no look was seen")
	return 0
}

// blocksOf returns how many blocks of Postgres a statement reads, and does not let it change anything.
func blocksOf(t *testing.T, s queue.Queue, query string, args ...any) int {
	t.Helper()
	tx, err := s.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()

	var text string
	row := tx.QueryRowContext(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+query, args...)
	require.NoError(t, row.Scan(&text), query)
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &plans))
	return plans[0].Plan.Hit + plans[0].Plan.Read
}

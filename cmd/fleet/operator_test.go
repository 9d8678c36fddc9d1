//go:build unix

package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/once"
)

// TestResumeActs: the first prompt after resume is sent within 5 seconds, though its River job
// sleeps for minutes: after a person's pause, and after a key that was mended.
func TestResumeActs(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		var revoked atomic.Bool
		f := newFleet(t, url, quick, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if revoked.Load() {
				http.Error(rw, `{"error":"invalid key"}`, http.StatusUnauthorized)
				return
			}
			svc.ServeHTTP(rw, r)
		}))
		f.start()

		f.person("jane", "pause", "-all")
		f.enqueue(prompts(3, 1)...)
		f.untilAsleep(1)
		resumed := time.Now()
		f.person("jane", "resume", "-all")
		f.until(timeToDo, "the first prompt", func() bool { return svc.of(promptOf(0, "").Key) > 0 })
		assert.Less(t, time.Since(resumed), 5*time.Second)

		f.until(timeToDo, "the others", func() bool { return f.counts()["done"] == 3 })

		revoked.Store(true)
		f.enqueue(promptOf(9, testProject))
		f.until(timeToDo, "the key to be refused", func() bool { return len(pausesOf(t, f.store)) == 1 })
		f.untilAsleep(1)
		status := f.person("jane", "status")
		assert.Regexp(t, `project-1 +1 +20\S+ \S+ UTC +\d+ +- +20\S+ \S+ UTC +service: .*401`, status, "why, and until when")

		revoked.Store(false)
		resumed = time.Now()
		f.person("jane", "resume", "-project", testProject)
		f.until(timeToDo, "the prompt", func() bool { return svc.of(promptOf(9, "").Key) > 0 })
		assert.Less(t, time.Since(resumed), 5*time.Second)
	})
}

// untilAsleep waits until n queues sleep for longer than a minute.
func (f *fleet) untilAsleep(n int64) {
	f.until(timeToDo, "the queues to sleep", func() bool {
		return number(f.t, f.store, `SELECT count(*) FROM river_job
WHERE kind = 'fleet_send' AND state = 'scheduled' AND scheduled_at > $1`, queue.RiverTime(time.Now().Add(time.Minute))) >= n
	})
}

// TestWrongProject: a prompt that was enqueued for a wrong project is moved, while no job can exist.
func TestWrongProject(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/wrong/") {
				http.Error(rw, `{"error":"no such project"}`, http.StatusForbidden)
				return
			}
			svc.ServeHTTP(rw, r)
		}))
		c := terminal{t, url}
		c.wants(0, "enqueue", "-key", "k", "-project", "wrong", "-prompt", "x")
		c.refuses(nil, "fleet retry -key k -project right -again",
			"enqueue", "-key", "k", "-project", "right", "-prompt", "x")

		f.start()
		f.until(timeToDo, "the project to be refused", func() bool { return len(pausesOf(t, f.store)) == 1 })
		f.untilAsleep(1)

		c.wants(2, "retry", "-key", "k", "-project", "wrong", "-again")
		assert.Equal(
			t, "k is queued for project right\n",
			c.wants(0, "retry", "-key", "k", "-project", "right", "-again"),
		)
		moved := time.Now()
		f.until(timeToDo, "the prompt", func() bool { return svc.of("k") == 1 })
		assert.Less(t, time.Since(moved), 5*time.Second)

		f.until(timeToDo, "the prompt to be done", func() bool { return f.counts()["done"] == 1 })
		out := c.wants(0, "show", "k")
		assert.Contains(t, out, "project   right\n")
		assert.Regexp(t, `queued by \S+ moved from project wrong\n`, out)
		assert.Contains(t, c.wants(2, "retry", "-key", "k", "-project", "wrong", "-again")+out, "done")
	})
}

// TestMoveWhileNoJobCanExist: only then.
func TestMoveWhileNoJobCanExist(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	for _, state := range database.States {
		key := string(state)
		c.wants(0, "enqueue", "-key", key, "-project", "wrong", "-prompt", "x")
		put(t, s, key, func(r *once.Record) { r.State, r.Problem = state, "old" })

		canMove := state == once.Pending || state == once.Refused || state == once.Canceled
		_, text, code := c.runAll("", nil, "retry", "-key", key, "-project", "right", "-again")
		r := rowOf(t, s, key)
		if !canMove {
			assert.Equal(t, 2, code, key)
			assert.Contains(t, text, "a job may exist in project wrong", key)
			assert.Equal(t, "wrong", r.Record.ProjectID, key)

			continue
		}
		assert.Zero(t, code, "%s: %s", key, text)
		assert.Equal(t, once.Pending, r.State)
		assert.Equal(t, "right", r.ProjectID)
		assert.Empty(t, r.Problem)

		record, err := s.Records().Get(t.Context(), key)
		require.NoError(t, err)
		assert.Equal(t, "right", record.ProjectID, "of the record, too")
	}
	_, code := c.run("", "retry", "-key", "nobody", "-project", "right", "-again")
	assert.Equal(t, 2, code)
}

// TestThousandsAreCanceled beside a worker: a prompt that is sent meanwhile is not a failure.
func TestThousandsAreCanceled(t *testing.T) {
	n := 400
	if isLong() {
		n = 2000
	}
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, svc)
		f.enqueue(prompts(n, 40)...)
		f.start()
		f.until(timeToDo, "some to be sent", func() bool { return f.counts()["queued"] < n })

		out := f.person("jane", "cancel", "-all", "-yes")
		require.Regexp(t, `^\d+ canceled, \d+ sent meanwhile\n$`, out)

		var canceled, sent int
		_, err := fmt.Sscanf(out, "%d canceled, %d sent meanwhile", &canceled, &sent)
		require.NoError(t, err)
		t.Log(out)
		assert.Greater(t, canceled, n/2)
		assert.Equal(t, canceled, f.counts()["canceled"])
		assert.Zero(t, f.counts()["queued"])

		assert.Regexp(t, fmt.Sprintf("^%d queued again, 0 changed", canceled),
			f.person("jane", "retry", "-state", "canceled", "-again", "-yes"))
		assert.Equal(t, 0, f.counts()["canceled"])
	})
}

// TestSentMeanwhile counts what another has changed between the choice and the transaction.
func TestSentMeanwhile(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	add(t, s, prompts(3, 1)...)
	rows, err := s.Choose(t.Context(), database.Choice{State: once.Pending})
	require.NoError(t, err)
	put(t, s, rows[1].Key, func(r *once.Record) { r.State = once.Sending })

	got, err := bulk{choice: database.Choice{State: once.Pending}, decision: (*once.Runner).Cancel}.
		decideBatches(t.Context(), s, rows)
	require.NoError(t, err)
	assert.Equal(t, decided{done: 2, meanwhile: 1}, got)
	assert.Equal(t, 1, c.counts()["sending"])
}

// TestWhatTheBreakerLiftsIsWoken: a project that works lifts the pause of all, and the prompts of
// other projects do not sleep until it would have ended.
func TestWhatTheBreakerLiftsIsWoken(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		add(t, s, prompts(4, 2)...)
		asleep := func() int64 {
			return number(t, s, "SELECT count(*) FROM river_job WHERE state = 'scheduled'")
		}
		sleep := func() {
			execute(t, s, "UPDATE river_job SET state = 'scheduled', scheduled_at = $1",
				queue.RiverTime(time.Now().Add(5*time.Minute)))
		}
		pause := func(project string) {
			row := queue.Pause{Project: project, Source: queue.ByBreaker, Since: time.Now(), Until: time.Now().Add(time.Hour)}
			require.NoError(t, row.Store(t.Context(), s.DB))
		}

		sleep()
		require.NoError(t, s.LiftBreaker(t.Context(), s.DB, "project-1"))
		assert.EqualValues(t, 2, asleep(), "there was nothing to lift")

		pause("project-1")
		require.NoError(t, s.LiftBreaker(t.Context(), s.DB, "project-1"))
		assert.EqualValues(t, 1, asleep(), "the job of the project is awake")

		sleep()
		pause("")
		require.NoError(t, s.LiftBreaker(t.Context(), s.DB, "project-1"))
		assert.Zero(t, asleep(), "all are awake")
	})
}

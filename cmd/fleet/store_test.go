//go:build unix

package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var hourly = quota{sends: 100, window: time.Hour}

// added returns a store with one prompt, and its row.
func added(t *testing.T, url string) (store, row) {
	t.Helper()
	s := openStore(t, url)
	n, err := s.add(t.Context(), promptOf(1, testProject))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	return s, read(t, s)
}

func read(t *testing.T, s store) row {
	t.Helper()
	r, err := rowOf(t.Context(), s, promptOf(1, "").Key)
	require.NoError(t, err)
	return r
}

// intended is the row on its way, given up after grace.
func intended(t *testing.T, s store, r row, grace time.Duration) row {
	t.Helper()
	intent, _, full, err := s.intend(t.Context(), r, hourly, grace)
	require.NoError(t, err)
	require.Zero(t, full)
	return intent
}

func sweep(t *testing.T, s store) (givenUp, lost []string) {
	t.Helper()
	givenUp, lost, err := s.sweep(t.Context(), time.Hour)
	require.NoError(t, err)
	return givenUp, lost
}

// inState returns r as one of its ends.
func (r row) in(s state, jobID string) row {
	r.State, r.JobID = s, jobID
	return r
}

func riverJobs(t *testing.T, s store, where string) (n int) {
	t.Helper()
	require.NoError(t, s.query(t.Context(), func(scan scanner) error { return scan(&n) }, "SELECT count(*) FROM river_job "+where))
	return n
}

func TestSameKeyAddsNothing(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		s, r := added(t, url)
		assert.Equal(t, queued, r.State)
		again := promptOf(1, "project-2")
		again.Pull = "acme/repo#7"
		n, err := s.add(t.Context(), again, again, promptOf(2, testProject))
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		assert.Equal(t, testProject, read(t, s).Project)
		assert.Equal(t, "acme/repo#7", read(t, s).Pull, "what was not known before")
		assert.Equal(t, 2, riverJobs(t, s, ""))

		intent := intended(t, s, r, time.Hour)
		require.NoError(t, s.revise(t.Context(), intent.in(waiting, "job_1")))
		require.NoError(t, s.settle(t.Context(), intent.in(done, "job_1"), waiting))
		require.NoError(t, s.close(t.Context(), read(t, s)))
		_, err = s.exec(t.Context(), "DELETE FROM river_job")
		require.NoError(t, err)
		n, err = s.add(t.Context(), promptOf(1, testProject))
		require.NoError(t, err)
		assert.Zero(t, n, "also when River has forgotten it")
		_, lost := sweep(t, s)
		assert.Equal(t, []string{promptOf(2, "").Key}, lost, "nothing is left to do for the other")
		assert.Equal(t, done, read(t, s).State)
	})
}

// TestOnePlaceIsTakenOnce has processes intend at the same time: neither is a prompt
// sent twice, nor the quota exceeded.
func TestOnePlaceIsTakenOnce(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		const processes, places, all = 4, 10, 30
		first := openStore(t, url)
		_, err := first.add(t.Context(), prompts(all, 1)...)
		require.NoError(t, err)
		rows, err := rowsOf(t.Context(), first, "ORDER BY key")
		require.NoError(t, err)
		intents, fulls := make(chan row, processes*all), make(chan time.Duration, processes*all)
		var every sync.WaitGroup
		for range processes {
			s := openStore(t, url)
			for _, r := range rows {
				every.Go(func() {
					intent, prompt, full, err := s.intend(context.Background(), r, quota{sends: places, window: time.Hour}, time.Hour)
					switch {
					case full > 0:
						fulls <- full
					case err == nil:
						assert.Equal(t, "Do it.", prompt)
						intents <- intent
					default:
						assert.ErrorIs(t, err, errMoved)
					}
				})
			}
		}
		every.Wait()
		close(intents)
		close(fulls)
		assert.Len(t, intents, places)
		keys := map[string]bool{}
		for intent := range intents {
			keys[intent.Key] = true
			assert.EqualValues(t, 1, intent.Sends)
		}
		assert.Len(t, keys, places)
		for full := range fulls {
			assert.Greater(t, full, 50*time.Minute, "until the first place is free")
			assert.LessOrEqual(t, full, time.Hour)
		}
	})
}

func TestReleasedPlaceIsFree(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		s, r := added(t, url)
		one := quota{sends: 1, window: time.Hour}
		intent, _, _, err := s.intend(t.Context(), r, one, time.Hour)
		require.NoError(t, err)
		intent.State, intent.SentAt = queued, time.Time{}
		require.NoError(t, s.revise(t.Context(), intent))
		_, _, full, err := s.intend(t.Context(), read(t, s), one, time.Hour)
		require.NoError(t, err)
		assert.Zero(t, full)
		_, err = s.add(t.Context(), promptOf(2, testProject), promptOf(3, "project-2"))
		require.NoError(t, err)
		for key, isFull := range map[string]bool{promptOf(2, "").Key: true, promptOf(3, "").Key: false} {
			r, err := rowOf(t.Context(), s, key)
			require.NoError(t, err)
			_, _, full, err := s.intend(t.Context(), r, one, time.Hour)
			require.NoError(t, err)
			assert.Equal(t, isFull, full > 0, key)
		}
	})
}

func TestSweepGivesUpWhatNobodySends(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		s, r := added(t, url)
		live := intended(t, s, r, time.Hour)
		givenUp, lost := sweep(t, s)
		assert.Empty(t, givenUp, "its sender may live")
		assert.Empty(t, lost)
		assert.Equal(t, sending, read(t, s).State)

		live.State = queued
		require.NoError(t, s.revise(t.Context(), live))
		intended(t, s, read(t, s), -time.Second)
		givenUp, _ = sweep(t, s)
		assert.Equal(t, []string{r.Key}, givenUp)
		after := read(t, s)
		assert.Equal(t, unknown, after.State)
		assert.NotEqual(t, r.riverJob, after.riverJob, "a River job tells of it")
		givenUp, lost = sweep(t, s)
		assert.Empty(t, givenUp)
		assert.Empty(t, lost)
	})
}

func TestSweepFindsLostRows(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		s, r := added(t, url)
		for name, c := range map[string]struct {
			change string
			lost   bool
		}{
			"available":      {"UPDATE river_job SET state = 'available'", false},
			"scheduled":      {"UPDATE river_job SET state = 'scheduled'", false},
			"running":        {"UPDATE river_job SET state = 'running', attempted_at = CURRENT_TIMESTAMP", false},
			"dead":           {"UPDATE river_job SET state = 'running', attempted_at = '2001-01-01 00:00:00.000'", true},
			"discarded":      {"UPDATE river_job SET state = 'discarded', finalized_at = CURRENT_TIMESTAMP", true},
			"cleaned up":     {"DELETE FROM river_job", true},
			"another's left": {"UPDATE fleet_prompts SET river_job = -1", true},
		} {
			_, err := s.exec(t.Context(), c.change)
			require.NoError(t, err, name)
			_, lost := sweep(t, s)
			if !c.lost {
				assert.Empty(t, lost, name)
				continue
			}
			assert.Equal(t, []string{r.Key}, lost, name)
			after := read(t, s).riverJob
			assert.Equal(t, 1, riverJobs(t, s, fmt.Sprintf("WHERE id = %d AND state = 'available'", after)), name)
			_, lost = sweep(t, s)
			assert.Empty(t, lost, name)
			_, err = s.exec(t.Context(), "DELETE FROM river_job WHERE id != $1", read(t, s).riverJob)
			require.NoError(t, err)
		}
	})
}

// TestLateResponse has the response to an intent come when the row has gone on.
func TestLateResponse(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		s, r := added(t, url)
		first := intended(t, s, r, -time.Second)
		sweep(t, s)
		given := read(t, s)
		require.Equal(t, unknown, given.State)

		require.NoError(t, s.revise(t.Context(), first.in(waiting, "job_1")), "it heals")
		healed := read(t, s)
		assert.Equal(t, waiting, healed.State)
		assert.Equal(t, "job_1", healed.JobID)
		assert.NotEqual(t, given.riverJob, healed.riverJob, "with a River job of its own")
		assert.Equal(t, 1, riverJobs(t, s, fmt.Sprintf("WHERE id = %d", healed.riverJob)))
		assert.ErrorIs(t, s.revise(t.Context(), first.in(waiting, "job_2")), errMoved, "once")

		require.NoError(t, s.settle(t.Context(), first.in(failed, "job_1"), waiting))
		require.NoError(t, s.retry(t.Context(), r.Key, ""))
		require.NoError(t, s.revise(t.Context(), first.in(waiting, "job_1")), "what is queued again is not sent if it was accepted after all")
		require.NoError(t, s.settle(t.Context(), first.in(failed, "job_1"), waiting))
		require.NoError(t, s.retry(t.Context(), r.Key, ""))
		second := intended(t, s, read(t, s), time.Hour)
		assert.EqualValues(t, 2, second.Sends)
		for _, late := range []row{first.in(waiting, "job_1"), first.in(queued, ""), first.in(failed, "")} {
			assert.ErrorIs(t, s.revise(t.Context(), late), errMoved, "an earlier intent's")
		}
		assert.ErrorIs(t, s.settle(t.Context(), first.in(unknown, ""), sending), errMoved)
		assert.Equal(t, sending, read(t, s).State)
		require.NoError(t, s.revise(t.Context(), second.in(waiting, "job_2")))
		assert.Equal(t, "job_2", read(t, s).JobID)
	})
}

func TestLateProofThatNothingWasDone(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		s, r := added(t, url)
		intent := intended(t, s, r, -time.Second)
		sweep(t, s)
		intent.State, intent.SentAt = queued, time.Time{}
		require.NoError(t, s.revise(t.Context(), intent))
		after := read(t, s)
		assert.Equal(t, queued, after.State)
		assert.Zero(t, after.SentAt)
		assert.Empty(t, after.Problem)
	})
}

func TestRetry(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		s, r := added(t, url)
		assert.ErrorIs(t, s.retry(t.Context(), "acme/other@1", ""), errNoRow)
		assert.ErrorContains(t, s.retry(t.Context(), r.Key, ""), "is queued")
		intent := intended(t, s, r, time.Hour)
		assert.ErrorContains(t, s.retry(t.Context(), r.Key, ""), "is sending")
		require.NoError(t, s.settle(t.Context(), intent.in(unknown, ""), sending))
		require.NoError(t, s.close(t.Context(), read(t, s)))
		require.NoError(t, s.retry(t.Context(), r.Key, "job_7"))
		adopted := read(t, s)
		assert.Equal(t, waiting, adopted.State)
		assert.Equal(t, "job_7", adopted.JobID)
		assert.True(t, adopted.open)
		require.NoError(t, s.settle(t.Context(), adopted.in(failed, "job_7"), waiting))
		require.NoError(t, s.retry(t.Context(), r.Key, ""))
		assert.Equal(t, queued, read(t, s).State)
		assert.Empty(t, read(t, s).JobID)
		assert.NotEqual(t, adopted.riverJob, read(t, s).riverJob)
		intended(t, s, read(t, s), time.Hour)
	})
}

func TestAddIsAllOrNothing(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		bad := promptOf(2, testProject)
		bad.Prompt = " "
		_, err := s.add(t.Context(), promptOf(1, testProject), bad)
		require.Error(t, err)
		counts, err := s.counts(t.Context())
		require.NoError(t, err)
		assert.Zero(t, counts[queued])
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.add(ctx, promptOf(1, testProject))
		require.Error(t, err)
		assert.Zero(t, riverJobs(t, s, ""))
	})
}

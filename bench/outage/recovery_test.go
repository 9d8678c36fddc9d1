package outage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// How long after the end of an outage package once sends the first prompt.
func TestRecovery(t *testing.T) {
	for _, tc := range []struct {
		name      string
		silent    bool
		readsWork bool
		most      time.Duration
	}{
		{name: "everything fails", most: time.Minute},
		{name: "nothing responds", silent: true, most: time.Minute},
		{name: "POSTs alone fail", readsWork: true, most: 30*time.Minute + 2*latency},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var longest time.Duration
			for minutes := time.Duration(5); minutes <= 130; minutes += 5 {
				synctest.Test(t, func(t *testing.T) {
					way := &gateway{
						service:   mintlifytest.NewService(),
						created:   time.Now(),
						readsWork: tc.readsWork,
						silent:    tc.silent,
						length:    minutes * time.Minute,
					}
					_, err := throughOnce(t.Context(), way, prompts(20))
					require.NoError(t, err)

					late := way.sent.Sub(way.created.Add(start + way.length))
					assert.LessOrEqual(t, late, tc.most, "after %d minutes", minutes)
					longest = max(longest, late)
				})
			}
			t.Logf("at most %v after outages of 5 to 130 minutes", longest)
		})
	}
}

func prompts(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("Document change %d.", i))
	}
	return all
}

// What three replicas tell of 200 results, if a chat is down at first or not.
func TestReplicas(t *testing.T) {
	if os.Getenv("MINTLIFY_LONG") == "" {
		t.Skip("it takes long")
	}

	const results, seeds = 200, 20
	for _, tc := range []struct {
		name string
		down time.Duration
		most float64 // results that are told twice, in percent
	}{
		{"all start at once", 0, 4},
		{"the chat is down for an hour", time.Hour, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			twice := 0
			for range seeds {
				synctest.Test(t, func(t *testing.T) {
					told := replicas(t, results, tc.down)
					assert.Len(t, told, results, "none is never told")
					for _, n := range told {
						twice += n - 1
					}
				})
			}
			percent := 100 * float64(twice) / results / seeds
			t.Logf("%.2f %% are told twice", percent)
			assert.LessOrEqual(t, percent, tc.most)
		})
	}
}

// replicas has three processes tell the results on a store to a chat that is down at first. It returns how often
// each was told.
func replicas(t *testing.T, results int, down time.Duration) map[string]int {
	t.Helper()
	store := oncetest.NewStore()
	for i := range results {
		record := endedRecord(fmt.Sprint("acme/api@", i))
		record.Reported = ""
		require.NoError(t, store.Put(t.Context(), record))
	}

	var mu sync.Mutex
	told := map[string]int{}
	up := time.Now().Add(down)
	tell := func(_ context.Context, r once.Record) error {
		time.Sleep(latency/2 + rand.N(latency)) // else all go on at the same moment
		if time.Now().Before(up) {
			return errors.New("the chat is down")
		}

		mu.Lock()
		defer mu.Unlock()

		told[r.Key]++
		return nil
	}

	ctx, cancel := context.WithTimeout(t.Context(), down+2*time.Hour)
	defer cancel()
	client := mintlifytest.NewService().Client(mintlifytest.WithRealSchedule())
	var all sync.WaitGroup
	for range 3 {
		runner, err := once.New(client, store, once.WithReport(tell))
		require.NoError(t, err)
		all.Go(func() { _ = runner.Run(ctx) })
	}
	all.Wait()
	return told
}

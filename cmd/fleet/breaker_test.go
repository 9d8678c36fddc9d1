//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// TestPOSTsFailForAnHour, and no other request does: few prompts are unknown after it.
func TestPOSTsFailForAnHour(t *testing.T) {
	for _, c := range []struct{ projects, machines, most int }{{20, 1, 15}, {1000, 3, 30}} {
		t.Run(fmt.Sprintf("%d projects on %d machines", c.projects, c.machines), func(t *testing.T) {
			if c.projects > 100 && os.Getenv("FLEET_LOAD") == "" {
				t.Skip("River itself works for an hour of virtual time, which takes very long: set FLEET_LOAD=1h")
			}
			inBubble(t, func(b *bench) {
				b.svc.fails = func(r *http.Request) int {
					if r.Method == http.MethodPost {
						return 503
					}
					return 0
				}
				b.enqueue(prompts(3*c.projects, c.projects)...)
				time.Sleep(time.Hour)
				counts := b.counts()
				t.Logf("%v after %d POSTs", counts, b.svc.posts)
				assert.LessOrEqual(t, counts["unknown"], c.most)
			}, func(s *queue.Settings) { s.Posts *= c.machines })
		})
	}
}

// failingProjects has the POSTs of some projects fail, after all others have worked.
func (b *bench) failingProjects(names ...string) {
	b.svc.fails = func(r *http.Request) int {
		for _, name := range names {
			if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/"+name+"/") {
				return 503
			}
		}
		return 0
	}
	for _, name := range names {
		for i := range 20 {
			b.enqueue(database.Prompt{Key: fmt.Sprint(name, "-", i), Project: name, Prompt: "x"})
		}
	}
}

// soonest returns how long a new prompt of another project waits until it is sent.
func (b *bench) soonest(key string) time.Duration {
	began := time.Now()
	b.enqueue(database.Prompt{Key: key, Project: "good", Prompt: "x"})
	for b.svc.sent(key).IsZero() && time.Since(began) < time.Hour {
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(began)
}

// TestOthersGoOn: the POSTs of one project fail for an hour, and prompts of another go out within two seconds. Those
// of two fail, and a third's goes out when the pause of all ends.
func TestOthersGoOn(t *testing.T) {
	for names, most := range map[string]time.Duration{
		"bad":       2 * time.Second,
		"bad1 bad2": 15 * time.Second,
	} {
		t.Run(names, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				b.svc.slow = 100 * time.Millisecond
				b.failingProjects(strings.Fields(names)...)
				for i := range 12 {
					time.Sleep(5 * time.Minute)
					rows, err := b.Projects(b.ctx)
					require.NoError(t, err)
					pause := max(0, time.Until(rows[0].PausedUntil))
					assert.LessOrEqual(t, b.soonest(fmt.Sprint("good-", i)), pause+most)
				}
			}, func(s *queue.Settings) { s.Poll = time.Second })
		})
	}
}

// TestFirstPromptAfterAnOutage of any length comes soon, and nothing was sent during it but at its onset.
func TestFirstPromptAfterAnOutage(t *testing.T) {
	lengths := []time.Duration{5, 31}
	if isLong() {
		lengths = []time.Duration{5, 31, 130}
	}
	if os.Getenv("FLEET_LOAD") != "" {
		lengths = []time.Duration{5, 7, 10, 15, 20, 31, 45, 60, 90, 130}
	}
	for status, most := range map[int]time.Duration{503: 75 * time.Second, -1: 90 * time.Second} {
		for _, length := range lengths {
			for _, projects := range []int{1, 20} {
				name := fmt.Sprintf("%d for %d minutes, %d projects", status, length, projects)
				t.Run(name, func(t *testing.T) {
					inBubble(t, func(b *bench) { afterAnOutage(b, status, length*time.Minute, projects, most) })
				})
			}
		}
	}
}

func afterAnOutage(b *bench, status int, length time.Duration, projects int, most time.Duration) {
	b.enqueue(prompts(90*projects, projects)...)
	time.Sleep(10 * time.Second)
	begin := time.Now()
	end := begin.Add(length)
	b.svc.fails = func(r *http.Request) int {
		if !time.Now().Before(end) {
			return 0
		}
		if status < 0 && r.Method == http.MethodGet { // nothing responds
			select {
			case <-r.Context().Done():
			case <-time.After(time.Until(end)):
			}
		}
		return status
	}
	time.Sleep(length)
	unknown := b.counts()["unknown"]
	assert.LessOrEqual(b.t, unknown, queue.Production.Posts, "at the onset")

	posts := b.svc.posts
	for b.svc.posts == posts && time.Since(end) < time.Hour {
		time.Sleep(time.Second)
	}
	assert.LessOrEqual(b.t, time.Since(end), most)
	time.Sleep(time.Minute)
	assert.Equal(b.t, unknown, b.counts()["unknown"])
}

// TestStopDuringQuestions pauses nothing, and logs no warning.
func TestStopDuringQuestions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		asked := make(chan bool, 100)
		s := quick
		s.SendTime = 20 * time.Second
		s.Posts = 10
		f := newFleet(t, url, s, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked <- true
			<-r.Context().Done()
		}))
		f.enqueue(prompts(20, 10)...)
		worker := f.start()
		for range 10 {
			<-asked
		}
		require.NoError(t, f.end(worker, syscall.SIGTERM))

		assert.Empty(t, pausesOf(t, f.store))
		rows, err := f.store.Projects(t.Context())
		require.NoError(t, err)
		for _, row := range rows {
			assert.Zero(t, row.Last, row.Name)
		}
		assert.NotContains(t, f.logged(), "level=WARN")
		assert.NotContains(t, f.logged(), "level=ERROR")
		assert.Equal(t, 20, f.counts()["queued"])
	})
}

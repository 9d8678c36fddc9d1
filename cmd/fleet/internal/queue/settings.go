package queue

import (
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

// Settings are what a user can set, and a test.
type Settings struct {
	N                  int           // polls and reports in progress at once
	Posts              int           // sends in progress at once
	SendTime           time.Duration // how long one POST may take
	Quota              int           // prompts per Window and project
	Window             time.Duration
	PauseMin, PauseMax time.Duration // bound a pause of the breaker
	Pass               time.Duration // between two passes
	Poll               time.Duration // between two questions of River's for jobs
	PollOnly           bool
	Keep               int            // months after which texts are forgotten; 0: never
	MaxPerDay          map[string]int // new jobs a day by repository, and under "" for all others
}

// Production is how the program is set up unless flags say otherwise.
var Production = Settings{
	N:        50,
	Posts:    4,
	SendTime: time.Minute,
	Quota:    100,
	Window:   time.Hour,
	PauseMin: time.Minute,
	PauseMax: 30 * time.Minute,
	Pass:     15 * time.Second,
	Poll:     time.Second,
}

// Check refuses settings with which a worker could not keep its promises.
func (c Settings) Check() error {
	if c.N < 1 || c.N > 10_000 || c.Posts < 1 || c.Posts > 10_000 {
		return usage.Errorf("-n is %d and -posts %d, want 1 to 10000", c.N, c.Posts)
	}
	if c.SendTime < time.Second || c.SendTime > 10*time.Minute {
		return usage.Errorf("-send-time is %v, want 1s to 10m", c.SendTime)
	}

	if c.PauseMin < time.Second || c.PauseMax < c.PauseMin || c.PauseMax > database.Day {
		return usage.Errorf("-pause-min is %v and -pause-max %v, want 1s or more, and at most 24h",
			c.PauseMin, c.PauseMax)
	}
	return nil
}

// jobTime is how long a job of River's may take that sends or follows.
func (c Settings) jobTime() time.Duration { return c.SendTime + 30*time.Second }

// maxLease is how long a turn takes at most, on any machine, until it has claimed its prompt or ends.
const maxLease = 10 * time.Second

// lease is the time within which a turn has to begin.
func (c Settings) lease() time.Duration { return min(c.SendTime, maxLease) }

// pauseAfter is how long the breaker pauses after so many pauses in a row: twice as long each time.
func (c Settings) pauseAfter(strikes int) time.Duration {
	pause := c.PauseMin
	for range strikes {
		pause = min(2*pause, c.PauseMax)
	}
	return pause
}

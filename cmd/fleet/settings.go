package main

import "time"

// settings are what a user can set, and a test.
type settings struct {
	N                  int           // steps in progress at once
	SendTime           time.Duration // how long one POST may take
	Quota              int           // prompts per Window and project
	Window             time.Duration
	PauseMin, PauseMax time.Duration // bound a pause of the breaker
	Pass               time.Duration // between two passes
	PollOnly           bool
}

// production is how the program is set up unless flags say otherwise.
var production = settings{
	N:        50,
	SendTime: time.Minute,
	Quota:    100,
	Window:   time.Hour,
	PauseMin: time.Minute,
	PauseMax: 30 * time.Minute,
	Pass:     15 * time.Second,
}

// check refuses settings with which a worker could not keep its promises.
func (c settings) check() error {
	if c.N < 1 || c.N > 10_000 || c.SendTime < time.Second || c.SendTime > maxSend {
		return usageError("-n is %d and -send-time %v, want 1 to 10000 and 1s to 10m", c.N, c.SendTime)
	}
	if c.PauseMin < time.Second || c.PauseMax < c.PauseMin || c.PauseMax > day {
		return usageError("-pause-min is %v and -pause-max %v, want 1s or more, and at most 24h",
			c.PauseMin, c.PauseMax)
	}
	return nil
}

// stepTime is how long a step can take at most: a send, and recording what came of it.
func (c settings) stepTime() time.Duration { return 3*c.SendTime + c.lease() + storeTime }

// lease is the time within which a turn has to begin.
func (c settings) lease() time.Duration { return min(c.SendTime, 10*time.Second) }

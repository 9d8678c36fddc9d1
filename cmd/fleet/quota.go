package main

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// quota is how many prompts of a project may be sent, and when.
type quota struct {
	left   int           // may be sent now
	free   time.Duration // until one may, if none may now
	places []time.Time   // when each place of the quota can be taken, the earliest first
	window time.Duration // after which a place that was taken is free
}

// quota counts the prompts of a project that were sent within the window. A prompt reaches the
// service up to a send's time later, so the window is longer by that.
func (s store) quota(ctx context.Context, db once.DB, project string, now time.Time) (quota, error) {
	q := quota{window: s.Window + s.SendTime}
	err := scan(ctx, db, func(rows *sql.Rows) error {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return err
		}
		q.places = append(q.places, time.UnixMilli(at).Add(q.window))
		return nil
	}, "SELECT at FROM fleet_posts WHERE project = $1 AND at > $2 ORDER BY at DESC LIMIT $3",
		project, now.Add(-q.window).UnixMilli(), s.Quota)
	if err != nil {
		return q, err
	}

	q.left = s.Quota - len(q.places)
	if q.left == 0 {
		q.free = q.places[len(q.places)-1].Sub(now)
	}
	for range q.left {
		q.places = append(q.places, now)
	}
	slices.Reverse(q.places)
	return q, nil
}

// sendingTime is about how long the prompts of a project take that are sent one after the other.
const sendingTime = 3 * time.Second

// lastOf returns about when the last of n prompts is sent if the first may be at start.
func (q quota) lastOf(n int, start time.Time) time.Time {
	if n == 0 || len(q.places) == 0 {
		return time.Time{}
	}

	place := q.places[(n-1)%len(q.places)]
	if place.Before(start) {
		place = start
	}
	last := place.Add(time.Duration((n-1)/len(q.places)) * q.window)
	if sent := start.Add(time.Duration(n) * sendingTime); sent.After(last) {
		return sent
	}
	return last
}

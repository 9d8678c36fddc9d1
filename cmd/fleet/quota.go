package main

import (
	"context"
	"database/sql"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// quota is how many prompts of a project may be sent.
type quota struct {
	left int           // may be sent now
	free time.Duration // until one may, if none may now
}

// quota counts the prompts of a project that were sent within the window. A prompt reaches the
// service up to a send's time later, so the window is longer by that.
func (s store) quota(ctx context.Context, db once.DB, project string, now time.Time) (quota, error) {
	window := s.Window + s.SendTime
	q := quota{left: s.Quota}
	err := scan(ctx, db, func(rows *sql.Rows) error {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return err
		}

		q.left--
		if q.left == 0 {
			q.free = time.UnixMilli(at).Add(window).Sub(now)
		}
		return nil
	}, "SELECT at FROM fleet_posts WHERE project = $1 AND at > $2 ORDER BY at DESC LIMIT $3",
		project, now.Add(-window).UnixMilli(), s.Quota)
	return q, err
}

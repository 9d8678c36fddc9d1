package main

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"slices"
	"time"
)

const passBatch = 500 // River jobs inserted at once

// passes makes passes until ctx ends.
func (w *worker) passes(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.pass(ctx); err != nil && ctx.Err() == nil {
			w.calm.Warn("the database fails", "error", err)
		}

		select {
		case <-ctx.Done():
		case <-time.After(w.Pass + rand.N(w.Pass/5+1)):
		}
	}
}

// pass gives each open prompt a River job, unless it has one, and keeps the tables in order.
func (w *worker) pass(ctx context.Context) error {
	defer w.tellSoon(ctx)

	open, err := w.openPrompts(ctx)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(open, passBatch) {
		w.insertJobs(ctx, batch...)
	}

	if err := w.decideReviews(ctx); err != nil {
		return err
	}

	now := time.Now()
	if err := w.tidy(ctx, now); err != nil {
		return err
	}
	return w.wake(ctx, now)
}

func (w *worker) openPrompts(ctx context.Context) ([]prompt, error) {
	var prompts []prompt
	err := scan(ctx, w.DB, func(rows *sql.Rows) error {
		var p prompt
		if err := rows.Scan(&p.Key, &p.Priority); err != nil {
			return err
		}
		prompts = append(prompts, p)
		return nil
	}, `SELECT p.key, p.priority FROM mintlify_once o CROSS JOIN fleet_prompts p
WHERE o.state IN ('pending', 'sending', 'running') AND p.key = o.key`)
	return prompts, err
}

// tidy deletes old rows. It sets times in the future, from a clock ahead of ours, to now.
func (w *worker) tidy(ctx context.Context, now time.Time) error {
	statements := []string{
		"DELETE FROM fleet_pauses WHERE source = 'service' AND until < $1",
		"UPDATE fleet_prompts SET added = $1 WHERE added > $1",
		"UPDATE fleet_prompts SET queued = $1 WHERE queued > $1",
		"UPDATE fleet_prompts SET not_before = 0 WHERE not_before - 3600000 > $1",
		"UPDATE fleet_posts SET at = $1, ends = $1 WHERE at - 60000 > $1",
		"UPDATE fleet_pauses SET since = $1, until = $1 WHERE since - 60000 > $1 AND source <> 'person'",
	}

	for _, statement := range statements {
		if _, err := w.ExecContext(ctx, statement, now.UnixMilli()); err != nil {
			return err
		}
	}

	old := now.Add(-w.Window - 2*w.SendTime - w.lease())
	_, err := w.ExecContext(ctx, "DELETE FROM fleet_posts WHERE ends < $1", old.UnixMilli())
	return err
}

// wake makes River's jobs available again if their process is dead, or if a clock ahead of ours has
// put them off too far. River does so itself only twice a minute, and only with a leader.
func (w *worker) wake(ctx context.Context, now time.Time) error {
	_, err := w.ExecContext(ctx, `UPDATE river_job SET state = 'available', scheduled_at = $1
WHERE state = 'running' AND attempted_at < $2 OR state = 'scheduled' AND scheduled_at > $3`,
		riverTime(now), riverTime(now.Add(-w.stepTime())), riverTime(now.Add(2*day)))
	return err
}

// riverTime is a time in a form that both databases compare with those of River.
func riverTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000+00:00") }

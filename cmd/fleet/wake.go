package main

import (
	"context"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// River's jobs sleep until the time that their step has asked for, up to five minutes. Whatever
// lets a prompt be sent earlier has to wake them.

// wakePrompt has River work at a prompt at once.
func (s store) wakePrompt(ctx context.Context, key string) error {
	_, err := s.ExecContext(ctx, `UPDATE river_job SET state = 'available', scheduled_at = $1
WHERE kind = 'fleet_prompt' AND state IN ('scheduled', 'retryable') AND args->>'key' = $2`,
		riverTime(time.Now()), key)
	return err
}

// wakings are the places in a queue with the delay after which they are woken: those further
// behind later, since all ask the database whether it is their turn.
var wakings = []struct {
	from, to int
	delay    time.Duration
}{
	{1, 5, 0},
	{6, 10, 5 * time.Second},
	{11, 20, 10 * time.Second},
	{21, 50, 20 * time.Second},
	{51, 100, 50 * time.Second},
	{101, 1 << 30, 100 * time.Second},
}

// wakeQueues has River look at the queue of a project, or of all for "".
func (s store) wakeQueues(ctx context.Context, db once.DB, project string) error {
	now := time.Now()
	for _, w := range wakings {
		_, err := db.ExecContext(ctx, `UPDATE river_job SET state = 'available', scheduled_at = $1
WHERE kind = 'fleet_prompt' AND state IN ('scheduled', 'retryable') AND scheduled_at > $1 AND args->>'key' IN (
	SELECT key FROM (`+queuePlaces+`) places WHERE place BETWEEN $3 AND $4)`,
			riverTime(now.Add(w.delay)), project, w.from, w.to)
		if err != nil {
			return err
		}
	}
	return nil
}

// queuePlaces numbers the prompts in the queue of project $2, or of each project if that is "".
const queuePlaces = `SELECT p.key,
	row_number() OVER (PARTITION BY p.project ORDER BY p.priority, p.queued, p.key) AS place
FROM mintlify_once o CROSS JOIN fleet_prompts p
WHERE o.state = 'pending' AND p.key = o.key AND (p.project = $2 OR $2 = '') AND ` + isReady

// lateLooks is how long a look at a queue that began before it was woken may take.
const lateLooks = 3 * time.Second

// wakeSince wakes the queues of a project, or of all, and does so again until no look is left that
// began before since: River stores when such a one is to be repeated only after it has ended.
func (s store) wakeSince(ctx context.Context, project string, since time.Time) error {
	for time.Since(since) < lateLooks {
		if err := s.wakeQueues(ctx, s.DB, project); err != nil {
			return err
		}

		looks, err := number(ctx, s.DB, `SELECT count(*) FROM river_job
WHERE kind = 'fleet_prompt' AND state = 'running' AND attempted_at < $1 AND args->>'key' IN (
	SELECT key FROM (`+queuePlaces+`) places)`, riverTime(since), project)
		if err != nil || looks == 0 {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return s.wakeQueues(ctx, s.DB, project)
}

package queue

import (
	"context"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// maxTrips is how many projects the breaker pauses within a minute before it pauses all.
const maxTrips = 3

// tripped reports whether the breaker has paused this one project within the last minute.
func (p Pause) tripped(now time.Time) bool {
	return p.Source == ByBreaker && p.Project != "" && now.Sub(p.Since) <= time.Minute
}

// trip pauses the project of a turn that failed, and all once three have failed within a minute.
func (s Queue) trip(ctx context.Context, tx once.DB, t turn, now time.Time, why Pause) error {
	pauses, err := Pauses(ctx, tx)
	if err != nil {
		return err
	}

	strikes := map[string]int{}
	recent := 1
	for _, p := range pauses {
		if p.Source == ByBreaker {
			strikes[p.Project] = p.Strikes
		}
		if p.Project != t.project && p.tripped(now) {
			recent++
		}
	}

	if err := s.strike(ctx, tx, t.project, strikes[t.project], now, why); err != nil {
		return err
	}
	if t.all || strikes[""] == 0 && recent >= maxTrips {
		return s.strike(ctx, tx, "", strikes[""], now, why)
	}
	return nil
}

// strike pauses a project for twice as long as the pause before it.
func (s Queue) strike(
	ctx context.Context, tx once.DB, project string, strikes int, now time.Time, why Pause,
) error {
	pause := Pause{Project: project, Source: ByBreaker, Since: now, Strikes: strikes + 1}
	pause.Cause = why.Cause
	pause.Reason = why.Reason
	pause.Until = now.Add(s.pauseAfter(strikes))
	return pause.Store(ctx, tx)
}

// LiftBreaker lifts the breaker's pauses of a project that works, and of all.
func (s Queue) LiftBreaker(ctx context.Context, tx once.DB, project string) error {
	for _, name := range []string{project, ""} {
		result, err := tx.ExecContext(ctx, "DELETE FROM fleet_pauses WHERE source = 'breaker' AND project = $1", name)
		if err != nil {
			return err
		}
		lifted, err := result.RowsAffected()
		if err != nil {
			return err
		}

		if lifted > 0 {
			if err := s.WakeQueues(ctx, tx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

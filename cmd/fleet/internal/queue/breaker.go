package queue

import (
	"context"
	"database/sql"
	"net/http"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const (
	// maxStrikes is how many failures, each of another project than the one before, pause all.
	maxStrikes = 3

	// endAfter is how long a pause lasts at least before a poll that succeeds may end it.
	endAfter = 10 * time.Second

	// newOutage is how long after the last failure, and the longest pause, the next one begins anew.
	newOutage = 10 * time.Minute
)

func (s Queue) afterTurn(p Project, r result) pause {
	next := p.pause
	switch r.verdict() {
	case serviceWorks:
		return pause{}
	case serviceAsksToWait:
		next = s.failedAt(next, p.Now)
		next.begin(p.Now, min(r.wait, database.Day), byService, r, s.Who)

	case serviceFails:
		next = s.failedAt(next, p.Now)
		length := s.PauseMin
		if r.posted {
			length = s.pauseAfter(next.Strikes)
			next.Strikes++
		}

		next.begin(p.Now, max(length, r.asksFor), ByBreaker, r, s.Who)
		next.asked = !r.posted && r.asksFor == 0
	case saysNothing:
	}
	return next
}

// allAfterTurn returns the pause of all projects after a turn of one. Once all are paused, only the turn that tries
// whether the service works again changes it.
func (s Queue) allAfterTurn(all Project, t turn, r result) pause {
	next := s.failedAt(all.pause, all.Now)
	switch {
	case r.verdict() == serviceWorks:
		return pause{}
	case r.verdict() != serviceFails, next.Strikes >= maxStrikes && !t.all:
		return all.pause
	}

	length := s.PauseMin
	switch {
	case t.all:
		next.Strikes = maxStrikes
		if r.posted {
			next.doubled++
			length = s.pauseAfter(next.doubled)
		}
	case next.failed != t.project:
		next.Strikes++
	}

	if next.Strikes == maxStrikes {
		next.begin(all.Now, length, ByBreaker, r, s.Who)
	}
	next.failed = t.project
	next.asked = !r.posted
	return next
}

// failedAt notes a failure. One that comes long after the last one begins anew.
func (s Queue) failedAt(p pause, now time.Time) pause {
	if now.Sub(p.Last) > s.PauseMax+newOutage {
		p = pause{Began: now}
	}
	p.Last = now
	p.Tries++
	return p
}

// begin begins a pause, after what has become of a turn on a machine. Machines may have different keys.
func (p *pause) begin(now time.Time, length time.Duration, source string, r result, machine string) {
	p.PausedSince = now
	p.PausedUntil = now.Add(length)
	p.Source = source
	p.Cause = r.cause()
	p.Reason = safetext.OneLine(r.record.Problem, 300)
	if r.status == http.StatusForbidden {
		p.Reason = "403 Forbidden: the key or the project is wrong"
	}
	if p.Cause == CauseKey {
		p.Reason = "on " + machine + ": " + p.Reason
	}

	p.asked = false
	p.IsAlien = r.status >= 200 && r.status < 400
}

// endAsked ends the pauses of a project, and of all, that follow a question in vain: a poll shows that the service
// works.
func (s Queue) endAsked(ctx context.Context, project string) error {
	isDue := "asked = 1 AND paused_until > " + s.Clock + " AND paused_since <= " + s.Clock + " - $2"
	due, err := sqldb.Strings(ctx, s.DB, "SELECT project FROM fleet_projects WHERE project IN ($1, '') AND "+isDue+
		" ORDER BY project DESC", project, endAfter.Milliseconds())
	if err != nil {
		return err
	}

	for _, name := range due {
		err := s.Transact(ctx, func(tx *sql.Tx) error {
			n, err := sqldb.Changed(tx.ExecContext(ctx, "UPDATE fleet_projects SET paused_until = "+s.Clock+
				" WHERE project = $1 AND "+isDue, name, endAfter.Milliseconds()))
			switch {
			case err != nil || n == 0:
				return err
			case name == "":
				return s.wakeAll(ctx, tx)
			}
			return s.Wake(ctx, tx, database.SendsOf(name))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

const (
	maxPosts = 4                // in progress, over all machines
	maxTrips = 3                // projects that the breaker pauses within a minute, before it pauses all
	ranked   = 300              // prompts of a project whose place in the queue is told apart
	maxWait  = 5 * time.Minute  // until the next look at a prompt that waits for its turn
	maxSend  = 10 * time.Minute // of a POST, on any machine
	maxPause = 24 * time.Hour   // of a service; more was made by a clock that was ahead
)

// turn is the right to send one prompt of a project.
type turn struct {
	id, project string
	key         string        // the first in the project's queue; "" if there is no turn now
	probe, all  bool          // the breaker has paused the project or all: ask with a GET first
	wait        time.Duration // until the next look, without a turn
}

// takeTurn gives the project's first prompt its turn, or says how long key has to wait. Over
// all machines a project has one turn at a time, and all projects have four.
func (s store) takeTurn(ctx context.Context, key, project string, c settings) (t turn, err error) {
	err = s.transact(ctx, true, func(tx *sql.Tx) error {
		now := time.Now()
		t = turn{project: project}
		futureErr := forgetFuture(ctx, tx, now, c)
		paused, pausedErr := t.paused(ctx, tx, now)
		first, rank, queueErr := queueOf(ctx, tx, key, project)
		busy, busyErr := t.busy(ctx, tx, now)
		firstFree, freeErr := nextFree(ctx, tx, project, 0, now, c)
		if err := errors.Join(futureErr, pausedErr, queueErr, busyErr, freeErr); err != nil {
			return err
		}
		step := time.Duration(rank) * time.Second
		switch {
		case first == "": // canceled meanwhile
			t.wait = time.Second
		case paused > 0:
			t.wait = paused + step
		case firstFree > 0:
			t.wait, err = nextFree(ctx, tx, project, min(rank, c.Quota-1), now, c)
		case busy:
			t.wait = time.Second + step
		default:
			t.id, t.key = rand.Text(), first
			_, err = tx.ExecContext(ctx, "INSERT INTO fleet_posts (id, project, at, ends) VALUES ($1, $2, $3, $4)",
				t.id, project, now.UnixMilli(), now.Add(c.SendTime+c.lease()).UnixMilli())
		}
		t.wait = min(t.wait, maxWait)
		return err
	})
	return t, err
}

// forgetFuture rewrites times that a clock ahead of ours has made.
func forgetFuture(ctx context.Context, tx *sql.Tx, now time.Time, c settings) error {
	at := now.UnixMilli()
	for statement, limit := range map[string]time.Duration{
		"UPDATE fleet_posts SET at = $1 WHERE at > $2":                               0,
		"UPDATE fleet_posts SET ends = $1 WHERE ends > $2":                           maxSend + c.lease(),
		"UPDATE fleet_pauses SET since = $1 WHERE since > $2":                        0,
		"UPDATE fleet_pauses SET until = $1 WHERE source <> 'person' AND until > $2": max(maxPause, c.PauseMax),
	} {
		if _, err := tx.ExecContext(ctx, statement, at, now.Add(limit).UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}

// paused returns how long the project is paused, and notes whether the breaker did it.
func (t *turn) paused(ctx context.Context, tx once.DB, now time.Time) (longest time.Duration, err error) {
	pauses, err := pausesOf(ctx, tx)
	for _, p := range pauses {
		if p.Project != "" && p.Project != t.project {
			continue
		}
		longest = max(longest, p.Until.Sub(now))
		if p.Source == "breaker" {
			t.probe, t.all = true, t.all || p.Project == ""
		}
	}
	return longest, err
}

// busy reports whether too many POSTs are in progress for one more. As projects fail, fewer
// are allowed at once.
func (t *turn) busy(ctx context.Context, tx once.DB, now time.Time) (bool, error) {
	mine, err := number(ctx, tx, "SELECT count(*) FROM fleet_posts WHERE ends > $1 AND project = $2", now.UnixMilli(), t.project)
	total, totalErr := number(ctx, tx, "SELECT count(*) FROM fleet_posts WHERE ends > $1", now.UnixMilli())
	tripped, trippedErr := number(ctx, tx, "SELECT count(*) FROM fleet_pauses WHERE source = 'breaker' AND project <> '' AND since > $1", now.Add(-time.Minute).UnixMilli())
	return mine > 0 || total >= max(1, maxPosts-tripped) || t.all && total > 0, errors.Join(err, totalErr, trippedErr)
}

// queueOf returns the first prompt in a project's queue, and how many are before key.
func queueOf(ctx context.Context, tx once.DB, key, project string) (first string, rank int, err error) {
	var keys []string
	err = scan(ctx, tx, func(rows *sql.Rows) error {
		keys = append(keys, "")
		return rows.Scan(&keys[len(keys)-1])
	}, `SELECT p.key FROM mintlify_once o CROSS JOIN fleet_prompts p
WHERE o.state = 'pending' AND p.key = o.key AND p.project = $1 ORDER BY p.priority, p.added, p.key LIMIT $2`, project, ranked)
	if len(keys) > 0 {
		first = keys[0]
	}
	if rank = slices.Index(keys, key); rank < 0 {
		rank = len(keys)
	}
	return first, rank, err
}

// nextFree returns how long it is until the quota has a place after rank others, 0 if now.
// A prompt reaches the service up to a send's time later, so the window is longer by that.
func nextFree(ctx context.Context, tx once.DB, project string, rank int, now time.Time, c settings) (wait time.Duration, err error) {
	window := c.Window + c.SendTime
	at, err := number(ctx, tx, "SELECT at FROM fleet_posts WHERE project = $1 AND at > $2 ORDER BY at DESC LIMIT 1 OFFSET $3", project, now.Add(-window).UnixMilli(), c.Quota-1-rank)
	return max(time.UnixMilli(at).Add(window).Sub(now), 0), err
}

// result is what came of a turn.
type result string

const (
	accepted result = "accepted" // the service works: it has made a job, or refused the prompt for good
	held     result = "held"     // nothing was sent, or the service wants to be left alone for a while
	broken   result = "broken"   // the service or the network fails, or the credits are used up
	skipped  result = "skipped"  // nothing is known of the service
)

// endTurn gives the turn back, with its place in the quota if the prompt is still pending,
// and pauses the project or lifts what the breaker has paused.
func (s store) endTurn(ctx context.Context, t turn, r result, isPending bool, wait time.Duration, reason string, c settings) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), needs)
	defer cancel()
	return s.transact(ctx, true, func(tx *sql.Tx) error {
		now := time.Now()
		statement, args := "UPDATE fleet_posts SET ends = $2 WHERE id = $1", []any{t.id, now.UnixMilli()}
		if isPending {
			statement, args = "DELETE FROM fleet_posts WHERE id = $1", args[:1]
		}
		_, err := tx.ExecContext(ctx, statement, args...)
		switch {
		case err != nil:
		case r == accepted:
			_, err = tx.ExecContext(ctx, "DELETE FROM fleet_pauses WHERE source = 'breaker' AND project IN ($1, '')", t.project)
		case r == held && wait > 0:
			err = pause(ctx, tx, pauseRow{t.project, "service", now, now.Add(min(wait, maxPause)), 0, reason})
		case r == broken:
			err = trip(ctx, tx, t, now, reason, c)
		}
		return err
	})
}

// trip pauses the project of a turn that failed, and all once three have failed within a minute.
func trip(ctx context.Context, tx once.DB, t turn, now time.Time, reason string, c settings) error {
	pauses, err := pausesOf(ctx, tx)
	if err != nil {
		return err
	}
	strikes, recent := map[string]int{}, 1
	all := false
	for _, p := range pauses {
		if p.Source != "breaker" {
			continue
		}
		strikes[p.Project], all = p.Strikes, all || p.Project == ""
		if p.Project != "" && p.Project != t.project && now.Sub(p.Since) <= time.Minute {
			recent++
		}
	}
	failed := []string{t.project}
	if t.all || !all && recent >= maxTrips {
		failed = append(failed, "")
	}
	for _, project := range failed {
		n := strikes[project]
		wait := min(c.PauseMin<<min(n, 20), c.PauseMax)
		if err := pause(ctx, tx, pauseRow{project, "breaker", now, now.Add(wait), n + 1, reason}); err != nil {
			return err
		}
	}
	return nil
}

// pauseRow keeps a project from being sent to.
type pauseRow struct {
	Project string // "" is all
	Source  string
	Since   time.Time
	Until   time.Time
	Strikes int // pauses of the breaker in a row
	Reason  string
}

func pause(ctx context.Context, db once.DB, p pauseRow) error {
	_, err := db.ExecContext(ctx, `INSERT INTO fleet_pauses (project, source, since, until, strikes, reason) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (project, source) DO UPDATE SET since = $3, until = $4, strikes = $5, reason = $6`, p.Project, p.Source, p.Since.UnixMilli(), p.Until.UnixMilli(), p.Strikes, p.Reason)
	return err
}

func pausesOf(ctx context.Context, db once.DB) (pauses []pauseRow, err error) {
	err = scan(ctx, db, func(rows *sql.Rows) error {
		var p pauseRow
		var since, until int64
		err := rows.Scan(&p.Project, &p.Source, &since, &until, &p.Strikes, &p.Reason)
		p.Since, p.Until = time.UnixMilli(since), time.UnixMilli(until)
		pauses = append(pauses, p)
		return err
	}, "SELECT project, source, since, until, strikes, reason FROM fleet_pauses ORDER BY project, source")
	return pauses, err
}

// scan calls each for the rows of a query.
func scan(ctx context.Context, db once.DB, each func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number returns the number that a query brings, 0 if it brings none.
func number(ctx context.Context, db once.DB, query string, args ...any) (int64, error) {
	var n sql.NullInt64
	err := scan(ctx, db, func(rows *sql.Rows) error { return rows.Scan(&n) }, query, args...)
	return n.Int64, err
}

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	maxPosts = 4                // in progress, over all machines
	maxTrips = 3                // projects that the breaker pauses within a minute, before it pauses all
	ranked   = 300              // prompts of a project whose place in the queue is told apart
	maxWait  = 5 * time.Minute  // until the next look at a prompt that waits for its turn
	maxSend  = 10 * time.Minute // of a POST, on any machine
)

// turn is the right to send one prompt of a project.
type turn struct {
	id, project string
	key         string        // the first in the project's queue; "" if there is no turn now
	probe, all  bool          // the breaker has paused the project or all: ask with a GET first
	wait        time.Duration // until the next look, without a turn
}

// takeTurn gives the project's first prompt its turn, or says how long key has to wait. Over
// all machines a project has one turn at a time, and all projects have four: fewer as
// projects fail, and one if the breaker has paused all.
func (s store) takeTurn(ctx context.Context, key, project string) (t turn, err error) {
	err = s.transact(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		t = turn{project: project}
		mine, total, most := 0, 0, maxPosts
		pauses, err := pausesOf(ctx, tx)
		queue, queueErr := queueOf(ctx, tx, project)
		_, free, quotaErr := s.quota(ctx, tx, project, now)
		postsErr := scan(ctx, tx, func(rows *sql.Rows) error { return rows.Scan(&mine, &total) },
			"SELECT count(CASE WHEN project = $2 THEN 1 END), count(*) FROM fleet_posts WHERE ends > $1",
			now.UnixMilli(), project)
		if err := errors.Join(err, queueErr, quotaErr, postsErr); err != nil {
			return err
		}
		for _, p := range pauses {
			if p.Project == "" || p.Project == project {
				t.wait = max(t.wait, p.Until.Sub(now))
				t.probe = t.probe || p.Source == breaker
				t.all = t.all || p.Source == breaker && p.Project == ""
			}
			if p.tripped(now) {
				most--
			}
		}
		t.wait = max(t.wait, free)
		if len(queue) == 0 || mine > 0 || total >= max(1, most) || t.all && total > 0 {
			t.wait = max(t.wait, time.Second) // an empty queue: its prompt was canceled meanwhile
		}
		if t.wait > 0 {
			rank := slices.Index(append(queue, key), key)
			t.wait = min(t.wait, maxWait) + time.Duration(rank)*time.Second // not all look at once
			return nil
		}
		t.id, t.key = rand.Text(), queue[0]
		_, err = tx.ExecContext(ctx, "INSERT INTO fleet_posts (id, project, at, ends) VALUES ($1, $2, $3, $4)",
			t.id, project, now.UnixMilli(), now.Add(s.SendTime+s.lease()).UnixMilli())
		return err
	})
	return t, err
}

// queueOf returns the first prompts in a project's queue.
func queueOf(ctx context.Context, tx once.DB, project string) (keys []string, err error) {
	err = scan(ctx, tx, func(rows *sql.Rows) error {
		keys = append(keys, "")
		return rows.Scan(&keys[len(keys)-1])
	}, `SELECT p.key FROM mintlify_once o CROSS JOIN fleet_prompts p
WHERE o.state = 'pending' AND p.key = o.key AND p.project = $1
ORDER BY p.priority, p.added, p.key LIMIT $2`, project, ranked)
	return keys, err
}

// quota returns how many prompts of a project may be sent now, and if none may, how long it
// is until one may. A prompt reaches the service up to a send's time later, so the window is
// longer by that.
func (s store) quota(
	ctx context.Context, db once.DB, project string, now time.Time,
) (left int, free time.Duration, err error) {
	window := s.Window + s.SendTime
	left = s.Quota
	err = scan(ctx, db, func(rows *sql.Rows) error {
		var at int64
		err := rows.Scan(&at)
		if left--; left == 0 {
			free = time.UnixMilli(at).Add(window).Sub(now)
		}
		return err
	}, "SELECT at FROM fleet_posts WHERE project = $1 AND at > $2 ORDER BY at DESC LIMIT $3",
		project, now.Add(-window).UnixMilli(), s.Quota)
	return left, free, err
}

// endTurn gives the turn back, with its place in the quota if the prompt is still pending.
// It pauses the project for wait, or as the breaker if the service, the network or the
// credits fail. If the service works, it lifts what the breaker has paused. status is that
// of the response, 0 without a request, 1 without a response.
func (s store) endTurn(ctx context.Context, t turn, after once.Record, status int, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	return s.transact(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		statement, args := "UPDATE fleet_posts SET ends = $2 WHERE id = $1", []any{t.id, now.UnixMilli()}
		if after.State == once.Pending {
			statement, args = "DELETE FROM fleet_posts WHERE id = $1", args[:1]
		}
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return err
		}
		reason := redact.OneLine(after.Problem, 300)
		switch {
		case status == http.StatusPaymentRequired, status >= 500, status > 0 && after.State == once.Unknown:
			return s.trip(ctx, tx, t, now, reason)
		case after.State == once.Pending && wait > 0:
			return pause(ctx, tx, pauseRow{t.project, "service", now, now.Add(min(wait, day)), 0, reason})
		case status > 0 && (after.State == once.Running || after.State == once.Refused || after.State == once.Done):
			_, err := tx.ExecContext(ctx,
				"DELETE FROM fleet_pauses WHERE source = $1 AND project IN ($2, '')", breaker, t.project)
			return err
		}
		return nil
	})
}

// trip pauses the project of a turn that failed, and all once three have failed within a minute.
func (s store) trip(ctx context.Context, tx once.DB, t turn, now time.Time, reason string) error {
	pauses, err := pausesOf(ctx, tx)
	if err != nil {
		return err
	}
	strikes, recent := map[string]int{}, 1
	for _, p := range pauses {
		if p.Source == breaker {
			strikes[p.Project] = p.Strikes
		}
		if p.Project != t.project && p.tripped(now) {
			recent++
		}
	}
	failed := []string{t.project}
	if t.all || strikes[""] == 0 && recent >= maxTrips {
		failed = append(failed, "")
	}
	for _, project := range failed {
		n := strikes[project]
		wait := min(s.PauseMin<<min(n, 20), s.PauseMax)
		if err := pause(ctx, tx, pauseRow{project, breaker, now, now.Add(wait), n + 1, reason}); err != nil {
			return err
		}
	}
	return nil
}

const breaker = "breaker" // the source of its pauses; others are "person" and "service"

// pauseRow keeps a project from being sent to.
type pauseRow struct {
	Project string // "" is all
	Source  string
	Since   time.Time
	Until   time.Time
	Strikes int // pauses of the breaker in a row
	Reason  string
}

// tripped reports whether the breaker has paused this one project within the last minute.
func (p pauseRow) tripped(now time.Time) bool {
	return p.Source == breaker && p.Project != "" && now.Sub(p.Since) <= time.Minute
}

func pause(ctx context.Context, db once.DB, p pauseRow) error {
	_, err := db.ExecContext(ctx, `INSERT INTO fleet_pauses (project, source, since, until, strikes, reason)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (project, source) DO UPDATE SET since = $3, until = $4, strikes = $5, reason = $6`,
		p.Project, p.Source, p.Since.UnixMilli(), p.Until.UnixMilli(), p.Strikes, p.Reason)
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

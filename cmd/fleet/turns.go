package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/http"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	maxPosts = 4                // in progress, over all machines
	ranked   = 300              // prompts of a project whose place in the queue is told apart
	maxWait  = 5 * time.Minute  // until the next look at a prompt that waits for its turn
	maxSend  = 10 * time.Minute // of a POST, on any machine
)

// turn is the right to send one prompt of a project.
type turn struct {
	id      string
	project string
	key     string        // the first in the project's queue; "" if there is no turn now
	all     bool          // the breaker has paused all
	wait    time.Duration // until the next look, without a turn
}

// takeTurn gives the project's first prompt its turn, or says how long key has to wait.
func (s store) takeTurn(ctx context.Context, key, project string) (turn, error) {
	var t turn
	err := s.transact(ctx, func(tx *sql.Tx) error {
		now, err := s.situation(ctx, tx, project)
		if err != nil {
			return err
		}

		t = now.decide(key)
		if t.key == "" {
			return nil
		}
		return s.beginTurn(ctx, tx, &t, now.at)
	})
	return t, err
}

// situation has everything that decides about a project's next turn.
type situation struct {
	at      time.Time
	project string
	pauses  []pauseRow    // of all projects
	queue   []string      // keys of the project's first prompts
	free    time.Duration // until the quota has a place, 0 if it has one
	mine    int           // POSTs of the project in progress
	total   int           // POSTs of all projects in progress
}

func (s store) situation(ctx context.Context, tx *sql.Tx, project string) (situation, error) {
	now := situation{at: time.Now(), project: project}
	var err error
	now.pauses, err = pausesOf(ctx, tx)
	if err != nil {
		return now, err
	}

	now.queue, err = queueOf(ctx, tx, project, now.at)
	if err != nil {
		return now, err
	}

	q, err := s.quota(ctx, tx, project, now.at)
	if err != nil {
		return now, err
	}
	now.free = q.free

	err = scan(ctx, tx, func(rows *sql.Rows) error { return rows.Scan(&now.mine, &now.total) },
		"SELECT count(CASE WHEN project = $2 THEN 1 END), count(*) FROM fleet_posts WHERE ends > $1",
		now.at.UnixMilli(), project)
	return now, err
}

// hold is until when, and why, the next prompt of a project is not sent yet.
type hold struct {
	until time.Time // the zero time: nothing stands in the way
	why   string
}

// hold returns what stands in the way the longest. Over all machines a project has one turn at a
// time, and all projects have four: fewer as projects fail, and one if the breaker has paused all.
func (s situation) hold() hold {
	h := hold{until: s.at}
	for _, p := range s.pauses {
		if p.concerns(s.project) && p.Until.After(h.until) {
			h = hold{until: p.Until, why: p.Source + ": " + p.Reason}
		}
	}
	if free := s.at.Add(s.free); free.After(h.until) {
		h = hold{until: free, why: "the quota is used up"}
	}

	soon := s.at.Add(time.Second)
	switch {
	case h.why != "":
		return h
	case s.mine > 0:
		return hold{until: soon, why: "a prompt of the project is being sent"}
	case s.total >= s.mostPosts():
		return hold{until: soon, why: "prompts of other projects are being sent"}
	case len(s.queue) == 0:
		return hold{until: soon, why: "none of its prompts can be sent yet"}
	}
	return hold{}
}

// mostPosts is how many POSTs may be in progress.
func (s situation) mostPosts() int {
	most := maxPosts
	for _, p := range s.pauses {
		if p.Source == byBreaker && p.Project == "" {
			return 1
		}
		if p.tripped(s.at) {
			most--
		}
	}
	return max(1, most)
}

// decide gives the first prompt of the queue its turn, or says how long key has to wait.
func (s situation) decide(key string) turn {
	isOfAll := func(p pauseRow) bool { return p.Source == byBreaker && p.Project == "" }
	t := turn{project: s.project, all: slices.ContainsFunc(s.pauses, isOfAll)}

	if h := s.hold(); h.why != "" {
		rank := slices.Index(append(s.queue, key), key)
		t.wait = min(h.until.Sub(s.at), maxWait) + time.Duration(rank)*time.Second // not all look at once
		return t
	}
	t.key = s.queue[0]
	return t
}

// beginTurn takes a place in the quota.
func (s store) beginTurn(ctx context.Context, tx once.DB, t *turn, now time.Time) error {
	t.id = rand.Text()
	ends := now.Add(s.SendTime + s.lease())
	_, err := tx.ExecContext(ctx, "INSERT INTO fleet_posts (id, project, at, ends) VALUES ($1, $2, $3, $4)",
		t.id, t.project, now.UnixMilli(), ends.UnixMilli())
	return err
}

// queueOf returns the first prompts in a project's queue: of those that are pending, the ones that
// may be sent.
func queueOf(ctx context.Context, tx once.DB, project string, now time.Time) ([]string, error) {
	var keys []string
	err := scan(ctx, tx, func(rows *sql.Rows) error {
		var key string
		if err := rows.Scan(&key); err != nil {
			return err
		}
		keys = append(keys, key)
		return nil
	}, `SELECT p.key FROM mintlify_once o CROSS JOIN fleet_prompts p
WHERE o.state = 'pending' AND p.key = o.key AND p.project = $1 AND p.not_before <= $2 AND `+isReady+`
ORDER BY p.priority, p.queued, p.key LIMIT $3`, project, now.UnixMilli(), ranked)
	return keys, err
}

// result is how a turn ended.
type result struct {
	record once.Record
	status int           // of the last response; noResponse, or 0 without a request
	posted bool          // whether the prompt was sent, and not only the service asked
	wait   time.Duration // that package once asks for before the project's next send
}

// isUnsent reports whether the prompt is still to be sent.
func (r result) isUnsent() bool {
	return r.record.State == once.Pending || r.record.State == "" && !r.posted
}

// jobIsAtWork reports whether a follow-up was not sent because its job is active again, as after a
// message from the dashboard. The prompts behind it are sent meanwhile.
func (r result) jobIsAtWork() bool {
	isOK := r.status == 0 || r.status >= 200 && r.status < 300
	return r.isUnsent() && !r.posted && r.record.After != "" && isOK && r.wait > 0
}

// endTurn gives the turn back, with its place in the quota if the prompt is still pending. It
// pauses the project if the result asks for it, and lifts the breaker's pauses if the service works.
func (s store) endTurn(ctx context.Context, t turn, r result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()

	return s.transact(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		if err := giveBack(ctx, tx, t, r, now); err != nil {
			return err
		}

		reason := redact.OneLine(r.record.Problem, 300)
		switch r.verdict() {
		case serviceFails:
			return s.trip(ctx, tx, t, now, reason)
		case serviceAsksToWait:
			until := now.Add(min(r.wait, day))
			pause := pauseRow{Project: t.project, Source: byService, Since: now, Until: until, Reason: reason}
			return pause.store(ctx, tx)
		case serviceWorks:
			return s.liftBreaker(ctx, tx, t.project)
		}
		return nil
	})
}

// giveBack ends the POST. A prompt that is still pending gives back its place in the quota. If it was
// sent and came back, it goes behind the others of its priority: what keeps it may be its content.
func giveBack(ctx context.Context, tx once.DB, t turn, r result, now time.Time) error {
	if !r.isUnsent() {
		_, err := tx.ExecContext(ctx, "UPDATE fleet_posts SET ends = $2 WHERE id = $1", t.id, now.UnixMilli())
		return err
	}

	if _, err := tx.ExecContext(ctx, "DELETE FROM fleet_posts WHERE id = $1", t.id); err != nil {
		return err
	}

	if r.jobIsAtWork() {
		_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET not_before = $2 WHERE key = $1",
			t.key, now.Add(r.wait).UnixMilli())
		return err
	}

	if !r.posted {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET queued = $2 WHERE key = $1", t.key, now.UnixMilli())
	return err
}

// verdict is what a turn says about the service.
type verdict int

const (
	saysNothing verdict = iota
	serviceWorks
	serviceAsksToWait // for a while, or until a person has mended something
	serviceFails      // or the network does, or the credits are used up
)

func (r result) verdict() verdict {
	state := r.record.State
	switch {
	case r.jobIsAtWork():
		return saysNothing
	case r.status == http.StatusPaymentRequired:
		return serviceFails
	case r.posted && state == once.Unknown:
		return serviceFails
	case r.isUnsent() && (r.status >= 500 || r.status == noResponse):
		return serviceFails
	case r.isUnsent() && r.status >= 200 && r.status < 400: // something else responds, such as a login page
		return serviceFails
	case r.isUnsent() && r.wait > 0:
		return serviceAsksToWait
	case r.posted && (state == once.Running || state == once.Refused || state == once.Done):
		return serviceWorks
	}
	return saysNothing
}

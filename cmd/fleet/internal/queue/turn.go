package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// turn is the right to send one prompt of a project.
type turn struct {
	id      string // "" if there is no turn now
	project string
	key     string        // the head of the project's queue
	all     bool          // it tries whether the service works again
	wait    time.Duration // until the next look, without a turn
	isOver  bool          // nothing is queued
}

// takeTurn gives the head of a project's queue its turn, or says how long the project has to wait.
func (s Queue) takeTurn(ctx context.Context, project string) (turn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.takeTime())
	defer cancel()

	seen, err := s.look(ctx, project)
	if err != nil {
		return turn{}, err
	}
	h := seen.hold()
	if seen.head == "" && seen.holdOfProject().why == "" && !seen.own.turnUntil.After(seen.own.Now) {
		queues, err := s.readQueues(ctx, database.Choice{Project: project})
		if err != nil || queues[project].count == 0 {
			return turn{isOver: true}, err
		}

		seen.queued = queues[project]
		h = seen.hold()
	}

	t := turn{project: project, key: seen.head, all: seen.isTry(), wait: lookAgain}
	if h.why != "" {
		t.wait = min(h.until.Sub(seen.own.Now), MaxWait)
	}
	if h.why != "" || t.key == "" {
		return t, nil
	}
	return t, s.beginTurn(ctx, &t, seen)
}

// beginTurn takes the turn, unless what was seen has changed meanwhile.
func (s Queue) beginTurn(ctx context.Context, t *turn, seen situation) error {
	id := rand.Text()
	ends := s.Clock + " + $2"
	length := (s.Settings.SendTime + s.lease()).Milliseconds()
	isUnhindered := "turn_until <= " + s.Clock + " AND paused_until <= " + s.Clock + " AND stopped = 0"
	own := "UPDATE fleet_projects SET turn = $1, turn_until = " + ends + `, turns = turns + 1
WHERE project = $3 AND turns = $4 AND ` + isUnhindered + ` AND EXISTS (SELECT 1 FROM fleet_projects a
	WHERE a.project = '' AND a.stopped = 0 AND a.paused_until <= ` + s.Clock + ` AND (a.strikes < $5 OR $6 = 1))`
	ofAll := "UPDATE fleet_projects SET turn = $1, turn_until = " + ends + " WHERE project = '' AND " + isUnhindered

	take := func(db once.DB, tries int) (int64, error) {
		return sqldb.Changed(db.ExecContext(ctx, own, id, length, t.project, seen.own.turns, maxStrikes, tries))
	}
	if !t.all {
		n, err := take(s.DB, 0)
		if n > 0 {
			t.id = id
		}
		return err
	}

	isTaken := false
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		n, err := take(tx, 1)
		if err != nil || n == 0 {
			return err
		}

		n, err = sqldb.Changed(tx.ExecContext(ctx, ofAll, id, length))
		isTaken = n > 0
		if err == nil && !isTaken {
			err = errOthersTry
		}
		return err
	})
	if isTaken && err == nil {
		t.id = id
	}
	if errors.Is(err, errOthersTry) {
		t.wait = tryAgain
		return nil
	}
	return err
}

// errOthersTry is that another project has the turn of all.
var errOthersTry = errors.New("another project tries whether the service works again")

// endTurn gives the turn back, and stores what it says about the service. It does nothing if the turn was lost.
func (s Queue) endTurn(ctx context.Context, t turn, r result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), database.StoreTime)
	defer cancel()

	isOver := false // the pause of all
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		own, isOurs, err := s.giveBack(ctx, tx, t, "project = $2 AND turn = $1", t.project)
		if err != nil || !isOurs {
			return err
		}
		if err := own.become(ctx, tx, s.afterTurn(own, r)); err != nil {
			return err
		}
		if err := requeue(ctx, tx, t, r); err != nil {
			return err
		}

		isOver, err = s.endTurnOfAll(ctx, tx, t, r)
		return err
	})

	if err != nil || !isOver {
		return err
	}
	return s.WakeQueues(ctx, s.DB, "")
}

// endTurnOfAll reports whether the pause of all is over. If the service works as before, it changes nothing.
func (s Queue) endTurnOfAll(ctx context.Context, tx once.DB, t turn, r result) (bool, error) {
	condition := "project = '' AND (turn = $1 OR $2 = 'fails' OR $2 = 'works' AND strikes > 0)"
	says := ""
	switch r.verdict() {
	case serviceFails:
		says = "fails"
	case serviceWorks:
		says = "works"
	case saysNothing, serviceAsksToWait:
	}

	all, isOurs, err := s.giveBack(ctx, tx, t, condition, says)
	if err != nil || !isOurs {
		return false, err
	}
	next := s.allAfterTurn(all, t, r)
	return all.Strikes >= maxStrikes && next.Strikes == 0, all.become(ctx, tx, next)
}

// giveBack frees a turn in the row that a condition chooses, and returns the row, if there is one. The row stays locked.
func (s Queue) giveBack(ctx context.Context, tx once.DB, t turn, condition string, arg any) (Project, bool, error) {
	rows, err := sqldb.All(ctx, tx, func(rows *sql.Rows) (Project, error) { return scanProject(rows) },
		`UPDATE fleet_projects SET turn = CASE WHEN turn = $1 THEN '' ELSE turn END,
	turn_until = CASE WHEN turn = $1 THEN 0 ELSE turn_until END
WHERE `+condition+" RETURNING "+s.projectColumns(), t.id, arg)
	if err != nil || len(rows) == 0 {
		return Project{}, false, err
	}
	return rows[0], true, nil
}

// requeue puts a prompt that was sent and came back behind the others of its priority: what keeps it may be its content.
// A message whose job is at work again has no turn for a while.
func requeue(ctx context.Context, tx once.DB, t turn, r result) error {
	if !r.isUnsent() {
		return nil
	}

	key := cmp.Or(r.record.Key, t.key) // an earlier message may have been sent instead
	switch now := time.Now(); {
	case r.jobIsAtWork():
		_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET not_before = $2 WHERE key = $1",
			key, now.Add(r.wait).UnixNano())
		return err
	case r.posted:
		_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET queued = $2 WHERE key = $1", key, now.UnixNano())
		return err
	}
	return nil
}

package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
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

	if seen.head == "" && seen.holdOfProject().why == "" { // only a count of the queue says why
		queues, err := s.readQueues(ctx, database.Choice{Project: project})
		if err != nil || queues[project].count == 0 {
			return turn{isOver: true}, err
		}
		seen.queued = queues[project]
	}

	if h := seen.hold(); h.why != "" {
		return turn{wait: min(h.again.Sub(seen.own.Now), MaxWait)}, nil
	}
	if seen.head == "" {
		return turn{wait: lookAgain}, nil // one has just become ready
	}

	t := turn{id: rand.Text(), project: project, key: seen.head, all: seen.isTry()}
	err = s.beginTurn(ctx, t, seen.own.turns)
	switch {
	case errors.Is(err, errTaken):
		return turn{wait: lookAgain}, nil
	case errors.Is(err, errOthersTry):
		return turn{wait: tryAgain}, nil
	}
	return t, err
}

var (
	errTaken     = errors.New("what the look has seen has changed")
	errOthersTry = errors.New("another project tries whether the service works again")
)

// beginTurn takes a turn, and the one of all if it is a try, unless the queue has changed since its turns were counted.
func (s Queue) beginTurn(ctx context.Context, t turn, turns int64) error {
	length := (s.Settings.SendTime + s.lease()).Milliseconds()
	begin := "UPDATE fleet_projects SET turn = $1, turns = turns + 1, turn_until = " + s.Clock + " + $2 WHERE "
	isUnhindered := " AND turn_until <= " + s.Clock + " AND paused_until <= " + s.Clock + " AND stopped = 0"
	own := begin + "project = $3 AND turns = $4" + isUnhindered + ` AND EXISTS (SELECT 1 FROM fleet_projects a
	WHERE a.project = '' AND a.stopped = 0 AND a.paused_until <= ` + s.Clock + " AND a.strikes <= $5)"

	if !t.all {
		return database.Change(ctx, s.DB, errTaken, own, t.id, length, t.project, turns, maxStrikes-1)
	}

	return s.Transact(ctx, func(tx *sql.Tx) error {
		err := database.Change(ctx, tx, errTaken, own, t.id, length, t.project, turns, maxStrikes)
		if err != nil {
			return err
		}
		return database.Change(ctx, tx, errOthersTry, begin+"project = ''"+isUnhindered, t.id, length)
	})
}

// endTurn gives the turn back, and stores what it says about the service. It does nothing if the turn was lost.
func (s Queue) endTurn(ctx context.Context, t turn, r result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), database.StoreTime)
	defer cancel()

	isOver := false // the pause of all
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		own, err := s.giveBack(ctx, tx, t, "project = $2 AND turn = $1", t.project)
		if err != nil || own == (Project{}) {
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
	return s.wake(ctx, "")
}

// endTurnOfAll reports whether the pause of all is over. If the service works as before, it changes nothing.
func (s Queue) endTurnOfAll(ctx context.Context, tx once.DB, t turn, r result) (bool, error) {
	all, err := s.giveBack(ctx, tx, t, fmt.Sprintf("project = '' AND (turn = $1 OR $2 = %d OR $2 = %d "+
		"AND strikes > 0)", serviceFails, serviceWorks), r.verdict())
	if err != nil || all == (Project{}) {
		return false, err
	}
	next := s.allAfterTurn(all, t, r)
	return all.Strikes >= maxStrikes && next.Strikes == 0, all.become(ctx, tx, next)
}

// giveBack frees a turn in the row that a condition chooses, and returns the row, the zero value if there is none. The
// row stays locked.
func (s Queue) giveBack(ctx context.Context, tx once.DB, t turn, condition string, arg any) (Project, error) {
	return database.First(database.All(ctx, tx, (*Project).fields, `UPDATE fleet_projects
SET turn = CASE WHEN turn = $1 THEN '' ELSE turn END, turn_until = CASE WHEN turn = $1 THEN 0 ELSE turn_until END
WHERE `+condition+" RETURNING "+s.projectColumns(), t.id, arg))
}

// requeue puts a prompt that was sent and came back behind the others of its priority: what keeps it may be its
// content. A message whose job is at work again has no turn for a while.
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

package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// turn is the right to send one prompt of a project.
type turn struct {
	id      string // "" if there is no turn now
	project string
	key     string // the head of the project's queue
	all     bool   // it tries whether the service works again
}

// admit gives the head of a project's queue its turn, or has River's job of the project come again when it may have
// one. It locks the project's row before it reads anything: whoever changes what it reads locks that, too.
func (s Queue) admit(ctx context.Context, project string) (turn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.lease()+database.StoreTime)
	defer cancel()

	var t turn
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		t = turn{}
		if err := s.LockProjects(ctx, tx, project); err != nil {
			return err
		}
		if err := database.HoldMessages(ctx, tx, project); err != nil {
			return err
		}
		seen, err := s.situationOf(ctx, tx, project)
		if err != nil {
			return err
		}

		h := seen.hold()
		switch {
		case seen.isEmpty():
			return nil
		case h.why != "" || seen.head == "":
			again := seen.own.Now.Add(sleep(h.again.Sub(seen.own.Now)))
			return s.Start(ctx, tx, database.SendsOf(project), again)
		}

		begun := turn{id: rand.Text(), project: project, key: seen.head, all: seen.isTry()}
		isBegun, err := s.beginTurn(ctx, tx, begun)
		if err != nil {
			return err
		}
		if !isBegun {
			return s.Start(ctx, tx, database.SendsOf(project), seen.own.Now.Add(tryAgain))
		}

		t = begun
		return s.Start(ctx, tx, database.SendsOf(project), seen.own.Now.Add(s.lease()))
	})
	return t, err
}

// beginTurn takes a turn, and if it is a try, the one of all, too. It reports false if another project tries.
func (s Queue) beginTurn(ctx context.Context, tx *sql.Tx, t turn) (bool, error) {
	begin := "UPDATE fleet_projects SET turn = $1, claimed = 0, turn_until = " + s.Clock + " + $2 WHERE project = $3"
	if t.all {
		length := s.Settings.SendTime + s.lease() + database.StoreTime
		isFree := " AND turn_until <= " + s.Clock + " AND paused_until <= " + s.Clock + " AND stopped = 0"
		n, err := sqldb.Changed(tx.ExecContext(ctx, begin+isFree, t.id, length.Milliseconds(), ""))
		if err != nil || n == 0 {
			return false, err
		}
	}

	_, err := tx.ExecContext(ctx, begin, t.id, s.lease().Milliseconds(), t.project)
	return true, err
}

// endTurn gives the turn back, stores what it says about the service, and wakes the project and the prompt's follower.
// It does nothing if the turn was lost.
func (s Queue) endTurn(ctx context.Context, t turn, r result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), database.StoreTime)
	defer cancel()

	return s.Transact(ctx, func(tx *sql.Tx) error {
		own, err := s.giveBack(ctx, tx, t, "project = $2 AND turn = $1", t.project)
		if err != nil || own == (Project{}) {
			return err
		}
		if err := own.become(ctx, tx, s.afterTurn(own, r)); err != nil {
			return err
		}

		isOver, err := s.endTurnOfAll(ctx, tx, t, r)
		if err != nil {
			return err
		}
		if isOver {
			err = s.wakeAll(ctx, tx)
		}
		if err != nil {
			return err
		}

		if err := s.WakeFor(ctx, tx, sentBy(t, r)); err != nil {
			return err
		}
		return requeue(ctx, tx, t, r)
	})
}

// sentBy returns the record that a turn has sent, or would have.
func sentBy(t turn, r result) once.Record {
	record := r.record
	record.Key = cmp.Or(record.Key, t.key)
	record.ProjectID = t.project
	return record
}

// endTurnOfAll reports whether all have to look: the pause of all is over, or a try. If the service works as before, it
// changes nothing.
func (s Queue) endTurnOfAll(ctx context.Context, tx once.DB, t turn, r result) (bool, error) {
	all, err := s.giveBack(ctx, tx, t, fmt.Sprintf("project = '' AND (turn = $1 OR $2 = %d OR $2 = %d "+
		"AND strikes > 0)", serviceFails, serviceWorks), r.verdict())
	if err != nil || all == (Project{}) {
		return false, err
	}
	next := s.allAfterTurn(all, t, r)
	isOver := t.all || all.Strikes >= maxStrikes && next.Strikes == 0
	return isOver, all.become(ctx, tx, next)
}

// giveBack frees a turn in the row that a condition chooses, and returns the row, the zero value if there is none. The
// row stays locked.
func (s Queue) giveBack(ctx context.Context, tx once.DB, t turn, condition string, arg any) (Project, error) {
	return database.First(database.All(ctx, tx, (*Project).fields, `UPDATE fleet_projects
SET turn = CASE WHEN turn = $1 THEN '' ELSE turn END, turn_until = CASE WHEN turn = $1 THEN 0 ELSE turn_until END
WHERE `+condition+" RETURNING "+s.projectColumns(), t.id, arg))
}

// requeue puts a prompt that was sent and came back behind the others of its priority: what keeps it may be its
// content. The messages to a job that is at work again have no turn for a while.
func requeue(ctx context.Context, tx *sql.Tx, t turn, r result) error {
	if !r.isUnsent() {
		return nil
	}

	now := time.Now()
	switch {
	case r.jobIsAtWork():
		return database.PutOff(ctx, tx, r.record.Thread, now.Add(r.wait))
	case r.posted: // an earlier message may have been sent instead
		_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET queued = $2 WHERE key = $1", sentBy(t, r).Key,
			now.UnixNano())
		return err
	}
	return nil
}

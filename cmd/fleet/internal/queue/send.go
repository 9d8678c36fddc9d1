package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/internal/redact"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// Sender works off the queue of a project.
type Sender struct {
	river.WorkerDefaults[SendArgs]
	*Worker
}

// NextRetry is when to go on after a database that failed, or a look that died.
func (s *Sender) NextRetry(*river.Job[SendArgs]) time.Time { return nextRetry() }

// Work sends the head of the project's queue, if it may be sent, and has River come back as long as
// something is queued.
func (s *Sender) Work(ctx context.Context, job *river.Job[SendArgs]) error {
	t, err := s.takeTurn(ctx, job.Args.Project)
	switch {
	case err != nil:
		return err
	case t.isOver:
		return nil
	case t.key == "":
		return river.JobSnooze(t.wait)
	}

	sent, err := s.sendInTurn(ctx, t)
	if err != nil {
		return err
	}

	switch {
	case sent.isUnsent():
	case sent.record.State.IsOpen():
		s.InsertPolls(ctx, sent.record.Key)
	default:
		s.TellSoon(ctx)
	}
	return river.JobSnooze(time.Second) // the next look says when
}

// sendInTurn sends the prompt whose turn it is, and ends the turn.
func (s *Sender) sendInTurn(ctx context.Context, t turn) (result, error) {
	mark := &turnMark{}
	begin, cancel := context.WithTimeout(context.WithValue(ctx, turnKey{}, mark), s.lease())
	defer cancel() // does not end a send that has begun

	// Each turn has its own runner: the table of pauses holds prompts back, for all machines.
	step, stepErr := s.SendingRunner(s.Client).Step(begin, t.key)
	stepErr = unfinished(step, stepErr)
	isLate := errors.Is(stepErr, context.DeadlineExceeded) && ctx.Err() == nil && mark.hasAsked.Load()

	sent := result{record: step.Record, status: statusOf(step.Err), posted: step.Sent, wait: step.Next}
	if step.Sent && step.Ahead.Version > 0 {
		sent.record = step.Ahead // an earlier message of the thread was sent instead
	}
	if isLate {
		sent.status = noResponse
	}
	if sent.posted {
		s.Posts.WithLabelValues(database.NameOf(cmp.Or(sent.record.State, once.Unknown))).Inc()
	}

	if err := s.endTurn(ctx, t, sent); err != nil {
		s.Calm.Error("the end of a turn could not be stored: the project waits until it has passed",
			"project", t.project, "error", err)
	}
	if isLate {
		return sent, nil // the service did not respond to a question in time, which has paused the project
	}
	return sent, stepErr
}

// unfinished returns why a step could not be done; nil for how a prompt has ended, which its record
// says.
func unfinished(step once.Step, err error) error {
	if step.Next == 0 && step.Record.Version > 0 && !step.Record.State.IsOpen() {
		return nil
	}
	return err
}

// statusOf returns the status of the response that err tells of, noResponse if there was none, and 0 for nil.
func statusOf(err error) int {
	var refused *mintlify.APIError
	var malformed *mintlify.MalformedResponseError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &refused):
		return refused.StatusCode
	case errors.As(err, &malformed):
		return malformed.StatusCode
	}
	return noResponse
}

// turnMark marks the context of a turn, and notes whether the service was asked in it.
type turnMark struct{ hasAsked atomic.Bool }

type turnKey struct{}

// OnlyInTurn is a rate limiter that refuses to send a prompt outside a turn: a poll whose record has just
// become pending again must not send it, since it has no place in the quota.
func OnlyInTurn(ctx context.Context, info mintlify.RequestInfo) error {
	mark, isTurn := ctx.Value(turnKey{}).(*turnMark)
	if isTurn {
		mark.hasAsked.Store(true)
		return nil
	}

	if info.Operation == mintlify.OpCreateJob || info.Operation == mintlify.OpSendMessage {
		return errors.New("it is not the prompt's turn")
	}
	return nil
}

const maxSend = 10 * time.Minute // of a POST, on any machine

// turn is the right to send one prompt of a project.
type turn struct {
	id      string
	project string
	day     string        // on which it counts
	key     string        // the head of the project's queue; "" if there is no turn now
	all     bool          // the breaker has paused all
	wait    time.Duration // until the next look, without a turn
	isOver  bool          // nothing is queued
}

// takeTurn gives the head of a project's queue its turn, or says how long the project has to wait.
func (s Queue) takeTurn(ctx context.Context, project string) (turn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.takeTime())
	defer cancel()

	var t turn
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		now, err := s.readSituation(ctx, tx, project, "")
		if err != nil {
			return err
		}

		t = now.decide()
		if t.key == "" {
			return nil
		}
		return s.beginTurn(ctx, tx, &t, now.at)
	})
	return t, err
}

// beginTurn takes a place in the quota.
func (s Queue) beginTurn(ctx context.Context, tx once.DB, t *turn, now time.Time) error {
	t.id = rand.Text()
	ends := now.Add(s.Settings.SendTime + s.lease())
	_, err := tx.ExecContext(ctx, "INSERT INTO fleet_posts (id, project, at, ends) VALUES ($1, $2, $3, $4)",
		t.id, t.project, now.UnixMilli(), ends.UnixMilli())
	if err != nil {
		return err
	}

	t.day = database.DayOf(now)
	return database.CountSent(ctx, tx, t.key, t.day, 1)
}

// noResponse is the status of a request that got no response.
const noResponse = 1

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
// message from the dashboard. The prompts behind it are sent meanwhile. A status would say that asking for the
// job has failed, also a 200: something else responds then, such as a login page.
func (r result) jobIsAtWork() bool {
	return r.isUnsent() && !r.posted && r.record.After != "" && r.status == 0 && r.wait > 0
}

// endTurn gives the turn back, with its place in the quota if the prompt is still pending. It
// pauses the project if the result asks for it, and lifts the breaker's pauses if the service works.
func (s Queue) endTurn(ctx context.Context, t turn, r result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), database.StoreTime)
	defer cancel()

	return s.Transact(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		if key := r.record.Key; key != "" && key != t.key {
			t.key = key // which was sent instead: a message, too, and no limit of a day counts messages
		}

		if err := giveBack(ctx, tx, t, r, now); err != nil {
			return err
		}

		reason := redact.OneLine(r.record.Problem, 300)
		switch r.verdict() {
		case serviceFails:
			return s.trip(ctx, tx, t, now, Pause{Cause: r.cause(), Reason: reason})
		case serviceAsksToWait:
			pause := Pause{
				Project: t.project,
				Source:  byService,
				Cause:   r.cause(),
				Since:   now,
				Until:   now.Add(min(r.wait, database.Day)),
				Reason:  reason,
			}
			return pause.Store(ctx, tx)
		case serviceWorks:
			return s.LiftBreaker(ctx, tx, t.project)
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
	if err := database.CountSent(ctx, tx, t.key, t.day, -1); err != nil {
		return err
	}

	if r.jobIsAtWork() {
		_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET not_before = $2 WHERE key = $1",
			t.key, now.Add(r.wait).UnixNano())
		return err
	}

	if !r.posted {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET queued = $2 WHERE key = $1", t.key, now.UnixNano())
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
	case r.posted && state == once.Sending && r.status != 0: // a message without a response: its job will tell
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

// cause returns why the service or the breaker pauses the project.
func (r result) cause() string {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return CauseKey
	case http.StatusNotFound:
		return CauseProject
	case http.StatusPaymentRequired:
		return CauseCredits
	case http.StatusTooManyRequests:
		return CauseQuota
	}
	return CauseOutage
}

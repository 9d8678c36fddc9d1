package queue

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/internal/status"
	"github.com/mintlify-community/mintlify-go/once"
)

// Send sends the head of a project's queue, if it may be sent, and has River come back when it may. After a turn its
// end has done so.
func (w *Worker) Send(ctx context.Context, job *river.Job[database.SendArgs]) error {
	isVoid, err := w.IsVoid(ctx, database.SendsOf(job.Args.Project), job.ID)
	if err != nil || isVoid {
		return err
	}

	t, err := w.admit(ctx, job.Args.Project)
	if err != nil || t.id == "" {
		return err
	}

	sent, err := w.sendInTurn(ctx, t)
	if err == nil && !sent.isUnsent() && !sent.record.State.IsOpen() {
		w.TellSoon(ctx)
	}
	return err
}

// sendInTurn sends the prompt whose turn it is, and ends the turn.
func (w *Worker) sendInTurn(ctx context.Context, t turn) (result, error) {
	var hasAsked atomic.Bool
	begin, cancel := context.WithTimeout(context.WithValue(ctx, turnKey{}, &hasAsked), w.lease())
	defer cancel() // does not end a send that has begun

	// Each turn has its own runner: the rows of projects hold prompts back, for all machines.
	step, stepErr := w.RunnerOf(w.Client, w.RecordsOfTurn(t.id)).Step(begin, t.key)
	stepErr = unfinished(step, stepErr)
	isLate := errors.Is(stepErr, context.DeadlineExceeded) && ctx.Err() == nil && hasAsked.Load()

	sent := resultOf(step)
	if isLate {
		sent.status = noResponse
	}
	if sent.posted {
		w.Posts.WithLabelValues(database.NameOf(cmp.Or(sent.record.State, once.Unknown))).Inc()
	}

	if err := w.endTurn(ctx, t, sent); err != nil {
		w.Calm.Error("the end of a turn could not be stored: the project waits until it has passed",
			"project", t.project, "error", err)
	}
	if isLate || errors.Is(stepErr, database.ErrNoTurn) {
		return sent, nil // the project is paused: the service did not respond in time, or a person has stopped it
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

// turnKey is the key of a value in the context of a turn: whether the service was asked in it.
type turnKey struct{}

// OnlyInTurn is a rate limiter that refuses to send a prompt outside a turn: a poll whose record has just
// become pending again must not send it, since it has no place in the quota.
func OnlyInTurn(ctx context.Context, info mintlify.RequestInfo) error {
	hasAsked, isTurn := ctx.Value(turnKey{}).(*atomic.Bool)
	if isTurn {
		hasAsked.Store(true)
		return nil
	}

	if info.Operation == mintlify.OpCreateJob || info.Operation == mintlify.OpSendMessage {
		return errors.New("it is not the prompt's turn")
	}
	return nil
}

// noResponse is the status of a request that got no response.
const noResponse = 1

type result struct {
	record once.Record
	status int           // of the last response; noResponse, or 0 without a request
	posted bool          // whether the prompt was sent, and not only the service asked
	wait   time.Duration // that package once asks for before the project's next send

	// asksFor is how long the service asks to wait, or a person needs to mend what fails; 0 if neither is so.
	asksFor time.Duration
}

// resultOf returns the result of a step.
func resultOf(step once.Step) result {
	r := result{record: step.Record, posted: step.Sent, wait: step.Next}
	if step.Sent && step.Ahead.Version > 0 {
		r.record = step.Ahead // an earlier message of the thread was sent instead
	}

	var refused *mintlify.APIError
	var malformed *mintlify.MalformedResponseError
	switch {
	case step.Err == nil:
	case errors.As(step.Err, &refused):
		r.status = refused.StatusCode
		if status.Of(r.status).Passes {
			r.asksFor = min(refused.RetryAfter, time.Hour) // as in package once
		}
	case errors.As(step.Err, &malformed):
		r.status = malformed.StatusCode
	default:
		r.status = noResponse
	}

	if status.Of(r.status).NeedsPerson {
		r.asksFor = r.wait
	}
	if r.jobIsAtWork() && step.Ahead.State.IsOpen() { // it waits for another message
		r.wait = max(r.wait, time.Minute)
	}
	return r
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
	case r.posted && (state == once.Unknown || state == once.Sending && r.status != 0): // a message's job will tell
		return serviceFails

	case r.isUnsent() && r.status != 0 && status.Of(r.status).MayHaveActed: // also no response, or a login page
		return serviceFails
	case r.isUnsent() && r.status != 0 && r.wait > 0:
		return serviceAsksToWait
	case r.posted && (state == once.Running || state == once.Refused || state == once.Done):
		return serviceWorks
	}
	return saysNothing
}

func (r result) cause() string {
	meaning := status.Of(r.status)
	switch {
	case meaning.About == status.Job:
		return CauseProject
	case meaning.Kind == status.PaymentRequired:
		return CauseCredits
	case meaning.NeedsPerson:
		return CauseKey
	case meaning.Kind == status.RateLimited:
		return CauseQuota
	}
	return CauseOutage
}

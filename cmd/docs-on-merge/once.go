package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/once"
)

// document has the agent document the change, and waits for it, unless noWait is set.
func (p *program) document(ctx context.Context, c change, noWait bool) result {
	if c.repository == "" {
		return result{err: errNoRepository}
	}
	prompt, err := p.makePrompt(c)
	if err != nil {
		return result{err: err}
	}
	return p.pursue(ctx, c, prompt, noWait)
}

// pursue goes on with the record of a change, whatever its state. Without a prompt it sends none.
func (p *program) pursue(ctx context.Context, c change, prompt string, noWait bool) result {
	client, err := p.step.Client()
	if err != nil {
		return result{err: err}
	}
	store, statuses, err := p.openStore(ctx, c)
	if err != nil {
		return result{err: err}
	}

	task := once.Task{Key: c.key(client.ProjectID()), Prompt: prompt}
	w := worker{p: p, client: client, store: &late{Store: store}, task: task, change: c, noWait: noWait}
	w.result = result{prompt: prompt, record: once.Record{Task: task}, finder: p.newFinder(ctx, c)}

	w.work(ctx)
	if w.err != nil {
		w.err = keyless{error: w.err, record: w.record}
	}

	if statuses != nil && w.record.Version > 0 && w.unrecorded == nil {
		err := statuses.show(context.WithoutCancel(ctx), w.result)
		if err != nil {
			p.step.Printf("The commit's status may still be that of an earlier run: %v", err)
		}
	}
	return w.result
}

// worker works on a task, whose record is in a store.
type worker struct {
	// result is what the worker knows. Its record stays as it was if it cannot be read any more.
	result
	p      *program
	client *mintlify.Client
	store  *late
	task   once.Task
	change change
	runner *once.Runner
	// noWait ends the work once a job is on record.
	noWait bool
	// isOnRecord says that this run has seen the record of the job that it made.
	isOnRecord bool
}

// errJobExists ends a send once a job is on record, whichever run has made it.
var errJobExists = errors.New("the job is on record")

func (w *worker) work(ctx context.Context) {
	sending, stopSending := context.WithCancelCause(ctx)
	defer stopSending(nil)

	if w.err = w.newRunner(func() { stopSending(errJobExists) }); w.err != nil {
		return
	}

	if w.err = w.prepare(ctx); w.err != nil {
		w.record = once.Record{Task: w.task}
		return
	}

	if w.prompt == "" {
		w.err = w.leaveToOthers(ctx)
	}
	if w.err != nil {
		return
	}

	if before := w.record.State; before != once.Running {
		defer w.logStop(ctx)()

		w.do(sending)
		if w.record.State == once.Unknown && before != once.Unknown {
			if w.hasSent {
				w.lost = errors.Unwrap(w.err) // w.err also says what callers of package once can do
				w.p.step.Printf("The response to the prompt was lost: %v", w.lost)
			}
			w.search(ctx)
		}
	}

	if w.hasSent && !w.isOnRecord && w.record.State == once.Running && w.err != nil {
		w.store.owe(w.record, w.err)
		w.err = nil
	}
	if w.record.State == once.Running && w.err == nil {
		w.follow(ctx)
	}
}

// logStop logs the end of ctx. The function that it returns ends that, so that nothing is logged after the result.
func (w *worker) logStop(ctx context.Context) func() {
	logged := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(logged)
		w.p.step.Printf("Stopping as soon as the record is up to date.")
	})

	return func() {
		if hasBegun := !stop(); hasBegun {
			<-logged
		}
	}
}

// newRunner makes the runner, which calls onJob once it knows that a job is on record.
func (w *worker) newRunner(onJob func()) error {
	onChange := func(r once.Record) {
		switch r.State {
		case once.Sending:
			w.hasSent = true
		case once.Running:
			w.tellJob(r.JobID)
			onJob()
		}
	}

	options := []once.Option{
		once.WithSendTime(w.p.sendTime),
		once.WithLogger(w.p.step.ErrorLog()),
		once.WithOnChange(onChange),
	}
	if w.finder != nil {
		options = append(options, once.WithFinder(w.finder.find))
	}

	w.store.onJob = onJob
	runner, err := once.New(w.client, w.store, options...)
	w.runner = runner
	return err
}

// prepare reads the record and carries out what a person has decided about it, or says what it means for this run.
func (w *worker) prepare(ctx context.Context) error {
	record, err := w.store.Get(ctx, w.task.Key)
	if err != nil {
		return fmt.Errorf("the record of jobs cannot be read: %w", err)
	}
	if record.Version > 0 {
		w.record = record
	}

	step := w.p.step
	o := w.p.options
	switch {
	case o.job != "" && record.JobID != o.job:
		return w.adopt(ctx)
	case o.again && needsPerson(record.State):
		return w.again(ctx)

	case record.State == once.Refused: // nothing was made, so it may be sent again
		step.Printf("The service has refused the prompt before: sending it again.")
		return w.again(ctx)
	case o.again && record.Version > 0 && record.State != once.Pending:
		step.Printf("again does nothing for a change whose job is %s.", record.State)
	case record.JobID != "":
		step.Printf("This change has job %s already.", record.JobID)
	case record.State == once.Sending:
		until := record.Deadline.Add(2 * w.p.sendTime)
		step.Printf("Another run is sending this change's prompt: waiting for the job's id, at most until %s.",
			until.UTC().Format("15:04:05 MST"))
	}
	return nil
}

// adopt has the task follow the job that a person has found.
func (w *worker) adopt(ctx context.Context) error {
	_, _, err := w.runner.Add(ctx, w.task) // adds nothing if there is a record
	if err != nil {
		return err
	}

	if err := w.settleClaim(ctx); err != nil {
		return err
	}

	record, err := w.runner.Adopt(ctx, w.task.Key, w.p.options.job)
	if err != nil {
		record, _ = w.store.Get(ctx, w.task.Key)
		if record.JobID != w.p.options.job { // else another run was faster
			return sayState(err)
		}
	}
	w.record = record
	return nil
}

// settleClaim waits for the end of a send that another run has begun. If that run is dead, or could not record what
// came, the outcome is unknown then.
func (w *worker) settleClaim(ctx context.Context) error {
	for {
		record, err := w.store.Get(ctx, w.task.Key)
		if err != nil || record.State != once.Sending {
			return err
		}

		left := time.Until(record.Deadline.Add(2 * w.p.sendTime))
		if left <= 0 {
			step, err := w.runner.Step(ctx, w.task.Key)
			if step.Record.State == once.Sending { // its error would be that of what the prompt has come to
				return err
			}
			return nil
		}

		w.p.step.Printf("Another run is sending this change's prompt: waiting until that is over, %s at most.",
			left.Round(time.Second))
		if !ci.Sleep(ctx, left) {
			return context.Cause(ctx)
		}
	}
}

// leaveToOthers waits for the end of a send that another run has begun. A prompt that the service did not take is
// that run's to send again, or the next one's.
func (w *worker) leaveToOthers(ctx context.Context) error {
	if err := w.settleClaim(ctx); err != nil {
		return err
	}

	record, err := w.store.Get(ctx, w.task.Key)
	if err != nil {
		return err
	}
	w.record = record
	if record.State == once.Pending {
		return ci.NotStarted.Of(errors.New("the service did not take the prompt that another run has tried to send"))
	}
	return nil
}

// sayState returns the error of a decision that a record's state does not allow, without names of package once.
func sayState(err error) error {
	var refused *once.StateError
	if errors.As(err, &refused) {
		return usage.Errorf("the job is not taken, since the prompt of this change is %s", refused.State)
	}
	return err
}

// again has the prompt sent again, unless the pull request of the prompt before is found, or another run has
// just decided the same.
func (w *worker) again(ctx context.Context) error {
	if w.record.State == once.Unknown && w.finder != nil {
		w.do(ctx) // asks the finder; the error is that the record is unknown
	}
	if w.record.State == once.Done {
		return nil
	}

	record, err := w.runner.SendAgain(ctx, w.task.Key)
	if errors.Is(err, once.ErrConflict) || errors.Is(err, once.ErrState) {
		record, err = w.store.Get(ctx, w.task.Key)
	}
	w.record = record
	return err
}

// do has the task done, until that ends or, if ctx is for sending, there is a job.
func (w *worker) do(ctx context.Context) {
	record, err := w.runner.Do(ctx, w.task)
	if record.Version > 0 {
		w.record = record
	}
	if errors.Is(err, errJobExists) {
		err = nil
	}
	w.err = err
}

// search looks for what became of a prompt whose response was lost in this run. It keeps looking for a while,
// since the agent may take some minutes.
func (w *worker) search(ctx context.Context) {
	if w.finder == nil {
		return
	}

	if w.finder.asked == 0 && ctx.Err() == nil {
		w.do(ctx)
	}
	keepsLooking := !w.noWait && w.p.options.docsRepository != ""
	if w.record.State != once.Unknown || w.finder.isBlind || !keepsLooking {
		return
	}

	lasts := lookTimes * lookEvery
	if deadline, hasDeadline := ctx.Deadline(); hasDeadline { // -timeout
		lasts = min(lasts, time.Until(deadline).Round(time.Second))
	}
	w.p.step.Printf("A job may exist: looking for its pull request in %s for %v.", w.finder.api.repository, lasts)
	begun := time.Now()
	for range lookTimes {
		if w.record.State != once.Unknown || !ci.Sleep(ctx, lookEvery) {
			break
		}

		w.do(ctx)
	}
	w.finder.took = time.Since(begun)
}

// follow waits for the job, and records its end.
func (w *worker) follow(ctx context.Context) {
	hasEnded := !w.noWait && w.wait(ctx)
	if w.store.isOwed() {
		w.payLast(ctx)
	}
	if !hasEnded || w.store.isOwed() {
		return
	}

	w.do(ctx)
	if w.record.State == once.Running {
		wasRefused := isForGood(w.err)
		w.err = fmt.Errorf("the end of the job cannot be recorded: %w", keyless{error: w.err, record: w.record})
		if wasRefused { // such as with a 401: the job goes on, whatever the set-up is
			w.err = ci.Running.Of(w.err)
		}
	}
}

// wait reports whether the job has ended. It leaves the record alone, unless that is owed: GitHub allows 1,000 requests
// an hour for a repository.
func (w *worker) wait(ctx context.Context) bool {
	log := w.p.step.LogPolls("job", w.p.options.heartbeat)
	onPoll := func(poll mintlify.Poll) {
		log(poll)
		w.pay(ctx)
	}

	job, err := w.client.Jobs.WaitUntilDone(ctx, w.record.JobID, mintlify.WithOnPoll(onPoll))
	if err != nil && !errors.Is(err, mintlify.ErrJobFailed) {
		w.err = err
		return false
	}
	if w.store.isOwed() {
		w.record.PRLink = job.PRLink // the record does not tell
	}
	return true
}

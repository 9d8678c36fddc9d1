package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// decision is what a person has decided about a change whose job is not known, or has failed.
type decision struct {
	// job is the id of a job that the person has found.
	job string
	// again says that the prompt is to be sent again.
	again bool
}

// recordKey is the key of the change's record for a project. It has a hash of the project's id,
// since a status or a marker is public and the id need not be.
func (c change) recordKey(projectID string) string {
	project := sha256.Sum256([]byte(projectID))
	return fmt.Sprintf("%s:%.4x", c.key(), project)
}

// document has the agent document the change, and waits for it.
func (p *program) document(ctx context.Context, c change, decided decision) result {
	if c.repository == "" {
		return result{err: errNoRepository}
	}
	prompt, err := p.makePrompt(c)
	if err != nil {
		return result{err: err}
	}

	client, err := p.step.Connect()
	if err != nil {
		return result{prompt: prompt, err: err}
	}
	opened, err := p.openPlace(ctx, c)
	if err != nil {
		return result{prompt: prompt, err: err}
	}

	w := worker{
		p:        p,
		client:   client,
		store:    opened.store,
		task:     once.Task{Key: c.recordKey(client.ProjectID()), Prompt: prompt},
		decision: decided,
		finder:   p.newFinder(ctx, c),
	}
	r := result{prompt: prompt}
	r.record, r.err = w.work(ctx)
	r.hasSent = w.hasSent
	r.loss = w.loss
	r.looked = w.finder.looked(w.tookLooking)
	r.canLook = w.finder != nil && !w.finder.isBlind

	if opened.statuses != nil && r.record.Version > 0 {
		err := opened.statuses.show(context.WithoutCancel(ctx), r.record, outcomeOf(r.record, r.err), r.loss.brief)
		if err != nil {
			p.step.Printf("The commit's status may still be that of an earlier run: %v", err)
		}
	}
	return r
}

// worker works on a task, whose record is in a store.
type worker struct {
	p        *program
	client   *mintlify.Client
	store    once.Store
	task     once.Task
	decision decision
	// finder is nil if there is nowhere to look.
	finder *finder
	runner *once.Runner
	// hasSent says that the worker has begun to send the prompt.
	hasSent bool
	// loss is what the worker has got instead of a response, if it has lost one.
	loss loss
	// tookLooking is how long the worker has looked for the pull request.
	tookLooking time.Duration
}

// errJobExists ends a send once a job is on record, whichever run has made it.
var errJobExists = errors.New("the job is on record")

// work returns the record as it is in the end. If the record cannot be read any more, it is as it
// was before.
func (w *worker) work(ctx context.Context) (once.Record, error) {
	none := once.Record{Task: w.task}
	sending, stopSending := context.WithCancelCause(ctx)
	defer stopSending(nil)

	runner, err := w.newRunner(watched{w.store, func() { stopSending(errJobExists) }})
	if err != nil {
		return none, err
	}
	w.runner = runner

	record, err := w.prepare(ctx)
	if err != nil {
		return none, err
	}

	if record.State != once.Running {
		logStop := context.AfterFunc(ctx, func() { w.p.step.Printf("Stopping as soon as the record is up to date.") })
		defer logStop()

		before := record.State
		record, err = w.do(sending, record)
		if record.State == once.Unknown {
			isLost := before != once.Unknown // in this run
			if isLost {
				w.loss = lossOf(record, err)
				w.p.step.Printf("The response to the prompt was lost: %s", w.loss.cause)
			}
			return w.search(ctx, record, err, isLost)
		}
		if err != nil && !errors.Is(err, errJobExists) {
			return record, err
		}
	}

	if record.State != once.Running || w.p.options.noWait {
		return record, nil
	}
	return w.wait(ctx, record)
}

func (w *worker) newRunner(store once.Store) (*once.Runner, error) {
	step := w.p.step
	errorsOnly := slog.New(slog.NewTextHandler(step, &slog.HandlerOptions{Level: slog.LevelError}))
	onChange := func(r once.Record) {
		switch r.State {
		case once.Sending:
			w.hasSent = true
		case once.Running:
			step.Printf("Job %s is on record.", r.JobID)
		}
	}

	options := []once.Option{
		once.WithSendTime(w.p.sendTime),
		once.WithLogger(errorsOnly),
		once.WithOnChange(onChange),
	}
	if w.finder != nil {
		options = append(options, once.WithFinder(w.finder.find))
	}
	return once.New(w.client, store, options...)
}

// prepare carries out the decision, and returns the record as it is then.
func (w *worker) prepare(ctx context.Context) (once.Record, error) {
	record, err := w.store.Get(ctx, w.task.Key)
	if err != nil {
		return once.Record{}, fmt.Errorf("the record of jobs cannot be read: %w", err)
	}

	switch {
	case w.decision.job != "" && record.JobID != w.decision.job:
		return w.adopt(ctx)
	case w.decision.again && needsPerson(record.State):
		return w.again(ctx, record)
	}

	w.logRecord(record)
	return record, nil
}

// logRecord says what the record means for this run.
func (w *worker) logRecord(record once.Record) {
	step := w.p.step
	switch {
	case w.decision.again && record.Version > 0 && record.State != once.Pending:
		step.Printf("%s does nothing for a change whose job is %s.", w.p.flag("again"), record.State)
	case record.JobID != "":
		step.Printf("This change has job %s already.", record.JobID)
	case record.State == once.Sending:
		step.Printf("Another run is sending this change's prompt: waiting for the job's id.")
	}
}

// again has the prompt sent again, unless the pull request of the prompt before is found.
func (w *worker) again(ctx context.Context, record once.Record) (once.Record, error) {
	if record.State == once.Unknown && w.finder != nil {
		record, _ = w.do(ctx, record) // asks the finder; the error is that the record is unknown
	}
	if record.State == once.Done {
		return record, nil
	}
	return sendAgain(ctx, w.runner, w.store, w.task.Key)
}

// adopt has the task follow the job that a person has found.
func (w *worker) adopt(ctx context.Context) (once.Record, error) {
	_, _, err := w.runner.Add(ctx, w.task) // adds nothing if there is a record
	if err != nil {
		return once.Record{}, err
	}

	record, err := w.runner.Adopt(ctx, w.task.Key, w.decision.job)
	if err == nil {
		return record, nil
	}

	record, getErr := w.store.Get(ctx, w.task.Key)
	if getErr == nil && record.JobID == w.decision.job { // another run was faster
		return record, nil
	}
	return once.Record{}, err
}

// sendAgain has the prompt sent again. If another run has just done that, it returns the record
// as it is now.
func sendAgain(ctx context.Context, runner *once.Runner, store once.Store, key string) (once.Record, error) {
	record, err := runner.SendAgain(ctx, key)
	if errors.Is(err, once.ErrConflict) || errors.Is(err, once.ErrState) {
		return store.Get(ctx, key)
	}
	if err != nil {
		return once.Record{}, err
	}
	return record, nil
}

// do has the task done, and returns what is on record then. before is what was on record before:
// it still counts if the record cannot be read any more.
func (w *worker) do(ctx context.Context, before once.Record) (once.Record, error) {
	record, err := w.runner.Do(ctx, w.task)
	if record.Version == 0 {
		before.Key = w.task.Key
		return before, err
	}
	return record, err
}

// search looks for what became of a prompt whose response was lost, as err says. If it was lost in
// this run, it keeps looking for a while, since the agent may take some minutes.
func (w *worker) search(ctx context.Context, record once.Record, err error, isLost bool) (once.Record, error) {
	if w.finder == nil || !isLost {
		return record, err
	}
	if w.finder.asked == 0 && ctx.Err() == nil {
		record, err = w.do(ctx, record)
	}

	keepsLooking := !w.p.options.noWait && w.p.options.docsRepository != ""
	if record.State != once.Unknown || w.finder.isBlind || !keepsLooking {
		return record, err
	}

	w.p.step.Printf("A job may exist: looking for its pull request in %s for %v.",
		w.finder.repository, lookTimes*lookEvery)
	begun := time.Now()
	for range lookTimes {
		if !ci.Sleep(ctx, lookEvery) {
			break
		}

		record, err = w.do(ctx, record)
		if record.State != once.Unknown {
			break
		}
	}
	w.tookLooking = time.Since(begun)
	return record, err
}

// wait waits for the job, and records its end. It leaves the record alone meanwhile: GitHub
// allows 1,000 requests an hour for a repository.
func (w *worker) wait(ctx context.Context, record once.Record) (once.Record, error) {
	log := mintlify.WithOnPoll(w.p.step.LogPolls("job", w.p.options.heartbeat))
	_, err := w.client.Jobs.WaitUntilDone(ctx, record.JobID, log)
	if err != nil && !errors.Is(err, mintlify.ErrJobFailed) {
		return record, err
	}

	record, err = w.do(ctx, record)
	if record.State == once.Running {
		return record, fmt.Errorf("the end of the job cannot be recorded: %w", err)
	}
	return record, err
}

package once

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// send claims a record that is pending or does not exist yet, sends the prompt, and records
// what came of it.
func (r *Runner) send(ctx context.Context, record Record, t Task, force bool) (step, error) {
	s := step{record: record}
	record.Prompt, record.Project = cmp.Or(t.Prompt, record.Prompt), cmp.Or(t.Project, record.Project)
	if err := checkPrompt(record.Prompt); err != nil {
		return s, err
	}
	client, err := r.project(record.Project)
	if err != nil {
		return s, err
	}
	if s.next = r.holdOff(client.ProjectID()); s.next > 0 && !force {
		return s, nil
	}

	// A process that is stopped between claim and request wakes past this deadline, and the
	// SDK sends nothing. From here on no end of ctx may come between the send and its recording.
	record.Deadline = time.Now().Add(r.sendTime)
	ctx = context.WithoutCancel(ctx)
	sending, cancel := context.WithDeadline(ctx, record.Deadline)
	defer cancel()
	record.State, record.Problem, record.JobID, record.PRLink = Sending, "", "", ""
	record.Sends, record.Sender, record.Deadline = record.Sends+1, rand.Text(), record.Deadline.UTC().Round(0)
	claim, err := r.put(sending, record)
	if err != nil {
		if !errors.Is(err, ErrConflict) {
			r.takeBack(ctx, record, err)
		}
		return s, err
	}

	job, err := client.Jobs.Create(sending, mintlify.CreateJobParams{
		Prompt: record.Prompt + "\n\nEnd the description of the pull request with this line, on its own:\n" + Marker(record.Key),
	})
	s = outcome(claim, job, err)
	if s.next > 0 && err != nil {
		r.hold(ctx, client.ProjectID(), s)
	}
	ours := s.record
	s.record, err = r.recordOutcome(ctx, ours)
	if s.record.Sender != ours.Sender || s.record.State != ours.State { // others have decided meanwhile
		return step{record: s.record, next: atOnce}, err
	}
	return s, err
}

// outcome tells what a send came to: a job, with or without an error, is running.
func outcome(claim Record, job *mintlify.Job, err error) step {
	s := step{record: claim, cause: err}
	if job != nil {
		s.record.State, s.record.JobID, s.record.PRLink = Running, job.ID, job.PRLink
		return step{record: s.record, next: atOnce}
	}
	s.record.Problem = err.Error()
	wait, mayHelp := mintlify.RetryAfter(err)
	switch {
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		s.record.State = Unknown
	case isPromptsFault(err):
		s.record.State = Refused
	case mayHelp || errors.Is(err, context.DeadlineExceeded):
		s.record.State, s.next = Pending, cmp.Or(wait, afterRefusal)
	default:
		s.record.State, s.next = Pending, afterMending
	}
	return s
}

// isPromptsFault reports whether the service would refuse this prompt again. A bad key of a
// key source is an ArgumentError, too.
func isPromptsFault(err error) bool {
	var argument *mintlify.ArgumentError
	if errors.As(err, &argument) {
		return argument.Name == "prompt"
	}
	var response *mintlify.APIError
	if !errors.As(err, &response) {
		return false
	}
	switch response.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// hold has Step send nothing more to a project before s.next.
func (r *Runner) hold(ctx context.Context, project string, s step) {
	r.mu.Lock()
	r.held[project] = time.Now().Add(s.next)
	r.mu.Unlock()
	if s.next == afterMending {
		r.logger.LogAttrs(ctx, slog.LevelWarn, "once: no job was made, and a person has to mend something first", attributes(s.record)...)
	}
}

// holdOff returns how long nothing may be sent to a project yet.
func (r *Runner) holdOff(project string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, time.Until(r.held[project]))
}

// takeBack makes a claim pending again whose Put failed, if it was stored all the same.
func (r *Runner) takeBack(ctx context.Context, claim Record, problem error) {
	_ = r.retry(ctx, func(ctx context.Context) error {
		current, err := r.store.Get(ctx, claim.Key)
		if err != nil || current.State != Sending || current.Sender != claim.Sender {
			return err
		}
		current.State, current.Problem = Pending, "nothing was sent: "+problem.Error()
		_, err = r.put(ctx, current)
		return err
	})
}

// recordOutcome stores what came of a send, and returns what is on record then. The id of a
// job is in the error if it could not be stored.
func (r *Runner) recordOutcome(ctx context.Context, result Record) (Record, error) {
	err := r.retry(ctx, func(ctx context.Context) error {
		stored, err := r.put(ctx, result)
		if err == nil {
			result = stored
			return nil
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
		current, err := r.store.Get(ctx, result.Key)
		if err != nil {
			return err
		}
		next, err := result.onto(current)
		if err != nil {
			return permanent{err}
		}
		if next == current { // nothing to add: a Put of ours that failed has stored it, or another decided
			if current.State == result.State {
				r.changed(ctx, current)
			}
			result = current
			return nil
		}
		result = next
		return ErrConflict
	})
	if err == nil {
		return result, nil
	}
	r.logger.LogAttrs(ctx, slog.LevelError, "once: not recorded: "+string(result.State), append(attributes(result), slog.String("error", err.Error()))...)
	if result.JobID != "" {
		return result, fmt.Errorf("once: %s: job %s was made but could not be recorded, call Adopt with its id: %w", result.Key, result.JobID, err)
	}
	return result, fmt.Errorf("once: %s: the send is %s, which could not be recorded: %w", result.Key, result.State, err)
}

// onto returns what to store if result, of a send of ours, finds that the record has become
// current: current itself if there is nothing to add.
func (r Record) onto(current Record) (Record, error) {
	if r.JobID == "" {
		if current.Sender == r.Sender && current.State == Sending { // its deadline was rewritten
			current.State, current.Problem = r.State, r.Problem
		}
		return current, nil
	}
	switch {
	case current.JobID == r.JobID:
		return current, nil
	case current.Sender != r.Sender || current.JobID != "":
		return r, fmt.Errorf("the record is %s, of another send or job %q", current.State, current.JobID)
	case current.State != Done:
		current.State, current.Problem = Running, ""
	}
	current.JobID, current.PRLink = r.JobID, cmp.Or(current.PRLink, r.PRLink)
	return current, nil
}

// permanent is an error that no retry would mend.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// grace is how long after its deadline a send may still be recorded, and how much clocks may
// differ. Only then its record becomes unknown.
func (r *Runner) grace() time.Duration { return 2 * r.sendTime }

// retry calls f until it succeeds or the grace is over. ctx is detached from the caller's.
func (r *Runner) retry(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.grace())
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := f(ctx)
		if err == nil || errors.As(err, new(permanent)) || sleep(ctx, wait) != nil {
			return err
		}
	}
}

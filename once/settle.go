package once

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/internal/status"
)

// outcome returns what a claim becomes after the response to its send, which is a job or an error.
func (record Record) outcome(job *mintlify.Job, err error) Record {
	if err == nil {
		record.State = Running
		record.JobID = job.ID
		record.PRLink = job.PRLink
		return record
	}

	record.Problem = err.Error()
	switch {
	case errors.Is(err, mintlify.ErrOutcomeUnknown) && record.After != "":
		record.State = Sending // the job tells whether the message has arrived
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		record.State = Unknown
	case record.isRefused(err):
		record.State = Refused
	default:
		record.State = Pending
	}
	return record
}

// isRefused reports whether err is about the prompt, or about the job that it was a message to: nothing was made.
// A response that may be about the set-up counts, too: else a bad prompt would keep the others waiting.
func (record Record) isRefused(err error) bool {
	var argument *mintlify.ArgumentError // a key source's bad key is one, too
	if errors.As(err, &argument) {
		return argument.Name == "prompt"
	}

	meaning := status.Of(statusOf(err))
	if isCloudflares(err) && !meaning.Passes {
		return true
	}

	switch meaning.About {
	case status.Prompt, status.PromptOrSetup:
		return true
	case status.Job:
		return record.After != ""
	}
	return false
}

// sent notes what a send has come to.
func (p *project) sent(result Record, err error) {
	isPage := isCloudflares(err) // which shows nothing of the service
	switch {
	case result.State == Running:
		p.succeeded()
	case result.State != Refused:
		p.failed(err)
	case statusOf(err) != 0 && !isPage: // the service refused it, not the SDK
		p.succeeded()
	}
}

var errUnrecorded = errors.New("could not be recorded")

// errOtherJob is the error of a response that has no place on record.
var errOtherJob = errors.New("the record went on with another send or job")

// settle stores what came of a send, for as long as others wait for it, and returns what is
// on record then. The id of a job that could not be stored is in the error and in the log.
func (r *Runner) settle(ctx context.Context, result Record, cause error) (Record, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.sendTime)
	defer cancel()

	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		record, err := r.record(ctx, result, cause)
		if err == nil {
			return record, nil
		}

		if errors.Is(err, errOtherJob) || !pause(ctx, wait) {
			err = fmt.Errorf("%s %w: %w", result.summary(), errUnrecorded, err)
			r.logger.Log(ctx, slog.LevelError, "once: "+err.Error(), "key", result.Key,
				"job", safetext.WithoutKeys(result.JobID))
			return result, err
		}
	}
}

func (record Record) summary() string {
	if record.JobID != "" {
		return jobName(record.JobID)
	}
	return "that it is " + string(record.State)
}

// record tries once to store what came of a send.
func (r *Runner) record(ctx context.Context, result Record, cause error) (Record, error) {
	current, err := r.store.Get(ctx, result.Key)
	if err != nil {
		return current, err
	}
	if current.Version < result.Version {
		return current, errors.New("the store returned an older version") // such as a replica's
	}

	next, err := result.addedTo(current)
	if err != nil || next == current {
		return current, err
	}
	return r.put(ctx, current, next, cause)
}

// addedTo returns current, which is on record, with what came of a send.
func (record Record) addedTo(current Record) (Record, error) {
	isOurs := current.Sender == record.Sender
	if record.JobID == "" {
		if isOurs && record.knowsMoreThan(current) {
			current.State = record.State
			current.Problem = record.Problem
			current.JobID = ""
			current.PRLink = ""
		}
		return current, nil
	}

	isKnown := current.JobID == record.JobID
	if record.After != "" { // all its sends have the same job: there the Sender tells them apart
		isKnown = isOurs && current.JobID != ""
	}
	switch {
	case isKnown:
		return current, nil
	case !isOurs || current.JobID != "":
		return current, otherJob(current)
	}

	if current.State != Done {
		current.State = record.State
		current.Problem = record.Problem
	}
	current.JobID = record.JobID
	current.PRLink = cmp.Or(current.PRLink, record.PRLink)
	return current, nil
}

// knowsMoreThan reports whether record, which came of a send without a job, says more than current does. If it proves
// that the service did nothing, that wins over what others have concluded: by a clock that was ahead, or from a
// message's job that was at work.
func (record Record) knowsMoreThan(current Record) bool {
	isProof := (record.State == Pending || record.State == Refused) && current.Deadline.Equal(record.Deadline)
	isConcluded := current.State == Unknown || current.State == Running && record.After != ""
	return current.State == Sending || isProof && isConcluded
}

func otherJob(current Record) error {
	return fmt.Errorf("%w: it is %s with %s", errOtherJob, current.State, jobName(current.JobID))
}

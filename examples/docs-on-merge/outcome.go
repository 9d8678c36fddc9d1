package main

import "errors"

// outcome is how a run ended, as in the output "outcome", and what is on record of a
// commit's job.
type outcome string

const (
	pullRequestMade outcome = "pull-request"
	noPullRequest   outcome = "no-pull-request"
	skipped         outcome = "skipped"
	failed          outcome = "failed"
	setUp           outcome = "set-up"
	unknown         outcome = "unknown"
	running         outcome = "running"
	notStarted      outcome = "not-started"
	claimed         outcome = "claimed" // on record only: a run is making the job, or died doing so
)

// describe returns the exit code of an outcome, the state of its commit status, and
// words for people.
func (o outcome) describe() (code int, status, words string) {
	switch o {
	case pullRequestMade:
		return 0, "success", "Documentation: pull request opened"
	case noPullRequest:
		return 0, "success", "No pull request: nothing to change, or published without a review"
	case skipped:
		return 0, "success", "Skipped"
	case failed:
		return 1, "failure", "The agent's job failed; -new makes another"
	case unknown:
		return 3, "error", "A job may exist; its id is not known"
	case running:
		return 4, "pending", "The agent is at work; run again to wait for it"
	case notStarted:
		return 5, "error", "No job was made; run again"
	case claimed:
		return 4, "pending", "The job is being made"
	}
	return 2, "error", "No job was made; the set-up needs a hand"
}

// outcomeError is an error that is not one of the set-up.
type outcomeError struct {
	outcome outcome
	error
}

func (e *outcomeError) Unwrap() error { return e.error }

// outcomeOf returns the outcome of a run that ended with err.
func outcomeOf(err error) outcome {
	var own *outcomeError
	if errors.As(err, &own) {
		return own.outcome
	}
	return setUp
}

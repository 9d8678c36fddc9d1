package main

import (
	"context"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// promptArgs is all that River keeps of a prompt.
type promptArgs struct {
	Key string `json:"key"`
}

// Kind implements [river.JobArgs].
func (promptArgs) Kind() string { return "fleet_prompt" }

// tellArgs tells results.
type tellArgs struct{}

// Kind implements [river.JobArgs].
func (tellArgs) Kind() string { return "fleet_tell" }

// insertJobs gives prompts a River job each, unless they have one with work left. What fails
// here the next pass of a worker does.
func (s store) insertJobs(ctx context.Context, prompts ...prompt) {
	params := make([]river.InsertManyParams, len(prompts))
	for i, p := range prompts {
		params[i] = jobOf(promptArgs{p.Key}, p.Priority)
	}
	s.insert(ctx, params...)
}

// tellSoon starts a job that tells the results which nobody got yet.
func (s store) tellSoon(ctx context.Context) { s.insert(ctx, jobOf(tellArgs{}, 1)) }

// jobOf returns a job that is unique by its args. Attempts do not limit it: a rescue costs
// one for good.
func jobOf(args river.JobArgs, priority int) river.InsertManyParams {
	open := []rivertype.JobState{
		rivertype.JobStateAvailable,
		rivertype.JobStatePending,
		rivertype.JobStateRetryable,
		rivertype.JobStateRunning,
		rivertype.JobStateScheduled,
	}
	return river.InsertManyParams{Args: args, InsertOpts: &river.InsertOpts{
		MaxAttempts: 10_000,
		Priority:    priority,
		UniqueOpts:  river.UniqueOpts{ByArgs: true, ByState: open},
	}}
}

func (s store) insert(ctx context.Context, params ...river.InsertManyParams) {
	if len(params) == 0 || ctx.Err() != nil {
		return
	}
	if _, err := s.queue.InsertMany(ctx, params); err != nil && ctx.Err() == nil {
		s.calm.Warn("no job was inserted: a worker's next pass will", "error", err)
	}
}

package once

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Adopt has the record of key follow the job jobID, which a person has found: it makes a
// record that is pending, unknown, failed or running a running one. It looks the job up
// first, and returns that error if there is no such job. It is safe to call again.
func (r *Runner) Adopt(ctx context.Context, key, jobID string) (Record, error) {
	if strings.TrimSpace(jobID) == "" {
		return Record{}, &mintlify.ArgumentError{Name: "jobID", Reason: "is empty"}
	}
	return r.decide(ctx, key, "Adopt", []State{Pending, Unknown, Failed, Running}, func(record *Record) error {
		if r.client != nil {
			client, err := r.project(record.Project)
			if err != nil {
				return err
			}
			if _, err := client.Jobs.Get(ctx, jobID); err != nil {
				return fmt.Errorf("once: %s: %w", key, err)
			}
		}
		record.State, record.JobID, record.PRLink, record.Problem = Running, jobID, "", ""
		return nil
	})
}

// MarkDone makes a record that is unknown, failed or running a done one. prLink is the pull
// request that a person has found or made, "" if there is none.
func (r *Runner) MarkDone(ctx context.Context, key, prLink string) (Record, error) {
	return r.decide(ctx, key, "MarkDone", []State{Unknown, Failed, Running}, func(record *Record) error {
		record.State, record.PRLink, record.Problem = Done, prLink, ""
		return nil
	})
}

// SendAgain makes a record that is unknown, failed, refused or canceled a pending one, so
// that the next Do, Step or Resume sends its prompt. Call it for an unknown record only if a
// person has looked and there is no job: otherwise there will be two.
func (r *Runner) SendAgain(ctx context.Context, key string) (Record, error) {
	return r.decide(ctx, key, "SendAgain", []State{Unknown, Failed, Refused, Canceled}, func(record *Record) error {
		record.State, record.JobID, record.PRLink, record.Problem = Pending, "", "", ""
		return nil
	})
}

// Cancel makes a pending record a canceled one: its prompt is not sent.
func (r *Runner) Cancel(ctx context.Context, key string) (Record, error) {
	return r.decide(ctx, key, "Cancel", []State{Pending}, func(record *Record) error {
		record.State, record.Problem = Canceled, ""
		return nil
	})
}

// decide stores what a person has decided about a record that is in one of the states from.
func (r *Runner) decide(ctx context.Context, key, method string, from []State, apply func(*Record) error) (Record, error) {
	for {
		record, err := r.get(ctx, key)
		if err != nil {
			return record, err
		}
		if record.Version == 0 {
			return record, &mintlify.ArgumentError{Name: "key", Reason: "has no record: " + key}
		}
		if !slices.Contains(from, record.State) {
			return record, fmt.Errorf("once: %s is %s, and %s is for %v only", key, record.State, method, from)
		}
		next := record
		if err := apply(&next); err != nil {
			return record, err
		}
		s, err := r.change(ctx, record, next, 0)
		if !errors.Is(err, ErrConflict) { // otherwise look at what it has become
			return s.record, err
		}
		if err := sleep(ctx, afterConflict); err != nil {
			return record, err
		}
	}
}

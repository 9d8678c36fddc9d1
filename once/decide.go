package once

import (
	"context"
	"strings"
)

// decision is what a person decides about a record.
type decision struct {
	name  string
	from  []State // that it is allowed in
	apply func(record *Record) error
}

// Adopt makes a record that is pending, unknown, failed or running follow the job jobID, which
// a person has found. It looks the job up first, and stores its project. It is safe to call
// again.
//
// The error matches [ErrState] if the record's state does not allow it or if there is no
// record; otherwise it is the look-up's, [ErrConflict], the context's or the store's.
func (r *Runner) Adopt(ctx context.Context, key, jobID string) (Record, error) {
	if strings.Trim(jobID, " .") == "" || strings.ContainsAny(jobID, "/ \t\n") {
		return Record{}, forKey(key, invalid("jobID", "is empty or not a job's id"))
	}

	return r.decide(ctx, key, decision{
		name: "Adopt",
		from: []State{Pending, Unknown, Failed, Running},
		apply: func(record *Record) error {
			if record.JobID != jobID {
				record.PRLink = ""
			}
			record.State = Running
			record.JobID = jobID
			return r.lookUp(ctx, record)
		},
	})
}

// lookUp checks that the job of a record exists, and pins its project. Without a client it does
// nothing.
func (r *Runner) lookUp(ctx context.Context, record *Record) error {
	if r.client == nil {
		return nil
	}

	p, err := r.projectOf(record.Project)
	if err != nil {
		return err
	}

	_, err = p.client.Jobs.Get(ctx, record.JobID)
	p.heard(err)
	record.Project = p.client.ProjectID()
	return err
}

// MarkDone makes an unknown, failed or running record done. prLink may be "". The
// errors are Adopt's.
func (r *Runner) MarkDone(ctx context.Context, key, prLink string) (Record, error) {
	return r.decide(ctx, key, decision{
		name: "MarkDone",
		from: []State{Unknown, Failed, Running},
		apply: func(record *Record) error {
			record.State = Done
			record.PRLink = prLink
			return nil
		},
	})
}

// SendAgain makes an unknown, failed, refused or canceled record pending: the next Do, Step,
// Resume or Run sends its prompt. If the record was unknown and the service had acted on the
// prompt, the service acts on it twice. The errors are Adopt's.
func (r *Runner) SendAgain(ctx context.Context, key string) (Record, error) {
	return r.decide(ctx, key, decision{
		name: "SendAgain",
		from: []State{Unknown, Failed, Refused, Canceled},
		apply: func(record *Record) error {
			record.State = Pending
			record.JobID = ""
			record.PRLink = ""
			return nil
		},
	})
}

// Cancel makes a pending record canceled: its prompt is not sent. The errors are Adopt's.
func (r *Runner) Cancel(ctx context.Context, key string) (Record, error) {
	return r.decide(ctx, key, decision{
		name: "Cancel",
		from: []State{Pending},
		apply: func(record *Record) error {
			record.State = Canceled
			return nil
		},
	})
}

// decide stores what a person has decided about a record.
func (r *Runner) decide(ctx context.Context, key string, d decision) (Record, error) {
	record, err := r.read(ctx, key)
	if err != nil {
		return record, forKey(key, err)
	}

	err = d.check(record.State)
	if err != nil {
		return record, forKey(key, err)
	}

	next := record
	next.Problem = ""
	err = d.apply(&next)
	if err != nil {
		return record, forKey(key, err)
	}
	if next == record {
		return record, nil
	}

	stored, err := r.put(ctx, next)
	if err != nil {
		return record, forKey(key, err)
	}

	if stored.State.IsOpen() {
		r.announce(key)
	}
	return stored, nil
}

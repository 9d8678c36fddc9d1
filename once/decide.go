package once

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
)

// decision is what a person decides about a record.
type decision struct {
	name  string
	from  []State                  // that it is allowed in
	also  func(record Record) bool // reports whether it is allowed in a record that is done
	sent  bool                     // it is allowed in a pending record that was sent before
	apply func(record *Record) error
}

// Adopt makes a record that is pending, unknown, failed or running follow the job jobID, which
// a person has found. So it does with a record that is done and has no job's id, such as one that
// MarkDone has ended: what follows it up can then be sent. It looks the job up first, and stores
// its project. It is safe to call again: nothing changes once the record is done with this job.
//
// Two records without After that follow the same job are two threads: their follow-ups do not
// wait for each other.
//
// The error is a [*StateError], which matches [ErrState], if the record's state does not allow it
// or if there is no record; otherwise it is the look-up's, [ErrConflict], the context's or the store's.
func (r *Runner) Adopt(ctx context.Context, key, jobID string) (Record, error) {
	if err := checkJobID(jobID); err != nil {
		return Record{}, forKey(key, err)
	}

	return r.decide(ctx, key, decision{
		name: "Adopt",
		from: []State{Pending, Unknown, Failed, Running},
		also: func(record Record) bool { return record.JobID == "" || record.JobID == jobID },
		apply: func(record *Record) error {
			if record.State == Done && record.JobID == jobID {
				return nil
			}

			record.adopt(jobID)
			return r.lookUp(ctx, record)
		},
	})
}

func checkJobID(id string) error {
	if strings.Trim(id, " .") == "" || strings.ContainsAny(id, "/ \t\n") {
		return invalid("jobID", "is empty or not a job's id")
	}
	return nil
}

// adopt makes the record follow a job. Its age counts from now.
func (record *Record) adopt(jobID string) {
	if record.JobID != jobID {
		record.PRLink = ""
	}
	record.State = Running
	record.JobID = jobID
	record.Deadline = time.Time{}
	record.Problem = ""
}

// lookUp checks that the job of a record exists, and pins its project. Without a client it does nothing.
func (r *Runner) lookUp(ctx context.Context, record *Record) error {
	if r.client == nil {
		return nil
	}

	p, err := r.projectOf(record.ProjectID)
	if err != nil {
		return err
	}

	_, err = p.client.Jobs.Get(ctx, record.JobID)
	p.heard(err)
	record.ProjectID = p.client.ProjectID()
	return err
}

// MarkDone makes an unknown, failed, refused or running record done, and a pending one that was sent
// before: somebody may find its pull request while it waits to be sent again. prLink may be "": a
// link that is on record stays. It is safe to call again with the link of the returned record. The
// errors are Adopt's.
func (r *Runner) MarkDone(ctx context.Context, key, prLink string) (Record, error) {
	return r.decide(ctx, key, decision{
		name: "MarkDone",
		from: []State{Unknown, Failed, Running, Refused},
		also: func(record Record) bool { return record.PRLink == prLink },
		sent: true,
		apply: func(record *Record) error {
			record.State = Done
			record.PRLink = cmp.Or(prLink, record.PRLink)
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

	if err := d.check(record, r.sendTime); err != nil {
		return record, err
	}

	next := record
	next.Problem = ""
	if err := d.apply(&next); err != nil {
		return record, forKey(key, err)
	}
	if next == record {
		return record, nil
	}

	stored, err := r.putDecided(ctx, record, next)
	if err == nil && stored.State != Canceled {
		r.wakeFollowUps(ctx, stored)
	}
	return stored, forKey(key, err)
}

// wakeFollowUps has the follow-ups that wait in a record's thread look again: what they wait for may be there. The
// others of the thread would come by themselves within minutes, so an error is only logged.
func (r *Runner) wakeFollowUps(ctx context.Context, decided Record) {
	records, err := r.listThread(ctx, decided.thread())
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		r.logger.Log(ctx, slog.LevelWarn, "once: the follow-ups of a record cannot be listed, and look later",
			"key", decided.Key, "error", err)
	}

	for _, record := range records {
		if record.State != Pending || record.After == "" || record.Thread != decided.thread() {
			continue
		}

		hasLooked := decided.JobID == "" && record.Problem == decided.whyWait() // since the decision
		if record.Problem != "" && !hasLooked {
			woken := record
			woken.Problem = ""
			if _, err := r.put(ctx, record, woken, nil); err != nil { // a Run in another process sees the new version
				continue
			}
		}
		r.announce(record.Key)
	}
}

// putDecided is put for what did not come of a step: if next is open, its step is due now.
func (r *Runner) putDecided(ctx context.Context, record, next Record) (Record, error) {
	stored, err := r.put(ctx, record, next, nil)
	if err == nil && stored.State.IsOpen() {
		r.announce(stored.Key)
	}
	return stored, err
}

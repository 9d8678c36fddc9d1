package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// pace is how long the steps of a run may take.
type pace struct {
	settle   time.Duration // between a claim on GitHub and its read-back
	create   time.Duration // from the claim to the end of the job's making
	save     time.Duration // of the record
	patience time.Duration // until a claim without a job is one that died: more than create and save
	look     time.Duration // between two looks for the job of another run's claim
}

var defaultPace = pace{settle: time.Second, create: 2 * time.Minute, save: 45 * time.Second, patience: 3 * time.Minute, look: 5 * time.Second}

// record is what is known of a commit's job. Generations count the claims: there is a
// further one only after a release (notStarted), or by -new.
type record struct {
	Generation int           `json:"generation"` // 0: nobody has claimed the commit
	State      outcome       `json:"state"`
	JobID      string        `json:"jobId,omitempty"`
	PRLink     string        `json:"prLink,omitempty"`
	age        time.Duration // of the claim
	token      string        // of the run that holds it, where the store needs that
}

// store keeps the record of one project and commit where every run can see it.
type store interface {
	// load returns the record of the newest generation.
	load(ctx context.Context) (record, error)
	// claim begins a generation, and returns true to one caller only.
	claim(ctx context.Context, generation int) (bool, error)
	// save replaces the record of a generation that was claimed.
	save(ctx context.Context, r record) error
}

// once makes at most one job: it claims the commit before it asks for the job, and
// records the job's id before it waits. Who finds a claim makes none.
type once struct {
	client  *mintlify.Client
	store   store
	log     *log
	pace    pace
	adopt   string // the id of the job that is to be the commit's
	another bool   // a job is wanted though there is one, or may be

	record record // as last seen
}

// job returns the id of the commit's job, which it makes if there is none.
func (o *once) job(ctx context.Context, prompt string) (id string, err error) {
	for joined := false; ; {
		if o.record, err = o.store.load(ctx); err != nil {
			return "", fmt.Errorf("the record of jobs cannot be read: %w", err)
		}
		switch r := o.record; {
		case joined && r.State == notStarted:
			return "", &outcomeError{notStarted, errors.New("the run that was to make the job could not")}
		case r.Generation == 0 || r.State == notStarted || o.another:
			if ctx.Err() != nil {
				return "", &outcomeError{notStarted, context.Cause(ctx)}
			}
			// From here until the job's id is on record, no signal gets in between.
			start := time.Now()
			o.record = record{Generation: r.Generation + 1}
			won, err := o.store.claim(context.WithoutCancel(ctx), o.record.Generation)
			switch {
			case err != nil:
				return "", fmt.Errorf("the commit cannot be claimed: %w", err)
			case won && o.adopt == "":
				return o.create(ctx, prompt, start.Add(o.pace.create))
			}
			joined, o.another = !won, false
			continue
		case o.adopt != "":
			o.record.JobID, o.record.State = o.adopt, running
			return o.adopt, o.store.save(ctx, o.record)
		case r.JobID != "":
			o.log.printf("This commit has job %s already.", r.JobID)
			return r.JobID, nil
		case r.State == unknown || r.age >= o.pace.patience:
			return "", notKnown(errors.New("an earlier run ended before it knew the job's id"))
		case !joined:
			o.log.printf("Another run is making this commit's job: waiting for its id.")
			joined = true
		}
		if !sleep(ctx, o.pace.look) {
			return "", &outcomeError{running, fmt.Errorf("interrupted while another run was making the job: %w", context.Cause(ctx))}
		}
	}
}

// create makes the job under a claim. Only what proves that there is no job gives the
// claim back.
func (o *once) create(ctx context.Context, prompt string, deadline time.Time) (string, error) {
	detached, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	defer context.AfterFunc(ctx, func() { o.log.printf("Interrupted: waiting for the job's id first.") })()
	job, err := o.client.Jobs.Create(detached, mintlify.CreateJobParams{Prompt: prompt})
	switch {
	case job != nil: // with a malformed response too
		o.log.printf("Made job %s.", job.ID)
		o.save(ctx, running, job.ID, "")
		return job.ID, nil
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		o.save(ctx, unknown, "", "")
		return "", notKnown(err)
	}
	o.save(ctx, notStarted, "", "")
	if _, later := mintlify.RetryAfter(err); later || detached.Err() != nil {
		err = &outcomeError{notStarted, err}
	}
	return "", err
}

// save records what has happened, signal or not. What cannot be recorded is logged.
func (o *once) save(ctx context.Context, state outcome, id, prLink string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.pace.save)
	defer cancel()
	o.record.State, o.record.JobID, o.record.PRLink = state, id, prLink
	if err := o.store.save(ctx, o.record); err != nil {
		o.log.conclude("error", fmt.Sprintf("%q of job %q is not on record (a further run for this commit takes -job): %v", state, id, err))
	}
}

// notKnown is the error of a run that cannot say whether there is a job.
func notKnown(err error) error {
	return &outcomeError{unknown, fmt.Errorf("%w. Look for the commit's name in the documentation's pull requests, and for the job in the dashboard (Settings, Organization, Usage): then run with -job and its id or, if there is none, with -new", err)}
}

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// openStore returns the store of a commit: its status on GitHub, a directory elsewhere.
func (p *program) openStore(c change, projectID string) (store, error) {
	hash := sha256.Sum256([]byte(projectID))
	project := hex.EncodeToString(hash[:4]) // statuses are public, and project ids need not be
	if p.options.state == "" && p.onGitHub() {
		return p.openStatuses(c, "docs-on-merge/"+project)
	}
	if p.onGitHub() || p.getenv("CI") != "" {
		p.log.printf("The record of jobs is in a directory: if it goes with this runner, a further run for this commit makes a further job.")
	}
	dir := p.options.state
	if dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(config, "docs-on-merge")
	}
	return &directory{dir, c.head + "-" + project}, os.MkdirAll(dir, 0o755)
}

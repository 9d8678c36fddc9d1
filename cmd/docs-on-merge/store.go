package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// journal is a place that others can read and that versions of a record are added to. Of
// several of a version one counts for all.
type journal interface {
	// read returns the versions of key's record that count, from the first.
	read(ctx context.Context, key string) ([]once.Record, error)
	// add adds a version after those that were read. It may fail and still have added it.
	add(ctx context.Context, r once.Record) error
}

// shared is a [once.Store] in a journal. It leaves out what others must not read.
type shared struct {
	journal
	link func(string) string // cleans one
}

// Get implements [once.Store].
func (s shared) Get(ctx context.Context, key string) (r once.Record, err error) {
	versions, err := s.read(ctx, key)
	if len(versions) > 0 {
		r = versions[len(versions)-1]
	}
	return r, err
}

// Put implements [once.Store]. It adds a version, and reads back whether it counts.
func (s shared) Put(ctx context.Context, r once.Record) error {
	versions, err := s.read(ctx, r.Key)
	if err != nil {
		return err
	}
	if len(versions) != r.Version-1 {
		return once.ErrConflict
	}
	r.Prompt, r.Project, r.Problem, r.PRLink = "", "", "", s.link(r.PRLink)
	r.Deadline, r.Updated = r.Deadline.Truncate(time.Microsecond), r.Updated.Truncate(time.Microsecond)
	failed := s.add(ctx, r)
	switch versions, err = s.read(ctx, r.Key); {
	case err != nil:
		return cmp.Or(failed, err)
	case len(versions) < r.Version:
		return cmp.Or[error](failed, &ci.Error{Outcome: ci.NotStarted, Err: errors.New("what was recorded does not show")})
	case versions[r.Version-1] != r:
		return once.ErrConflict
	}
	return nil
}

// List implements [once.Store].
func (s shared) List(context.Context, ...once.State) ([]once.Record, error) {
	return nil, errors.ErrUnsupported
}

package once

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	maxSteps  = 4               // of a Resume at the same time
	listEvery = 5 * time.Second // at the soonest, while there is work
)

// Resume calls [Runner.Step] for all open records, those added meanwhile too, until none is
// left or ctx ends. It is for the start of a program, and for a worker without a queue.
//
// A key that cannot go on does not keep the others from it. Its error is part of Resume's.
// Resume returns soon after ctx ends, with ctx's error: a send in progress finishes first.
func (r *Runner) Resume(ctx context.Context) error {
	if r.client == nil {
		return &mintlify.ArgumentError{Name: "client", Reason: "is nil"}
	}
	slots, stopped := make(chan struct{}, maxSteps), make(chan stop)
	working, failed := map[string]bool{}, map[string]error{}
	var listErr error
	for {
		var open []Record
		began := time.Now()
		if ctx.Err() == nil {
			open, listErr = r.store.List(ctx, Pending, Sending, Running)
		}
		idle := len(working) == 0
		for _, record := range open {
			// What failed is tried again while there is other work.
			if _, again := failed[record.Key]; !working[record.Key] && !(again && idle) {
				working[record.Key] = true
				go func() { stopped <- stop{record.Key, r.workOff(ctx, record.Key, slots)} }()
			}
		}
		if len(working) == 0 {
			byKey := slices.Sorted(maps.Keys(failed))
			errs := []error{ended(ctx), listErr}
			for _, key := range byKey {
				errs = append(errs, failed[key])
			}
			return errors.Join(errs...)
		}
		listAgain := time.NewTimer(max(listEvery, 20*time.Since(began))) // a large directory takes a while
		for again := false; !again && len(working) > 0; {
			select {
			case s := <-stopped:
				delete(working, s.key)
				delete(failed, s.key)
				if s.err != nil {
					failed[s.key] = s.err
				}
			case <-listAgain.C:
				again = true
			}
		}
		listAgain.Stop()
	}
}

// stop is the end of the work on a key.
type stop struct {
	key string
	err error // why it cannot go on; nil: it is over, or the context ended
}

// workOff steps until it is over, in a slot each time.
func (r *Runner) workOff(ctx context.Context, key string, slots chan struct{}) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return nil
		case slots <- struct{}{}:
		}
		_, next, err := r.Step(ctx, key)
		<-slots
		if err != nil || next == 0 {
			return err
		}
		_ = sleep(ctx, next)
	}
	return nil
}

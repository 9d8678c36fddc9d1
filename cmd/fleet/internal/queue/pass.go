package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	passBatch   = 500 // River jobs inserted at once
	forgetBatch = 100 // threads forgotten in a pass
)

// passes makes passes until ctx ends, or a newer fleet has changed the tables.
func (w *Worker) passes(ctx context.Context) error {
	for ctx.Err() == nil {
		err := w.MakePass(ctx)
		if errors.Is(err, database.ErrNewer) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			w.Calm.Warn("a pass has failed in part", "error", err)
		}

		select {
		case <-ctx.Done():
		case <-time.After(w.Pass + rand.N(w.Pass/5+1)):
		}
	}
	return nil
}

// MakePass gives each queue and each prompt under way its River job, unless it has one, and keeps the
// tables in order. A step that fails keeps no other from being made.
func (w *Worker) MakePass(ctx context.Context) error {
	if err := w.CheckVersion(ctx); err != nil {
		return err
	}
	defer w.TellSoon(ctx)

	steps := []struct {
		name string
		do   func(ctx context.Context, now time.Time) error
	}{
		{"insert missing jobs", w.insertMissing},
		{"tidy", w.tidy},
		{"rescue jobs of dead processes", w.rescue},
		{"decide about comments", w.decide}, // this and the next one ask GitHub, and may take long
		{"look for unknown prompts", w.lookForUnknown},
	}

	var failed []error
	for _, step := range steps {
		if err := step.do(ctx, time.Now()); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", step.name, err))
		}
	}
	return errors.Join(failed...)
}

func (w *Worker) decide(ctx context.Context, _ time.Time) error {
	if w.Decide == nil {
		return nil
	}
	return w.Decide(ctx)
}

// insertMissing gives each queue and each prompt under way its River job, unless it has one.
func (w *Worker) insertMissing(ctx context.Context, now time.Time) error {
	projects, err := sqldb.Strings(ctx, w.DB, "SELECT DISTINCT project FROM fleet_prompts WHERE state = 'pending'")
	if err != nil {
		return err
	}

	for batch := range slices.Chunk(projects, passBatch) {
		w.InsertSends(ctx, batch...)
	}
	if err := w.wakeNew(ctx, now); err != nil {
		return err
	}

	underWay, err := sqldb.Strings(ctx, w.DB, "SELECT key FROM fleet_prompts WHERE state IN ('sending', 'running')")
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(underWay, passBatch) {
		w.InsertPolls(ctx, batch...)
	}
	return nil
}

// tidy deletes old rows. It sets times of queued prompts in the future, from a clock ahead of ours, to now.
func (w *Worker) tidy(ctx context.Context, now time.Time) error {
	ahead := []string{
		"UPDATE fleet_prompts SET queued = $1 WHERE state = 'pending' AND queued > $1",
		"UPDATE fleet_prompts SET not_before = 0 WHERE state = 'pending' AND not_before - 3600000000000 > $1",
	}
	if err := sqldb.Exec(ctx, w.DB, ahead, now.UnixNano()); err != nil {
		return err
	}

	if err := database.TidyLeftOut(ctx, w.DB, now); err != nil {
		return err
	}
	return w.forgetOld(ctx, now)
}

// forgetOld forgets the texts of prompts that ended more months ago than are kept.
func (w *Worker) forgetOld(ctx context.Context, now time.Time) error {
	if w.Keep == 0 {
		return nil
	}
	keys, err := w.Old(ctx, now.AddDate(0, -w.Keep, 0), forgetBatch)
	if err != nil || len(keys) == 0 {
		return err
	}

	forgotten := 0
	for _, key := range keys {
		n, err := w.Forget(ctx, key)
		if err != nil && !errors.Is(err, once.ErrConflict) {
			return err
		}
		forgotten += n
	}

	if forgotten == 0 {
		return nil
	}
	w.Logger.Info("texts are forgotten", "prompts", forgotten)
	return w.EmptyLog(ctx)
}

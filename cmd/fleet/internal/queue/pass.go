package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
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

// MakePass decides about comments that wait, has results told, and keeps the tables in order. A step that fails keeps
// no other from being made.
func (w *Worker) MakePass(ctx context.Context) error {
	if err := w.CheckVersion(ctx); err != nil {
		return err
	}

	tidyErr := w.tidy(ctx)
	if tidyErr != nil {
		tidyErr = fmt.Errorf("tidy: %w", tidyErr)
	}
	err := w.Decide(ctx) // it asks GitHub, and may take long
	if err != nil {
		err = fmt.Errorf("decide about comments: %w", err)
	}

	untold, tellErr := CountUntold(ctx, w.DB)
	if untold > 0 {
		w.TellSoon(ctx)
	}
	return errors.Join(tidyErr, err, tellErr)
}

// tidy deletes old rows, and the texts of prompts that ended more months ago than are kept. It sets times of queued
// prompts in the future, from a clock ahead of ours, to now.
func (w *Worker) tidy(ctx context.Context) error {
	now := time.Now()
	err := sqldb.Exec(ctx, w.DB, []string{
		"UPDATE fleet_prompts SET queued = $1 WHERE state = 'pending' AND queued > $1",
		"UPDATE fleet_prompts SET not_before = 0 WHERE state = 'pending' AND not_before - 7200000000000 > $1",
		"DELETE FROM fleet_left_out WHERE at < ($1 - 2592000000000000) / 1000000", // 30 days ago
		"DELETE FROM fleet_found WHERE at < ($1 - 604800000000000) / 1000000",     // 7 days ago
		"DELETE FROM fleet_comment_events WHERE at < ($1 - 604800000000000) / 1000000",
		"DELETE FROM fleet_refused WHERE day < ($1 - 31536000000000000) / 1000000", // a year ago
	}, now.UnixNano())
	if err != nil || w.Keep == 0 {
		return err
	}

	forgotten, err := w.ForgetOld(ctx, now.AddDate(0, -w.Keep, 0))
	if err != nil || forgotten == 0 {
		return err
	}
	w.Logger.Info("texts are forgotten", "prompts", forgotten)
	return w.EmptyLog(ctx)
}

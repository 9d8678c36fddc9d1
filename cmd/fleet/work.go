package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/riverqueue/river"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// newMintlify returns the client that all projects share. A request is sent once: the
// queue retries, with an intent of its own for each.
func newMintlify(getenv func(string) string, s settings, opts []mintlify.Option) (*mintlify.Client, error) {
	key, baseURL := getenv("MINTLIFY_API_KEY"), cmp.Or(getenv("MINTLIFY_BASE_URL"), mintlify.DefaultBaseURL)
	if key == "" {
		return nil, errors.New("MINTLIFY_API_KEY is not set")
	}
	return mintlify.NewClient(key, "of-the-row", append([]mintlify.Option{
		mintlify.WithBaseURL(baseURL),
		mintlify.WithUserAgent("fleet"),
		mintlify.WithMaxRetries(0),
		mintlify.WithRateLimiter(inTime),
		mintlify.WithHTTPClient(&http.Client{Timeout: s.SendTime}),
	}, opts...)...)
}

// work works the queue off until ctx ends. Sends on their way then are let come to
// their end; polls are not.
func work(ctx context.Context, w *worker, riverLogger *slog.Logger) error {
	bundle := river.NewWorkers()
	river.AddWorker(bundle, w)
	workers, err := w.store.newWorkers(&river.Config{
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: w.N}},
		Workers:                     bundle,
		JobTimeout:                  w.stuck() - time.Second, // more than it can take: no step is cut off but by a shutdown
		RescueStuckJobsAfter:        w.stuck(),
		CompletedJobRetentionPeriod: time.Hour, // the table of prompts keeps what there is to keep
		SoftStopTimeout:             time.Second,
		PollOnly:                    w.PollOnly,
		Logger:                      riverLogger,
	})
	if err != nil {
		return err
	}
	if err := workers.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	w.logger.Info("working", "steps", w.N, "sendTime", w.SendTime)
	w.sweepUntil(ctx)
	w.logger.Info("stopping: prompts on their way are let arrive")
	return workers.Stop(context.WithoutCancel(ctx))
}

// sweepUntil sweeps the table now and then until ctx ends.
func (w *worker) sweepUntil(ctx context.Context) {
	for ctx.Err() == nil {
		givenUp, lost, err := w.store.sweep(ctx, w.stuck())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.logger.Error("sweep failed", "error", err)
		case len(givenUp)+len(lost) > 0:
			w.logger.Warn("swept", "givenUp", givenUp, "requeued", lost)
		}
		select {
		case <-ctx.Done():
		case <-time.After(jitter(w.pause())):
		}
	}
}

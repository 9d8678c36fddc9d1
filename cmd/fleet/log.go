package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// logger returns a logger to stderr in the format of -log-format.
func (p *program) logger(level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if p.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.stderr, options))
}

// oncePerMinute is a handler that passes on one record a minute. It does not limit the loggers that With
// makes: neither River nor fleet makes any.
type oncePerMinute struct {
	slog.Handler
	last *atomic.Int64 // when it passed on the last record, in Unix milliseconds
}

func (c oncePerMinute) Handle(ctx context.Context, r slog.Record) error {
	last := c.last.Load()
	now := r.Time.UnixMilli()
	if last != 0 && now-last < time.Minute.Milliseconds() {
		return nil
	}

	if !c.last.CompareAndSwap(last, now) {
		return nil // another goroutine has just passed one on
	}
	return c.Handler.Handle(ctx, r)
}

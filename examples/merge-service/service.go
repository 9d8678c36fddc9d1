package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mintlify-community/mintlify-go/once"
)

// How long a request may take. GitHub hangs up after 10 s, and delivers nothing again by itself.
const (
	readTime     = 10 * time.Second // to receive a request
	storeTime    = 8 * time.Second  // to store its merge
	shutdownTime = 25 * time.Second // after a signal, for the requests in progress: more than both
)

// service takes merges from GitHub and works them off.
type service struct {
	runner *once.Runner
	secret []byte                                       // of the webhook
	post   func(ctx context.Context, text string) error // to the chat
	logger *slog.Logger
}

// run serves and works until ctx ends or one of the two fails. Then it lets the requests in
// progress finish, and the send in progress.
func (s *service) run(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:        s.routes(),
		ReadTimeout:    readTime,
		WriteTimeout:   readTime + storeTime,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}
	all, ctx := errgroup.WithContext(ctx)

	all.Go(func() error {
		err := server.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("serve: %w", err)
	})

	all.Go(func() error {
		err := s.runner.Run(ctx) // it records a send in progress before it returns
		if ctx.Err() == nil {
			return fmt.Errorf("work: %w", err)
		}
		return nil // it was told to end
	})

	all.Go(func() error {
		<-ctx.Done()
		// ctx has ended, so the requests in progress get a deadline of their own.
		deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()

		if err := server.Shutdown(deadline); err != nil {
			return fmt.Errorf("requests were interrupted: look for failed deliveries on GitHub: %w", err)
		}
		return nil
	})
	return all.Wait()
}

// tell tells the chat how a merge ended, or that a person must look. A record that is still open
// needs nobody.
func (s *service) tell(r once.Record) {
	if r.State.IsOpen() {
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), chatTime)
	defer cancel()
	err := s.post(ctx, fmt.Sprintf("Docs for %s: %s %s%s", r.Key, r.State, r.PRLink, r.Problem))
	if err != nil { // the result is on record and in the log
		s.logger.Error("the chat was not told", "key", r.Key, "state", r.State, "pull request", r.PRLink, "error", err)
	}
}

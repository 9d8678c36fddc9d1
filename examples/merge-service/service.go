package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// How long a request may take. GitHub hangs up after 10 s, and delivers nothing again by itself.
const (
	readTime     = 10 * time.Second // to receive a request
	storeTime    = 8 * time.Second  // to store its merge
	shutdownTime = 25 * time.Second // after a signal, for the requests in progress: more than both
)

// service takes merges and comments from GitHub and works them off.
type service struct {
	runner *once.Runner
	secret []byte                                       // of the webhook
	tell   func(ctx context.Context, text string) error // the chat
}

// start makes the runner.
func (s *service) start(client *mintlify.Client, store once.Store) error {
	runner, err := once.New(client, store,
		once.WithReport(s.report),
		once.WithOnHold(s.reportHold),
		once.WithLogger(slog.Default()))
	s.runner = runner
	return err
}

// run serves and works until ctx ends or one of the two fails. Then it lets the requests in
// progress finish, and the send in progress.
func (s *service) run(ctx context.Context, addr string) error {
	server := &http.Server{
		Addr:         addr,
		Handler:      s.routes(),
		ReadTimeout:  readTime,
		WriteTimeout: readTime + storeTime,
	}
	all, ctx := errgroup.WithContext(ctx)

	all.Go(func() error {
		err := server.ListenAndServe()
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
		return server.Shutdown(deadline)
	})
	return all.Wait()
}

// report tells the chat how a merge or a comment ended, and what a person has to do. Run calls it
// until the chat has taken it.
func (s *service) report(ctx context.Context, r once.Record) error { return s.tell(ctx, describe(r)) }

// reportHold tells the chat that all prompts of a project wait for a person.
func (s *service) reportHold(ctx context.Context, hold once.Hold) {
	_ = s.tell(ctx, fmt.Sprintf("No docs for project %s until somebody mends this: %v", hold.ProjectID, hold.Err))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-github/v92/github"
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
	post   func(ctx context.Context, text string) error // to the chat
	logger *slog.Logger

	// pulls are the agent's pull requests that GitHub has told of, by the key in their marker. They are
	// only in memory, and none is dropped: one has a few KB.
	pulls sync.Map
}

// start makes the runner.
func (s *service) start(client *mintlify.Client, store once.Store) error {
	runner, err := once.New(client, store,
		once.WithLogger(s.logger), once.WithReport(s.report), once.WithFinder(s.find))
	s.runner = runner
	return err
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

// report tells the chat how a merge or a comment ended, or that a person must look. Run calls it
// until the chat has taken it.
func (s *service) report(ctx context.Context, r once.Record) error {
	return s.post(ctx, fmt.Sprintf("Docs for %s: %s %s%s", r.Key, r.State, r.PRLink, r.Problem))
}

// find finds the pull request of a prompt whose response was lost, once GitHub has told of it. Run asks
// again and again. One that is older than the send is another's: anybody can copy a marker.
func (s *service) find(_ context.Context, r once.Record) (once.Found, error) {
	pull, ok := s.pulls.Load(r.Key)
	if !ok {
		return once.Found{}, nil
	}

	opened := pull.(*github.PullRequest)
	if opened.GetCreatedAt().Before(r.Deadline.Add(-3 * time.Minute)) { // a send takes a minute, and clocks differ
		return once.Found{}, nil
	}
	return once.Found{PRLink: opened.GetHTMLURL()}, nil
}

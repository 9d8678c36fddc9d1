package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

// newServer limits how long a client can hold a connection.
func newServer(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr:           addr,
		Handler:        handler,
		ReadTimeout:    github.HandlerTime,
		WriteTimeout:   2 * github.HandlerTime,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
}

// serveAndWork serves and works until ctx ends, or one of them fails. It goes on serving
// until the POSTs in progress have ended: GitHub delivers no webhook again by itself.
func serveAndWork(ctx context.Context, w *queue.Worker, servers map[string]*http.Server) error {
	all, ctx := errgroup.WithContext(ctx)
	for name, server := range servers {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", server.Addr)
		if err != nil {
			return usage.Errorf("%w", err)
		}

		w.Logger.Info("listening", "for", name, "addr", listener.Addr().String())
		all.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", name, err)
			}
			return nil
		})
	}

	all.Go(func() error {
		err := w.Run(ctx)
		if _, isServing := servers["webhooks"]; isServing && errors.Is(err, database.ErrNewer) {
			w.Logger.Error("no work and no webhook is taken any more: stop this process", "error", err)
			<-ctx.Done()
			err = nil
		}
		return errors.Join(err, shutDown(ctx, servers))
	})
	return all.Wait()
}

// shutDown lets the requests in progress end. It closes those that have not ended by then, such as those of clients
// that send slowly.
func shutDown(ctx context.Context, servers map[string]*http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), github.HandlerTime)
	defer cancel()

	var failed []error
	for _, server := range servers {
		err := server.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// handlerTime is how long a response may take. GitHub gives up after 10 s.
const handlerTime = 8 * time.Second

// newServer limits how long a client can hold a connection.
func newServer(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr:           addr,
		Handler:        handler,
		ReadTimeout:    handlerTime,
		WriteTimeout:   2 * handlerTime,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
}

// serveAndWork serves and works until ctx ends, or one of them fails. It goes on serving
// until the POSTs in progress have ended: GitHub delivers no webhook again by itself.
func serveAndWork(ctx context.Context, w *worker, servers map[string]*http.Server) error {
	all, ctx := errgroup.WithContext(ctx)
	for name, server := range servers {
		if server.Addr == "" {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", server.Addr)
		if err != nil {
			return usageError("%w", err)
		}

		w.logger.Info("listening", "for", name, "addr", listener.Addr().String())
		all.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", name, err)
			}
			return nil
		})
	}

	all.Go(func() error {
		err := w.work(ctx)
		return errors.Join(err, shutDown(ctx, servers))
	})
	return all.Wait()
}

// shutDown lets the requests in progress end.
func shutDown(ctx context.Context, servers map[string]*http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handlerTime)
	defer cancel()

	var failed []error
	for _, server := range servers {
		failed = append(failed, server.Shutdown(ctx))
	}
	return errors.Join(failed...)
}

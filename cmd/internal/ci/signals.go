package ci

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// UntilSignal returns a context that ends with the first interrupt, SIGTERM or SIGHUP. Later
// signals do nothing: a terminal that closes sends SIGHUP twice. A SIGHUP that is ignored at the
// start, as under nohup, stays ignored.
//
// From then on a write to a pipe that nobody reads fails, and does not end the process. So a log
// that goes away, as in 2>&1 | tee, ends no request.
func UntilSignal() context.Context {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ending = append(ending, syscall.SIGHUP)
	}
	ctx, _ := signal.NotifyContext(context.Background(), ending...)

	// An ignored SIGPIPE would be inherited by the commands that the process starts.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return ctx
}

// Sleep reports whether ctx has let it sleep for all of d.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

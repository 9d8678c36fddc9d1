// Fleet sends prompts to the documentation agent from many machines, through crashes
// and deployments: each prompt at most once, none forgotten. See its README.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

func main() {
	p := program{
		getenv:    os.Getenv,
		stdin:     os.Stdin,
		stdout:    bufio.NewWriter(os.Stdout),
		stderr:    os.Stderr,
		transport: mintlify.NewTransport(),
		Settings:  queue.Production,
		patience:  10 * time.Second,
	}
	os.Exit(p.exit(p.run(untilSignal(), os.Args[1:])))
}

// untilSignal returns a context that ends with the first interrupt or SIGTERM. A second one ends the process at
// once.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// program is the environment of a command.
type program struct {
	getenv    func(string) string
	stdin     io.Reader
	stdout    *bufio.Writer
	stderr    io.Writer
	transport http.RoundTripper
	options   []mintlify.Option // beside those of client

	// patience is how long a statement of a person's command may take. statementLimit is how long a
	// statement of this command may take; 0 means without a limit.
	patience, statementLimit time.Duration

	queue.Settings
	flagValues
	command   string
	logFormat string
	counts    []prometheus.Collector // what the metrics have besides the queue's
}

func (p *program) exit(err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}

	fmt.Fprintln(p.stderr, "fleet:", safetext.OneLine(err.Error(), 4000))
	if usage.Is(err) {
		return 2
	}
	return 1
}

// withStore runs f on the database of the environment. create makes the tables that are missing.
func (p *program) withStore(ctx context.Context, create bool, level slog.Level, f query) error {
	calm := slog.New(oncePerMinute{p.logger(slog.LevelWarn).Handler(), &atomic.Int64{}})
	db, err := database.Open(ctx, p.getenv("DATABASE_URL"), database.Options{
		Create:    create,
		Busy:      p.busy(),
		Statement: p.statementLimit,
		Logger:    calm,
	})
	if err != nil {
		return err
	}
	defer db.Close()

	return f(ctx, queue.Queue{Settings: p.Settings, Store: database.Store{
		DB:       db,
		SendTime: p.SendTime,
		Logger:   p.logger(level),
		Calm:     calm,
		Who:      p.who(),
	}})
}

// busy returns how long a statement waits while other processes write to SQLite. A worker stores within
// [database.StoreTime], and goes on later if it cannot. A person would have to type the command again, but
// SQLite hears no interrupt while it waits.
func (p *program) busy() time.Duration {
	if p.isWorker() {
		return 3 * time.Second
	}
	return 10 * time.Second
}

// isWorker reports whether the command is a machine's, and not that of a person.
func (p *program) isWorker() bool {
	return p.command == "work" || p.command == "serve"
}

// who returns who makes the changes of a command: a machine that works, or the person at it.
func (p *program) who() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	if p.isWorker() {
		return host
	}

	name := cmp.Or(p.getenv("USER"), p.getenv("LOGNAME"), p.getenv("USERNAME"), fmt.Sprintf("uid-%d", os.Getuid()))
	return safetext.OneLine(name+"@"+host, 100)
}

// client returns the client that all projects share. It sends a request once: River retries.
func (p *program) client() (*mintlify.Client, error) {
	key := strings.TrimSpace(p.getenv("MINTLIFY_API_KEY"))
	if key == "" {
		return nil, usage.ErrNoKey
	}

	options := []mintlify.Option{
		mintlify.WithBaseURL(cmp.Or(p.getenv("MINTLIFY_BASE_URL"), mintlify.DefaultBaseURL)),
		mintlify.WithUserAgent("fleet"),
		mintlify.WithMaxRetries(0),
		mintlify.WithRateLimiter(queue.OnlyInTurn),
		mintlify.WithHTTPClient(&http.Client{Timeout: p.SendTime, Transport: p.transport}),
	}

	client, err := mintlify.NewClient(key, "of-the-prompt", append(options, p.options...)...)
	if err != nil {
		return nil, usage.Client(err)
	}
	return client, nil
}

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
	isSoon := now-last < time.Minute.Milliseconds()
	if isSoon || !c.last.CompareAndSwap(last, now) { // or another goroutine has just passed one on
		return nil
	}
	return c.Handler.Handle(ctx, r)
}

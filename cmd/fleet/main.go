// Fleet sends prompts to the documentation agent from many machines, through crashes
// and deployments: each prompt at most once, none forgotten. See its README.
package main

import (
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
	"sync/atomic"
	"syscall"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// exit2 marks an error that the user has to fix, in the command line or the set-up.
type exit2 struct{ error }

func (e exit2) Unwrap() error { return e.error }

func usageError(format string, args ...any) error { return exit2{fmt.Errorf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once

	p := program{
		getenv:    os.Getenv,
		stdin:     os.Stdin,
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		transport: mintlify.NewTransport(),
		settings:  production,
	}
	code := p.exit(p.run(ctx, os.Args[1:]))
	stop()
	os.Exit(code)
}

// program is the environment of a command, with the values of its flags.
type program struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	transport      http.RoundTripper
	options        []mintlify.Option // beside those of client

	settings
	flags
}

// output is stdout. It keeps the first error, so that a command need not check each line.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// exit prints an error, and returns the exit code.
func (p *program) exit(err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}

	fmt.Fprintln(p.stderr, "fleet:", redact.OneLine(err.Error(), 4000))
	if errors.As(err, &exit2{}) {
		return 2
	}
	return 1
}

// withStore runs f on the database of the environment. create makes the tables that are missing.
func (p *program) withStore(ctx context.Context, create bool, level slog.Level, f func(store) error) error {
	calm := slog.New(calm{p.logger(slog.LevelWarn).Handler(), &atomic.Int64{}})
	db, err := openDatabase(ctx, p.getenv("DATABASE_URL"), create, calm)
	if err != nil {
		return err
	}
	defer db.close()

	return f(store{database: db, settings: p.settings, logger: p.logger(level), calm: calm, who: p.who()})
}

// who returns who makes the changes of a command: a machine that works, or the person at it.
func (p *program) who() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	if p.command == "work" || p.command == "serve" || p.command == "demo-worker" {
		return host
	}

	name := cmp.Or(p.getenv("USER"), p.getenv("LOGNAME"), p.getenv("USERNAME"))
	if name == "" {
		name = fmt.Sprintf("uid-%d", os.Getuid())
	}
	return redact.OneLine(name+"@"+host, 100)
}

// client returns the client that all projects share. It sends a request once: River retries.
func (p *program) client() (*mintlify.Client, error) {
	key := p.getenv("MINTLIFY_API_KEY")
	if key == "" {
		return nil, usageError("MINTLIFY_API_KEY is not set")
	}

	options := []mintlify.Option{
		mintlify.WithBaseURL(cmp.Or(p.getenv("MINTLIFY_BASE_URL"), mintlify.DefaultBaseURL)),
		mintlify.WithUserAgent("fleet"),
		mintlify.WithMaxRetries(0),
		mintlify.WithHTTPClient(&http.Client{Timeout: p.SendTime, Transport: observer{p.transport}}),
	}
	client, err := mintlify.NewClient(key, "of-the-prompt", append(options, p.options...)...)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return client, nil
}

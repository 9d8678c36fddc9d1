// Fleet sends prompts to the documentation agent from many machines, through crashes
// and deployments: each prompt at most once, none forgotten. See its README.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

//go:embed usage.txt
var usage string

// exitError ends the program with a code.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

// usageError is what the user, or the set-up, has to change.
func usageError(format string, args ...any) error { return exitError{fmt.Errorf(format, args...), 2} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{getenv: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, settings: production, transport: mintlify.NewTransport()}
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := p.exit(p.run(ctx, os.Args[1:]))
	stop()
	os.Exit(code)
}

// exit says an error, and returns the exit code.
func (p *program) exit(err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(p.stderr, "fleet:", redact.OneLine(err.Error(), 4000))
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return 1
}

// production is how the program is set up unless flags say otherwise.
var production = settings{N: 50, SendTime: time.Minute, Quota: 100, Window: time.Hour, PauseMin: time.Minute, PauseMax: 30 * time.Minute, Pass: 15 * time.Second}

// program is what a command has around it.
type program struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	settings       settings
	transport      http.RoundTripper
	options        []mintlify.Option // beside the usual
	adminAddr      string
	logFormat      string
}

func (p *program) run(ctx context.Context, arguments []string) error {
	commands := map[string]func(context.Context, []string) error{
		"demo": p.demo, "demo-worker": p.demoWorker, "init": p.init, "work": p.work, "serve": p.serve,
		"enqueue": p.enqueue, "status": p.status, "list": p.list, "show": p.show, "cancel": p.cancel,
		"pause": p.pause, "resume": p.resume, "retry": p.retry, "close": p.closePrompt,
	}
	switch {
	case len(arguments) > 0 && slices.Contains([]string{"--version", "-version"}, arguments[0]):
		fmt.Fprintln(p.stdout, version.String("fleet"))
		return nil
	case len(arguments) > 0 && slices.Contains([]string{"-h", "-help", "--help", "help"}, arguments[0]):
		fmt.Fprint(p.stdout, usage)
		return nil
	case len(arguments) == 0 || commands[arguments[0]] == nil:
		fmt.Fprint(p.stderr, usage)
		return usageError("which command?")
	}
	return commands[arguments[0]](ctx, arguments[1:])
}

// parse parses flags, and refuses a flag that is given and empty, and other arguments.
func (p *program) parse(flags *flag.FlagSet, arguments []string, operands int) (err error) {
	flags.SetOutput(p.stderr)
	if err := flags.Parse(arguments); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return usageError("%w", err)
	}
	flags.Visit(func(f *flag.Flag) {
		if getter, ok := f.Value.(flag.Getter); ok && getter.Get() == "" {
			err = usageError("-%s is empty: is a variable not set?", f.Name)
		}
	})
	if err == nil && flags.NArg() != operands {
		err = usageError("%s takes %d arguments besides its flags, not %d", flags.Name(), operands, flags.NArg())
	}
	return err
}

func (p *program) logger(level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if p.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.stderr, options))
}

// withStore runs f on the database of the environment.
func (p *program) withStore(ctx context.Context, create bool, level slog.Level, f func(store) error) error {
	quiet := slog.New(calm{p.logger(slog.LevelWarn).Handler(), &atomic.Int64{}})
	db, err := openDatabase(ctx, p.getenv("DATABASE_URL"), create, quiet)
	if err != nil {
		return err
	}
	defer db.close()
	return f(store{db, p.logger(level), quiet})
}

// init makes the tables.
func (p *program) init(ctx context.Context, arguments []string) error {
	if err := p.parse(newFlags("init"), arguments, 0); err != nil {
		return err
	}
	return p.withStore(ctx, true, slog.LevelWarn, func(store) error {
		fmt.Fprintln(p.stdout, "the tables are there")
		return nil
	})
}

func (p *program) workFlags(flags *flag.FlagSet) {
	c := &p.settings
	flags.IntVar(&c.N, "n", c.N, "steps in progress at once, 1 to 10000")
	flags.DurationVar(&c.SendTime, "send-time", c.SendTime, "how long one POST may take, 1s to 10m; leave a process that and some more to stop")
	flags.BoolVar(&c.PollOnly, "poll-only", c.PollOnly, "do without LISTEN, behind a pgbouncer in transaction mode")
	flags.DurationVar(&c.PauseMin, "pause-min", c.PauseMin, "how long the breaker pauses a project at first")
	flags.DurationVar(&c.PauseMax, "pause-max", c.PauseMax, "and at most, doubling")
	flags.StringVar(&p.adminAddr, "admin-addr", p.adminAddr, "where to listen for /livez, /readyz and /metrics; nowhere unless set")
	flags.StringVar(&p.logFormat, "log-format", "text", "text or json")
}

func (p *program) work(ctx context.Context, arguments []string) error {
	flags := newFlags("work")
	p.workFlags(flags)
	if err := p.parse(flags, arguments, 0); err != nil {
		return err
	}
	return p.withWorker(ctx, func(w *worker) error { return p.listenAndWork(ctx, w, nil, "") })
}

// withWorker runs f with a worker that is set up by flags and environment.
func (p *program) withWorker(ctx context.Context, f func(*worker) error) error {
	c := p.settings
	switch {
	case c.N < 1 || c.N > 10_000 || c.SendTime < time.Second || c.SendTime > maxSend:
		return usageError("-n is %d and -send-time %v, want 1 to 10000 and 1s to 10m", c.N, c.SendTime)
	case c.PauseMin < time.Second || c.PauseMax < c.PauseMin || c.PauseMax > maxPause:
		return usageError("-pause-min is %v and -pause-max %v, want 1s or more, and at most 24h", c.PauseMin, c.PauseMax)
	case p.logFormat != "" && p.logFormat != "text" && p.logFormat != "json":
		return usageError("-log-format is %q, want text or json", p.logFormat)
	}
	client, err := newMintlify(p.getenv, c, p.transport, p.options)
	if err != nil {
		return err
	}
	results, err := newTeller(p.getenv)
	if err != nil {
		return err
	}
	return p.withStore(ctx, true, slog.LevelInfo, func(s store) error { return f(newWorker(s, c, client, results)) })
}

func newWorker(s store, c settings, client *mintlify.Client, results teller) *worker {
	return &worker{store: s, settings: c, client: client, runner: s.runner(client, s.DB, c.SendTime), results: results}
}

// listenAndWork works, and serves handler at addr and the admin's own.
func (p *program) listenAndWork(ctx context.Context, w *worker, handler http.Handler, addr string) error {
	a := newAdmin(w.store, w.settings)
	w.posts = func(result string) { a.posts.WithLabelValues(nameOf(once.State(result))).Inc() }
	servers := map[net.Listener]http.Handler{}
	for _, server := range []struct {
		name, addr string
		handler    http.Handler
	}{{"webhooks", addr, handler}, {"admin", p.adminAddr, a.handler()}} {
		if server.addr == "" {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", server.addr)
		if err != nil {
			return usageError("%w", err)
		}
		defer listener.Close() //nolint:errcheck // it is closed already, or of no use
		w.logger.Info("listening", "for", server.name, "addr", listener.Addr().String())
		servers[listener] = server.handler
	}
	return serveAndWork(ctx, servers, func(ctx context.Context) error { return work(ctx, w, w.calm) })
}

func (p *program) serve(ctx context.Context, arguments []string) error {
	flags := newFlags("serve")
	p.workFlags(flags)
	addr := flags.String("addr", ":8080", "where to listen for GitHub's webhooks, at /github")
	hooks := &webhooks{projects: projects{byRepository: map[string]string{}}, skip: authors{"mintlify[bot]", "dependabot[bot]", "renovate[bot]"}}
	flags.Func("project", "owner/repo=project, or owner/repo= to leave it out, repeatable; or a project for all other repositories", hooks.projects.set)
	flags.Func("skip-author", "login whose merges are left out, repeatable, beside those of mintlify[bot], dependabot[bot] and renovate[bot]", func(login string) error {
		if login == "" {
			return errors.New("it is empty")
		}
		hooks.skip = append(hooks.skip, login)
		return nil
	})
	flags.IntVar(&hooks.priority, "priority", 2, "of the merges: 1 is the most urgent, 4 the least")
	if err := p.parse(flags, arguments, 0); err != nil {
		return err
	}
	hooks.secret = []byte(p.getenv("FLEET_GITHUB_SECRET"))
	switch {
	case len(hooks.secret) == 0:
		return usageError("FLEET_GITHUB_SECRET is not set: without the webhook's secret anybody could enqueue")
	case hooks.projects.rest == "" && len(hooks.projects.byRepository) == 0:
		return usageError("-project is missing: which project documents the repositories?")
	case hooks.priority < 1 || hooks.priority > 4:
		return usageError("-priority is %d, want 1 to 4", hooks.priority)
	}
	return p.withWorker(ctx, func(w *worker) error {
		hooks.store = w.store
		return p.listenAndWork(ctx, w, hooks.handler(), *addr)
	})
}

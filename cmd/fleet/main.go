// Fleet sends prompts to the documentation agent from many machines, through crashes
// and deployments: each prompt at most once, none forgotten. See its README.
package main

import (
	"cmp"
	"context"
	_ "embed"
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

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

//go:embed usage.txt
var usage string

// exit2 is what the user, or the set-up, has to change.
type exit2 struct{ error }

func (e exit2) Unwrap() error { return e.error }

func usageError(format string, args ...any) error { return exit2{fmt.Errorf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{getenv: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		settings: production, transport: mintlify.NewTransport()}
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
	if errors.As(err, &exit2{}) {
		return 2
	}
	return 1
}

// production is how the program is set up unless flags say otherwise.
var production = settings{N: 50, SendTime: time.Minute, Quota: 100, Window: time.Hour,
	PauseMin: time.Minute, PauseMax: 30 * time.Minute, Pass: 15 * time.Second}

// program is what a command has around it, and what its flags have set.
type program struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	transport      http.RoundTripper
	options        []mintlify.Option // beside the usual

	settings
	prompt                     prompt
	state, job, link           string
	again, yes, all            bool
	asJSON, fromStdin          bool
	addr, adminAddr, logFormat string
	projects                   projects
	skip                       authors
	operands                   []string
}

// command is one of the program's.
type command struct {
	flags    string // their names
	wants    string // exactly one flag of each word has to be given
	operands int
	check    func() error // of the flags, unless nil
	run      func(context.Context) error
	rows     func(context.Context, store) error // instead of run, on a database whose tables exist
}

func (p *program) commands() map[string]command {
	const work = "n send-time poll-only pause-min pause-max admin-addr log-format"
	return map[string]command{
		"demo":        {run: p.demo},
		"demo-worker": {run: p.demoWorker},
		"init":        {run: p.init},
		"work":        {flags: work, run: p.work},
		"serve":       {flags: work + " addr project skip-author priority", run: p.serve},
		"enqueue":     {flags: "key project prompt pull priority stdin", check: p.checkEnqueue, rows: p.enqueue},
		"status":      {flags: "json", rows: p.status},
		"list":        {flags: "state project", rows: p.list},
		"show":        {operands: 1, rows: p.show},
		"cancel":      {flags: "key project all yes", wants: "key|project|all", rows: p.cancel},
		"pause":       {flags: "project all", wants: "project|all", rows: p.pause},
		"resume":      {flags: "project all", wants: "project|all", rows: p.resume},
		"retry":       {flags: "key state project again job yes", wants: "key|state again|job", check: p.checkRetry, rows: p.retry},
		"close":       {flags: "key pr", wants: "key", check: p.checkClose, rows: p.closePrompt},
	}
}

func (p *program) run(ctx context.Context, arguments []string) error {
	name := append(arguments, "")[0]
	c, found := p.commands()[name]
	switch {
	case strings.Trim(name, "-") == "version":
		fmt.Fprintln(p.stdout, version.String("fleet"))
		return nil
	case name == "-h" || strings.TrimLeft(name, "-") == "help":
		fmt.Fprint(p.stdout, usage)
		return nil
	case name == "":
		fmt.Fprint(p.stderr, usage)
		return usageError("which command?")
	case !found:
		return usageError("there is no command %q, want demo, init, work, serve, enqueue, status, list, show, cancel, "+
			"pause, resume, retry or close; fleet -h says more", name)
	}
	if err := p.parse(name, c, arguments[1:]); err != nil {
		return err
	}
	if c.rows != nil {
		return p.withStore(ctx, false, slog.LevelError, func(s store) error { return c.rows(ctx, s) })
	}
	return c.run(ctx)
}

// flags returns the flags of all commands: those of one name mean the same, but for serve's -project.
func (p *program) flags(command string) *flag.FlagSet {
	f := flag.NewFlagSet("fleet", flag.ContinueOnError)
	f.StringVar(&p.prompt.Key, "key", "", "key of the prompt, owner/repo@sha for a merge; again it adds nothing")
	if command == "serve" {
		f.Func("project", "owner/repo=ID, or owner/repo= to leave it out, repeatable; "+
			"ID alone is for all other repositories", p.projects.set)
	} else {
		f.StringVar(&p.prompt.Project, "project", "", "id of the project, from the dashboard")
	}
	f.StringVar(&p.prompt.Prompt, "prompt", "", "what the agent is to do")
	f.StringVar(&p.prompt.Pull, "pull", "", "the merged pull request, owner/repo#7, for a comment with the result")
	f.IntVar(&p.prompt.Priority, "priority", 2, "1 is the most urgent, 4 the least")
	f.BoolVar(&p.fromStdin, "stdin", false, "read JSON Lines with the other flags as fields")
	f.BoolVar(&p.asJSON, "json", false, "as JSON")
	f.StringVar(&p.state, "state", "", "those in this state; retry: failed or refused")
	f.BoolVar(&p.all, "all", false, "all projects")
	f.BoolVar(&p.yes, "yes", false, "do it: without it a bulk command only prints what it would do")
	f.BoolVar(&p.again, "again", false, "send it again: if there is a job after all, there will be two")
	f.StringVar(&p.job, "job", "", "id of its job, which a person has found: follow that one, send nothing")
	f.StringVar(&p.link, "pr", "", "URL of its pull request")

	f.IntVar(&p.N, "n", p.N, "steps in progress at once, 1 to 10000")
	f.DurationVar(&p.SendTime, "send-time", p.SendTime,
		"how long one POST may take, 1s to 10m; give a process that and 30 s to stop")
	f.BoolVar(&p.PollOnly, "poll-only", p.PollOnly, "do without LISTEN, behind a pgbouncer in transaction mode")
	f.DurationVar(&p.PauseMin, "pause-min", p.PauseMin, "how long the breaker pauses a project at first, at least 1s")
	f.DurationVar(&p.PauseMax, "pause-max", p.PauseMax, "and at most, doubling, up to 24h")
	f.StringVar(&p.adminAddr, "admin-addr", "", "where to listen for /livez, /readyz and /metrics; nowhere unless set")
	f.StringVar(&p.logFormat, "log-format", "text", "text or json")
	f.StringVar(&p.addr, "addr", ":8080", "where to listen for GitHub's webhooks, at /github")
	f.Func("skip-author", "login whose merges are left out, repeatable, beside "+strings.Join(p.skip.Authors, ", "), p.skip.Add)
	return f
}

// parse parses the flags of a command. It refuses one that is given and empty.
func (p *program) parse(name string, c command, arguments []string) (err error) {
	p.projects, p.skip = projects{}, authors{merges.DefaultAuthors()}
	all, flags, given := p.flags(name), flag.NewFlagSet(name, flag.ContinueOnError), map[string]bool{}
	flags.SetOutput(p.stderr)
	for _, name := range strings.Fields(c.flags) {
		f := all.Lookup(name)
		flags.Var(f.Value, name, f.Usage)
	}
	if err := flags.Parse(arguments); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return usageError("%w", err)
	}
	if p.operands = flags.Args(); len(p.operands) != c.operands {
		return usageError("%s takes %d arguments besides its flags, not %d", name, c.operands, len(p.operands))
	}
	flags.Visit(func(f *flag.Flag) {
		given[f.Name] = true
		if getter, ok := f.Value.(flag.Getter); ok && getter.Get() == "" {
			err = usageError("-%s is empty: is a variable not set?", f.Name)
		}
	})
	for _, names := range strings.Fields(c.wants) {
		n := 0
		for _, name := range strings.Split(names, "|") {
			if given[name] {
				n++
			}
		}
		if n != 1 && err == nil {
			err = usageError("%s wants -%s", name, strings.ReplaceAll(names, "|", " or -"))
		}
	}
	if err == nil && c.check != nil {
		err = c.check()
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

// calm is a handler that passes on one record a minute. Loggers that With makes are not limited:
// neither River nor fleet makes any.
type calm struct {
	slog.Handler
	last *atomic.Int64
}

func (c calm) Handle(ctx context.Context, r slog.Record) error {
	last, now := c.last.Load(), r.Time.UnixMilli()
	if last != 0 && now-last < time.Minute.Milliseconds() || !c.last.CompareAndSwap(last, now) {
		return nil
	}
	return c.Handler.Handle(ctx, r)
}

// withStore runs f on the database of the environment.
func (p *program) withStore(ctx context.Context, create bool, level slog.Level, f func(store) error) error {
	calm := slog.New(calm{p.logger(slog.LevelWarn).Handler(), &atomic.Int64{}})
	db, err := openDatabase(ctx, p.getenv("DATABASE_URL"), create, calm)
	if err != nil {
		return err
	}
	defer db.close()
	return f(store{db, p.settings, p.logger(level), calm})
}

// client returns the client that all projects share. A request is sent once: River retries.
func (p *program) client() (*mintlify.Client, error) {
	key := p.getenv("MINTLIFY_API_KEY")
	if key == "" {
		return nil, usageError("MINTLIFY_API_KEY is not set")
	}
	client, err := mintlify.NewClient(key, "of-the-prompt", append([]mintlify.Option{
		mintlify.WithBaseURL(cmp.Or(p.getenv("MINTLIFY_BASE_URL"), mintlify.DefaultBaseURL)),
		mintlify.WithUserAgent("fleet"),
		mintlify.WithMaxRetries(0),
		mintlify.WithHTTPClient(&http.Client{Timeout: p.SendTime, Transport: observer{p.transport}}),
	}, p.options...)...)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return client, nil
}

// init makes the tables.
func (p *program) init(ctx context.Context) error {
	return p.withStore(ctx, true, slog.LevelWarn, func(store) error {
		fmt.Fprintln(p.stdout, "the tables are there")
		return nil
	})
}

func (p *program) serve(ctx context.Context) error {
	secret := p.getenv("FLEET_GITHUB_SECRET")
	switch {
	case secret == "":
		return usageError("FLEET_GITHUB_SECRET is not set: without the webhook's secret anybody could enqueue")
	case len(p.projects) == 0:
		return usageError("-project is missing: which project documents the repositories?")
	case p.prompt.Priority < 1 || p.prompt.Priority > 4:
		return usageError("-priority is %d, want 1 to 4", p.prompt.Priority)
	}
	return p.workAndServe(ctx, func(s store) http.Handler {
		h := &webhooks{s, []byte(secret), p.projects, p.skip, p.prompt.Priority, make(chan struct{}, maxBodies)}
		return h.handler()
	})
}

func (p *program) work(ctx context.Context) error { return p.workAndServe(ctx, nil) }

// workAndServe works, and serves webhooks, if there are any, and the admin's own.
func (p *program) workAndServe(ctx context.Context, webhooks func(store) http.Handler) error {
	switch c := p.settings; {
	case c.N < 1 || c.N > 10_000 || c.SendTime < time.Second || c.SendTime > maxSend:
		return usageError("-n is %d and -send-time %v, want 1 to 10000 and 1s to 10m", c.N, c.SendTime)
	case c.PauseMin < time.Second || c.PauseMax < c.PauseMin || c.PauseMax > day:
		return usageError("-pause-min is %v and -pause-max %v, want 1s or more, and at most 24h", c.PauseMin, c.PauseMax)
	case p.logFormat != "text" && p.logFormat != "json":
		return usageError("-log-format is %q, want text or json", p.logFormat)
	}
	client, err := p.client()
	if err != nil {
		return err
	}
	results, err := newTeller(p.getenv)
	if err != nil {
		return err
	}
	return p.withStore(ctx, true, slog.LevelInfo, func(s store) error {
		w := newWorker(s, client, results)
		servers := map[string]*http.Server{"admin": newServer(p.adminAddr, admin{s}.handler(w.posts))}
		if webhooks != nil {
			servers["webhooks"] = newServer(p.addr, webhooks(s))
		}
		return serveAndWork(ctx, w, servers)
	})
}

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

// workCommand sends the queued prompts and follows their jobs.
type workCommand struct {
	*program
	adminAddr string
}

func (c *workCommand) define(f *flag.FlagSet) {
	f.IntVar(&c.N, "n", c.N, "polls and reports in progress at once, 1 to 10000")
	f.IntVar(&c.Posts, "posts", c.Posts, "sends in progress at once, 1 to 10000, one of a project; when an outage "+
		"begins, as many may be unknown on each machine")
	f.DurationVar(&c.SendTime, "send-time", c.SendTime,
		"how long one POST may take, 1s to 10m; give a process that and 30 s to stop")
	f.BoolVar(&c.PollOnly, "poll-only", c.PollOnly, "do without LISTEN, behind a pgbouncer in transaction mode")

	f.DurationVar(&c.PauseMin, "pause-min", c.PauseMin, "how long the breaker pauses a project at first, at least 1s")
	f.DurationVar(&c.PauseMax, "pause-max", c.PauseMax, "and at most, doubling, up to 24h")
	f.StringVar(&c.adminAddr, "admin-addr", "", "where to listen for /livez, /readyz and /metrics; nowhere unless set")
	f.StringVar(&c.logFormat, "log-format", "text", "text or json")
	c.MaxPerDay = map[string]int{}
	f.Func("max-per-day", "[owner/repo=]N, repeatable: at most N new jobs of a repository a day (UTC); "+
		"N alone is for all others. The last start's count for all processes", c.setLimit)
	f.Func("keep", "months after which the texts of prompts that have ended are forgotten, such as 13m", c.setKeep)
}

func (c *workCommand) setLimit(text string) error {
	name, number, isValid := github.CutRepository(text)
	most, err := strconv.Atoi(number)
	if err != nil || most < 0 || !isValid {
		return errors.New("want N or owner/repo=N, such as 20 or acme/api=5")
	}

	if _, isThere := c.MaxPerDay[name]; isThere {
		return fmt.Errorf("%s has two limits", cmp.Or(name, "the rest"))
	}
	c.MaxPerDay[name] = most
	return nil
}

func (c *workCommand) setKeep(text string) error {
	number, isMonths := strings.CutSuffix(text, "m")
	months, err := strconv.Atoi(number)
	if err != nil || !isMonths || months < 1 || months > 999 {
		return errors.New("want months, such as 13m")
	}
	c.Keep = months
	return nil
}

func (c *workCommand) check() error {
	if err := c.Settings.Check(); err != nil {
		return err
	}
	if c.logFormat != "text" && c.logFormat != "json" {
		return usage.Errorf("-log-format is %q, want text or json", c.logFormat)
	}
	return nil
}

func (c *workCommand) run(ctx context.Context) error {
	return c.work(untilHangUp(ctx), nil)
}

// untilHangUp returns a context that ends with SIGHUP, too, unless that is ignored, as under nohup. A second one does
// nothing.
func untilHangUp(ctx context.Context) context.Context {
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	return ctx
}

// work works, and serves the admin's pages and what webhooks returns, unless that is nil.
func (c *workCommand) work(ctx context.Context, webhooks func(*queue.Worker, *github.API) *http.Server) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // it outlives a stderr that is gone

	client, err := c.client()
	if err != nil {
		return err
	}
	api, err := newAPI(c.getenv)
	if err != nil {
		return err
	}

	results, err := newTeller(c.getenv, api)
	if err != nil {
		return err
	}

	return c.withStore(ctx, true, slog.LevelInfo, func(ctx context.Context, s queue.Queue) error {
		if err := s.SetLimits(ctx, c.MaxPerDay); err != nil {
			return fmt.Errorf("store -max-per-day: %w", err)
		}

		w := queue.NewWorker(s, client, results)
		docs := github.Docs{Queue: s, API: api}
		w.Decide = docs.DecideReviews
		w.Find = docs.Find

		servers := map[string]*http.Server{}
		if webhooks != nil {
			servers["webhooks"] = webhooks(w, api)
		}

		if c.adminAddr != "" {
			pages := &admin{Queue: s, tells: results != nil}
			servers["admin"] = newServer(c.adminAddr, pages.handler(w.Posts, c.counts...))
		}
		return serveAndWork(ctx, w, servers)
	})
}

// serveCommand works, and enqueues the merges that webhooks report.
type serveCommand struct {
	workCommand
	addr     string
	flags    []string // values of -project
	file     string   // of -projects
	projects github.Projects
	skip     merges.Authors
	priority int
	secret   string
}

func (c *serveCommand) define(f *flag.FlagSet) {
	c.workCommand.define(f)
	f.StringVar(&c.addr, "addr", ":8080", "where to listen for GitHub's webhooks, at /github")
	f.Func("project", "owner/repo=ID, or owner/repo= to leave it out, repeatable; "+
		"ID alone is for all other repositories", func(text string) error {
		c.flags = append(c.flags, text)
		return nil
	})
	f.StringVar(&c.file, "projects", "", "file with a line of -project each; # begins a comment. SIGHUP reads it again")
	c.skip = merges.DefaultAuthors()
	f.Func("skip-author", "login whose merges are left out, repeatable, beside "+strings.Join(c.skip, ", "),
		c.skip.Add)
	f.IntVar(&c.priority, "priority", database.DefaultPriority, "1 is the most urgent, 4 the least")
}

func (c *serveCommand) check() error {
	if err := c.workCommand.check(); err != nil {
		return err
	}

	var err error
	c.projects, err = github.ReadProjects(c.flags, c.file)
	if err != nil {
		return usage.Errorf("the projects: %w", err)
	}

	c.secret = strings.TrimSpace(c.getenv("FLEET_GITHUB_SECRET"))
	switch {
	case c.secret == "":
		return usage.Errorf("FLEET_GITHUB_SECRET is not set: it is the secret of GitHub's webhook, " +
			"without which anybody could enqueue")
	case len(c.projects) == 0:
		return usage.Errorf("-project or -projects is missing: which project documents the repositories?")
	case c.priority < 1 || c.priority > 4:
		return usage.Errorf("-priority is %d, want 1 to 4", c.priority)
	}
	return nil
}

func (c *serveCommand) run(ctx context.Context) error {
	if c.file == "" {
		ctx = untilHangUp(ctx)
	}
	return c.work(ctx, func(w *queue.Worker, api *github.API) *http.Server {
		hooks := github.NewWebhooks(w, c.secret, c.projects, c.skip, c.priority)
		hooks.API = api
		c.counts = append(c.counts, hooks.Counts)
		if api == nil {
			w.Logger.Warn("FLEET_GITHUB_TOKEN is not set: results are not told to reviewers, a comment by a private " +
				"member does nothing, and unknown prompts are not looked for on GitHub")
		}

		use(ctx, w, hooks, c.projects)
		c.readAgain(ctx, w, hooks)
		return newServer(c.addr, hooks.Handler())
	})
}

// readAgain reads the file of -projects again at each SIGHUP, also under nohup. It goes on after ctx has ended: else a
// SIGHUP would end the process while a POST is in progress.
func (c *serveCommand) readAgain(ctx context.Context, w *queue.Worker, hooks *github.Webhooks) {
	if c.file == "" {
		return
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)

	go func() {
		for range hangups {
			projects, err := github.ReadProjects(c.flags, c.file)
			if err != nil {
				w.Logger.Error("the projects could not be read again: the old ones stay", "error", err)
				continue
			}
			use(ctx, w, hooks, projects)
			w.Logger.Info("the projects were read again", "repositories", len(projects))
		}
	}()
}

// use has projects document their repositories from now on, whose entries in status end.
func use(ctx context.Context, w *queue.Worker, hooks *github.Webhooks, projects github.Projects) {
	go ask(ctx, w, projects)

	hooks.SetProjects(projects)
	if err := hooks.NoteProjects(ctx); err != nil {
		w.Calm.Warn("status may name repositories that have a project by now", "error", err)
	}
}

// ask asks the service once for a job of each project, and warns if it refuses one. An outage shows with the first
// prompt.
func ask(ctx context.Context, w *queue.Worker, projects github.Projects) {
	ids := slices.Sorted(maps.Values(projects))
	for _, id := range slices.Compact(ids) {
		if id == "" {
			continue
		}
		client, err := w.Client.ForProject(id)
		if err == nil {
			_, err = client.Jobs.Get(ctx, "preflight")
		}

		if errors.Is(err, mintlify.ErrUnauthorized) || errors.Is(err, mintlify.ErrForbidden) {
			w.Logger.Warn("the service refuses a project: the key or the project is wrong", "project", id, "error", err)
		}
	}
}

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

// openAfterStop is how long webhooks are taken at least after the signal to stop: what routes them here may not know
// of it yet.
const openAfterStop = 2 * time.Second

// serveAndWork serves and works until ctx ends, or one of them fails. It goes on serving
// until the POSTs in progress have ended: GitHub delivers no webhook again by itself.
func serveAndWork(ctx context.Context, w *queue.Worker, servers map[string]*http.Server) error {
	all, ctx := errgroup.WithContext(ctx)

	isLeft := make(chan struct{})
	context.AfterFunc(ctx, func() {
		time.Sleep(openAfterStop)
		close(isLeft)
	})

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
		if _, isServing := servers["webhooks"]; isServing && ctx.Err() != nil {
			<-isLeft
		}
		if _, isServing := servers["webhooks"]; isServing && errors.Is(err, database.ErrNewer) {
			w.Logger.Error("no work and no webhook is taken any more: stop this process", "error", err)
			<-ctx.Done()
			err = nil
		}
		shutDown(ctx, servers)
		return err
	})
	return all.Wait()
}

// shutDown lets the requests in progress end. It closes those that have not ended by then, such as those of clients
// that send slowly.
func shutDown(ctx context.Context, servers map[string]*http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), github.HandlerTime)
	defer cancel()

	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			server.Close() //nolint:errcheck // the process ends
		}
	}
}

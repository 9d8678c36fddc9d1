package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
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

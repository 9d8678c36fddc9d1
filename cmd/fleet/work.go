package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
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
	f.Func("max-per-day", "[owner/repo=]N, repeatable: at most N new jobs of a repository a day (UTC); "+
		"N alone is for all others. The last start's count for all processes", c.setLimit)
	f.Func("keep", "months after which the texts of prompts that have ended are forgotten, such as 13m", c.setKeep)
}

func (c *workCommand) setLimit(text string) error {
	name, number, found := strings.Cut(text, "=")
	if !found {
		name = ""
		number = text
	}
	most, err := strconv.Atoi(number)
	if err != nil || most < 0 || found != database.RepositoryForm.MatchString(name) {
		return errors.New("want N or owner/repo=N, such as 20 or acme/api=5")
	}

	name = database.FoldCase(name)
	if _, isThere := c.MaxPerDay[name]; isThere {
		return fmt.Errorf("%s has two limits", cmp.Or(name, "the rest"))
	}
	if c.MaxPerDay == nil {
		c.MaxPerDay = map[string]int{}
	}
	c.MaxPerDay[name] = most
	return nil
}

var monthsForm = regexp.MustCompile(`^([1-9]\d{0,2})m$`)

func (c *workCommand) setKeep(text string) error {
	found := monthsForm.FindStringSubmatch(text)
	if found == nil {
		return errors.New("want months, such as 13m")
	}
	months, err := strconv.Atoi(found[1])
	c.Keep = months
	return err
}

func (c *workCommand) check(commandLine) error {
	if err := c.Settings.Check(); err != nil {
		return err
	}
	if c.logFormat != "text" && c.logFormat != "json" {
		return usage.Errorf("-log-format is %q, want text or json", c.logFormat)
	}
	return nil
}

func (c *workCommand) run(ctx context.Context) error {
	return c.work(ctx, func(*queue.Worker, *github.API) *http.Server { return nil })
}

// work works, and serves the admin's pages and what webhooks returns, unless that is nil.
func (c *workCommand) work(ctx context.Context, webhooks func(*queue.Worker, *github.API) *http.Server) error {
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

	return c.withStore(ctx, true, slog.LevelInfo, func(s queue.Queue) error {
		if err := s.SetLimits(ctx, c.MaxPerDay); err != nil {
			return fmt.Errorf("store -max-per-day: %w", err)
		}

		w := queue.NewWorker(s, client, results)
		docs := github.Docs{Queue: s, API: api}
		w.Decide = docs.DecideReviews
		w.Find = docs.Find
		w.AsksGitHub = api != nil
		servers := map[string]*http.Server{}
		if server := webhooks(w, api); server != nil {
			servers["webhooks"] = server
		}

		if c.adminAddr != "" {
			pages := admin{Queue: s, tells: results != nil}
			servers["admin"] = newServer(c.adminAddr, pages.handler(w.Posts, c.counts...))
		}
		return serveAndWork(ctx, w, servers)
	})
}

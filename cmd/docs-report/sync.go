package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// load loads what is missing into the database, or as plan prints what that would cost.
func (p program) load(ctx context.Context, name string, args []string) error {
	loader, what, err := p.parseSync(ctx, name, args)
	if err != nil {
		return err
	}
	defer loader.Store.Close()
	if name == "sync" {
		if err = loader.Load(ctx, what); err != nil {
			return err
		}
		done, rest := "Up to date", ""
		if loader.Later > 0 {
			done, rest = "Days, weeks and months are up to date", fmt.Sprintf(" Lists that the next runs load: %d.", loader.Later)
		}
		fmt.Fprintf(p.stderr, "%s since %v, for %d requests.%s\n", done, what.From, loader.Requests, rest)
		return nil
	}
	plan, err := loader.Plan(ctx, what)
	if err == nil {
		fmt.Fprintln(p.stdout, plan)
	}
	return err
}

// parseSync reads the command line, and opens the database and the service.
func (p program) parseSync(ctx context.Context, name string, args []string) (*load.Loader, load.Range, error) {
	f, l := p.newFlags(name), &load.Loader{}
	var what load.Range
	f.BoolVar(&f.demo, "demo", false, "load made-up data into a new database, named by -db")
	f.dayVar(&what.From, time.DateOnly, "from", "the first `day`, 2026-01-02 (default: the first of two reports' weeks)")
	f.IntVar(&l.Budget, "budget", 90, "`requests` an hour, over all runs on this database; the organization has 100 for all its programs")
	f.IntVar(&l.Pages, "pages", 5, "the most `pages` of each list: searches, questions, feedback, views")
	f.BoolVar(&l.Texts, "texts", false, "keep what readers write too: questions and answers, feedback's comments, code and contacts; they are personal data")
	f.BoolVar(&l.Wait, "wait", false, "let sync wait when the budget or the quota is used up, instead of stopping")
	if err := f.parse(p, args); err != nil {
		return nil, what, err
	}
	l.Log = func(format string, args ...any) { fmt.Fprintf(p.stderr, format+"\n", args...) }
	if what.From.Time().After(time.Now()) {
		return nil, what, wrongf("-from is %v, in the future", what.From)
	}
	what.Projects, what.Weeks = f.projects, f.weeks
	if what.From.IsZero() {
		what.From = store.LastWeeks("", f.weeks, load.SettledDay(time.Now())).Before().From
	}
	source, err := p.connect(f, l, &what)
	if err != nil {
		return nil, what, usageError{err}
	}
	l.Store, err = store.Open(ctx, cmp.Or(f.db, p.getenv("DATABASE_URL")), source)
	if err == nil {
		l.Store.Log = l.Log
	}
	return l, what, err
}

// connect makes the client and returns what it talks to. It does not retry: the loader
// does, and a 429 ends a run.
func (p program) connect(f *flags, l *load.Loader, what *load.Range) (source string, err error) {
	key, transport, project := strings.TrimSpace(p.getenv("MINTLIFY_API_KEY")), p.transport, strings.TrimSpace(p.getenv("MINTLIFY_PROJECT_ID"))
	origin := cmp.Or(strings.TrimRight(strings.TrimSpace(p.getenv("MINTLIFY_BASE_URL")), "/"), mintlify.DefaultBaseURL)
	source = origin
	if f.demo {
		source, key, project, origin, transport = store.Demo, mintlifytest.APIKey, "demo", mintlify.DefaultBaseURL, demo.NewService(p.demoPages, time.Now())
	}
	if len(what.Projects) == 0 && project != "" {
		what.Projects = []string{project}
	}
	switch {
	case key == "":
		return "", errors.New("MINTLIFY_API_KEY is not set: create an admin key on the API keys page of the dashboard, or give -demo and a new database")
	case len(what.Projects) == 0:
		return "", errors.New("no project: give -projects, or set MINTLIFY_PROJECT_ID")
	case f.demo && f.db == "":
		return "", errors.New("-demo wants -db, such as sqlite:demo.db: a database of its own")
	case l.Budget < 1:
		return "", fmt.Errorf("-budget is %d, want 1 or more", l.Budget)
	case l.Pages < 1:
		return "", fmt.Errorf("-pages is %d, want 1 or more", l.Pages)
	}
	warnings := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	options := []mintlify.Option{mintlify.WithBaseURL(origin), mintlify.WithRateLimiter(l.Reserve), mintlify.WithMaxRetries(0), mintlify.WithLogger(warnings)}
	if transport != nil {
		options = append(options, mintlify.WithHTTPClient(&http.Client{Transport: transport}))
	}
	for _, project := range what.Projects { // so that none is refused only in the middle of a run
		if l.Client, err = mintlify.NewClient(key, project, options...); err != nil {
			return "", err
		}
	}
	return source, nil
}

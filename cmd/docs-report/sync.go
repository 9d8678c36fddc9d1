package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// sync loads what is missing into the database.
func (p program) sync(ctx context.Context, args []string) error {
	loader, what, err := p.parseSync(ctx, "sync", args)
	if err != nil {
		return err
	}

	defer loader.Store.Close()

	err = loader.Load(ctx, what)
	if err != nil && loader.Missing > 0 {
		p.log("Missing: %s. Until then, reports show what is loaded.", about(loader.Missing))
	}
	if err != nil {
		return err
	}

	fmt.Fprintf(p.stderr, "Up to date since %v, for %d requests.\n", what.From, loader.Requests)
	return p.warn(ctx, loader, what.Projects)
}

// about says how many requests something takes.
func about(requests int) string {
	switch requests {
	case 0:
		return "nothing"
	case 1:
		return "about 1 request"
	}
	return fmt.Sprintf("about %d requests", requests)
}

// warn says which lists could not be loaded: days, weeks and months do not wait for them. It also says that a sync
// without -texts deletes nothing that a sync with -texts has kept.
func (p program) warn(ctx context.Context, l *exports.Loader, projects []string) error {
	hasTexts := false
	for _, project := range projects {
		all, err := l.Store.Exports(ctx, project)
		if err != nil {
			return err
		}

		for _, text := range troubles("Warning: "+safetext.OneLine(project, 100)+": ", all) {
			fmt.Fprintln(p.stderr, text)
		}
		keepsTexts := func(e store.Export) bool { return e.Texts && e.Kept > 0 }
		hasTexts = hasTexts || slices.ContainsFunc(all, keepsTexts)
	}

	if hasTexts && !l.Texts {
		fmt.Fprintln(p.stderr, "The database still keeps what readers wrote, from runs with -texts. "+
			"To delete it: docs-report forget -texts")
	}
	return nil
}

const monthsLoaded = 14 // a year before the last month, and the month that shows whether that one is whole

// plan prints what sync would cost.
func (p program) plan(ctx context.Context, args []string) error {
	loader, what, err := p.parseSync(ctx, "plan", args)
	if err != nil {
		return err
	}
	defer loader.Store.Close()

	plan, err := loader.Plan(ctx, what)
	if err != nil {
		return err
	}

	text := fmt.Sprintf("Missing: %s; %d of the hour's budget of %d are left. A night costs %s on average.",
		about(plan.Missing), plan.Left, loader.Budget, about(plan.Night))
	if plan.IsGuess {
		text += " This is for a site of up to 250 pages: sync finds out."
	}
	return p.print(text)
}

// parseSync reads the command line, and opens the database and the service.
func (p program) parseSync(ctx context.Context, name string, args []string) (*exports.Loader, exports.Range, error) {
	l := &exports.Loader{Log: p.log}
	what := exports.Range{Months: monthsLoaded}
	f := p.syncFlags(name, l, &what)
	if err := f.parse(p, args); err != nil {
		return nil, what, err
	}

	if f.demo {
		p = p.withDemo()
	}
	if f.demo && !f.isGiven("budget") {
		l.Budget = demo.Budget
	}

	what.Weeks = f.weeks
	what.Projects = f.projects
	if project := p.variable("MINTLIFY_PROJECT_ID"); len(what.Projects) == 0 && project != "" {
		what.Projects = []string{project}
	}
	if what.From.IsZero() {
		what.From = store.LastWeeks("", f.weeks, exports.SettledDay(time.Now())).Before().From
	}
	if err := p.checkSync(f, l, what); err != nil {
		return nil, what, usage.Errorf("%w", err)
	}

	source, err := p.connect(l, what.Projects)
	if err != nil {
		return nil, what, usage.Client(err)
	}
	if f.demo {
		source = store.Demo
	}
	l.Store, err = store.Open(ctx, cmp.Or(f.db, p.getenv("DATABASE_URL")), source)
	return l, what, err
}

func (p program) syncFlags(name string, l *exports.Loader, what *exports.Range) *flags {
	f := p.newFlags(name)
	f.addPeriod()
	f.BoolVar(&f.demo, "demo", false, "load made-up data into a new database, named by -db")
	f.dayVar(&what.From, time.DateOnly, "from",
		"the first `day`, 2026-01-02 (default: the first of two reports' weeks)")
	f.IntVar(&l.Budget, "budget", 90,
		"`requests` an hour, over all runs on this database; the organization has 100 for all its programs")
	f.IntVar(&l.Pages, "pages", 5, "the most `pages` of each list: searches, questions, feedback")
	f.BoolVar(&l.Texts, "texts", false,
		"keep what readers write too: questions and answers, feedback's comments, code and contacts; "+
			"they are personal data")

	f.BoolVar(&l.Wait, "wait", false,
		"wait when the budget or the quota is used up, or another sync is at work, instead of stopping")

	today := time.Now().UTC()
	f.countVar("keep", "m", "13m",
		"how many `months` to keep the rows of lists: deletes those of periods that ended before",
		func(months int) { what.KeepFrom = mintlify.DayOf(today.AddDate(0, -months, 0)) })
	f.countVar("keep-days", "d", "90d",
		"how many `days` to keep the pages by day: deletes those of days before, but not of days that stand out",
		func(days int) { what.KeepDaysFrom = mintlify.DayOf(today.AddDate(0, 0, -days)) })
	return f
}

// fillDemo loads a year of the demo's site into a new database, with the lists of a report of that many
// weeks.
func (p program) fillDemo(ctx context.Context, where string, weeks int) error {
	yearAgo := mintlify.DayOf(time.Now().UTC().AddDate(-1, 0, 0))
	loader, what, err := p.parseSync(ctx, "sync", []string{
		"-demo", "-texts", "-db", where, "-from", yearAgo.String(), "-weeks", strconv.Itoa(weeks),
	})
	if err != nil {
		return err
	}

	defer loader.Store.Close()
	loader.Log = func(string, ...any) {}
	return loader.Load(ctx, what)
}

// withDemo returns the program with the demo's fake of the service, and the fake's key.
func (p program) withDemo() program {
	p.transport = demo.NewService(p.demoPages, time.Now())
	environment := map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey, "MINTLIFY_PROJECT_ID": demo.Project}
	p.getenv = func(name string) string { return environment[name] }
	return p
}

// checkSync says what is missing before anything is opened or sent.
func (p program) checkSync(f *flags, l *exports.Loader, what exports.Range) error {
	latest := mintlify.DayOf(time.Now().UTC().AddDate(0, 0, -events.Kept))
	switch {
	case what.From.Time().After(time.Now()):
		return fmt.Errorf("-from is %v, in the future", what.From)
	case what.KeepDaysFrom.Time().After(latest.Time()):
		return fmt.Errorf("-keep-days: want %dd or more: a report finds what happened on the pages of these days",
			events.Kept)

	case p.variable("MINTLIFY_API_KEY") == "":
		return fmt.Errorf("%w, or give -demo and a new database", usage.ErrNoKey)
	case len(what.Projects) == 0:
		return fmt.Errorf("%w, or give -projects", usage.ErrNoProject)
	case f.demo && f.db == "":
		return errors.New("-demo wants -db, such as sqlite:demo.db: a database of its own")

	case l.Budget < 1:
		return fmt.Errorf("-budget is %d, want 1 or more", l.Budget)
	case l.Pages < 1:
		return fmt.Errorf("-pages is %d, want 1 or more", l.Pages)
	}
	return nil
}

// variable returns a variable of the environment without blanks around it.
func (p program) variable(name string) string { return strings.TrimSpace(p.getenv(name)) }

// connect gives the loader its client, and returns the service's address. The client does not retry: the
// loader does, and a 429 ends a run.
func (p program) connect(l *exports.Loader, projects []string) (string, error) {
	address := cmp.Or(strings.TrimRight(p.variable("MINTLIFY_BASE_URL"), "/"), mintlify.DefaultBaseURL)
	warnings := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	options := []mintlify.Option{
		mintlify.WithBaseURL(address),
		mintlify.WithRateLimiter(l.Reserve),
		mintlify.WithMaxRetries(0),
		mintlify.WithLogger(warnings),
	}
	if p.transport != nil {
		options = append(options, mintlify.WithHTTPClient(&http.Client{Transport: p.transport}))
	}

	for _, project := range projects { // refuses a wrong project before the run begins
		var err error
		if l.Client, err = mintlify.NewClient(p.variable("MINTLIFY_API_KEY"), project, options...); err != nil {
			return "", err
		}
	}
	return address, nil
}

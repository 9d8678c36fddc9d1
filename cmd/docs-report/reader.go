package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// reader has what report and digest share: what they show, and where it is stored.
type reader struct {
	*flags
	month   mintlify.Date // its first day; zero: the last weeks
	site    string
	machine []string
	store   *store.Store
}

func (p program) newReader(name string) *reader {
	r := &reader{flags: p.newFlags(name), machine: []string{"llms.txt", "llms-full.txt", "/mcp"}}
	r.addPeriod()
	r.BoolVar(&r.demo, "demo", false, "show made-up data, without a database")
	r.dayVar(&r.month, "2006-01", "month", "the `month`, 2026-01, instead of the last weeks")
	r.Func("machine", "a `pattern` of files for machines, beside llms.txt, llms-full.txt and /mcp: "+
		"a file's name such as *.md, or a path; give it again for more", r.addMachine)
	return r
}

func (r *reader) addMachine(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return errors.New("want a pattern such as *.md or /mcp/*")
	}
	r.machine = append(r.machine, pattern)
	return nil
}

// read reads what the pages of the wanted projects show.
func (r *reader) read(ctx context.Context, p program) ([]report.Input, error) {
	var inputs []report.Input
	err := r.withStore(ctx, p, func() error {
		for _, project := range r.projects {
			in, err := r.input(ctx, project)
			if err != nil {
				return err
			}
			inputs = append(inputs, in)
		}
		return nil
	})
	return inputs, err
}

// withStore calls read with the database or, for a demo, with a new one that has made-up data.
func (r *reader) withStore(ctx context.Context, p program, read func() error) error {
	where := cmp.Or(r.db, p.getenv("DATABASE_URL"))
	if r.demo {
		folder, err := os.MkdirTemp("", "docs-report")
		if err != nil {
			return err
		}

		defer func() { _ = os.RemoveAll(folder) }()

		where = "sqlite:" + filepath.Join(folder, "demo.db")
		if err := r.fillDemo(ctx, p, where); err != nil {
			return err
		}
	}

	s, err := store.Read(ctx, where)
	if err != nil {
		return err
	}

	defer s.Close()
	r.store = s

	if err := r.chooseProjects(ctx); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	return s.Unchanged()
}

func (r *reader) parseReader(p program, args []string) error {
	if err := r.parse(p, args); err != nil {
		return err
	}
	if r.demo && r.db != "" {
		return wrongf("-demo shows made-up data: it reads no -db")
	}

	site, err := url.Parse(r.site)
	isURL := err == nil && site.Host != "" && (site.Scheme == "https" || site.Scheme == "http")
	if r.site != "" && !isURL {
		return wrongf("-site is not a URL such as https://docs.example.com")
	}
	r.site = strings.TrimRight(r.site, "/")
	return nil
}

// chooseProjects takes the projects that -projects names, or all projects of the database.
func (r *reader) chooseProjects(ctx context.Context) error {
	known, err := r.store.Projects(ctx)
	if err != nil {
		return err
	}

	if len(known) == 0 {
		return errors.New("the database has no numbers yet: docs-report sync loads them")
	}

	if len(r.projects) == 0 {
		r.projects = known
	}

	for _, project := range r.projects {
		if !slices.Contains(known, project) {
			return wrongf("the database has no project %q, only: %s", project, strings.Join(known, ", "))
		}
	}
	return nil
}

// databaseFiles returns the files of the database that the flags and the environment name, even
// if a demo reads another database.
func (r *reader) databaseFiles(p program) []string {
	return store.Files(cmp.Or(r.db, p.getenv("DATABASE_URL")))
}

// fillDemo loads made-up data into a new database.
func (r *reader) fillDemo(ctx context.Context, p program, where string) error {
	p.stderr = nil // a demo does not log its sync
	from := time.Now().AddDate(-1, 0, 0).Format(time.DateOnly)
	args := []string{"-demo", "-texts", "-budget", "10000", "-db", where, "-from", from}
	args = append(args, "-weeks", strconv.Itoa(r.weeks))
	loader, what, err := p.parseSync(ctx, "sync", args)
	if err != nil {
		return err
	}

	defer loader.Store.Close()

	for {
		if err := loader.Load(ctx, what); err != nil {
			return err
		}
		if loader.Later == 0 { // a run may leave some lists to the next run
			return nil
		}
	}
}

// input reads everything that a project's page shows.
func (r *reader) input(ctx context.Context, project string) (report.Input, error) {
	in := report.Input{
		Project:   project,
		Demo:      r.store.Source == store.Demo,
		Generated: time.Now().UTC(),
		Site:      r.site,
		Machine:   r.machine,
		Final:     true,
	}
	window, err := r.window(ctx, project)
	if err != nil {
		return in, err
	}

	newest := store.LastWeeks(project, r.weeks, load.SettledDay(time.Now()))
	in.Stale = r.month.IsZero() && window.To.Time().Before(newest.To.Time())

	if in.Period, err = r.period(ctx, &in, window); err != nil {
		return in, err
	}
	if in.Before, err = r.period(ctx, &in, window.Before()); err != nil {
		return in, err
	}
	return in, r.readTrends(ctx, &in)
}

// period reads a window's visitors and lists, and notes in the input whether the visitors
// are final.
func (r *reader) period(ctx context.Context, in *report.Input, w store.Window) (report.Period, error) {
	export, rows, err := r.store.Visitors(ctx, w)
	if err != nil {
		return report.Period{}, err
	}

	known := !export.At.IsZero()
	in.Final = in.Final && (!known || load.IsFinal(export.At, w))
	period := report.Period{Window: w, Known: known, Totals: export.Totals, Rows: rows}
	return period, r.readLists(ctx, &period)
}

func (r *reader) readTrends(ctx context.Context, in *report.Input) error {
	window := in.Period.Window
	unit := report.Unit(window)

	var err error
	if in.Trend, err = r.store.Series(ctx, unit, window); err != nil {
		return err
	}
	if in.TrendFrom, err = r.store.Series(ctx, unit, in.Before.Window); err != nil {
		return err
	}
	in.Months, err = r.store.Series(ctx, store.Month, store.Window{Project: window.Project, To: window.To})
	return err
}

func (r *reader) readLists(ctx context.Context, into *report.Period) error {
	if err := readList(ctx, r.store, into.Window, store.Searches, &into.Searches); err != nil {
		return err
	}
	if err := readList(ctx, r.store, into.Window, store.Conversations, &into.Conversations); err != nil {
		return err
	}
	if err := readList(ctx, r.store, into.Window, store.FeedbackByPage, &into.ByPage); err != nil {
		return err
	}
	if err := readList(ctx, r.store, into.Window, store.Feedback, &into.Comments); err != nil {
		return err
	}
	return readList(ctx, r.store, into.Window, store.Views, &into.Views)
}

func readList[T any](ctx context.Context, s *store.Store, w store.Window, kind store.Kind, into *report.List[T]) error {
	export, rows, err := store.List[T](ctx, s, w, kind)
	if err != nil {
		return err
	}
	export.Window = w // even without an export: the page names the command that loads it
	*into = report.List[T]{Export: export, Rows: rows}
	return nil
}

// window returns the days to show: the month, or the newest weeks in the database.
func (r *reader) window(ctx context.Context, project string) (store.Window, error) {
	span := store.Weeks(r.weeks)
	within := store.Window{Project: project}
	loads := fmt.Sprintf("-weeks %d", r.weeks)
	if !r.month.IsZero() {
		span = store.Month
		within = store.Windows(project, span, r.month, r.month.AddDays(31))[0]
		loads = fmt.Sprintf("-from %v", r.month)
	}

	all, err := r.store.Series(ctx, span, within)
	if err != nil {
		return within, err
	}
	if len(all) == 0 {
		return within, fmt.Errorf("%q has no such %s in the database: docs-report sync %s loads it",
			project, span, loads)
	}
	return all[len(all)-1].Window, nil
}

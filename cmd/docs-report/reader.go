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
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// reader has what report and digest share: what they show, and where it is stored.
type reader struct {
	*flags
	month  mintlify.Date // its first day; zero: the last weeks
	tooOld error         // is returned when all is written: a project's newest day is older
	moves  []string      // as given: /old=/new
	shown  report.Input  // has what the flags say of it
	store  *store.Store
}

func (p program) newReader(name string) *reader {
	r := &reader{flags: p.newFlags(name)}
	r.shown.Machine = []string{"llms.txt", "llms-full.txt", "/mcp"}
	r.addPeriod()
	r.addMaxAge()
	r.BoolVar(&r.demo, "demo", false, "show made-up data, without a database")

	r.dayVar(&r.month, "2006-01", "month", "the `month`, 2026-01, instead of the last weeks")
	r.Func("machine", "a `pattern` of files for machines, beside llms.txt, llms-full.txt and /mcp: "+
		"a file's name such as *.md, or a path; give it again for more", r.addMachine)
	r.Func("moved", "a page or a folder that was renamed, `/old=/new` or /old/=/new/: its numbers are added "+
		"to the new one's; give it again for more", r.addMoved)
	r.Func("sitemap", "a `file` with a sitemap, or with a path on each line: lists the pages that no human visited",
		r.readSitemap)
	return r
}

func (r *reader) addMoved(text string) error {
	var err error
	r.moves = append(r.moves, text)
	r.shown.Moved, err = report.ParseMoved(r.moves)
	return err
}

func (r *reader) readSitemap(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	r.shown.Sitemap, err = report.ParseSitemap(data)
	return err
}

func (r *reader) addMachine(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return errors.New("want a pattern such as *.md or /mcp/*")
	}
	r.shown.Machine = append(r.shown.Machine, pattern)
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
	if err != nil {
		return nil, err
	}

	for _, name := range r.shown.Moved.UnknownNames(inputs) {
		p.log("-moved: no page of these weeks has the name %s.", name)
	}
	return inputs, nil
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
		if err := p.fillDemo(ctx, where, r.weeks); err != nil {
			return err
		}
	}

	s, err := store.Read(ctx, where)
	if err != nil {
		return err
	}

	defer s.Close()
	r.store = s

	known, err := s.Projects(ctx)
	if err != nil {
		return err
	}
	if r.projects, err = r.choose(known); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}

	r.tooOld = r.checkAge(ctx, s, r.projects)
	return nil
}

func (r *reader) parseReader(p program, args []string) error {
	if err := r.parse(p, args); err != nil {
		return err
	}
	if r.demo && r.db != "" {
		return usage.Errorf("-demo shows made-up data: it reads no -db")
	}

	site, err := url.Parse(r.shown.Site)
	isURL := err == nil && site.Host != "" && (site.Scheme == "https" || site.Scheme == "http")
	if r.shown.Site != "" && !isURL {
		return usage.Errorf("-site is not a URL such as https://docs.example.com")
	}
	r.shown.Site = strings.TrimRight(r.shown.Site, "/")
	return nil
}

// databaseFile returns the file of the database that the flags and the environment name, even if a demo
// reads another database; "" for Postgres.
func (r *reader) databaseFile(p program) string {
	return store.File(cmp.Or(r.db, p.getenv("DATABASE_URL")))
}

func (r *reader) newInput(project string) report.Input {
	in := r.shown
	in.Project = project
	in.Demo = r.store.Source == store.Demo
	in.Generated = time.Now().UTC()
	return in
}

func (r *reader) input(ctx context.Context, project string) (report.Input, error) {
	in := r.newInput(project)
	window, err := r.window(ctx, project)
	if err != nil {
		return in, err
	}

	syncs, err := r.store.Syncs(ctx)
	if err != nil {
		return in, err
	}

	last := syncs[project]
	in.LastSync = last.At
	in.Failing = slices.DeleteFunc(last.Failing, func(list store.FailingList) bool { return list.Times < 2 })

	before := window.Before()
	if !r.month.IsZero() {
		before = window.MonthBefore()
	} else if weeks, isOld, isMissing := exports.MissingWeeks(window, last.At, in.Generated); isMissing {
		in.NotLoaded = weeks
		in.Old = isOld
	}

	db := &rows{Store: r.store}
	in.Final = true
	in.Period = db.period(ctx, &in, window)
	in.Before = db.period(ctx, &in, before)
	db.readTrends(ctx, &in)
	db.readDays(ctx, &in)
	return in, db.err
}

// period reads a window's visitors and lists, and notes in the input whether the visitors
// are final.
func (db *rows) period(ctx context.Context, in *report.Input, w store.Window) report.Period {
	var export store.Export
	var visitors []mintlify.Visitor
	if db.err == nil {
		export, visitors, db.err = db.Visitors(ctx, w)
	}

	p := report.Period{
		Window: w,
		Known:  export.State == store.Loaded,
		Totals: export.Totals,
		Rows:   visitors,

		Searches:      readList[mintlify.SearchTerm](ctx, db, w, store.Searches),
		ByPage:        readList[mintlify.FeedbackCount](ctx, db, w, store.FeedbackByPage),
		Conversations: readTimed(ctx, db, w, store.Conversations, report.AskedAt),
		Comments:      readTimed(ctx, db, w, store.Feedback, report.WrittenAt),
	}
	in.Final = in.Final && (!p.Known || exports.IsFinal(export.At, w))

	// The list of thumbs has only so many pages: those of the weeks may have them all.
	for _, week := range store.Windows(w.Project, store.Week, w.From, w.To) {
		p.Weeks = append(p.Weeks, readList[mintlify.FeedbackCount](ctx, db, week, store.FeedbackByPage))
	}
	return p
}

func (db *rows) readTrends(ctx context.Context, in *report.Input) {
	project := in.Project
	unit := report.Unit(in.Period.Window)
	in.Trend = db.series(ctx, unit, in.Period.Window)
	in.TrendFrom = db.series(ctx, unit, in.Before.Window)
	in.Days = db.series(ctx, store.Day, store.Window{Project: project})
	in.Months = db.series(ctx, store.Month, store.Window{Project: project, To: in.Period.To})
}

const mostDays = 200 // whose pages are read: those of longer windows are too many

// readDays reads the pages of the days of the two periods and of those around them, and which pages have moved.
func (db *rows) readDays(ctx context.Context, in *report.Input) {
	since := in.Before.From.AddDays(-events.Kept / 3)
	if (store.Window{From: since, To: in.Period.To}).Days() > mostDays {
		since = in.Period.To.AddDays(-events.Kept)
	}
	in.ByDay, in.Moved = db.moved(ctx, in.Project, in.Days, since, in.Moved)

	if db.err == nil {
		in.HasForgotten, db.err = db.HasForgotten(ctx, in.Project, store.Searches)
	}
}

// moved returns a project's days since one with their pages, and given moves with those that are found.
func (db *rows) moved(
	ctx context.Context, project string, days []store.Point, since mintlify.Date, given report.Moved,
) (*events.Site, report.Moved) {
	var site *events.Site
	var found []store.Move
	if db.err == nil {
		site, found, db.err = exports.Events(ctx, db.Store, project, days, since)
	}
	return site, given.With(found)
}

// window returns the days to show: the month, or the newest weeks in the database.
func (r *reader) window(ctx context.Context, project string) (store.Window, error) {
	const missing = "%s of %q is not in the database: docs-report sync %s loads it"
	if r.month.IsZero() {
		weeks, found, err := r.store.NewestWeeks(ctx, project, r.weeks)
		if err == nil && !found {
			err = fmt.Errorf(missing, store.Weeks(r.weeks), project, fmt.Sprintf("-weeks %d", r.weeks))
		}
		return weeks, err
	}

	month := store.Windows(project, store.Month, r.month, r.month.AddDays(31))[0]
	found, err := r.store.Series(ctx, store.Month, month)
	if err != nil || len(found) > 0 {
		return month, err
	}
	if notOver := exports.NotOver(month, time.Now()); notOver != "" {
		return month, errors.New(notOver)
	}
	name := r.month.Time().Format("January 2006")
	return month, fmt.Errorf(missing, name, project, fmt.Sprintf("-from %v", r.month))
}

// rows reads from the database. It reads nothing after an error, which err keeps.
type rows struct {
	*store.Store
	err error
}

func (db *rows) series(ctx context.Context, span store.Span, within store.Window) []store.Point {
	var points []store.Point
	if db.err == nil {
		points, db.err = db.Series(ctx, span, within)
	}
	return points
}

// ofPage returns the visitors of a page by day, week or month.
func (db *rows) ofPage(ctx context.Context, project string, span store.Span, names []string) []store.Point {
	var points []store.Point
	if db.err == nil {
		points, db.err = db.PageSeries(ctx, project, span, names)
	}
	return points
}

func withSlashes(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, name)
		if !strings.HasSuffix(name, "/") {
			all = append(all, name+"/")
		}
	}
	return all
}

func readList[T any](ctx context.Context, db *rows, w store.Window, kind store.Kind) report.List[T] {
	var list report.List[T]
	if db.err == nil {
		list.Export, list.Rows, db.err = store.List[T](ctx, db.Store, w, kind)
	}
	list.Window = w // even without an export: the page names the command that loads it
	return list
}

func readLists[T any](ctx context.Context, db *rows, project string, kind store.Kind) []report.List[T] {
	var exports []store.Export
	if db.err == nil {
		exports, db.err = db.Lists(ctx, project, kind)
	}

	var all []report.List[T]
	for _, e := range exports {
		all = append(all, readList[T](ctx, db, e.Window, kind))
	}
	return all
}

// readTimed reads a list whose rows have times: if the database does not have it, from those of other windows.
func readTimed[T any](
	ctx context.Context, db *rows, w store.Window, kind store.Kind, at func(T) time.Time,
) report.List[T] {
	list := readList[T](ctx, db, w, kind)
	if list.State != store.Missing {
		return list
	}
	return report.Within(readLists[T](ctx, db, w.Project, kind), at, w)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/outliers"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// reader has what report and digest share: what they show, and where it is stored.
type reader struct {
	*flags
	month   mintlify.Date // its first day; zero: the last weeks
	site    string
	machine []string
	maxAge  *int  // days
	tooOld  error // is returned when all is written: a project's newest day is older
	marks   []report.Mark
	moves   []string // as given: /old=/new
	moved   report.Moved
	sitemap []string
	store   *store.Store
}

func (p program) newReader(name string) *reader {
	r := &reader{flags: p.newFlags(name), machine: []string{"llms.txt", "llms-full.txt", "/mcp"}}
	r.addPeriod()
	r.maxAge = r.maxAgeVar()
	r.BoolVar(&r.demo, "demo", false, "show made-up data, without a database")

	r.dayVar(&r.month, "2006-01", "month", "the `month`, 2026-01, instead of the last weeks")
	r.Func("machine", "a `pattern` of files for machines, beside llms.txt, llms-full.txt and /mcp: "+
		"a file's name such as *.md, or a path; give it again for more", r.addMachine)
	r.Func("mark", "a `DATE=TEXT`, such as 2026-11-03=Launch: a line in the chart, "+
		"and the week after it beside the week before; give it again for more", r.addMark)
	r.Func("moved", "a page or a folder that was renamed, `/old=/new` or /old/=/new/: its numbers are added "+
		"to the new one's; give it again for more", r.addMoved)
	r.Func("sitemap", "a `file` with a sitemap, or with a path on each line: lists the pages that no human visited",
		r.readSitemap)
	return r
}

func (r *reader) addMark(text string) error {
	date, what, _ := strings.Cut(text, "=")
	day, err := mintlify.ParseDate(date)
	if err != nil || strings.TrimSpace(what) == "" {
		return errors.New("want it as 2026-11-03=Launch")
	}
	r.marks = append(r.marks, report.Mark{Day: day, Text: what})
	return nil
}

func (r *reader) addMoved(text string) error {
	var err error
	r.moves = append(r.moves, text)
	r.moved, err = report.ParseMoved(r.moves)
	return err
}

const maxSitemap = 64 << 20 // bytes; the format allows 50 MB

func (r *reader) readSitemap(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()

	data, err := io.ReadAll(io.LimitReader(file, maxSitemap))
	if err != nil {
		return err
	}
	r.sitemap, err = report.ParseSitemap(data)
	return err
}

func (r *reader) addMachine(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
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
	if err != nil {
		return nil, err
	}

	for _, name := range r.moved.UnknownNames(inputs) {
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

	r.tooOld = checkAge(ctx, s, r.projects, *r.maxAge)
	return nil
}

func (r *reader) parseReader(p program, args []string) error {
	if err := r.parse(p, args); err != nil {
		return err
	}
	if r.demo && r.db != "" {
		return usage.Errorf("-demo shows made-up data: it reads no -db")
	}

	site, err := url.Parse(r.site)
	isURL := err == nil && site.Host != "" && (site.Scheme == "https" || site.Scheme == "http")
	if r.site != "" && !isURL {
		return usage.Errorf("-site is not a URL such as https://docs.example.com")
	}
	r.site = strings.TrimRight(r.site, "/")
	return nil
}

// databaseFile returns the file of the database that the flags and the environment name, even if a demo
// reads another database; "" for Postgres.
func (r *reader) databaseFile(p program) string {
	return store.File(cmp.Or(r.db, p.getenv("DATABASE_URL")))
}

func (r *reader) input(ctx context.Context, project string) (report.Input, error) {
	in := report.Input{
		Project:   project,
		Demo:      r.store.Source == store.Demo,
		Generated: time.Now().UTC(),
		Site:      r.site,
		Machine:   r.machine,
		Marks:     r.marks,
		Moved:     r.moved,
		Sitemap:   r.sitemap,
		Final:     true,
	}

	window, err := r.window(ctx, project)
	if err != nil {
		return in, err
	}

	if r.month.IsZero() {
		if week, isOld, isMissing := exports.MissingWeek(window, in.Generated); isMissing {
			in.NotLoaded = week.From
			in.Old = isOld
		}
	}

	if in.Period, err = r.period(ctx, &in, window); err != nil {
		return in, err
	}

	before := window.Before()
	if !r.month.IsZero() {
		before = window.MonthBefore()
	}

	if in.Before, err = r.period(ctx, &in, before); err != nil {
		return in, err
	}
	if err := in.CheckMarks(); err != nil {
		return in, usage.Errorf("%w", err)
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

	known := export.State == store.Loaded
	in.Final = in.Final && (!known || exports.IsFinal(export.At, w))
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

	if in.Days, err = r.store.Series(ctx, store.Day, store.Window{Project: window.Project}); err != nil {
		return err
	}
	ended := store.Window{Project: window.Project, To: window.To}
	if in.Months, err = r.store.Series(ctx, store.Month, ended); err != nil {
		return err
	}

	in.DayRows = map[mintlify.Date][]mintlify.Visitor{}
	for _, day := range outliers.Needed(in.Days, in.Period.Window, in.Before.Window) {
		w := store.Window{Project: window.Project, From: day, To: day.AddDays(1)}
		if _, in.DayRows[day], err = r.store.Visitors(ctx, w); err != nil {
			return err
		}
	}
	return nil
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

	// The list of thumbs has only so many pages: those of the weeks may have them all.
	weeks := store.Windows(into.Project, store.Week, into.From, into.To)
	into.Weeks = make([]report.List[mintlify.FeedbackCount], len(weeks))
	for i, week := range weeks {
		if err := readList(ctx, r.store, week, store.FeedbackByPage, &into.Weeks[i]); err != nil {
			return err
		}
	}

	if err := readOverlapping(ctx, r.store, store.Conversations, report.AskedAt, &into.Conversations); err != nil {
		return err
	}
	return readOverlapping(ctx, r.store, store.Feedback, report.WrittenAt, &into.Comments)
}

// readOverlapping takes the rows of a list from those of other windows, if the database does not have it:
// the rows have times.
func readOverlapping[T any](
	ctx context.Context, s *store.Store, kind store.Kind, at func(T) time.Time, list *report.List[T],
) error {
	if list.State != store.Missing {
		return nil
	}
	lists, err := readLists[T](ctx, s, list.Project, kind)
	*list = report.Within(lists, at, list.Window)
	return err
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

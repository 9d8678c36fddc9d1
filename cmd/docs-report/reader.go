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

// reader is what report and digest have in common: what they show, and where it is.
type reader struct {
	*flags
	month   mintlify.Date // its first day; zero: the last weeks
	site    string
	machine []string
	store   *store.Store
}

func (p program) newReader(name string) *reader {
	r := &reader{flags: p.newFlags(name), machine: []string{"llms.txt", "llms-full.txt", "/mcp"}}
	r.BoolVar(&r.demo, "demo", false, "show made-up data, without a database")
	r.dayVar(&r.month, "2006-01", "month", "the `month`, 2026-01, instead of the last weeks")
	r.Func("machine", "a `pattern` of files for machines, beside llms.txt, llms-full.txt and /mcp: a file's name such as *.md, or a path; give it again for more", func(text string) error {
		if _, err := path.Match(text, ""); err != nil || text == "" {
			return errors.New("want a pattern such as *.md or /mcp/*")
		}
		r.machine = append(r.machine, text)
		return nil
	})
	return r
}

// read reads the command line and then the database, which is all that a report needs.
func (r *reader) read(ctx context.Context, p program, args []string) (inputs []report.Input, err error) {
	if err := r.parse(p, args); err != nil {
		return nil, err
	}
	if site, err := url.Parse(r.site); r.site != "" && (err != nil || site.Host == "" || site.Scheme != "https" && site.Scheme != "http") {
		return nil, wrongf("-site is not a URL such as https://docs.example.com")
	}
	r.site = strings.TrimRight(r.site, "/")
	if r.demo {
		folder, err := os.MkdirTemp("", "docs-report")
		defer func() { _ = os.RemoveAll(folder) }() // once the store is closed
		if err = errors.Join(err, r.fillDemo(ctx, p, folder)); err != nil {
			return nil, err
		}
	}
	if r.store, err = store.Read(ctx, cmp.Or(r.db, p.getenv("DATABASE_URL"))); err != nil {
		return nil, err
	}
	defer r.store.Close()
	projects, err := r.store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	if len(projects) == 0 {
		return nil, errors.New("the database has no numbers yet: docs-report sync loads them")
	}
	if len(r.projects) == 0 {
		r.projects = projects
	}
	for _, project := range r.projects {
		if !slices.Contains(projects, project) {
			return nil, fmt.Errorf("the database has no project %q, only: %s", project, strings.Join(projects, ", "))
		}
		in, err := r.input(ctx, project)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// fillDemo loads made-up data into a database within a folder.
func (r *reader) fillDemo(ctx context.Context, p program, folder string) (err error) {
	if r.db != "" {
		return wrongf("-demo shows made-up data: it reads no -db")
	}
	r.db, p.stderr = "sqlite:"+filepath.Join(folder, "demo.db"), nil // a demo says nothing of its sync
	from := time.Now().AddDate(-1, 0, 0).Format(time.DateOnly)
	for range 2 { // a night leaves some lists for the next
		err = errors.Join(err, p.load(ctx, "sync", []string{"-demo", "-texts", "-budget", "10000", "-weeks", strconv.Itoa(r.weeks), "-from", from, "-db", r.db}))
	}
	return err
}

// input reads all that a project's page shows.
func (r *reader) input(ctx context.Context, project string) (report.Input, error) {
	in := report.Input{Project: project, Demo: r.store.Source == store.Demo, Generated: time.Now().UTC(), Site: r.site, Machine: r.machine, Final: true}
	window, err := r.window(ctx, project)
	if err != nil {
		return in, err
	}
	in.Stale = r.month.IsZero() && window.To.Time().Before(store.LastWeeks(project, r.weeks, load.SettledDay(time.Now())).To.Time())
	for into, w := range map[*report.Period]store.Window{&in.Period: window, &in.Before: window.Before()} {
		export, rows, err := r.store.Visitors(ctx, w)
		if err != nil {
			return in, err
		}
		*into = report.Period{Window: w, Known: !export.At.IsZero(), Totals: export.Totals, Rows: rows}
		in.Final = in.Final && (!into.Known || load.IsFinal(export.At, w))
	}
	var failed [3]error
	in.Trend, failed[0] = r.store.Series(ctx, report.Unit(window), window)
	in.TrendFrom, failed[1] = r.store.Series(ctx, report.Unit(window), window.Before())
	in.Months, failed[2] = r.store.Series(ctx, store.Month, store.Window{Project: project, To: window.To})
	return in, errors.Join(errors.Join(failed[:]...),
		readList(ctx, r.store, window, store.Searches, &in.Searches),
		readList(ctx, r.store, window, store.Conversations, &in.Conversations),
		readList(ctx, r.store, window, store.FeedbackByPage, &in.ByPage),
		readList(ctx, r.store, window, store.Feedback, &in.Comments),
		readList(ctx, r.store, window, store.Views, &in.Views))
}

func readList[T any](ctx context.Context, s *store.Store, w store.Window, kind store.Kind, into *report.List[T]) (err error) {
	into.Export, into.Rows, err = store.List[T](ctx, s, w, kind)
	return err
}

// window returns the days to show: the month, or the newest weeks that there are.
func (r *reader) window(ctx context.Context, project string) (store.Window, error) {
	span, within, flag := store.Weeks(r.weeks), store.Window{Project: project}, fmt.Sprintf("-weeks %d", r.weeks)
	if !r.month.IsZero() {
		span, flag = store.Month, fmt.Sprintf("-from %v", r.month)
		within = store.Windows(project, span, r.month, r.month.AddDays(31))[0]
	}
	all, err := r.store.Series(ctx, span, within)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%q has no such %s in the database: docs-report sync %s loads it", project, span, flag)
	}
	if err != nil {
		return within, err
	}
	return all[len(all)-1].Window, nil
}

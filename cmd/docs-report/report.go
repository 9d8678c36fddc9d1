package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
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

// report writes the page, one for each project.
func (p program) report(ctx context.Context, args []string) error {
	r := p.newReader("report")
	output := r.String("o", "", "the page's `file`, - for stdout, or a folder for the pages of several projects")
	csv := r.String("csv", "", "a `file` for all pages as CSV, - for stdout")
	r.StringVar(&r.site, "site", "", "the `URL` of the documentation: paths become links")
	inputs, err := r.read(ctx, p, args)
	if err != nil {
		return err
	}
	if *csv != "" {
		if err := writeFile(*csv, p.stdout, func(w io.Writer) error { return report.WriteCSV(w, inputs) }); err != nil {
			return err
		}
	}
	info, err := os.Stat(*output)
	isFolder := err == nil && info.IsDir() || strings.HasSuffix(*output, "/")
	switch {
	case *output == "" && *csv == "":
		return wrongf("give -o page.html, or -csv pages.csv")
	case *output == "":
		return nil
	case isFolder || len(inputs) > 1 && filepath.Ext(*output) == "" && *output != stdout:
		return p.writeFolder(*output, inputs)
	case len(inputs) > 1:
		return wrongf("the database has %d projects: give a folder by -o, or one of them by -projects", len(inputs))
	}
	return p.writePage(*output, func(w io.Writer) error { return report.Write(w, inputs[0]) })
}

func (p program) writePage(path string, write func(io.Writer) error) error {
	err := writeFile(path, p.stdout, write)
	if err == nil && path != stdout {
		fmt.Fprintf(p.stderr, "Wrote %s.\n", path)
	}
	return err
}

// writeFolder writes the pages first: the index links to them.
func (p program) writeFolder(folder string, inputs []report.Input) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	var files []string
	for _, in := range inputs {
		name := url.PathEscape(in.Project) + ".html"
		if strings.EqualFold(name, "index.html") {
			name = "index-project.html"
		}
		if err := p.writePage(filepath.Join(folder, name), func(w io.Writer) error { return report.Write(w, in) }); err != nil {
			return err
		}
		files = append(files, url.PathEscape(name))
	}
	return p.writePage(filepath.Join(folder, "index.html"), func(w io.Writer) error { return report.WriteIndex(w, inputs, files) })
}

// digest prints the page in a few lines.
func (p program) digest(ctx context.Context, args []string) error {
	r := p.newReader("digest")
	slack := r.Bool("slack", false, "print JSON for a webhook of Slack")
	inputs, err := r.read(ctx, p, args)
	if err != nil {
		return err
	}
	if len(inputs) > 1 {
		return wrongf("the database has %d projects: give one of them by -projects", len(inputs))
	}
	lines := report.Digest(inputs[0])
	text := strings.Join(lines, "\n")
	if *slack {
		text = report.Slack(text)
	}
	fmt.Fprintln(p.stdout, text)
	return nil
}

// read reads the command line and then the database, which is all that a report needs.
func (r *reader) read(ctx context.Context, p program, args []string) ([]report.Input, error) {
	if err := r.parse(p, args); err != nil {
		return nil, err
	}
	if site, err := url.Parse(r.site); r.site != "" && (err != nil || site.Host == "" || site.Scheme != "https" && site.Scheme != "http") {
		return nil, wrongf("-site is not a URL such as https://docs.example.com")
	}
	r.site = strings.TrimRight(r.site, "/")
	if err := r.open(ctx, p); err != nil {
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
	var inputs []report.Input
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

func (r *reader) open(ctx context.Context, p program) (err error) {
	if !r.demo {
		r.store, err = store.Read(ctx, r.database(p))
		return err
	}
	if r.db != "" {
		return wrongf("-demo shows made-up data: it reads no -db")
	}
	now := time.Now()
	if r.store, err = store.Open(ctx, "sqlite::memory:", store.Demo); err != nil {
		return err
	}
	l := &load.Loader{Store: r.store, Budget: 10_000, Pages: 5, Texts: true, Log: func(string, ...any) {}}
	transport := demo.NewService(p.demoPages, now)
	l.Client, err = mintlify.NewClient(mintlifytest.APIKey, "demo", mintlify.WithHTTPClient(&http.Client{Transport: transport}), mintlify.WithRateLimiter(l.Reserve))
	if err != nil {
		return err
	}
	what := load.Range{Projects: []string{"demo"}, From: mintlify.DayOf(now.AddDate(-1, 0, 0).UTC()), Weeks: r.weeks}
	return errors.Join(l.Load(ctx, what), l.Load(ctx, what)) // a night leaves some lists for the next
}

// input reads all that a project's page shows.
func (r *reader) input(ctx context.Context, project string) (report.Input, error) {
	in := report.Input{Project: project, Demo: r.store.Source == store.Demo, Generated: time.Now().UTC(), Site: r.site, Machine: r.machine}
	window, err := r.window(ctx, project)
	if err != nil {
		return in, err
	}
	in.Stale = r.month.IsZero() && window.To.Time().Before(store.LastWeeks(project, r.weeks, load.SettledDay(time.Now())).To.Time())
	in.Final = true
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
	in.Months, failed[2] = r.store.Series(ctx, store.Month, store.Window{Project: project, From: mintlify.Day(1970, time.January, 1), To: window.To})
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
	span := store.Weeks(r.weeks)
	if !r.month.IsZero() {
		w := store.Windows(project, store.Month, r.month, r.month.AddDays(31))[0]
		months, err := r.store.Series(ctx, store.Month, w)
		if err == nil && len(months) == 0 {
			err = fmt.Errorf("%s of %q is not in the database: docs-report sync -from %v loads it", r.month.Time().Format("January 2006"), project, r.month)
		}
		return w, err
	}
	newest, err := r.store.Newest(ctx, project, span)
	if err == nil && newest.At.IsZero() {
		err = fmt.Errorf("the database has no %s of %q: docs-report sync -weeks %d loads them", span, project, r.weeks)
	}
	if err != nil {
		return store.Window{}, err
	}
	return newest.Window, nil
}

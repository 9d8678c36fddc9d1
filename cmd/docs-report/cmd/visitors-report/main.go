// Visitors-report writes who visits the documentation, humans and AIs, as one HTML page
// that works offline and can be mailed and printed.
//
//	visitors-report -o report.html -from 2026-10-01 -to 2026-11-01
//
// What it has to ask the service for it keeps in a database, that of visitors-sync:
// run again, it asks for nothing. With MINTLIFY_API_KEY set it asks the service;
// without a key, a fake of the service inside itself.
//
// Exit codes: 0 complete, 1 failed, 2 wrong usage, 3 the budget or the quota is used
// up, 130 interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/command"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	defaultDays = 28 // four weeks: as many weekends as in those before
	mostByDay   = 35 // days that auto draws one by one
	stdout      = "-"
)

func main() { command.Main(run) }

type options struct {
	command.Flags
	output   string
	title    string
	project  string
	from, to mintlify.Date
	by       string // day, week or auto
}

func run(ctx context.Context, p command.Program, args []string) int {
	o, err := parse(p, args)
	if errors.Is(err, flag.ErrHelp) {
		return command.OK
	}
	if err != nil {
		return command.Usage
	}
	var projects []string
	if o.project != "" {
		projects = []string{o.project}
	}
	work, err := p.Open(ctx, o.Flags, projects)
	if err != nil {
		return p.Fail(ctx, err)
	}
	defer work.Store.Close()
	tasks := o.tasks(work.Projects[0])
	if o.Plan {
		plan, err := work.Loader.Plan(ctx, tasks)
		if err != nil {
			return p.Fail(ctx, err)
		}
		fmt.Fprintln(p.Stdout, plan)
		return command.OK
	}
	if err := work.Load(ctx, tasks); err != nil {
		return p.Fail(ctx, err)
	}
	if err := o.write(ctx, p, work); err != nil {
		return p.Fail(ctx, err)
	}
	return command.OK
}

func parse(p command.Program, args []string) (o options, err error) {
	flags := flag.NewFlagSet("visitors-report", flag.ContinueOnError)
	flags.SetOutput(p.Stderr)
	o.Register(flags)
	flags.StringVar(&o.output, "o", "report.html", "the page's `file`, or - for stdout")
	flags.TextVar(&o.from, "from", mintlify.Date{}, "the first `day`, 2006-01-02 (default: that of the last 4 weeks whose counts are final)")
	flags.TextVar(&o.to, "to", mintlify.Date{}, "the `day` to end before, exclusive")
	flags.StringVar(&o.by, "by", "auto", "what the trend is drawn by: day, week, or auto")
	flags.StringVar(&o.title, "title", "Who reads the docs", "the page's title")
	flags.StringVar(&o.project, "project", "", "the project (default: MINTLIFY_PROJECT_ID)")
	if err := o.Parse(flags, args); err != nil {
		return o, err
	}
	if o.from.IsZero() && o.to.IsZero() {
		o.to = mintlify.DayOf(time.Now().UTC().Add(-o.Settle))
		o.from = o.to.AddDays(-defaultDays)
	}
	if err = o.check(); err != nil {
		fmt.Fprintln(p.Stderr, err)
	}
	return o, err
}

func (o *options) check() error {
	if err := errors.Join(command.CheckDay("from", o.from), command.CheckDay("to", o.to)); err != nil {
		return err
	}
	switch {
	case o.from.IsZero() || o.to.IsZero():
		return errors.New("-from and -to go together")
	case !o.from.Time().Before(o.to.Time()):
		return fmt.Errorf("-from is %v, which is not before -to, %v (exclusive)", o.from, o.to)
	case o.by != "auto" && o.by != string(load.ByDay) && o.by != string(load.ByWeek):
		return fmt.Errorf("-by is %q, want day, week or auto", o.by)
	case o.by == string(load.ByWeek) && len(o.trend("")) == 0:
		return fmt.Errorf("no week, Monday to Sunday, lies from %v to before %v: want -by day", o.from, o.to)
	}
	return nil
}

func (o *options) days() int { return int(o.to.Time().Sub(o.from.Time()).Hours() / 24) }

func (o *options) unit() load.Span {
	if o.by == string(load.ByDay) || o.by == "auto" && o.days() <= mostByDay {
		return load.ByDay
	}
	return load.ByWeek
}

func (o *options) period(project string) store.Window {
	return store.Window{Project: project, From: o.from, To: o.to}
}

func (o *options) before(project string) store.Window {
	return store.Window{Project: project, From: o.from.AddDays(-o.days()), To: o.from}
}

func (o *options) trend(project string) []store.Window {
	return load.Windows(project, o.unit(), o.from, o.to)
}

// tasks are all that the page needs: all rows of two periods, and the totals of each
// day or week.
func (o *options) tasks(project string) []load.Task {
	tasks := []load.Task{{Window: o.period(project)}, {Window: o.before(project)}}
	trend := o.trend(project)
	for _, w := range slices.Backward(trend) {
		tasks = append(tasks, load.Task{Window: w, TotalsOnly: true})
	}
	return tasks
}

// write reads the page's numbers from the database and writes the page.
func (o *options) write(ctx context.Context, p command.Program, work *command.Run) error {
	project := work.Projects[0]
	in := report.Input{Title: o.title, Project: project, Demo: work.Demo, Unit: string(o.unit()), Generated: time.Now().UTC(), Final: true}
	for _, part := range []struct {
		window store.Window
		into   *report.Period
	}{{o.period(project), &in.Period}, {o.before(project), &in.Before}} {
		counts, rows, err := work.Store.Visitors(ctx, part.window)
		if err != nil {
			return err
		}
		if counts == nil {
			return fmt.Errorf("%v is gone from the database", part.window)
		}
		*part.into = report.Period{From: part.window.From, To: part.window.To, Totals: counts.Totals, Rows: rows}
		in.Final = in.Final && work.IsFinal(counts.At, part.window)
	}
	for _, w := range o.trend(project) {
		totals, at, err := work.Store.Totals(ctx, w)
		if err != nil {
			return err
		}
		in.Trend = append(in.Trend, report.Bucket{From: w.From, To: w.To, Totals: totals})
		in.Final = in.Final && work.IsFinal(at, w)
	}
	if err := writeFile(o.output, p.Stdout, func(w io.Writer) error { return report.Write(w, in) }); err != nil {
		return err
	}
	if o.output != stdout {
		fmt.Fprintf(p.Stderr, "Wrote %s, for %d requests.\n", o.output, work.Requests())
	}
	return nil
}

// writeFile replaces the file at path in one step: nobody opens half a page.
func writeFile(path string, out io.Writer, write func(io.Writer) error) error {
	if path == stdout {
		return write(out)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".visitors-report-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone already when all is well
	if err := errors.Join(write(file), file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Visitors-sync keeps a database of who visits the documentation: every day, week and
// month of every project, humans and AIs, page by page. Run it every night: it loads
// what is missing, newest first, and resumes where it was interrupted.
//
//	visitors-sync -projects docs,handbook -by day,week,month -from 2026-01-01
//
// With MINTLIFY_API_KEY set it asks the service; without a key, a fake of the service
// inside itself.
//
// Exit codes: 0 complete, 1 failed, 2 wrong usage, 3 the budget or the quota is used
// up, 130 interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/command"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
)

const defaultDays = 56 // two reports of four weeks; its windows fit into one hour's budget

func main() { command.Main(run) }

type options struct {
	command.Flags
	projects []string
	spans    []load.Span
	from     mintlify.Date
}

func run(ctx context.Context, p command.Program, args []string) int {
	o, err := parse(p, args)
	if errors.Is(err, flag.ErrHelp) {
		return command.OK
	}
	if err != nil {
		return command.Usage
	}
	work, err := p.Open(ctx, o.Flags, o.projects)
	if err != nil {
		return p.Fail(ctx, err)
	}
	defer work.Store.Close()
	now := time.Now()
	if o.from.IsZero() {
		o.from = mintlify.DayOf(now.UTC()).AddDays(-defaultDays)
	}
	tasks := load.SyncTasks(work.Projects, o.spans, o.from, now)
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
	fmt.Fprintf(p.Stderr, "Up to date: %d windows since %v.\n", len(tasks), o.from)
	return command.OK
}

func parse(p command.Program, args []string) (o options, err error) {
	flags := flag.NewFlagSet("visitors-sync", flag.ContinueOnError)
	flags.SetOutput(p.Stderr)
	o.Register(flags)
	projects := flags.String("projects", "", "the `projects`, with commas between them (default: MINTLIFY_PROJECT_ID)")
	by := flags.String("by", "day,week,month", "the `spans` to load; each is an export of its own, since unique visitors do not add up")
	flags.TextVar(&o.from, "from", mintlify.Date{}, "the first `day`, 2006-01-02 (default: 8 weeks ago)")
	if err := o.Parse(flags, args); err != nil {
		return o, err
	}
	for project := range strings.SplitSeq(*projects, ",") {
		if project = strings.TrimSpace(project); project != "" {
			o.projects = append(o.projects, project)
		}
	}
	o.spans, err = load.ParseSpans(*by)
	if err = errors.Join(err, command.CheckDay("from", o.from)); err != nil {
		fmt.Fprintln(p.Stderr, err)
	}
	return o, err
}

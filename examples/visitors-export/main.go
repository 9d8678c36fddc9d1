// Visitors-export writes all visitors of a range of dates to a file or to stdout,
// as CSV or as JSON Lines, and resumes where it stopped: after Ctrl-C, a crash, or the
// end of the hourly quota, run the same command again. What it needs for that is in a
// checkpoint file next to the output file.
//
//	visitors-export -o visitors.csv -from 2026-01-01 -to 2026-02-01
//
// It needs MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID. With -demo it needs neither, and
// writes the rows of a fake of the service inside itself.
//
// Exit codes: 0 complete, 1 failed, 2 wrong usage, 3 the quota is used up, 130
// interrupted.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/demo"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitQuota       = 3
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, mintlify.NewTransport())
	stop()
	os.Exit(code)
}

// options are the command line.
type options struct {
	output   string // a path, or - for stdout
	format   string
	from, to mintlify.Date
	limit    int
	wait     bool
	demo     bool
	demoRows int
}

// run is the program. Its requests to the service, not those to the fake, go through
// transport.
func run(ctx context.Context, args []string, stdout, stderr *os.File, transport http.RoundTripper) int {
	opts, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage // parse has said why
	}
	e := &exporter{wait: opts.wait, stderr: stderr, requests: counter{RoundTripper: transport}}
	settings, err := e.connect(opts)
	if err == nil {
		e.out, err = openOutput(opts.output, stdout, settings)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	defer e.out.close()
	return e.run(ctx)
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("visitors-export", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.output, "o", "-", "the output `file`, or - for stdout, which cannot be resumed")
	flags.StringVar(&o.format, "format", "", "csv or jsonl (default: by the file's ending, else csv)")
	flags.TextVar(&o.from, "from", mintlify.Date{}, "the first `date`, 2006-01-02 or 2006-01-02T15:04:05Z (default: 30 days ago)")
	flags.TextVar(&o.to, "to", mintlify.Date{}, "the `date` to end before, exclusive")
	flags.IntVar(&o.limit, "limit", 250, "rows per request, 1 to 250")
	flags.BoolVar(&o.wait, "wait", false, "wait when the hourly quota is used up, instead of stopping")
	flags.BoolVar(&o.demo, "demo", false, "export the rows of a fake of the service; needs no key")
	flags.IntVar(&o.demoRows, "demo-rows", 100_000, "rows of the fake")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	empty := ""
	flags.Visit(func(f *flag.Flag) {
		if strings.TrimSpace(f.Value.String()) == "" { // a variable of a shell that is not set, for example
			empty = f.Name
		}
	})
	if o.format == "" {
		o.format = formatCSV
		if strings.EqualFold(filepath.Ext(o.output), ".jsonl") {
			o.format = formatJSONLines
		}
	}
	refuse := func(format string, args ...any) (options, error) {
		err := fmt.Errorf(format, args...)
		fmt.Fprintln(stderr, err)
		return o, err
	}
	switch {
	case empty != "":
		return refuse("-%s is empty", empty)
	case flags.NArg() > 0:
		return refuse("unexpected argument %q", flags.Arg(0))
	case o.format != formatCSV && o.format != formatJSONLines:
		return refuse("-format is %q, want csv or jsonl", o.format)
	case o.from.IsZero() != o.to.IsZero():
		return refuse("-from and -to go together")
	case o.limit < 1 || o.limit > 250:
		return refuse("-limit is %d, want 1 to 250", o.limit)
	case o.demoRows < 0:
		return refuse("-demo-rows is %d, want 0 or more", o.demoRows)
	}
	return o, nil
}

// connect sets up the client, of the service or of a fake, and the dates.
func (e *exporter) connect(o options) (s settings, err error) {
	s = settings{DateFrom: o.from, DateTo: o.to, Limit: o.limit, Format: o.format, BaseURL: cmp.Or(strings.TrimSpace(os.Getenv("MINTLIFY_BASE_URL")), mintlify.DefaultBaseURL)}
	fake, reason := mintlifytest.NewService(), ""
	if o.demo {
		reason = "Demo"
		fake.SetVisitors(demo.Visitors(o.demoRows))
		e.requests.RoundTripper = fake
		s.BaseURL = fmt.Sprintf("fake with %d rows", o.demoRows)
	}
	e.client, err = demo.Connect(e.stderr, fake, reason, mintlify.WithHTTPClient(&http.Client{Transport: &e.requests}))
	if err != nil {
		return s, err
	}
	s.Project = e.client.ProjectID()
	if s.DateFrom.IsZero() {
		s.DateFrom, s.DateTo, err = defaultDates(o.output)
		fmt.Fprintf(e.stderr, "Dates: from %v to before %v.\n", s.DateFrom, s.DateTo)
	}
	e.settings = s
	return s, err
}

// defaultDates returns the dates of the export to resume, else of the last 30 full days. The service's own default is not documented.
func defaultDates(output string) (from, to mintlify.Date, err error) {
	c, found, err := loadCheckpoint(checkpointPath(output))
	if found {
		return c.DateFrom, c.DateTo, err
	}
	today := mintlify.DayOf(time.Now().UTC())
	return today.AddDays(-30), today, err
}

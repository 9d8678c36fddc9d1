// Visitors-export writes all visitors of a range of dates to a file or to stdout, as CSV or
// as JSON Lines. After Ctrl-C, a crash, or the end of the hourly quota, run the same command
// again: it resumes at the last page written, which it keeps in a checkpoint file next to
// the output file.
//
// In CSV a path that begins with =, +, -, @, a tab or a carriage return has a ' before it,
// so that no spreadsheet runs it. JSON Lines have every path as it is.
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
	if err := e.open(opts, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	defer e.out.close()
	return e.run(ctx)
}

// open connects to the service or to a fake, and opens the output.
func (e *exporter) open(o options, stdout *os.File) error {
	if err := e.connect(o); err != nil {
		return err
	}

	out, err := openOutput(o.output, stdout, e.settings)
	if err != nil {
		return err
	}
	e.out = out
	return nil
}

// parse reads the command line. It prints what is wrong with it.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("visitors-export", flag.ContinueOnError)
	flags.SetOutput(stderr)

	flags.StringVar(&o.output, "o", "-", "the output `file`, or - for stdout, which cannot be resumed")
	flags.StringVar(&o.format, "format", "", "csv or jsonl (default: by the file's ending, else csv)")
	flags.TextVar(&o.from, "from", mintlify.Date{},
		"the first `date`, 2006-01-02 or 2006-01-02T15:04:05Z (default: 30 days ago)")
	flags.TextVar(&o.to, "to", mintlify.Date{}, "the `date` to end before, exclusive")
	flags.IntVar(&o.limit, "limit", 250, "rows per request, 1 to 250")
	flags.BoolVar(&o.wait, "wait", false, "wait when the hourly quota is used up, instead of stopping")
	flags.BoolVar(&o.demo, "demo", false, "export the rows of a fake of the service; needs no key")
	flags.IntVar(&o.demoRows, "demo-rows", 100_000, "rows of the fake")
	if err := flags.Parse(args); err != nil {
		return o, err
	}

	if err := o.check(flags); err != nil {
		fmt.Fprintln(stderr, err)
		return o, err
	}
	if o.format == "" {
		o.format = formatOf(o.output)
	}
	return o, nil
}

// formatOf returns the format of a file by its ending.
func formatOf(path string) string {
	if strings.EqualFold(filepath.Ext(path), ".jsonl") {
		return formatJSONLines
	}
	return formatCSV
}

func (o options) check(flags *flag.FlagSet) error {
	empty := ""
	flags.Visit(func(f *flag.Flag) {
		if strings.TrimSpace(f.Value.String()) == "" { // a variable of a shell that is not set, for example
			empty = f.Name
		}
	})

	switch {
	case empty != "":
		return fmt.Errorf("-%s is empty", empty)
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.format != "" && o.format != formatCSV && o.format != formatJSONLines:
		return fmt.Errorf("-format is %q, want csv or jsonl", o.format)
	case o.from.IsZero() != o.to.IsZero():
		return errors.New("-from and -to go together")
	case o.limit < 1 || o.limit > 250:
		return fmt.Errorf("-limit is %d, want 1 to 250", o.limit)
	case o.demoRows < 0:
		return fmt.Errorf("-demo-rows is %d, want 0 or more", o.demoRows)
	}
	return nil
}

// connect sets the client, which is of the service or of a fake, and the settings.
func (e *exporter) connect(o options) error {
	var fake *mintlifytest.Service
	reason := "" // to use the fake
	source := cmp.Or(strings.TrimSpace(os.Getenv("MINTLIFY_BASE_URL")), mintlify.DefaultBaseURL)
	if o.demo {
		fake = mintlifytest.NewService()
		fake.SetVisitors(demo.Visitors(o.demoRows))
		e.requests.RoundTripper = fake
		reason = "Demo"
		source = fmt.Sprintf("fake with %d rows", o.demoRows)
	}

	counted := mintlify.WithHTTPClient(&http.Client{Transport: &e.requests})
	client, err := demo.Connect(e.stderr, fake, reason, counted)
	if err != nil {
		return err
	}
	e.client = client

	from, to, err := o.dates(e.stderr)
	if err != nil {
		return err
	}
	e.settings = settings{
		DateFrom: from,
		DateTo:   to,
		Limit:    o.limit,
		Project:  client.ProjectID(),
		BaseURL:  source,
		Format:   o.format,
	}
	return nil
}

// dates returns the dates of the export. If none are given, they are those of the export to
// resume, else the last 30 full days: the service's own default is not documented.
func (o options) dates(stderr io.Writer) (from, to mintlify.Date, err error) {
	if !o.from.IsZero() {
		return o.from, o.to, nil
	}

	saved, found, err := loadCheckpoint(checkpointPath(o.output))
	if err != nil {
		return from, to, err
	}
	to = mintlify.DayOf(time.Now().UTC())
	from = to.AddDays(-30)
	if found {
		from = saved.DateFrom
		to = saved.DateTo
	}
	fmt.Fprintf(stderr, "Dates: from %v to before %v.\n", from, to)
	return from, to, nil
}

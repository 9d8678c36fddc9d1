// Live holds the service itself to what the SDK expects of it, for whoever has a key:
//
//	go run -C internal/test/contract ./live
//
// The usage says what it does, and what the report holds.
//
// The table of requests (requests.go, lists.go) says what can be asked, and what is expected. Each request is
// sent once, and silence.go decides whether a response says anything.
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
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/contract"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, terminal{out: os.Stdout, err: os.Stderr}, mintlify.NewTransport(), os.Args[1:])
	stop()
	os.Exit(code)
}

// Exit codes. go run makes 1 of both 1 and 2.
const (
	exitAsExpected = 0
	exitDiffers    = 1 // or a POST may have acted, or the run was interrupted
	exitSetUp      = 2
)

const maxReads = 24 // requests for reading

// terminal is where the command prints.
type terminal struct{ out, err io.Writer }

// check is one run of the command. All it knows of the service is what the recorder has.
type check struct {
	ctx      context.Context // of the whole run
	settings settings
	terminal terminal
	client   *mintlify.Client
	options  []mintlify.Option
	recorder *recorder
	document *openapi3.T // api/openapi.yaml
	words    vocabulary
	requests []*request
}

func run(ctx context.Context, screen terminal, service http.RoundTripper, args []string) int {
	s, err := parse(screen.err, args)
	if errors.Is(err, flag.ErrHelp) {
		return exitAsExpected
	}
	if err != nil {
		return screen.refuse(err)
	}

	c, err := newCheck(ctx, s, screen, service)
	if err != nil {
		return screen.refuse(err)
	}

	for _, q := range c.writes() {
		fmt.Fprintf(screen.err, "%s: %s\n", q.flag, q.does)
	}
	if len(c.writes()) > 0 && !s.yes {
		return screen.refuse(errors.New("nothing was sent: -yes confirms that it may write"))
	}

	fmt.Fprintf(screen.err, "Up to %d requests follow, GET only, of the 100 an hour that the organization has for "+
		"analytics. They cost no credits.\n", maxReads)
	if err := c.whyNotThere(); err != nil {
		return screen.refuse(err)
	}

	rows := c.judge()
	if err := c.write(screen.out, rows); err != nil {
		return screen.refuse(fmt.Errorf("the report could not be written: %w", err))
	}
	_, uncertain := c.leftBehind()
	if tally(rows)[unlike] > 0 || uncertain || ctx.Err() != nil {
		return exitDiffers
	}
	return exitAsExpected
}

func (t terminal) refuse(err error) int {
	fmt.Fprintf(t.err, "live: %v\n", err)
	return exitSetUp
}

// settings are the flags.
type settings struct {
	job     bool
	prompt  string
	jobID   string
	message bool
	preview string
	update  bool
	yes     bool
	timeout time.Duration
}

const usage = `Usage: go run -C internal/test/contract ./live [flags]

It asks the service itself whether it is what this SDK expects, by up to %d GET requests, and
prints a report as Markdown that can be pasted into an issue: it holds shapes and counts, and no
key, id, path, query, comment or name.

MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID are the admin key and the project.

Exit codes: 0 nothing differs; 1 something differs, a write may have acted, or interrupted;
2 set-up, without a report (go run makes 1 of it).

`

// parse returns the settings of a command line, and prints the usage to w if that is asked for.
func parse(w io.Writer, args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	flags.BoolVar(&s.job, "job", false, "write: run a job, which costs about 112 credits and opens a pull request, "+
		"or publishes to the live site")
	flags.StringVar(&s.prompt, "prompt", "Add one line to a page named docs-sdk-check.", "the `text` of -job")
	flags.StringVar(&s.jobID, "job-id", "", "read the job with this `id`, too")
	flags.BoolVar(&s.message, "message", false,
		"write: send a message to the job of -job-id or -job, which costs about 112 credits")
	flags.StringVar(&s.preview, "preview", "", "write: deploy a preview of this `branch`; costs no credits")
	flags.BoolVar(&s.update, "update", false, "write: deploy the live site; costs no credits")
	flags.BoolVar(&s.yes, "yes", false, "confirm the flags that write: without it nothing is sent")
	flags.DurationVar(&s.timeout, "timeout", time.Hour, "how long to wait for a job or a deployment")

	flags.SetOutput(io.Discard) // run reports the error
	flags.Usage = func() {
		flags.SetOutput(w)
		fmt.Fprintf(w, usage, maxReads)
		flags.PrintDefaults()
	}

	switch err := flags.Parse(args); {
	case err != nil:
		return s, err
	case flags.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q: want only flags", flags.Arg(0))
	case s.message && !s.job && s.jobID == "":
		return s, errors.New("-message needs -job, or the id of a job in -job-id")
	case strings.TrimSpace(s.prompt) == "":
		return s, errors.New("-prompt is empty")
	}
	return s, nil
}

func newCheck(ctx context.Context, s settings, screen terminal, service http.RoundTripper) (*check, error) {
	private := []string{"mint_", os.Getenv("MINTLIFY_API_KEY"), os.Getenv("MINTLIFY_PROJECT_ID"),
		s.jobID, s.preview}
	c := &check{
		ctx:      ctx,
		settings: s,
		terminal: screen,
		recorder: &recorder{next: service, left: maxReads},
		words:    vocabulary{declared: map[string]bool{}, private: private},
		requests: requests(s),
	}

	c.options = []mintlify.Option{
		mintlify.WithHTTPClient(&http.Client{Transport: c.recorder}),
		mintlify.WithMaxRetries(0),
	}

	client, err := mintlify.NewClientFromEnv(c.options...)
	if err != nil {
		return nil, fmt.Errorf(`%w (README.md says under "What you need" where to find both)`, err)
	}
	c.client = client
	if baseURL := os.Getenv("MINTLIFY_BASE_URL"); baseURL != "" {
		c.options = append(c.options, mintlify.WithBaseURL(baseURL)) // for clients with other keys
	}

	c.document, err = contract.LoadDocument()
	if err != nil {
		return nil, fmt.Errorf("api/openapi.yaml cannot be read: run go run -C internal/test/contract ./live: %w", err)
	}
	return c, c.document.WalkSchemas(c.words.declare)
}

// writes returns the requests that write, and whose flag is given.
func (c *check) writes() []*request {
	return slices.DeleteFunc(slices.Clone(c.requests), func(q *request) bool { return !q.isOn || q.polls })
}

// about says what was asked, when and by what.
func (c *check) about() string {
	where := "the default base URL"
	if os.Getenv("MINTLIFY_BASE_URL") != "" {
		where = "another base URL"
	}
	asked := []string{"reading"}
	for _, q := range c.writes() {
		asked = append(asked, q.flag)
	}
	return fmt.Sprintf("%s, %s, %s, %s. %d requests. Asked: %s.", today(), cmp.Or(c.recorder.userAgent, "no request"),
		runtime.Version(), where, c.recorder.sent, strings.Join(asked, ", "))
}

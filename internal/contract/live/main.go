// Live holds the service itself to what the SDK expects of it, for whoever has a key:
//
//	go run -C internal/contract ./live
//
// It only reads, unless a flag says otherwise. The report, Markdown on stdout, holds shapes and
// counts, and neither keys nor ids, paths, queries, comments or names.
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
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, terminal{
		in:         os.Stdin,
		out:        os.Stdout,
		err:        os.Stderr,
		isTerminal: isatty.IsTerminal(os.Stdin.Fd()),
	}, defaultTiming(), os.Args[1:])
	stop()
	os.Exit(code)
}

// Exit codes. go run makes 1 of both 1 and 2.
const (
	exitAsExpected = 0
	exitDiffers    = 1
	exitSetUp      = 2
)

// timing is how long the command waits for what.
type timing struct {
	pollMin, pollMax time.Duration
	// settle is how long a job may still report its earlier end after a message.
	settle time.Duration
}

func defaultTiming() timing {
	return timing{pollMin: 5 * time.Second, pollMax: 30 * time.Second, settle: 5 * time.Minute}
}

func run(ctx context.Context, screen terminal, t timing, args []string) int {
	s, err := parse(screen.err, args)
	if errors.Is(err, flag.ErrHelp) {
		return exitAsExpected
	}
	if err != nil {
		return screen.refuse(err)
	}

	c, err := newCheck(s, t, screen)
	if err != nil {
		return screen.refuse(err)
	}

	screen.announce()
	c.confirm()
	if err := c.run(ctx); err != nil {
		return screen.refuse(err)
	}

	if err := c.report.write(screen.out, c.about()); err != nil {
		return screen.refuse(fmt.Errorf("the report could not be written: %w", err))
	}
	if c.report.count(differs) > 0 {
		return exitDiffers
	}
	return exitAsExpected
}

// refuse reports a set-up error.
func (t terminal) refuse(err error) int {
	fmt.Fprintf(t.err, "live: %v\n", err)
	return exitSetUp
}

// announce says what the command is about to do.
func (t terminal) announce() {
	fmt.Fprintf(t.err, "Up to %d requests follow, GET only, of the 100 an hour that the organization has for "+
		"analytics. They cost no credits.\n", maxReads)
}

// settings are the flags.
type settings struct {
	job          bool
	prompt       string
	jobID        string
	message      bool
	preview      string
	update       bool
	secondUpdate bool
	scope        bool
	yes          bool
	timeout      time.Duration
}

const usage = `Usage: go run -C internal/contract ./live [flags]

It asks the service itself whether it is what this SDK expects, by up to %d GET requests, and
prints a report as Markdown that can be pasted into an issue: it holds shapes and counts, and no
key, id, path, query, comment or name.

MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID are the admin key and the project. -scope reads a second
key from MINTLIFY_READ_ONLY_KEY. -job reads the pull request with GITHUB_TOKEN, if that is set.

Exit codes: 0 nothing differs, 1 something differs, 2 set-up (go run makes 1 of it).

`

// parse returns the settings of a command line, and prints the usage to w if that is asked for.
func parse(w io.Writer, args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	s.define(flags)
	flags.SetOutput(io.Discard) // run reports the error
	flags.Usage = func() {
		flags.SetOutput(w)
		fmt.Fprintf(w, usage, maxReads)
		flags.PrintDefaults()
	}

	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q: want only flags", flags.Arg(0))
	}
	return s, s.check()
}

func (s *settings) define(flags *flag.FlagSet) {
	flags.BoolVar(&s.job, "job", false, "write: run a job, which costs about 112 credits and opens a pull request")
	flags.StringVar(&s.prompt, "prompt", "Add one line to a page named docs-sdk-check.", "the `text` of -job")
	flags.StringVar(&s.jobID, "job-id", "", "read the job with this `id`, too")

	flags.BoolVar(&s.message, "message", false,
		"write: send a message to the job of -job or -job-id, which costs about 112 credits")

	flags.StringVar(&s.preview, "preview", "", "write: deploy a preview of this `branch`; costs no credits")
	flags.BoolVar(&s.update, "update", false, "write: deploy the site; costs no credits")
	flags.BoolVar(&s.secondUpdate, "second-update", false,
		"write: deploy the site twice, the second time while the first deployment is queued. "+
			"The project's queue may then stand still: one user saw deployments stay queued for good")

	flags.BoolVar(&s.scope, "scope", false,
		"write: send a message to a job that does not exist, with the key in MINTLIFY_READ_ONLY_KEY")
	flags.BoolVar(&s.yes, "yes", false, "do not ask before writing")
	flags.DurationVar(&s.timeout, "timeout", time.Hour, "how long to wait for a job or a deployment")
}

// check returns what is wrong with the flags.
func (s *settings) check() error {
	switch {
	case s.message && !s.job && s.jobID == "":
		return errors.New("-message needs -job, or the id of a job in -job-id")
	case strings.TrimSpace(s.prompt) == "":
		return errors.New("-prompt is empty")
	case s.scope && os.Getenv("MINTLIFY_READ_ONLY_KEY") == "":
		return errors.New("-scope needs a key with the read scope alone in MINTLIFY_READ_ONLY_KEY")
	}
	return nil
}

func newCheck(s settings, t timing, screen terminal) (*check, error) {
	c := &check{
		settings:  s,
		timing:    t,
		terminal:  screen,
		report:    newReport(),
		confirmed: map[string]bool{},
		recorder:  &recorder{next: mintlify.NewTransport(), left: maxReads},

		good:     map[mintlify.Operation]bool{},
		findings: map[mintlify.Operation][]finding{},
		unread:   map[mintlify.Operation]bool{},
		headers:  map[string]int{},
	}
	c.options = []mintlify.Option{
		mintlify.WithHTTPClient(&http.Client{Transport: c.recorder}),
		mintlify.WithMaxRetries(0),
		mintlify.WithWaitDefaults(mintlify.WithPollInterval(t.pollMin, t.pollMax)),
	}

	client, err := mintlify.NewClientFromEnv(c.options...)
	if err != nil {
		const where = `README.md says under "What you need" where to find the key and the project id`
		return nil, fmt.Errorf("%w (%s)", err, where)
	}
	c.client = client
	if baseURL := os.Getenv("MINTLIFY_BASE_URL"); baseURL != "" {
		c.options = append(c.options, mintlify.WithBaseURL(baseURL)) // for clients with other keys
	}

	c.document, err = loadDocument(vocabulary{private: s.private()})
	return c, err
}

// private returns what the report must not show.
func (s *settings) private() []string {
	texts := []string{s.jobID, s.preview}
	names := []string{"MINTLIFY_API_KEY", "MINTLIFY_READ_ONLY_KEY", "MINTLIFY_PROJECT_ID", "GITHUB_TOKEN"}
	for _, name := range names {
		texts = append(texts, strings.TrimSpace(os.Getenv(name)))
	}
	return texts
}

// run asks everything and fills the report.
func (c *check) run(ctx context.Context) error {
	ok, err := c.read(ctx)
	if err != nil {
		return err
	}
	if ok {
		c.write(ctx)
		c.conclude()
	}
	return nil
}

// about says what was asked, when and by what.
func (c *check) about() string {
	where := "the default base URL"
	if os.Getenv("MINTLIFY_BASE_URL") != "" {
		where = "another base URL than the default one"
	}
	asked := strings.Join(append([]string{"reading"}, c.writing()...), ", ")
	agent := cmp.Or(c.recorder.userAgent, "no request")
	return fmt.Sprintf("%s, %s, %s, %s. %d requests. Asked: %s.",
		today(), agent, runtime.Version(), where, c.recorder.sent, asked)
}

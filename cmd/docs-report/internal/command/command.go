// Package command is what both commands have in common: flags, the service or its
// fake, the database, progress and exit codes.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Exit codes.
const (
	OK          = 0
	Failed      = 1
	Usage       = 2
	Quota       = 3
	Interrupted = 130
)

// Program is a command and what it stands on.
type Program struct {
	Getenv         func(string) string
	Transport      http.RoundTripper // to the service; nil: the SDK's own
	Stdout, Stderr *os.File
}

// Main runs a command until its end or a signal, and exits.
func Main(run func(ctx context.Context, p Program, args []string) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, Program{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// Flags are those of both commands.
type Flags struct {
	DB        string
	Budget    int
	Wait      bool
	Plan      bool
	Settle    time.Duration
	MaxAge    time.Duration
	DemoPages int
}

// Register declares the flags.
func (f *Flags) Register(flags *flag.FlagSet) {
	flags.StringVar(&f.DB, "db", "", "the database: a SQLite `file`, or postgres://… (default visitors.db; without a key, visitors-demo.db)")
	flags.IntVar(&f.Budget, "budget", 90, "requests an hour, over all runs on this database; the organization has 100 for all its programs")
	flags.BoolVar(&f.Wait, "wait", false, "wait when the budget or the quota is used up, instead of stopping")
	flags.BoolVar(&f.Plan, "plan", false, "print what the run would cost, and send nothing")
	flags.DurationVar(&f.Settle, "settle", 24*time.Hour, "take counts as final this long after the end of their dates (UTC)")
	flags.DurationVar(&f.MaxAge, "max-age", 6*time.Hour, "until they are final, load counts again that are older than this")
	flags.IntVar(&f.DemoPages, "demo-pages", 120, "pages of the demo, without a key")
}

// Parse reads a command line. Where it returns an error, it has said why.
func (f *Flags) Parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case f.Budget < 1:
		err = fmt.Errorf("-budget is %d, want 1 or more", f.Budget)
	case f.Settle < 0 || f.MaxAge < 0:
		err = errors.New("-settle and -max-age must not be negative")
	case f.DemoPages < 0:
		err = fmt.Errorf("-demo-pages is %d, want 0 or more", f.DemoPages)
	}
	if err != nil {
		fmt.Fprintln(flags.Output(), err)
	}
	return err
}

// CheckDay refuses a date that is an instant: windows are of whole days.
func CheckDay(name string, date mintlify.Date) error {
	if !date.IsZero() && len(date.String()) != len(time.DateOnly) {
		return fmt.Errorf("-%s is %v, want a day such as 2006-01-02", name, date)
	}
	return nil
}

// Run is one run of a command, from its flags to its database.
type Run struct {
	*load.Loader
	Projects []string
	Demo     bool // the visitors are made up

	progress *progress
}

// Load brings the windows up to date, and shows how it goes.
func (r *Run) Load(ctx context.Context, tasks []load.Task) error {
	defer r.progress.end()
	return r.Loader.Load(ctx, tasks)
}

// Open connects to the service, or to a fake of it where there is no key, and opens
// the database. With no projects, it is the environment's one.
func (p Program) Open(ctx context.Context, f Flags, projects []string) (*Run, error) {
	r := &Run{Projects: projects, Demo: p.Getenv("MINTLIFY_API_KEY") == "", progress: newProgress(p.Stderr)}
	r.Loader = &load.Loader{Budget: f.Budget, Settle: f.Settle, MaxAge: f.MaxAge, Wait: f.Wait, Show: r.progress.show}
	r.setProjects(p.Getenv("MINTLIFY_PROJECT_ID"))
	if len(r.Projects) == 0 {
		return nil, usageError{errors.New("no project: set MINTLIFY_PROJECT_ID, or name it by the flag")}
	}
	where, source := "visitors.db", baseURL(p.Getenv)
	if r.Demo {
		where, source = "visitors-demo.db", demo.Describe(f.DemoPages)
	}
	if f.DB != "" {
		where = f.DB
	}
	if err := r.connect(p, f.DemoPages); err != nil {
		return nil, usageError{err}
	}
	var err error
	r.Store, err = store.Open(ctx, where, source)
	if errors.Is(err, store.ErrOtherSource) {
		err = usageError{err}
	}
	return r, err
}

// connect makes the client. It does not retry: the loader does, and a 429 ends a run.
func (r *Run) connect(p Program, demoPages int) error {
	key, origin, transport := p.Getenv("MINTLIFY_API_KEY"), baseURL(p.Getenv), p.Transport
	if r.Demo {
		fmt.Fprintln(p.Stderr, "MINTLIFY_API_KEY is not set: the visitors are made up, by a fake of the service inside this program (mintlifytest).")
		svc := mintlifytest.NewService()
		svc.SetVisitorsFunc(demo.Visitors(demoPages))
		key, origin, transport = mintlifytest.APIKey, mintlify.DefaultBaseURL, svc
	}
	options := []mintlify.Option{mintlify.WithBaseURL(origin), mintlify.WithRateLimiter(r.Reserve), mintlify.WithMaxRetries(0), mintlify.WithLogger(warnings(p.Stderr))}
	if transport != nil {
		options = append(options, mintlify.WithHTTPClient(&http.Client{Transport: transport}))
	}
	for _, project := range r.Projects { // so that none is refused only in the middle of a run
		var err error
		if r.Client, err = mintlify.NewClient(key, project, options...); err != nil {
			return err
		}
	}
	return nil
}

// warnings are what the SDK has to say of responses that look wrong.
func warnings(out *os.File) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func (r *Run) setProjects(ofEnvironment string) {
	if len(r.Projects) == 0 && r.Demo {
		r.Projects = []string{"demo"}
	}
	if ofEnvironment = strings.TrimSpace(ofEnvironment); len(r.Projects) == 0 && ofEnvironment != "" {
		r.Projects = []string{ofEnvironment}
	}
}

func baseURL(getenv func(string) string) string {
	if url := strings.TrimRight(strings.TrimSpace(getenv("MINTLIFY_BASE_URL")), "/"); url != "" {
		return url
	}
	return mintlify.DefaultBaseURL
}

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Fail says what went wrong and what to do, and returns the exit code.
func (p Program) Fail(ctx context.Context, err error) int {
	var quota *store.QuotaError
	var usage usageError
	code, advice := Failed, "Run the same command again: it resumes where it stopped."
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(p.Stderr, err)
		return Usage
	case ctx.Err() != nil:
		err, code = errors.New("interrupted"), Interrupted
	case errors.As(err, &quota):
		code, advice = Quota, "Run the same command then: it resumes where it stopped."
	}
	fmt.Fprintf(p.Stderr, "%v.\n%s\n", err, advice)
	return code
}

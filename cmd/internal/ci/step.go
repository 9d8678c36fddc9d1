// Package ci is what the commands have in common as steps of a CI job: flags, exit
// codes, outputs, the summary, and one writer that makes foreign text harmless.
package ci

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
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Step is one run of a command, with its surroundings.
type Step struct {
	Name           string // of the command
	Dir            string // the working directory; "" is the process's own
	Getenv         func(string) string
	Stdout, Stderr io.Writer
	Connect        func(...mintlify.Option) (*mintlify.Client, error)
}

// Main runs a command as a process. A signal ends ctx and nothing else: the command
// records and reports what it has done, and then ends.
func Main(name string, run func(context.Context, *Step, []string) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, &Step{Name: name, Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr,
		Connect: func(opts ...mintlify.Option) (*mintlify.Client, error) {
			return mintlify.NewClientFromEnv(append(opts, mintlify.WithUserAgent(name))...)
		}}, os.Args[1:])
	stop()
	os.Exit(code)
}

// OnGitHub reports whether GitHub Actions runs the step.
func (s *Step) OnGitHub() bool { return s.Getenv("GITHUB_ACTIONS") == "true" }

// OnGitLab reports whether GitLab runs the step.
func (s *Step) OnGitLab() bool { return s.Getenv("GITLAB_CI") == "true" }

// List is a flag that may be repeated.
type List []string

// String implements [flag.Value].
func (l *List) String() string { return strings.Join(*l, " ") }

// Set implements [flag.Value].
func (l *List) Set(value string) error {
	if strings.TrimSpace(value) == "" {
		return errors.New("it is empty")
	}
	*l = append(*l, value)
	return nil
}

// Parse parses the command line. It refuses a flag that is given and empty, such as one
// whose value is a shell variable that is not set. After -h and -version, which it
// handles, it returns [flag.ErrHelp].
func (s *Step) Parse(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(s)
	version := flags.Bool("version", false, "print the version and the commit")
	err := flags.Parse(args)
	if err == nil && *version {
		s.Print(s.Name + " " + buildVersion())
		return flag.ErrHelp
	}
	flags.Visit(func(f *flag.Flag) {
		if err == nil && strings.TrimSpace(f.Value.String()) == "" {
			err = fmt.Errorf("-%s is given and empty: is its variable set?", f.Name)
		}
	})
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return err
}

// Release builds set both by -ldflags -X.
var version, commit string

func buildVersion() string {
	v, c := version, commit
	if info, ok := debug.ReadBuildInfo(); ok {
		v = cmp.Or(v, info.Main.Version)
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				c = cmp.Or(c, setting.Value)
			}
		}
	}
	return cmp.Or(v, "(devel)") + ", commit " + cmp.Or(c, "unknown")
}

// Outcome is how a step ended: one of these, or what the command calls its success.
type Outcome string

// The outcomes that are not a success.
const (
	Failed     Outcome = "failed"      // the service tried, and failed
	SetUp      Outcome = "set-up"      // a person has to mend the set-up
	Unknown    Outcome = "unknown"     // the service may have acted
	Running    Outcome = "running"     // the service is at work
	NotStarted Outcome = "not-started" // the service did not act
)

func (o Outcome) exitCode() int {
	return map[Outcome]int{Failed: 1, SetUp: 2, Unknown: 3, Running: 4, NotStarted: 5}[o]
}

// Error is an error whose outcome its place decides.
type Error struct {
	Outcome Outcome
	Err     error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// OutcomeOf returns what an error means for a step that has not started anything else.
func OutcomeOf(err error) Outcome {
	var placed *Error
	var api *mintlify.APIError
	_, later := mintlify.RetryAfter(err)
	switch {
	case errors.As(err, &placed):
		return placed.Outcome
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		return Unknown
	case later, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return NotStarted
	case errors.As(err, &api) && (api.StatusCode == http.StatusBadRequest || api.StatusCode == http.StatusRequestEntityTooLarge || api.StatusCode == http.StatusUnprocessableEntity):
		return NotStarted
	}
	return SetUp
}

// LogPolls returns a hook that logs a wait for people: what changes, what fails, else a
// line each heartbeat.
func (s *Step) LogPolls(what string, heartbeat time.Duration) func(mintlify.Poll) {
	var status string
	var logged time.Duration
	return func(poll mintlify.Poll) {
		seen := ""
		if poll.Job != nil {
			seen = string(poll.Job.Status)
		} else if poll.Deployment != nil {
			seen = string(poll.Deployment.Status)
		}
		switch waited := poll.Waited.Round(time.Second); {
		case poll.Err != nil:
			s.Printf("After %v: a poll failed: %v", waited, poll.Err)
		case seen != status || poll.Waited-logged >= heartbeat:
			status = seen
			s.Printf("After %v: the %s is %s", waited, what, OneLine(seen))
		default:
			return
		}
		logged = poll.Waited
	}
}

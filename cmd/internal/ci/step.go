// Package ci is what the commands have in common as steps of a CI job: flags, exit
// codes, outputs, the summary, and one writer that makes foreign text harmless.
package ci

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
)

// Step is one run of a command, with its surroundings.
type Step struct {
	Name           string // of the command
	Dir            string // the working directory; "" is the process's own
	Getenv         func(string) string
	Stdout, Stderr io.Writer
	Connect        func(...mintlify.Option) (*mintlify.Client, error)

	// Flags of all commands, set by Parse.
	Demo, Soft bool
	Timeout    time.Duration // unless given, what it is before Parse
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

// Parse adds the flags of all commands and parses the command line. It refuses a flag that
// is given and empty, such as one whose value is a shell variable that is not set, and a step
// whose outputs cannot be written: that must not show only after the service has acted. After
// -h and -version, which it handles, it returns [flag.ErrHelp].
func (s *Step) Parse(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(io.Discard) // an error comes back: all the flags would bury it
	flags.BoolVar(&s.Demo, "demo", false, "show a run on a fake of the service")
	flags.BoolVar(&s.Soft, "soft", false, "end with exit code 0, and leave no commit red, unless the set-up is to blame")
	flags.DurationVar(&s.Timeout, "timeout", s.Timeout, "how long to wait in all")
	wantsVersion := flags.Bool("version", false, "print the version and the commit")
	for i, arg := range args {
		name, value, isPair := strings.Cut(arg, "=")
		if strings.TrimSpace(arg) == "" && i > 0 {
			name, isPair = args[i-1], true
		}
		if isPair && strings.HasPrefix(name, "-") && strings.TrimSpace(value) == "" {
			return fmt.Errorf("%s is given and empty: is its variable set?", name)
		}
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		s.Printf("Usage of %s:", s.Name)
		flags.SetOutput(s)
		flags.PrintDefaults()
		s.Printf("Exit codes: 0 success, 1 failed, 2 set-up, 3 unknown, 4 running, 5 not started. README.md says what to do about each.")
		return err
	case err != nil:
		return err
	case *wantsVersion:
		s.Print(version.String(s.Name))
		return flag.ErrHelp
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.Timeout <= 0:
		return fmt.Errorf("-timeout is %v, want more than 0", s.Timeout)
	}
	return s.deliver("", "", "")
}

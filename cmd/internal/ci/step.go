// Package ci is what the commands have in common as steps of a CI job: flags, exit
// codes, outputs and the summary. It writes all text, so that a runner and a terminal
// obey no text from outside.
package ci

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

// Step is one run of a command, with its surroundings.
type Step struct {
	// Name is the name of the command.
	Name string
	// Dir is the working directory. If it is "", the process's own is used.
	Dir string
	// Getenv returns a variable of the environment.
	Getenv func(string) string
	// Stdout takes the result, and Stderr the log.
	Stdout, Stderr io.Writer
	// Connect returns a client of the service.
	Connect func(...mintlify.Option) (*mintlify.Client, error)

	// Demo says that the run is shown on a fake of the service. Parse sets it.
	Demo bool
	// Soft says that only a set-up error fails the step. Parse sets it.
	Soft bool
	// warnings are what Warnf has logged.
	warnings []string

	// Timeout is how long the step waits in all. Parse sets it if the flag is given.
	Timeout time.Duration
}

// Main runs a command as a process. A signal ends ctx and nothing else: the command
// records and reports what it has done, and then ends.
func Main(name string, run func(context.Context, *Step, []string) int) {
	connect := func(opts ...mintlify.Option) (*mintlify.Client, error) {
		if err := usage.Keys(os.Getenv); err != nil {
			return nil, err
		}

		client, err := mintlify.NewClientFromEnv(append(opts, mintlify.WithUserAgent(name))...)
		if err != nil {
			return nil, usage.Client(err)
		}
		return client, nil
	}
	step := &Step{Name: name, Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr, Connect: connect}
	os.Exit(run(UntilSignal(), step, os.Args[1:]))
}

// Client returns a client of the service. If the key is missing in an event of a fork, the error says why.
func (s *Step) Client(opts ...mintlify.Option) (*mintlify.Client, error) {
	client, err := s.Connect(opts...)
	isMissing := errors.Is(err, usage.ErrNoKey) || errors.Is(err, usage.ErrNoProject)
	if isMissing && s.isOfFork() {
		return nil, usage.Errorf("%w. This is an event of a fork, whose runs get no secrets", err)
	}
	return client, err
}

// isOfFork reports whether GitHub's event is of a fork, or of a pull request from one.
func (s *Step) isOfFork() bool {
	type repository struct {
		FullName string `json:"full_name"`
		Fork     bool
	}
	var event struct {
		Repository  repository
		PullRequest *struct {
			Head struct{ Repo repository }
		} `json:"pull_request"`
	}

	data, err := os.ReadFile(s.Getenv("GITHUB_EVENT_PATH"))
	if err == nil {
		err = json.Unmarshal(data, &event)
	}
	if err != nil {
		return false
	}

	isPull := event.PullRequest != nil
	return event.Repository.Fork || isPull && event.PullRequest.Head.Repo.FullName != event.Repository.FullName
}

// OnGitHub reports whether GitHub Actions runs the step.
func (s *Step) OnGitHub() bool { return s.Getenv("GITHUB_ACTIONS") == "true" }

// OnGitLab reports whether GitLab runs the step.
func (s *Step) OnGitLab() bool { return s.Getenv("GITLAB_CI") == "true" }

// Parse adds the flags of all commands and parses the command line. It refuses a flag that is
// given and empty: its shell variable may not be set. It refuses a step that cannot write its
// outputs, before the service acts. It handles -h and -version, and then returns [flag.ErrHelp].
func (s *Step) Parse(flags *flag.FlagSet, args []string) error {
	flags.BoolVar(&s.Demo, "demo", false, "show a run on a fake of the service")
	flags.BoolVar(&s.Soft, "soft", false,
		"exit with code 0 and turn no commit red, except after a set-up error")
	flags.DurationVar(&s.Timeout, "timeout", s.Timeout, "how long to wait in all")

	const end = "Exit codes: 0 success, 1 failed, 2 set-up, 3 unknown, 4 running, 5 not started. " +
		"README.md says what to do about each.\n"
	if err := usage.ParseOrPrint(flags, args, s.Stdout, "Usage of "+s.Name+":\n", end); err != nil {
		return err
	}
	if s.Timeout <= 0 {
		return fmt.Errorf("-timeout is %v, want more than 0", s.Timeout)
	}
	return s.deliver("", "", "")
}

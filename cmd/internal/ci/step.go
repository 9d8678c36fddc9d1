// Package ci is what the commands have in common as steps of a CI job: flags, exit
// codes, outputs, the summary, and one writer that makes foreign text harmless.
package ci

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
	"github.com/mintlify-community/mintlify-go/internal/redact"
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

// Outcome is how a step ended: one of these, or what the command calls its success.
type Outcome string

// The outcomes that are not a success, in the order of their exit codes.
const (
	Failed     Outcome = "failed"      // the service tried, and failed
	SetUp      Outcome = "set-up"      // a person has to mend the set-up
	Unknown    Outcome = "unknown"     // the service may have acted
	Running    Outcome = "running"     // the service is at work
	NotStarted Outcome = "not-started" // the service did not act
)

func (o Outcome) exitCode() int {
	return 1 + slices.Index([]Outcome{Failed, SetUp, Unknown, Running, NotStarted}, o)
}

// Of returns err as an error whose outcome its place decides.
func (o Outcome) Of(err error) error { return &placed{o, err} }

type placed struct {
	Outcome
	error
}

func (p *placed) Unwrap() error { return p.error }

// OutcomeOf returns what an error means for a step that has not started anything else.
func OutcomeOf(err error) Outcome {
	var decided *placed
	var api *mintlify.APIError
	_, later := mintlify.RetryAfter(err)
	refused := []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}
	switch {
	case errors.As(err, &decided):
		return decided.Outcome
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		return Unknown
	case later, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &api) && slices.Contains(refused, api.StatusCode):
		return NotStarted
	}
	return SetUp
}

// LogPolls returns a hook that logs a wait for people: what changes, what fails, else a
// line each heartbeat.
func (s *Step) LogPolls(what string, heartbeat time.Duration) func(mintlify.Poll) {
	var last string
	var logged time.Duration
	return func(poll mintlify.Poll) {
		text := "the " + what + " is " + poll.Status
		if poll.Err != nil {
			text = fmt.Sprint("a poll failed: ", poll.Err)
		}
		if text != last || poll.Waited-logged >= heartbeat {
			last, logged = text, poll.Waited
			s.Printf("After %v: %s", poll.Waited.Round(time.Second), s.OneLine(text))
		}
	}
}

// Result is how a step ended, for whoever looks: a shell, a person, a later step.
type Result struct {
	Outcome Outcome
	Text    string      // why, in one line
	Outputs [][2]string // name and value, for later steps
	Summary string      // Markdown that follows Text; foreign text goes through Code or Link
	Asked   bool        // exit code 0: the outcome was asked for
}

// Report tells how the step ended wherever people and later steps look. It returns the
// exit code.
func (s *Step) Report(r Result) int {
	kind, code := "notice", r.Outcome.exitCode()
	switch {
	case r.Asked:
		code = 0
	case code != 0 && s.Soft && r.Outcome != SetUp:
		kind, code = "warning", 0
	case code != 0:
		kind = "error"
	}
	s.annotate(kind, r.Text)
	if err := s.write(r); err != nil {
		s.annotate("error", fmt.Sprintf("An output cannot be written: %v", err))
		code = cmp.Or(code, SetUp.exitCode())
	}
	return code
}

// write writes the outputs and the summary. At a desk the log has the outputs.
func (s *Step) write(r Result) error {
	var gitHub, gitLab strings.Builder
	for _, output := range r.Outputs {
		name, value, delimiter := output[0], s.OneLine(output[1]), rand.Text() // a value cannot guess its delimiter
		fmt.Fprintf(&gitHub, "%s<<%s\n%s\n%[2]s\n", name, delimiter, value)
		fmt.Fprintf(&gitLab, "%s=%s\n", strings.ToUpper(strings.ReplaceAll(s.Name+"_"+name, "-", "_")), value)
		if value != "" && !s.OnGitHub() && !s.OnGitLab() {
			s.Printf("%s = %s", name, value)
		}
	}
	return s.deliver(gitHub.String(), fmt.Sprintf("### %s: %s\n\n%s\n%s\n", s.Name, r.Outcome, s.Code(r.Text), r.Summary), gitLab.String())
}

// deliver adds outputs and a summary to the files of GitHub, and makes the file of GitLab.
func (s *Step) deliver(outputs, summary, dotenv string) (err error) {
	for name, text := range map[string]string{"GITHUB_OUTPUT": outputs, "GITHUB_STEP_SUMMARY": summary} {
		if path := s.Getenv(name); path != "" {
			file, failed := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
			if failed == nil {
				_, failed = file.WriteString(text)
				failed = errors.Join(failed, file.Close())
			}
			err = errors.Join(err, failed)
		}
	}
	if s.OnGitLab() {
		err = errors.Join(err, replace(filepath.Join(s.Dir, s.Name+".env"), dotenv))
	}
	return err
}

// replace writes a file beside path and renames it. A link at path, which a repository
// may contain, is replaced and not followed.
func replace(path, text string) error {
	beside := filepath.Join(filepath.Dir(path), "."+rand.Text())
	err := os.WriteFile(beside, []byte(text), 0o644)
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		_ = os.Remove(beside)
	}
	return err
}

// Printf logs text, line by line.
func (s *Step) Printf(format string, args ...any) {
	for _, line := range s.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintln(s.Stderr, inert(line))
	}
}

// Print writes text to stdout, line by line.
func (s *Step) Print(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintln(s.Stdout, inert(s.OneLine(line)))
	}
}

// Write logs what packages flag and slog write.
func (s *Step) Write(text []byte) (int, error) {
	s.Printf("%s", text)
	return len(text), nil
}

// annotate logs a line that GitHub also shows on the page of the run.
func (s *Step) annotate(kind, text string) {
	text = inert(s.OneLine(text))
	if s.OnGitHub() {
		text = "::" + kind + " title=" + s.Name + "::" + strings.ReplaceAll(text, "%", "%25")
	}
	fmt.Fprintln(s.Stderr, text)
}

func (s *Step) redact(text string) string {
	for _, name := range []string{"MINTLIFY_API_KEY", "GITHUB_TOKEN"} {
		secret := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s.Getenv(name)), "Bearer "))
		if len(secret) >= 8 {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return redact.UserInfo(text)
}

// inert breaks up what a runner would take for a command: :: at the start of a line,
// and the old ##[ anywhere in it.
func inert(line string) string {
	line = strings.ReplaceAll(line, "##[", "# #[")
	if start := strings.TrimSpace(line); strings.HasPrefix(start, "::") {
		return ": " + start[1:]
	}
	return line
}

// Lines returns the lines of foreign text that are not blank, without secrets, each as
// [redact.Printable] returns it.
func (s *Step) Lines(text string) (lines []string) {
	for line := range strings.SplitSeq(s.redact(text), "\n") {
		if line = redact.Printable(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// OneLine returns foreign text as one line that prints and shows no secret.
func (s *Step) OneLine(text string) string { return strings.Join(s.Lines(text), " ") }

// Link returns text if it is a URL of the web, else "".
func (s *Step) Link(text string) string {
	u, err := url.Parse(s.OneLine(text))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(u.String())
}

// Code returns text as a block of code in Markdown, which cannot end early.
func (s *Step) Code(text string) string {
	return "    " + strings.Join(s.Lines(text), "\n    ") + "\n"
}

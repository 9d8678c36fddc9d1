// Docs-report shows on one page who reads the documentation, humans and AIs, what they
// search for and ask in vain, and what they complain about.
//
//	docs-report sync   -db sqlite:docs.db -projects docs,handbook    every night; the one command that needs a key
//	docs-report plan   -db sqlite:docs.db                            what sync would cost
//	docs-report report -db sqlite:docs.db -o page.html
//	docs-report digest -db sqlite:docs.db -slack
//
// Exit codes: 0 complete, 1 failed, 2 usage or set-up, 3 the budget or the quota is used
// up, 130 interrupted.
package main

import (
	"context"
	_ "embed" // the usage
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitQuota       = 3
	exitInterrupted = 130
)

//go:embed usage.txt
var usage string

// program is what a command stands on.
type program struct {
	getenv         func(string) string
	transport      http.RoundTripper // to the service; nil: the SDK's own
	demoPages      int               // of the demo's site
	stdout, stderr *os.File
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{getenv: os.Getenv, demoPages: 120, stdout: os.Stdout, stderr: os.Stderr}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func (p program) run(ctx context.Context, args []string) int {
	name := strings.Join(args[:min(1, len(args))], "")
	switch {
	case name == "sync" || name == "plan":
		return p.exit(ctx, p.load(ctx, name, args[1:]))
	case name == "report":
		return p.exit(ctx, p.report(ctx, args[1:]))
	case name == "digest":
		return p.exit(ctx, p.digest(ctx, args[1:]))
	case name == "help" || strings.TrimLeft(name, "-") == "h" || strings.TrimLeft(name, "-") == "help":
		fmt.Fprint(p.stdout, usage)
		return exitOK
	case strings.TrimLeft(name, "-") == "version":
		fmt.Fprintln(p.stdout, version.String("docs-report"))
		return exitOK
	}
	fmt.Fprintf(p.stderr, "Want a command: sync, plan, report or digest.\n\n%s", usage)
	return exitUsage
}

// exit says what went wrong and what to do, and returns the exit code.
func (p program) exit(ctx context.Context, err error) int {
	var quota *store.QuotaError
	var wrong usageError
	code, advice := exitFailed, ""
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &wrong), errors.Is(err, store.ErrSetup):
		code = exitUsage
	case ctx.Err() != nil:
		code, err, advice = exitInterrupted, errors.New("interrupted"), " Run the same command again: it resumes where it stopped."
	case errors.As(err, &quota):
		code, advice = exitQuota, " Run the same command then: it resumes where it stopped."
	}
	fmt.Fprintf(p.stderr, "%v.%s\n", err, advice)
	return code
}

// usageError is a mistake of the command line or of the environment.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func wrongf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// flags are those that several commands have.
type flags struct {
	*flag.FlagSet
	db       string
	demo     bool
	projects []string
	weeks    int
}

func (p program) newFlags(name string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet("docs-report "+name, flag.ContinueOnError)}
	f.StringVar(&f.db, "db", "", "the `database`: sqlite:PATH, postgres://… or host=… dbname=… (default: DATABASE_URL)")
	f.Func("projects", "the `projects`, with commas between them", func(text string) error {
		f.projects = strings.Split(strings.ReplaceAll(text, " ", ""), ",")
		if slices.Contains(f.projects, "") {
			return errors.New("a project is empty")
		}
		return nil
	})
	f.IntVar(&f.weeks, "weeks", 4, "the whole `weeks` of a report: sync loads the last ones and as many before; give report the same number, or 1")
	return f
}

// parse reads a command line. A flag that is given and empty is refused: it comes from a
// variable that is not set.
func (f *flags) parse(p program, args []string) error {
	var said strings.Builder // by the flag package, the usage included
	f.SetOutput(&said)
	if err := f.Parse(args); err != nil && !errors.Is(err, flag.ErrHelp) {
		return usageError{err}
	} else if err != nil {
		fmt.Fprint(p.stdout, said.String())
		return err
	}
	var err error
	f.Visit(func(given *flag.Flag) {
		if value, ok := given.Value.(flag.Getter); ok && value.Get() == "" { // the others refuse it themselves
			err = wrongf("-%s is empty", given.Name)
		}
	})
	switch {
	case err != nil:
		return err
	case f.NArg() > 0:
		return wrongf("unexpected argument %q", f.Arg(0))
	case f.weeks < 1 || f.weeks > 52:
		return wrongf("-weeks is %d, want 1 to 52", f.weeks)
	}
	return nil
}

// dayVar declares a flag that is a date of a layout.
func (f *flags) dayVar(into *mintlify.Date, layout, name, usage string) {
	f.Func(name, usage, func(text string) error {
		t, err := time.Parse(layout, text)
		if err != nil {
			return fmt.Errorf("want it as %s", layout)
		}
		*into = mintlify.DayOf(t)
		return nil
	})
}

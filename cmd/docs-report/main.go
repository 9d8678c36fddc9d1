// Docs-report shows on one page who reads the documentation, humans and AIs, what they search
// for and do not find, what they ask without an answer, and what they complain about.
//
// Exit codes: 0 complete, 1 failed, 2 usage or set-up, 3 the budget or the quota is used
// up or another sync is at work, 130 interrupted.
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
	"strings"
	"syscall"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
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
var usageText string

// program has what all commands need.
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
	if len(args) == 0 {
		fmt.Fprintf(p.stderr, wantCommand, usageText)
		return exitUsage
	}

	commands := map[string]func(context.Context, []string) error{
		"sync":   p.sync,
		"plan":   p.plan,
		"status": p.status,
		"report": p.report,
		"digest": p.digest,
		"forget": p.forget,
	}
	if command, ok := commands[args[0]]; ok {
		return p.exit(ctx, command(ctx, args[1:]))
	}

	switch args[0] {
	case "help", "h", "-h", "--h", "-help", "--help":
		return p.exit(ctx, p.print(usageText))
	case "version", "-version", "--version":
		return p.exit(ctx, p.print(version.String("docs-report")))
	}
	fmt.Fprintf(p.stderr, "There is no command %q. "+wantCommand, args[0], usageText)
	return exitUsage
}

// log says on stderr what a run does.
func (p program) log(format string, args ...any) { fmt.Fprintf(p.stderr, format+"\n", args...) }

const wantCommand = "Want a command: sync, plan, status, report, digest or forget.\n\n%s"

// exit says what went wrong and what to do, and returns the exit code.
func (p program) exit(ctx context.Context, err error) int {
	const resumes = " it resumes where it stopped."
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}

	_, isFailure := errors.AsType[*exports.LoadError](err)
	_, isHeld := errors.AsType[*store.HeldError](err)
	quota, isQuota := errors.AsType[*store.QuotaError](err)

	text := err.Error()
	advice := ""
	code := exitFailed

	switch {
	case usage.Is(err):
		code = exitUsage

	case ctx.Err() != nil:
		code = exitInterrupted
		text = "interrupted"
		advice = " Run the same command again:" + resumes
	case isFailure: // stays exitFailed, even if the quota is used up, too
	case isHeld || errors.Is(err, store.ErrLost):
		code = exitQuota
		advice = " Run the same command when that one has ended, or with -wait:" + resumes
	case isQuota:
		code = exitQuota
		text = quota.Error() // what asked the limiter says less
		advice = " Run the same command then:" + resumes
	case store.IsPooler(err):
		advice = " Behind a pooler in transaction mode, add default_query_exec_mode=exec to the database's address."
	}

	if !strings.HasSuffix(text, "?") {
		text += "."
	}
	fmt.Fprintln(p.stderr, text+advice)
	return code
}

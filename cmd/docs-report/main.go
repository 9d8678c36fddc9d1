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
	"strings"
	"syscall"

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

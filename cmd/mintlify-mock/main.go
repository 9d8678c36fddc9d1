// Mintlify-mock serves a fake of the service on a port, for a program in any language: it needs no
// key and costs no credits. -h says how.
//
// Exit codes: 0 ended by a signal; 1 failed; 2 set-up, such as an address in use.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const help = `Mintlify-mock serves a fake of the Mintlify API on a port. It needs no key and costs nothing.
Copy the three lines that it prints into another terminal: what runs there talks to the fake.

A job is at work for -job-time, then it has a pull request. A message starts it again. Each export
has rows, and automation_1 is an automation. Nothing is stored: what there is ends with the program.

Make the next two jobs respond 503 after 2 s although they were made, lose the response to the third,
list the faults that are queued, and remove them:

  curl -d '{"operation":"create job","times":2,"status":503,"acted":true,"delay":"2s"}' $MINTLIFY_BASE_URL/_mock/fail
  curl -d '{"operation":"create job","drop":true}' $MINTLIFY_BASE_URL/_mock/fail
  curl $MINTLIFY_BASE_URL/_mock/fail
  curl -X DELETE $MINTLIFY_BASE_URL/_mock/fail

Give a status, a delay or drop: all else may be left out. Without a status the response keeps its own.

Say how the next jobs and deployments end, at their second poll (active and in_progress never end):

  curl -d '{"times":2,"status":"failed"}' $MINTLIFY_BASE_URL/_mock/jobs
  curl -d '{"status":"failure","summary":"1 link is broken","logs":["/a: 404"]}' $MINTLIFY_BASE_URL/_mock/deployments

List what came. A chat's webhook is $MINTLIFY_BASE_URL/chat: it needs no key, and prints each message.

  curl $MINTLIFY_BASE_URL/_mock/requests

Operations: create job, send message, get job, trigger update, trigger preview, get deployment,
trigger automation, get visitors, get views, get searches, get feedback, get feedback counts,
get conversations, get thread, get caller stats; or a method and a path, such as "GET /v1/things".

Flags:
`

func main() {
	err := run(ci.UntilSignal(), os.Args[1:], os.Stdout, os.Stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}

	fmt.Fprintln(os.Stderr, "mintlify-mock:", safetext.OneLine(err.Error(), 1000))
	if usage.Is(err) {
		os.Exit(2)
	}
	os.Exit(1)
}

// settings are what the flags set.
type settings struct {
	addr     string
	jobTime  time.Duration
	quotas   bool
	visitors int
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stdout)
	if err != nil {
		return err
	}

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return usage.Errorf("-addr: %w", err)
	}

	server := &http.Server{
		Handler:           newHandler(s.fake(), log.New(stderr, "", log.Ltime)),
		ErrorLog:          log.New(io.Discard, "", 0),
		ReadHeaderTimeout: time.Minute,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()

	if _, err := io.WriteString(stdout, exports(listener.Addr())); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}

	return nil
}

// parse parses the command line. It prints what -h and -version ask for, and then returns [flag.ErrHelp].
func parse(args []string, stdout io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("mintlify-mock", flag.ContinueOnError)
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8686", "the `address` to listen on")
	flags.DurationVar(&s.jobTime, "job-time", 20*time.Second, "how long a job is at work")
	flags.BoolVar(&s.quotas, "quotas", false, "respond 429 to requests beyond the service's quotas")
	flags.IntVar(&s.visitors, "visitors", 600, "how many rows the exports of visitors and views have")

	err := usage.ParseOrPrint(flags, args, stdout, help, "")
	switch {
	case err != nil:
		return s, err
	case s.jobTime < 0:
		return s, usage.Errorf("-job-time is %v, want 0 or more", s.jobTime)
	case s.visitors < 0:
		return s, usage.Errorf("-visitors is %d, want 0 or more", s.visitors)
	}
	return s, nil
}

func (s settings) fake() *mintlifytest.Service {
	fake := mintlifytest.NewService()
	fake.SetJobTime(s.jobTime)
	fake.AddAutomation("automation_1")

	if s.quotas {
		fake.EnforceQuotas()
	}

	fill(fake, s.visitors)
	return fake
}

// exports returns the lines that point a shell to a fake that listens on addr.
func exports(addr net.Addr) string {
	host, port, _ := net.SplitHostPort(addr.String())
	if net.ParseIP(host).IsUnspecified() {
		host = "127.0.0.1"
	}

	return "export MINTLIFY_BASE_URL=http://" + net.JoinHostPort(host, port) +
		"\nexport MINTLIFY_API_KEY=" + mintlifytest.APIKey +
		"\nexport MINTLIFY_PROJECT_ID=" + mintlifytest.ProjectID + "\n"
}

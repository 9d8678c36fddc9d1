// Merge-service has the documentation changed after a merge. GitHub reports the merge by a
// webhook, package once has the documentation agent act on it, at most once, also through
// crashes, and a chat gets the pull request's link.
//
// README.md says how to set it up, and what happens when something fails.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

const usage = `Usage: merge-service [-demo]

merge-service takes GitHub's webhooks at POST /merge. Its settings are in the environment:

  MINTLIFY_API_KEY     an admin key, from the dashboard's page of API keys
  MINTLIFY_PROJECT_ID  the project id, from the same page
  WEBHOOK_SECRET       the secret that you give the webhook on GitHub
  CHAT_URL             an incoming webhook of your chat, for the results
  RECORDS              a folder on a disk that outlives the process (default records)
  ADDR                 where to listen (default localhost:8080)

With -demo it needs none of them: it shows what a merge does, on a fake of the service.

Exit codes: 0 stopped by a signal, 1 failed, 2 a setting is missing or cannot be used.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("merge-service", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {} // printed below: only -h asks for it on stdout
	demo := flags.Bool("demo", false, "")

	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprint(stderr, usage) // Parse has said why
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "unexpected argument %q\n", flags.Arg(0))
		return 2
	}

	logger := slog.New(slog.NewTextHandler(stderr, nil))
	if *demo {
		if err := runDemo(ctx, stdout); err != nil {
			logger.Error("the demo failed", "error", err)
			return 1
		}
		return 0
	}

	s, listener, err := setUp(ctx, logger)
	if err != nil {
		logger.Error("a setting cannot be used", "error", err)
		return 2
	}

	logger.Info("listening", "addr", listener.Addr().String())
	if err := s.run(ctx, listener); err != nil {
		logger.Error("merge-service failed", "error", err)
		return 1
	}
	return 0
}

// setUp reads the settings, and listens.
func setUp(ctx context.Context, logger *slog.Logger) (*service, net.Listener, error) {
	var missing []string
	for _, name := range []string{"MINTLIFY_API_KEY", "MINTLIFY_PROJECT_ID", "WEBHOOK_SECRET", "CHAT_URL"} {
		if strings.TrimSpace(os.Getenv(name)) == "" { // go-github takes any request if the secret is empty
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, nil, fmt.Errorf("%s must be set: see -h", strings.Join(missing, ", "))
	}

	client, err := mintlify.NewClientFromEnv()
	if err != nil {
		return nil, nil, err
	}
	store, err := once.NewDir(cmp.Or(os.Getenv("RECORDS"), "records"))
	if err != nil {
		return nil, nil, fmt.Errorf("RECORDS cannot be used: %w", err)
	}
	chat, err := newChat(os.Getenv("CHAT_URL"))
	if err != nil {
		return nil, nil, err
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cmp.Or(os.Getenv("ADDR"), "localhost:8080"))
	if err != nil {
		return nil, nil, fmt.Errorf("ADDR cannot be used: %w", err)
	}
	s := &service{secret: []byte(os.Getenv("WEBHOOK_SECRET")), post: chat.post, logger: logger}
	return s, listener, s.start(client, store)
}

// Merge-service has the documentation changed after a merge. GitHub reports the merge by a
// webhook, package once has the documentation agent act on it, at most once, also through
// crashes, and a chat gets the pull request's link. README.md says how to set it up.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	var err error
	switch {
	case len(os.Args) == 1:
		err = serve(ctx)
	case os.Args[1] == "decide":
		err = decideOnce(ctx, os.Args[2:])
	default:
		err = errUsage
	}

	if err != nil {
		log.Fatal(err)
	}
}

// serve serves and works until ctx ends.
func serve(ctx context.Context) error {
	s, err := setUp()
	if err != nil {
		return err
	}

	addr := cmp.Or(os.Getenv("ADDR"), "localhost:8080")
	log.Printf("starting on %s, for POST /merge", addr)
	return s.run(ctx, addr)
}

// setUp reads the settings from the environment.
func setUp() (*service, error) {
	s := &service{secret: []byte(os.Getenv("WEBHOOK_SECRET")), tell: chat{os.Getenv("CHAT_URL")}.post}
	switch {
	case len(s.secret) == 0: // go-github would take any request
		return nil, errors.New("WEBHOOK_SECRET is not set: give the webhook on GitHub the same secret")
	case os.Getenv("CHAT_URL") == "":
		return nil, errors.New("CHAT_URL is not set: it is an incoming webhook of your chat, for the results")
	}

	client, err := mintlify.NewClientFromEnv()
	if err != nil {
		return nil, err
	}

	store, err := once.NewDir(folder())
	if err != nil {
		return nil, fmt.Errorf("RECORDS cannot be used: %w", err)
	}
	return s, s.start(client, store)
}

// decideOnce runs the command decide. It makes no folder: a new one has no record to decide about.
func decideOnce(ctx context.Context, args []string) error {
	client, err := mintlify.NewClientFromEnv() // Adopt looks the job up
	if err != nil {
		return err
	}

	if _, err := os.Stat(folder()); err != nil {
		return fmt.Errorf("RECORDS has to be the folder of the service: %w", err)
	}
	store, err := once.NewDir(folder())
	if err != nil {
		return err
	}

	runner, err := once.New(client, store)
	if err != nil {
		return err
	}
	return decide(ctx, runner, store, args, os.Stdout)
}

// folder has the records.
func folder() string { return cmp.Or(os.Getenv("RECORDS"), "records") }

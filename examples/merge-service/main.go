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
	if len(os.Args) > 1 {
		log.Fatal("merge-service takes no flags: README.md says which variables it reads")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	s, err := setUp()
	if err != nil {
		log.Fatal(err)
	}
	addr := cmp.Or(os.Getenv("ADDR"), "localhost:8080")
	log.Printf("starting on %s, for POST /merge", addr)
	if err := s.run(ctx, addr); err != nil {
		log.Fatal(err)
	}
}

// setUp reads the settings from the environment.
func setUp() (*service, error) {
	client, err := mintlify.NewClientFromEnv()
	if err != nil {
		return nil, err
	}

	store, err := once.NewDir(cmp.Or(os.Getenv("RECORDS"), "records"))
	if err != nil {
		return nil, fmt.Errorf("RECORDS cannot be used: %w", err)
	}

	s := &service{secret: []byte(os.Getenv("WEBHOOK_SECRET")), tell: chat{os.Getenv("CHAT_URL")}.post}
	switch {
	case len(s.secret) == 0: // go-github would take any request
		return nil, errors.New("WEBHOOK_SECRET is not set: give the webhook on GitHub the same secret")
	case os.Getenv("CHAT_URL") == "":
		return nil, errors.New("CHAT_URL is not set: it is an incoming webhook of your chat, for the results")
	}
	return s, s.start(client, store)
}

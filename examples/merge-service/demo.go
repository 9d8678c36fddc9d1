package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const demoEvent = `{
  "action": "closed",
  "pull_request": {
    "number": 7, "merged": true, "merge_commit_sha": "%s",
    "title": "Add --json", "body": "%s",
    "base": {"ref": "main"}, "user": {"login": "octocat"}
  },
  "repository": {"full_name": "acme/api", "default_branch": "main"}
}`

// runDemo delivers webhooks to a service that works on a fake, and shows what comes of them.
func runDemo(ctx context.Context, logger *slog.Logger, stdout io.Writer) error {
	fmt.Fprintln(stdout, "This is a demo: it uses a fake of the service inside this program (mintlifytest).")

	told := make(chan string, 1)
	s := &service{
		secret: []byte(rand.Text()),
		post:   func(_ context.Context, text string) error { told <- text; return nil },
		logger: logger,
	}
	fake := mintlifytest.NewService()
	state, err := os.MkdirTemp("", "merge-service-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(state) }()

	store, err := once.NewDir(state)
	if err != nil {
		return err
	}
	s.store = store
	s.logger = slog.New(slog.DiscardHandler) // the responses say enough
	err = s.start(fake.Client())
	if err != nil {
		return err
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx, listener) }()

	err = s.deliverAll(ctx, "http://"+listener.Addr().String()+"/merge", stdout)
	if err != nil {
		return err
	}
	select {
	case text := <-told:
		fmt.Fprintf(stdout, "The chat is told: %s\n", text)
	case <-ctx.Done(): // by a signal
	}

	stop()
	err = <-ended
	fmt.Fprintf(stdout, "Jobs of the agent: %d\n", len(fake.Jobs()))
	return err
}

// deliverAll delivers webhooks, and prints the responses.
func (s *service) deliverAll(ctx context.Context, address string, stdout io.Writer) error {
	merge := fmt.Sprintf(demoEvent, "5907854", "It prints JSON.")
	ofTheAgent := fmt.Sprintf(demoEvent, "c0ffee1", once.Marker("acme/api@5907854"))

	for _, delivery := range []struct {
		name    string
		payload string
		secret  []byte
	}{
		{"A pull request is merged", merge, s.secret},
		{"GitHub delivers it again", merge, s.secret},
		{"The agent's pull request is merged", ofTheAgent, s.secret},
		{"Somebody guesses the secret", merge, []byte("guess")},
	} {
		response, err := deliver(ctx, address, delivery.payload, delivery.secret)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %s\n", delivery.name, response)
	}
	return nil
}

// deliver delivers a webhook, and returns the response in one line.
func deliver(ctx context.Context, address, payload string, secret []byte) (string, error) {
	request, err := newDelivery(ctx, address, payload, secret)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	return response.Status + ", " + strings.TrimSpace(string(text)), nil
}

// newDelivery returns a webhook as GitHub sends it, signed with secret.
func newDelivery(ctx context.Context, address, payload string, secret []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(payload))
	if err != nil {
		return nil, err
	}

	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(payload))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(github.EventTypeHeader, "pull_request")
	request.Header.Set(github.SHA256SignatureHeader, fmt.Sprintf("sha256=%x", mac.Sum(nil)))
	return request, nil
}

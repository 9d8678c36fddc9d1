package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
func runDemo(ctx context.Context, stdout io.Writer) error {
	fmt.Fprintln(stdout, "This is a demo: it uses a fake of the service inside this program (mintlifytest).")
	records, err := os.MkdirTemp("", "merge-service-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(records) }()
	store, err := once.NewDir(records)
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tell := func(_ context.Context, text string) error {
		fmt.Fprintf(stdout, "The chat is told: %s\n", text)
		stop()
		return nil
	}

	logger := slog.New(slog.DiscardHandler) // the responses say enough
	s := &service{secret: []byte(rand.Text()), post: tell, logger: logger}
	fake := mintlifytest.NewService()
	if err := s.start(fake.Client(), store); err != nil {
		return err
	}
	if err := s.deliverAll(ctx, stdout); err != nil {
		return err
	}

	err = s.runner.Run(ctx) // until the chat is told, or a signal comes
	fmt.Fprintf(stdout, "Jobs of the agent: %d\n", len(fake.Jobs()))
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// deliverAll delivers webhooks, and prints the responses.
func (s *service) deliverAll(ctx context.Context, stdout io.Writer) error {
	merge := fmt.Sprintf(demoEvent, "5907854", "It prints JSON.")
	ofTheAgent := fmt.Sprintf(demoEvent, "c0ffee1", once.Marker("acme/api@5907854"))

	deliveries := []struct {
		name    string
		payload string
		secret  []byte
	}{
		{"A pull request is merged", merge, s.secret},
		{"GitHub delivers it again", merge, s.secret},
		{"The agent's pull request is merged", ofTheAgent, s.secret},
		{"Somebody guesses the secret", merge, []byte("guess")},
	}

	for _, delivery := range deliveries {
		request, err := newDelivery(ctx, "pull_request", delivery.payload, delivery.secret)
		if err != nil {
			return err
		}

		response := httptest.NewRecorder()
		s.routes().ServeHTTP(response, request)
		fmt.Fprintf(stdout, "%s: %d, %s", delivery.name, response.Code, response.Body)
	}
	return nil
}

// newDelivery returns a webhook as GitHub sends it, signed with secret.
func newDelivery(ctx context.Context, event, payload string, secret []byte) (*http.Request, error) {
	body := strings.NewReader(payload)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/merge", body)
	if err != nil {
		return nil, err
	}

	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(payload))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(github.EventTypeHeader, event)
	request.Header.Set(github.SHA256SignatureHeader, fmt.Sprintf("sha256=%x", mac.Sum(nil)))
	return request, nil
}

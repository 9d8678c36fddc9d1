package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"strings"

	"github.com/google/go-github/v92/github"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

const maxEvent = 1 << 20 // bytes: a description has at most 64 Ki characters

// routes is a mux of its own: anything linked into the program can add to http.DefaultServeMux.
func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /merge", func(rw http.ResponseWriter, r *http.Request) {
		status, text := s.receive(rw, r)
		log.Printf("delivery %q: %d, %q", github.DeliveryID(r), status, text)
		http.Error(rw, text, status)
	})
	return mux
}

// receive returns the response to a webhook: 202 once its merge is stored, and 200 if there is
// nothing to do. GitHub shows the response beside the delivery, where a person can redeliver it.
func (s *service) receive(rw http.ResponseWriter, r *http.Request) (int, string) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxEvent)
	payload, err := github.ValidatePayload(r, s.secret)
	if err != nil {
		return http.StatusUnauthorized, "not a whole event signed with this server's WEBHOOK_SECRET: " + err.Error()
	}

	// Only what GitHub signed is read from here on.
	event, err := github.ParseWebHook(github.WebHookType(r), payload)
	if err != nil {
		return http.StatusBadRequest, "the event cannot be read: " + err.Error()
	}

	switch event := event.(type) {
	case *github.PullRequestEvent:
		if reason := whyNot(event); reason != "" {
			return http.StatusOK, "nothing to do: " + reason
		}
		return s.add(r.Context(), taskOf(event))

	case *github.IssueCommentEvent:
		task, ok := commentOf(event)
		if !ok {
			return http.StatusOK, "nothing to do: " + noComment
		}
		return s.add(r.Context(), task)
	}
	return http.StatusOK, "nothing to do: not a pull request or a comment"
}

// add stores a merge or a comment for the worker. GitHub redelivers on request, and the key then finds
// the record that there is.
func (s *service) add(ctx context.Context, task once.Task) (int, string) {
	// A client that hangs up no longer ends ctx: the merge is stored even if nobody waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()

	record, _, err := s.runner.Add(ctx, task)
	switch {
	case errors.Is(err, mintlify.ErrInvalidArgument):
		return http.StatusUnprocessableEntity, err.Error()
	case err != nil:
		return http.StatusServiceUnavailable, "not stored, redeliver it later: " + err.Error()
	}
	return http.StatusAccepted, strings.TrimSpace(string(record.State) + " " + record.PRLink)
}

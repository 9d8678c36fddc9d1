package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-github/v92/github"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

const (
	key = "acme/api@5907854b1f3a4c9d8e7f60123456789abcdef012"

	mergeEvent = `{
  "action": "closed",
  "pull_request": {
    "number": 7, "merged": true, "merge_commit_sha": "%s",
    "title": "Add --json", "body": "%s",
    "base": {"ref": "main"}, "user": {"login": "octocat"}
  },
  "repository": {"full_name": "acme/api", "default_branch": "main"}
}`
	commentEvent = `{
  "action": "created",
  "issue": {"number": 9, "body": "Documents --json.\n\ndocs-job: %s", "user": {"login": "mintlify[bot]"}},
  "comment": {"id": 3, "body": "%s", "author_association": "%s"},
  "repository": {"full_name": "acme/docs"}
}`
)

// deliver delivers a webhook as GitHub sends it, signed with secret, and returns the response's status.
func (s *service) deliver(t *testing.T, secret, event, payload string) int {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/merge", strings.NewReader(payload))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(payload))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(github.EventTypeHeader, event)
	request.Header.Set(github.SHA256SignatureHeader, fmt.Sprintf("sha256=%x", mac.Sum(nil)))

	response := httptest.NewRecorder()
	s.routes().ServeHTTP(response, request)
	return response.Code
}

func TestAMergeIsOneJobAndACommentOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "the webhook's secret"
		var told []string
		s := &service{secret: []byte(secret)}
		s.tell = func(_ context.Context, text string) error {
			told = append(told, text)
			return nil
		}
		fake := mintlifytest.NewService()
		require.NoError(t, s.start(fake.Client(mintlifytest.WithRealSchedule()), oncetest.NewStore()))

		commit := strings.TrimPrefix(key, "acme/api@")
		merge := fmt.Sprintf(mergeEvent, commit, "It prints JSON.")
		assert.Equal(t, 401, s.deliver(t, "guess", "pull_request", merge))
		assert.Equal(t, 200, s.deliver(t, secret, "ping", "{}"))
		assert.Equal(t, 200, s.deliver(t, secret, "pull_request", strings.Replace(merge, "closed", "opened", 1)))
		assert.Equal(t, 200, s.deliver(t, secret, "pull_request", fmt.Sprintf(mergeEvent, "c0ffee1", once.Marker(key))))
		assert.Equal(t, 202, s.deliver(t, secret, "pull_request", merge))
		assert.Equal(t, 202, s.deliver(t, secret, "pull_request", merge), "delivered again")

		comment := fmt.Sprintf(commentEvent, key, "/docs Add an example.", "MEMBER")
		assert.Equal(t, 202, s.deliver(t, secret, "issue_comment", comment))
		assert.Equal(t, 202, s.deliver(t, secret, "issue_comment", comment))
		assert.Equal(t, 200, s.deliver(t, secret, "issue_comment", fmt.Sprintf(commentEvent, key, "/docs x", "NONE")))
		assert.Equal(t, 200, s.deliver(t, secret, "issue_comment", fmt.Sprintf(commentEvent, key, "Nice!", "MEMBER")))

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, s.runner.Run(ctx), context.DeadlineExceeded)

		var sent []mintlify.Operation
		for _, request := range fake.Requests() {
			if request.Prompt != "" {
				sent = append(sent, request.Operation)
			}
		}
		assert.Equal(t, []mintlify.Operation{mintlify.OpCreateJob, mintlify.OpSendMessage}, sent)
		assert.Equal(t, []string{
			"Docs for " + key + ": done https://github.com/example/docs/pull/1",
			"Docs for " + key + "#comment-3: done https://github.com/example/docs/pull/1",
		}, told)
	})
}

func TestTheChatHearsOfARevokedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		s := &service{tell: func(_ context.Context, text string) error {
			told = append(told, text)
			return nil
		}}
		fake := mintlifytest.NewService()
		fake.FailNext(mintlify.OpGetJob, 1000, mintlifytest.Fault{Status: 401})
		require.NoError(t, s.start(fake.Client(mintlifytest.WithRealSchedule()), oncetest.NewStore()))
		_, _, err := s.runner.Add(t.Context(), once.Task{Key: key, Prompt: "Document it."})
		require.NoError(t, err)

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, s.runner.Run(ctx), context.DeadlineExceeded)
		require.Len(t, told, 1)
		assert.Contains(t, told[0], "401 Unauthorized")
		assert.Contains(t, told[0], mintlifytest.ProjectID)
	})
}

func TestTheChatSaysTheNextStepAfterALostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		s := &service{tell: func(_ context.Context, text string) error {
			told = append(told, text)
			return nil
		}}
		fake := mintlifytest.NewService()
		fake.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
		require.NoError(t, s.start(fake.Client(mintlifytest.WithRealSchedule()), oncetest.NewStore()))
		_, _, err := s.runner.Add(t.Context(), once.Task{Key: key, Prompt: "Document it."})
		require.NoError(t, err)

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, s.runner.Run(ctx), context.DeadlineExceeded)
		require.Len(t, told, 1)
		assert.Contains(t, told[0], "Docs for "+key+": unknown ")
		assert.Contains(t, told[0], "\nNext: wait an hour")
		assert.Contains(t, told[0], "merge-service decide "+key+" -pull URL")
	})
}

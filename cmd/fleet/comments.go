package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v92/github"
)

// comments go to the pull requests of prompts.
type comments struct{ issues *github.IssuesService }

// newComments returns the comments on github.com, or on the GitHub at api.
func newComments(token, api string, client *http.Client) (comments, error) {
	options := []github.ClientOptionsFunc{github.WithAuthToken(token), github.WithHTTPClient(client)}
	if api != "" {
		options = append(options, github.WithEnterpriseURLs(api, api))
	}

	gh, err := github.NewClient(options...)
	if err != nil {
		return comments{}, usageError("GITHUB_API_URL: %w", err)
	}
	return comments{gh.Issues}, nil
}

// tell comments on the pull requests of each row. A row that fails keeps no other from being told.
func (c comments) tell(ctx context.Context, rows []row) (told []row, err error) {
	var failed error
	for _, r := range rows {
		if err := c.tellOne(ctx, r); err != nil {
			failed = err
			continue
		}
		told = append(told, r)
	}
	return told, failed
}

func (c comments) tellOne(ctx context.Context, r row) error {
	var failed error
	for _, text := range strings.Fields(r.Pulls) {
		if err := c.comment(ctx, text, sentence(r)); err != nil {
			failed = fmt.Errorf("comment on %s: %w", text, err)
		}
	}
	return failed
}

func (c comments) comment(ctx context.Context, on, text string) error {
	pr, err := parsePull(on)
	if err != nil {
		return err
	}
	_, _, err = c.issues.CreateComment(ctx, pr.owner, pr.repo, pr.number, github.IssueCommentRequest{Body: text})
	return err
}

package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// Tell comments on the pull requests of each row. A row that fails keeps no other from being told.
func (a *API) Tell(ctx context.Context, rows []database.Row) (told []database.Row, err error) {
	var failed error
	for _, r := range rows {
		if err := a.tellOne(ctx, r); err != nil {
			failed = err
			continue
		}
		told = append(told, r)
	}
	return told, failed
}

func (a *API) tellOne(ctx context.Context, r database.Row) error {
	var failed error
	for _, text := range strings.Fields(r.Pulls) {
		if err := a.comment(ctx, text, queue.Sentence(r)); err != nil {
			failed = fmt.Errorf("comment on %s: %w", text, err)
		}
	}
	return failed
}

func (a *API) comment(ctx context.Context, on, text string) error {
	pr, err := database.ParsePull(on)
	if err != nil {
		return err
	}
	_, _, err = a.client.Issues.CreateComment(ctx, pr.Owner, pr.Repo, pr.Number, github.IssueCommentRequest{Body: text})
	return err
}

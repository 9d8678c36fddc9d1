package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// mostMade is how many comments this process remembers. A result is told again only soon after it was.
const mostMade = 10_000

// comment is one result on one pull request.
type comment struct {
	pull    string
	key     string
	version int // of the record
}

// Tell comments on the pull requests of each row, once. A row that fails keeps no other from being told.
func (a *API) Tell(ctx context.Context, rows []database.Row) (told []database.Row, err error) {
	a.telling.Lock()
	defer a.telling.Unlock()

	if len(a.made) > mostMade {
		clear(a.made)
	}
	for _, r := range rows {
		if failed := a.tellOne(ctx, r); failed != nil {
			err = failed
			continue
		}
		told = append(told, r)
	}
	return told, err
}

func (a *API) tellOne(ctx context.Context, r database.Row) error {
	var failed error
	for _, pull := range strings.Fields(r.Pulls) {
		c := comment{pull: pull, key: r.Key, version: r.Version}
		if a.made[c] {
			continue
		}

		if err := a.comment(ctx, c, queue.Sentence(r)); err != nil {
			failed = fmt.Errorf("comment on %s: %w", pull, err)
			continue
		}
		a.made[c] = true
	}
	return failed
}

func (a *API) comment(ctx context.Context, c comment, text string) error {
	pr, err := database.ParsePull(c.pull)
	if err != nil {
		return err
	}

	request := github.IssueCommentRequest{Body: text}
	_, _, err = a.client.Issues.CreateComment(ctx, pr.Owner, pr.Repo, pr.Number, request)
	return err
}

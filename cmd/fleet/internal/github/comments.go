package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// commentsKept is how long this process knows which comments it has made: longer than a result is told again.
const commentsKept = 2 * database.Day

// comment is one result on one pull request.
type comment struct {
	pull    string
	key     string
	version int // of the record
}

// Tell comments on the pull requests of each row, once. A row that fails keeps no other from being told.
func (a *API) Tell(ctx context.Context, rows []database.Row) (told []database.Row, err error) {
	a.forgetComments()

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

func (a *API) forgetComments() {
	a.comments.Range(func(c, made any) bool {
		if at, isTime := made.(time.Time); !isTime || time.Since(at) > commentsKept {
			a.comments.Delete(c)
		}

		return true
	})
}

func (a *API) tellOne(ctx context.Context, r database.Row) error {
	var failed error
	for _, pull := range strings.Fields(r.Pulls) {
		c := comment{pull: pull, key: r.Key, version: r.Version}
		if _, isMade := a.comments.Load(c); isMade {
			continue
		}

		if err := a.comment(ctx, c, queue.Sentence(r)); err != nil {
			failed = fmt.Errorf("comment on %s: %w", pull, err)
			continue
		}
		a.comments.Store(c, time.Now())
	}
	return failed
}

// comment makes a comment. A pull request that does not exist wants none.
func (a *API) comment(ctx context.Context, c comment, text string) error {
	pr, err := database.ParsePull(c.pull)
	if err != nil {
		return err
	}

	request := github.IssueCommentRequest{Body: text}
	_, resp, err := a.client.Issues.CreateComment(ctx, pr.Owner, pr.Repo, pr.Number, request)
	if resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone) {
		a.Logger.Warn("a result is not told: its pull request does not exist, or the token does not reach it",
			"key", c.key, "pull", c.pull)
		return nil
	}
	return err
}

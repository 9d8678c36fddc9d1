package github

import (
	"context"
	"fmt"
	"maps"
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
	a.mu.Lock()
	defer a.mu.Unlock()

	maps.DeleteFunc(a.comments, func(_ comment, made time.Time) bool { return time.Since(made) > commentsKept })
}

func (a *API) isMade(c comment) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	_, isMade := a.comments[c]
	return isMade
}

func (a *API) noteMade(c comment) {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.comments[c] = time.Now()
}

func (a *API) tellOne(ctx context.Context, r database.Row) error {
	var failed error
	for _, pull := range strings.Fields(r.Pulls) {
		c := comment{pull: pull, key: r.Key, version: r.Version}
		if a.isMade(c) {
			continue
		}

		if err := a.comment(ctx, c, queue.Sentence(r)); err != nil {
			failed = fmt.Errorf("comment on %s: %w", pull, err)
			continue
		}
		a.noteMade(c)
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

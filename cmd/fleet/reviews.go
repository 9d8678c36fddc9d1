package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// reviewCommand is what a comment for the agent begins with.
const reviewCommand = "/docs "

// review is a comment on a pull request of the agent's that asks for a change.
type review struct {
	ID     int64
	Key    string // stands in the marker of the pull request's description
	Pull   string // names the pull request as owner/repo#7
	URL    string // leads to the pull request
	Author string
	Text   string
}

// key returns the key of the follow-up.
func (r review) key() string { return fmt.Sprintf("%s#comment-%d", r.Key, r.ID) }

// prompt returns the follow-up, whose result is told on the pull request.
func (r review) prompt(priority int) (prompt, error) {
	p := prompt{
		Key:      r.key(),
		Prompt:   fmt.Sprintf("%s reviews your pull request %s and asks for a change:\n\n%s", r.Author, r.URL, r.Text),
		Pull:     r.Pull,
		Priority: priority,
		After:    r.Key,
	}
	return p, p.check()
}

// reviewOf returns the review in an event, or why the event is not a review.
func reviewOf(e *github.IssueCommentEvent) (r review, why string) {
	text, isCommand := strings.CutPrefix(e.GetComment().GetBody(), reviewCommand)
	text = strings.TrimSpace(text)
	switch {
	case e.GetAction() != "created":
		return review{}, "the comment is not new"
	case !e.GetIssue().IsPullRequest():
		return review{}, "the comment is not on a pull request"
	case !isCommand || text == "":
		return review{}, "the comment does not begin with /docs and a request"
	case !mayAsk(e.GetComment()):
		return review{}, "its author is not an owner, a member or a collaborator of the repository"
	}

	key, found := once.FindMarker(e.GetIssue().GetBody())
	if !found {
		return review{}, "the pull request's description has no marker"
	}
	return review{
		ID:     e.GetComment().GetID(),
		Key:    foldCase(key),
		Pull:   foldCase(fmt.Sprintf("%s#%d", e.GetRepo().GetFullName(), e.GetIssue().GetNumber())),
		URL:    e.GetIssue().GetPullRequestLinks().GetHTMLURL(),
		Author: redact.OneLine(e.GetComment().GetUser().GetLogin(), 80),
		Text:   text,
	}, ""
}

// mayAsk reports whether the author of a comment may have the agent work.
func mayAsk(c *github.IssueComment) bool {
	// GitHub has dropped the field from its Events API, but not from webhooks.
	association := c.GetAuthorAssociation() //nolint:staticcheck // see above
	return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, association)
}

// reviewStanding is what is known of a review.
type reviewStanding int

const (
	isUndecided reviewStanding = iota // the record may get the link still
	isForJob                          // it is on the pull request of the record's job
	isForeign                         // it is not, and will not be
	isKnown                           // it has become a follow-up before
	isUnfit                           // it is for the job, but fleet has no prompt to follow
)

// standing compares the pull request of a review with the one on record. Anybody can copy a marker
// into a description: the marker alone proves nothing.
func (r review) standing(record once.Record) reviewStanding {
	switch {
	case record.PRLink != "" && isSamePage(record.PRLink, r.URL):
		return isForJob
	case record.PRLink != "" || record.Version == 0:
		return isForeign
	case record.State.IsOpen() || record.State == once.Unknown:
		return isUndecided
	}
	return isForeign
}

// isSamePage reports whether two URLs are of the same page. GitHub ignores case.
func isSamePage(a, b string) bool {
	first, err := url.Parse(a)
	if err != nil || first.Host == "" {
		return false
	}
	second, err := url.Parse(b)
	if err != nil {
		return false
	}
	return strings.EqualFold(first.Host, second.Host) &&
		strings.EqualFold(strings.TrimRight(first.Path, "/"), strings.TrimRight(second.Path, "/"))
}

// keepReview stores a review until it is decided about, so that none is lost.
func (s store) keepReview(ctx context.Context, r review) error {
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_comments (id, key, pull, url, author, text, at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
		r.ID, r.Key, r.Pull, r.URL, r.Author, r.Text, time.Now().UnixMilli())
	return err
}

// keptReviews returns the reviews of a project, or of all for "", that are not decided about, the oldest
// first.
func (s store) keptReviews(ctx context.Context, project string) ([]review, error) {
	var reviews []review
	err := scan(ctx, s.DB, func(rows *sql.Rows) error {
		var r review
		if err := rows.Scan(&r.ID, &r.Key, &r.Pull, &r.URL, &r.Author, &r.Text); err != nil {
			return err
		}
		reviews = append(reviews, r)
		return nil
	}, `SELECT id, key, pull, url, author, text FROM fleet_comments
WHERE $1 = '' OR key IN (SELECT key FROM fleet_prompts WHERE project = $1) ORDER BY id`, project)
	return reviews, err
}

// dropReview forgets a kept review.
func (s store) dropReview(ctx context.Context, r review) error {
	_, err := s.ExecContext(ctx, "DELETE FROM fleet_comments WHERE id = $1", r.ID)
	return err
}

// decideReview makes a kept review a follow-up, or drops it, once it is known whether it is for the
// job on record. It returns what it has found.
func (s store) decideReview(ctx context.Context, r review, priority int) (reviewStanding, error) {
	record, err := s.records().Get(ctx, r.Key)
	if err != nil {
		return isUndecided, err
	}

	standing := r.standing(record)
	switch standing {
	case isUndecided:
		return standing, nil
	case isForeign:
		s.logger.Info("a comment is left out", "key", r.Key, "pull", r.Pull, "comment", r.ID,
			"reason", "the record of the marker's key has another pull request, or none")
	case isForJob:
		standing, err = s.addReview(ctx, r, priority)
		if err != nil {
			return standing, err
		}
	}

	// A crash before this leaves the comment: its key then adds nothing.
	return standing, s.dropReview(ctx, r)
}

// addReview adds the follow-up of a review, and returns isForJob, or isKnown if it is there already. One
// that cannot be sent is logged, and isUnfit.
func (s store) addReview(ctx context.Context, r review, priority int) (reviewStanding, error) {
	p, err := r.prompt(priority)
	if err != nil {
		return s.leaveOutUnfit(r, err), nil
	}

	known, err := s.add(ctx, p)
	switch {
	case errors.As(err, &exit2{}): // the record is another program's: no later attempt can help
		return s.leaveOutUnfit(r, err), nil
	case err != nil:
		return isForJob, err
	case len(known) > 0:
		return isKnown, nil
	}
	return isForJob, nil
}

func (s store) leaveOutUnfit(r review, why error) reviewStanding {
	s.logger.Warn("a comment cannot be sent", "key", r.Key, "pull", r.Pull, "comment", r.ID, "error", why)
	return isUnfit
}

// decideReviews decides about all kept reviews that can be decided about.
func (w *worker) decideReviews(ctx context.Context) error {
	reviews, err := w.keptReviews(ctx, "")
	if err != nil {
		return err
	}

	var failed []error
	for _, r := range reviews {
		_, err := w.decideReview(ctx, r, defaultPriority)
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// lookUp polls the job of a running record that has no pull request yet: the service may know one.
func (w *worker) lookUp(ctx context.Context, key string) error {
	record, err := w.records().Get(ctx, key)
	if err != nil || record.State != once.Running || record.PRLink != "" {
		return err
	}
	_, _, err = w.steps.Step(ctx, key)
	return err
}

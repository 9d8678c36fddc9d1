package github

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

var (
	// requestForm is how a comment for the agent begins.
	requestForm = regexp.MustCompile(`(?i)^/docs\s`)

	htmlComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)

	// meantForm is how a line begins that its author may have meant for the agent: also behind white space and quotes.
	meantForm = regexp.MustCompile("(?im)^[\\s>\"'`~]*/docs(?:\\s|$)")
)

// Review is a comment on a pull request of the agent's that asks for a change.
type Review struct {
	ID      int64
	Key     string // stands in the marker of the pull request's description
	Pull    string // names the pull request as owner/repo#7
	URL     string // leads to the pull request
	Author  string
	Text    string // what the comment asks for; "" if it asks for nothing any more
	MayAsk  bool   // GitHub's event says that the author may; else GitHub has to be asked
	Unasked string // why GitHub does not say whether the author may

	isMember bool // of the organization or the repository; a member may only read
}

// FollowUp returns the key of the follow-up.
func (r Review) FollowUp() string { return fmt.Sprintf("%s%s%d", r.Key, commentMark, r.ID) }

const commentMark = "#comment-"

// prompt returns the follow-up, whose result is told on the pull request.
func (r Review) prompt() (database.Prompt, error) {
	p := database.Prompt{
		Key:    r.FollowUp(),
		Prompt: fmt.Sprintf("%s reviews your pull request %s and asks for a change:\n\n%s", r.Author, r.URL, r.Text),
		Pull:   r.Pull,
		After:  r.Key,
		Author: database.FoldCase(r.Author),
	}

	if err := p.Check(); err != nil {
		return p, usage.Errorf("%w", err)
	}
	return p, nil
}

// reviewOf returns the review in an event, and why the event does not ask for a change. canAsk is whether GitHub can
// be asked what the author may do.
func reviewOf(e *github.IssueCommentEvent, canAsk bool) (r Review, why string) {
	key, isMarked := once.FindMarker(e.GetIssue().GetBody())
	// GitHub has dropped the field from its Events API, but not from webhooks.
	association := e.GetComment().GetAuthorAssociation() //nolint:staticcheck // see above
	r = Review{
		ID:     e.GetComment().GetID(),
		Key:    database.FoldCase(key),
		Pull:   database.FoldCase(fmt.Sprintf("%s#%d", e.GetRepo().GetFullName(), e.GetIssue().GetNumber())),
		URL:    e.GetIssue().GetPullRequestLinks().GetHTMLURL(),
		Author: safetext.OneLine(e.GetComment().GetUser().GetLogin(), 80),
	}
	r.isMember = slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, association)
	r.MayAsk = r.isMember && !canAsk

	body := e.GetComment().GetBody()
	if e.GetAction() != "deleted" && requestForm.MatchString(body) {
		r.Text = database.Clean(strings.TrimSpace(body[len("/docs"):]))
	}
	if strings.TrimSpace(htmlComment.ReplaceAllString(r.Text, "")) == "" { // of a template
		r.Text = ""
	}

	switch {
	case e.GetIssue().GetPullRequestLinks() == nil:
		why = "the comment is not on a pull request"
	case r.Text == "":
		why = "the comment does not begin with /docs and a request"
	case !r.isMember && !canAsk:
		why = "its author is not an owner, a member or a collaborator of the repository"
	case !isMarked:
		why = "the pull request's description has no marker"
	}
	return r, why
}

// errWaits is that a review waits: for the record to get the link of its pull request, or for another process.
var errWaits = errors.New("it cannot be decided about yet")

// errPermission is that GitHub does not tell what an author may do.
var errPermission = errors.New("ask GitHub for the permission")

const notAllowed = "its author may not write to the repository"

// compare compares the pull request of a review with the one on record, and says why it is left out. Anybody can copy a
// marker into a description: the marker alone proves nothing.
func (r Review) compare(record once.Record) (string, error) {
	mayGetLink := record.Version > 0 && (record.State.IsOpen() || record.State == once.Unknown)
	isSame := strings.EqualFold(strings.TrimRight(record.PRLink, "/"), strings.TrimRight(r.URL, "/"))
	switch {
	case record.PRLink == "" && mayGetLink:
		return "", errWaits
	case record.PRLink == "" || !isSame:
		return "the record of " + r.Key + " has another pull request, or none", nil
	case record.JobID == "" && !record.State.IsOpen():
		return r.Key + " has no job that a message could go to", nil
	}
	return "", nil
}

// KeepReview stores a review until it is decided about, so that none is lost.
func (s Docs) KeepReview(ctx context.Context, r Review) error {
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_comments (id, key, pull, url, author, text, at, may_ask)
VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN 1 ELSE 0 END) ON CONFLICT (id) DO NOTHING`,
		r.ID, r.Key, r.Pull, r.URL, r.Author, r.Text, time.Now().UnixMilli(), r.MayAsk)
	return err
}

// KeptReviews returns the reviews of a project and of a repository, "" is any, that are not decided about, the oldest
// first.
func (s Docs) KeptReviews(ctx context.Context, project, repository string) ([]Review, error) {
	filter := database.Choice{Project: project, Repository: repository}.Filter()
	where := ""
	if len(filter.Args) > 0 {
		where = "WHERE EXISTS (SELECT 1 FROM fleet_prompts p WHERE p.key = c.key AND " + filter.Where() + ")"
	}

	return database.All(ctx, s.DB, func(r *Review) []any {
		return []any{&r.ID, &r.Key, &r.Pull, &r.URL, &r.Author, &r.Text, &r.MayAsk, &r.Unasked}
	}, "SELECT id, key, pull, url, author, text, may_ask = 1, unasked FROM fleet_comments c "+where+" ORDER BY id",
		filter.Args...)
}

// DropReview forgets a kept review.
func (s Docs) DropReview(ctx context.Context, r Review) error {
	_, err := s.ExecContext(ctx, "DELETE FROM fleet_comments WHERE id = $1", r.ID)
	return err
}

// DecideReviews decides about all kept reviews that can be decided about, and shows reviewers what was canceled.
func (s Docs) DecideReviews(ctx context.Context) error {
	_, err := s.decideReviews(ctx, "")
	return errors.Join(err, s.reactToCanceled(ctx))
}

// decideReviews decides about the kept reviews of a prompt, or for "" of all, in their order, so that messages to a job
// keep theirs: once one waits, the later ones wait, too. A permission that GitHub does not tell holds up no other. It
// returns, by id, why those that are decided about are left out, "" if they are not.
func (s Docs) decideReviews(ctx context.Context, key string) (map[int64]string, error) {
	kept, err := s.KeptReviews(ctx, "", "")
	if err != nil {
		return nil, err
	}

	decided := map[int64]string{}
	isHeldUp := map[string]bool{}
	var failed []error
	for _, r := range kept {
		if isHeldUp[r.Key] || key != "" && key != r.Key {
			continue
		}

		reason, err := s.decide(ctx, r)
		if err == nil {
			decided[r.ID] = reason
			continue
		}

		isHeldUp[r.Key] = !errors.Is(err, errPermission)
		if !isHeldUp[r.Key] {
			_, failure := s.ExecContext(ctx, "UPDATE fleet_comments SET unasked = $2 WHERE id = $1", r.ID,
				safetext.OneLine(err.Error(), 500))
			err = errors.Join(err, failure)
		}
		if !errors.Is(err, errWaits) {
			failed = append(failed, err)
		}
	}
	return decided, errors.Join(failed...)
}

// decide makes a kept review a follow-up, or leaves it out for a reason, once it is known whether it is for the job on
// record.
func (s Docs) decide(ctx context.Context, r Review) (string, error) {
	record, err := s.Records().Get(ctx, r.Key)
	if err != nil {
		return "", err
	}

	reason, err := r.compare(record)
	if err == nil && reason == "" && !r.MayAsk {
		reason, err = s.askPermission(ctx, r)
	}
	if err == nil && reason == "" {
		reason, err = s.add(ctx, r, record.ProjectID)
	}
	if err != nil {
		return "", err
	}

	if reason != "" {
		s.leaveOut(ctx, r, reason)
		err = s.DropReview(ctx, r)
	}
	s.reactTo(ctx, r, reason)
	return reason, err
}

// askPermission asks GitHub whether the author may write: to a webhook a private member is a contributor, and a member
// or a collaborator may only read. It says why not.
func (s Docs) askPermission(ctx context.Context, r Review) (string, error) {
	if s.API == nil {
		return "", errWaits // a process with the token decides
	}
	pr, err := database.ParsePull(r.Pull)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errPermission, err)
	}

	level, resp, err := s.API.client.Repositories.GetPermissionLevel(ctx, pr.Owner, pr.Repo, r.Author)
	isUnknown := resp != nil && resp.StatusCode == http.StatusNotFound // GitHub knows no such user
	switch {
	case err != nil && !isUnknown:
		return "", fmt.Errorf("%w of %s: %w", errPermission, r.Author, err)
	case level.GetPermission() == "admin" || level.GetPermission() == "write":
		return "", nil
	}
	return notAllowed, nil
}

// add makes a kept review a follow-up in a project, with the text that its comment has by now, or says why it cannot be
// sent. Whoever changes the comment finds either the review or the follow-up.
func (s Docs) add(ctx context.Context, r Review, project string) (string, error) {
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		if err := s.LockProjects(ctx, tx, project); err != nil {
			return err
		}
		texts, err := sqldb.Strings(ctx, tx, `DELETE FROM fleet_comments WHERE id = $1 RETURNING
	CASE WHEN EXISTS (SELECT 1 FROM fleet_comment_events e WHERE e.id = $1 AND e.deleted = 1) THEN '' ELSE text END`,
			r.ID)
		if err != nil {
			return err
		}
		if len(texts) == 0 { // it was deleted, or another process has decided
			return errWaits
		}
		if texts[0] == "" { // before it was kept
			return usage.Errorf("the comment was deleted")
		}

		r.Text = texts[0]
		p, err := r.prompt()
		if err != nil {
			return err
		}
		_, err = s.EnqueueIn(ctx, tx, p)
		return err
	})
	if usage.Is(err) && !errors.Is(err, database.ErrNewer) { // if it is newer, the newer fleet decides
		return err.Error(), nil
	}
	return "", err
}

const reactTime = 3 * time.Second

// reactTo shows a reviewer that a comment is on its way, or that it is left out for a reason.
func (s Docs) reactTo(ctx context.Context, r Review, reason string) {
	if s.API == nil || reason == notAllowed {
		return
	}

	content := "eyes"
	if reason != "" {
		content = "confused"
	}

	ctx, cancel := context.WithTimeout(ctx, reactTime)
	defer cancel()

	pr, err := database.ParsePull(r.Pull)
	if err == nil {
		_, _, err = s.API.client.Reactions.CreateIssueCommentReaction(ctx, pr.Owner, pr.Repo, r.ID, content)
	}

	if err != nil {
		s.Logger.Warn("a reaction could not be added to a comment", "pull", r.Pull, "comment", r.ID, "error", err)
	}
}

// isCanceled is the condition of the index of messages that were canceled, which nobody has been told.
const isCanceled = "state = 'canceled' AND thread <> '' AND told <> state"

// reactToCanceled shows reviewers whose comments were canceled: the command of a person has no token.
func (s Docs) reactToCanceled(ctx context.Context) error {
	if s.API == nil {
		return nil
	}
	rows, err := s.Rows(ctx, isCanceled+" ORDER BY key LIMIT 20")
	if err != nil {
		return err
	}

	for _, row := range rows {
		_, text, _ := strings.Cut(row.Key, commentMark)
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			s.reactTo(ctx, Review{ID: id, Pull: row.Pulls}, "it is canceled")
		}

		_, err := s.ExecContext(ctx, "UPDATE fleet_prompts SET told = state, version = version + 1 WHERE key = $1 AND "+
			isCanceled, row.Key)
		if err != nil {
			return err
		}
	}
	return nil
}

// leaveOut logs and keeps why a review is left out.
func (s Docs) leaveOut(ctx context.Context, r Review, reason string) {
	s.Logger.Info("a comment is left out", "key", r.Key, "pull", r.Pull, "author", r.Author,
		"comment", r.ID, "reason", reason)
	s.keepLeftOut(ctx, database.LeftOut{
		Kind:    "comment",
		Pull:    r.Pull,
		Comment: r.ID,
		Author:  r.Author,
		Reason:  reason,
	})
}

func (s Docs) keepLeftOut(ctx context.Context, l database.LeftOut) {
	if err := s.KeepLeftOut(ctx, l); err != nil {
		s.Calm.Warn("what is left out could not be stored", "error", err)
	}
}

// amend has a review that waits be sent as its comment is now, or not at all if the comment asks for nothing any
// more. It returns no response if fleet knows no such comment.
func (s Docs) amend(ctx context.Context, r Review, action string) (response, error) {
	done := respond(http.StatusOK, "changed: "+r.FollowUp())
	if r.Text == "" {
		done.Text = "not sent: " + r.FollowUp()
	}

	isKept, err := s.amendKept(ctx, r)
	if err != nil || isKept {
		return done, err
	}

	record, err := s.Records().Get(ctx, r.FollowUp())
	if err != nil || record.Version == 0 {
		return response{}, err
	}

	next := record
	change := "its comment was deleted"
	if r.Text == "" {
		next.State = once.Canceled
	} else {
		p, err := r.prompt()
		if err != nil {
			return keptOut(fmt.Sprintf("it was %s too late: %s", action, err)), nil
		}
		next.Prompt = p.Prompt
		change = "its comment was edited"
	}

	if next == record {
		return done, nil
	}
	if record.State != once.Pending {
		return keptOut(fmt.Sprintf("it was %s too late: %s is %s",
			action, record.Key, database.NameOf(record.State))), nil
	}

	err = s.PutNext(ctx, s.Records(), next, change)
	if errors.Is(err, once.ErrConflict) { // its turn has come meanwhile
		return s.amend(ctx, r, action)
	}
	return done, err
}

// amendKept amends a review that is not decided about. It reports whether there is such a one.
func (s Docs) amendKept(ctx context.Context, r Review) (bool, error) {
	statement := "UPDATE fleet_comments SET text = $2 WHERE id = $1"
	if r.Text == "" {
		statement = "DELETE FROM fleet_comments WHERE id = $1 AND $2 = ''"
	}

	n, err := sqldb.Changed(s.ExecContext(ctx, statement, r.ID, r.Text))
	if err == nil && n > 0 && r.Text == "" {
		s.leaveOut(ctx, r, "it was deleted, or asks for nothing any more")
	}
	return n > 0, err
}

package github

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

var (
	// requestForm is how a comment for the agent begins.
	requestForm = regexp.MustCompile(`(?i)^/docs\s`)

	// meantForm is how a line begins that its author may have meant for the agent: also behind white space and quotes.
	meantForm = regexp.MustCompile("(?im)^[\\s>\"'`~]*/docs(?:\\s|$)")
)

// requestIn returns what a comment asks of the agent, "" if it asks for nothing.
func requestIn(body string) string {
	if !requestForm.MatchString(body) {
		return ""
	}
	return database.Clean(strings.TrimSpace(body[len("/docs"):]))
}

// Review is a comment on a pull request of the agent's that asks for a change.
type Review struct {
	ID     int64
	Key    string // stands in the marker of the pull request's description
	Pull   string // names the pull request as owner/repo#7
	URL    string // leads to the pull request
	Author string
	Text   string // what the comment asks for; "" if it asks for nothing any more
	MayAsk bool   // GitHub's event says that the author may; else GitHub has to be asked
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
	r = Review{
		ID:     e.GetComment().GetID(),
		Key:    database.FoldCase(key),
		Pull:   database.FoldCase(fmt.Sprintf("%s#%d", e.GetRepo().GetFullName(), e.GetIssue().GetNumber())),
		URL:    e.GetIssue().GetPullRequestLinks().GetHTMLURL(),
		Author: redact.OneLine(e.GetComment().GetUser().GetLogin(), 80),
		MayAsk: mayAsk(e.GetComment()),
	}
	if e.GetAction() != "deleted" {
		r.Text = requestIn(e.GetComment().GetBody())
	}

	switch {
	case e.GetIssue().GetPullRequestLinks() == nil:
		why = "the comment is not on a pull request"
	case r.Text == "":
		why = "the comment does not begin with /docs and a request"
	case !r.MayAsk && !canAsk:
		why = "its author is not an owner, a member or a collaborator of the repository"
	case !isMarked:
		why = "the pull request's description has no marker"
	}
	return r, why
}

func mayAsk(c *github.IssueComment) bool {
	// GitHub has dropped the field from its Events API, but not from webhooks.
	association := c.GetAuthorAssociation() //nolint:staticcheck // see above
	return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, association)
}

// decision is what becomes of a review. The zero value is that it becomes a follow-up.
type decision struct {
	waits  bool   // for the record to get the link of its pull request, or for GitHub to respond
	reason string // why it is left out
}

var undecided = decision{waits: true}

const notAllowed = "its author may not write to the repository"

// compare compares the pull request of a review with the one on record. Anybody can copy a marker
// into a description: the marker alone proves nothing.
func (r Review) compare(record once.Record) decision {
	mayGetLink := record.Version > 0 && (record.State.IsOpen() || record.State == once.Unknown)
	switch {
	case record.PRLink == "" && mayGetLink:
		return undecided
	case record.PRLink == "" || !isSamePage(record.PRLink, r.URL):
		return decision{reason: "the record of " + r.Key + " has another pull request, or none"}
	case record.JobID == "" && !record.State.IsOpen():
		return decision{reason: r.Key + " has no job that a message could go to"}
	}
	return decision{}
}

// isSamePage reports whether two URLs are of the same page. GitHub ignores case.
func isSamePage(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
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

	return sqldb.All(ctx, s.DB, func(rows *sql.Rows) (Review, error) {
		var r Review
		err := rows.Scan(&r.ID, &r.Key, &r.Pull, &r.URL, &r.Author, &r.Text, &r.MayAsk)
		return r, err
	}, "SELECT id, key, pull, url, author, text, may_ask = 1 FROM fleet_comments c "+where+" ORDER BY id",
		filter.Args...)
}

// DropReview forgets a kept review.
func (s Docs) DropReview(ctx context.Context, r Review) error {
	_, err := s.ExecContext(ctx, "DELETE FROM fleet_comments WHERE id = $1", r.ID)
	return err
}

// DecideReviews decides about all kept reviews that can be decided about, and shows reviewers what was canceled.
func (s Docs) DecideReviews(ctx context.Context) error {
	kept, err := s.KeptReviews(ctx, "", "")
	if err != nil {
		return err
	}

	_, err = s.decideInOrder(ctx, kept)
	return errors.Join(err, s.reactToCanceled(ctx))
}

// decideUpTo decides about a kept review, after those of its pull request that came before it, so that messages to a
// job keep their order.
func (s Docs) decideUpTo(ctx context.Context, r Review) (decision, error) {
	kept, err := s.KeptReviews(ctx, "", "")
	if err != nil {
		return undecided, err
	}

	kept = slices.DeleteFunc(kept, func(other Review) bool { return other.Key != r.Key || other.ID > r.ID })
	decided, err := s.decideInOrder(ctx, kept)
	d, isDecided := decided[r.ID]
	if !isDecided {
		return undecided, err
	}
	return d, err
}

// decideInOrder decides about kept reviews, and returns the decisions by id. Once one of a key waits, the later ones
// of the key wait, too. A permission that GitHub does not tell holds up no other review.
func (s Docs) decideInOrder(ctx context.Context, kept []Review) (map[int64]decision, error) {
	decided := map[int64]decision{}
	isHeldUp := map[string]bool{}
	var failed []error
	for _, r := range kept {
		if isHeldUp[r.Key] {
			continue
		}

		d, err := s.decide(ctx, r)
		decided[r.ID] = d
		failed = append(failed, err)
		isHeldUp[r.Key] = d.waits && !errors.Is(err, errPermission)
	}
	return decided, errors.Join(failed...)
}

// decide makes a kept review a follow-up, or leaves it out, once it is known whether it is for the job on record.
func (s Docs) decide(ctx context.Context, r Review) (decision, error) {
	record, err := s.Records().Get(ctx, r.Key)
	if err != nil {
		return undecided, err
	}

	d := r.compare(record)
	if d == (decision{}) && !r.MayAsk {
		d, err = s.askPermission(ctx, r)
	}

	if d == (decision{}) {
		d, err = s.add(ctx, r)
	}
	if err != nil || d.waits {
		return undecided, err
	}

	if d.reason != "" {
		s.leaveOut(ctx, r, d.reason)
	}
	s.reactTo(ctx, r, d)

	// A crash before this leaves the comment: its key then adds nothing.
	return d, s.DropReview(ctx, r)
}

// errPermission is that GitHub does not tell what an author may do.
var errPermission = errors.New("ask GitHub for the permission")

// askPermission asks GitHub whether the author may write: to GitHub a private member is a contributor.
func (s Docs) askPermission(ctx context.Context, r Review) (decision, error) {
	if s.API == nil {
		return undecided, nil // a process with the token decides
	}

	may, err := s.API.mayWrite(ctx, r)
	if err != nil {
		return undecided, fmt.Errorf("%w of %s: %w", errPermission, r.Author, err)
	}
	if !may {
		return decision{reason: notAllowed}, nil
	}
	return decision{}, nil
}

// add adds the follow-up of a kept review, with the text that its comment has by now.
func (s Docs) add(ctx context.Context, r Review) (decision, error) {
	texts, err := sqldb.Strings(ctx, s.DB, "SELECT text FROM fleet_comments WHERE id = $1", r.ID)
	if err != nil || len(texts) == 0 { // it was deleted, or another process has decided
		return undecided, err
	}

	r.Text = texts[0]
	p, err := r.prompt()
	if err == nil {
		_, err = s.Enqueue(ctx, p)
	}
	if usage.Is(err) && !errors.Is(err, database.ErrNewer) { // if it is newer, the newer fleet decides
		return decision{reason: err.Error()}, nil
	}
	return decision{}, err
}

func (s Docs) reactTo(ctx context.Context, r Review, d decision) {
	content := "eyes"
	if d.reason != "" {
		content = "confused"
	}

	if s.API == nil || d.reason == notAllowed {
		return
	}
	if err := s.API.react(ctx, r, content); err != nil {
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
			s.reactTo(ctx, Review{ID: id, Pull: row.Pulls}, decision{reason: "it is canceled"})
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
	err := s.KeepLeftOut(ctx, database.LeftOut{Kind: "comment", Pull: r.Pull, Author: r.Author, Reason: reason})
	if err != nil {
		s.Calm.Warn("what is left out could not be stored", "error", err)
	}
}

// amend has a review that waits be sent as its comment is now, or not at all if the comment asks for nothing any
// more. It reports whether it knows the review, and why it is too late.
func (s Docs) amend(ctx context.Context, r Review) (isKnown bool, late string, err error) {
	isKept, err := s.amendKept(ctx, r)
	if err != nil || isKept {
		return isKept, "", err
	}
	record, err := s.Records().Get(ctx, r.FollowUp())
	if err != nil || record.Version == 0 {
		return false, "", err
	}

	next := record
	change := "its comment was deleted"
	if r.Text == "" {
		next.State = once.Canceled
	} else {
		p, err := r.prompt()
		if err != nil {
			return true, "", err
		}
		next.Prompt = p.Prompt
		change = "its comment was edited"
	}

	if next == record {
		return true, "", nil
	}
	if record.State != once.Pending {
		return true, fmt.Sprintf("%s is %s", record.Key, database.NameOf(record.State)), nil
	}

	err = s.PutNext(ctx, s.DB, next, change)
	if errors.Is(err, once.ErrConflict) { // its turn has come meanwhile
		return s.amend(ctx, r)
	}
	return true, "", err
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

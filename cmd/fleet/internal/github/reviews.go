package github

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// reviewCommand is how a comment for the agent begins.
var reviewCommand = regexp.MustCompile(`(?i)^/docs\s`)

// isForAgent reports whether a comment begins with the command.
func isForAgent(body string) bool { return reviewCommand.MatchString(body) }

// Review is a comment on a pull request of the agent's that asks for a change.
type Review struct {
	ID     int64
	Key    string // stands in the marker of the pull request's description
	Pull   string // names the pull request as owner/repo#7
	URL    string // leads to the pull request
	Author string
	Text   string
	MayAsk bool // GitHub's event says that the author may; else GitHub has to be asked
}

// FollowUp returns the key of the follow-up.
func (r Review) FollowUp() string { return fmt.Sprintf("%s#comment-%d", r.Key, r.ID) }

// prompt returns the follow-up, whose result is told on the pull request.
func (r Review) prompt(priority int) (database.Prompt, error) {
	p := database.Prompt{
		Key:      r.FollowUp(),
		Prompt:   fmt.Sprintf("%s reviews your pull request %s and asks for a change:\n\n%s", r.Author, r.URL, r.Text),
		Pull:     r.Pull,
		Priority: priority,
		After:    r.Key,
	}
	return p, p.Check()
}

// reviewOf returns the review in an event, or why the event is not a review. canAsk is whether GitHub can be asked
// what the author may do.
func reviewOf(e *github.IssueCommentEvent, canAsk bool) (r Review, why string) {
	body := e.GetComment().GetBody()
	isAllowed := mayAsk(e.GetComment())

	switch {
	case e.GetAction() != "created":
		return Review{}, "the comment is not new"
	case !e.GetIssue().IsPullRequest():
		return Review{}, "the comment is not on a pull request"
	case !isForAgent(body) || strings.TrimSpace(body[len("/docs"):]) == "":
		return Review{}, "the comment does not begin with /docs and a request"
	case !isAllowed && !canAsk:
		return Review{}, "its author is not an owner, a member or a collaborator of the repository"
	}

	key, found := once.FindMarker(e.GetIssue().GetBody())
	if !found {
		return Review{}, "the pull request's description has no marker"
	}

	return Review{
		ID:     e.GetComment().GetID(),
		Key:    database.FoldCase(key),
		Pull:   database.FoldCase(fmt.Sprintf("%s#%d", e.GetRepo().GetFullName(), e.GetIssue().GetNumber())),
		URL:    e.GetIssue().GetPullRequestLinks().GetHTMLURL(),
		Author: redact.OneLine(e.GetComment().GetUser().GetLogin(), 80),
		Text:   database.Clean(strings.TrimSpace(body[len("/docs"):])),
		MayAsk: isAllowed,
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
	isUndecided  reviewStanding = iota // the record may get the link still
	isForJob                           // it is on the pull request of the record's job
	isForeign                          // it is not, and will not be
	isKnown                            // it has become a follow-up before
	isUnfit                            // it is for the job, but fleet has no prompt to follow
	isJobless                          // the prompt has no job that a message could go to
	isNotAllowed                       // its author may not write to the repository
)

// standing compares the pull request of a review with the one on record. Anybody can copy a marker
// into a description: the marker alone proves nothing.
func (r Review) standing(record once.Record) reviewStanding {
	switch {
	case record.PRLink != "" && isSamePage(record.PRLink, r.URL) && record.JobID == "" && !record.State.IsOpen():
		return isJobless
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

// Reviews are the comments for the agent, on their way into the queue.
type Reviews struct {
	queue.Queue
	API *API // nil: without a token
}

// KeepReview stores a review until it is decided about, so that none is lost.
func (s Reviews) KeepReview(ctx context.Context, r Review) error {
	may := 0
	if r.MayAsk {
		may = 1
	}
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_comments (id, key, pull, url, author, text, at, may_ask)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
		r.ID, r.Key, r.Pull, r.URL, r.Author, r.Text, time.Now().UnixMilli(), may)
	return err
}

// KeptReviews returns the reviews of a project and of a repository, "" is any, that are not decided about, the oldest
// first.
func (s Reviews) KeptReviews(ctx context.Context, project, repository string) ([]Review, error) {
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
func (s Reviews) DropReview(ctx context.Context, r Review) error {
	_, err := s.ExecContext(ctx, "DELETE FROM fleet_comments WHERE id = $1", r.ID)
	return err
}

// decideReview makes a kept review a follow-up, or drops it, once it is known whether it is for the
// job on record. It returns what it has found.
func (s Reviews) decideReview(ctx context.Context, r Review, priority int) (reviewStanding, error) {
	record, err := s.Records().Get(ctx, r.Key)
	if err != nil {
		return isUndecided, err
	}

	standing := r.standing(record)
	if standing == isForJob && !r.MayAsk {
		standing, err = s.askPermission(ctx, r)
	}

	switch {
	case err != nil:
		return isUndecided, err
	case standing == isUndecided:
		return standing, nil
	case standing == isForJob:
		standing, err = s.AddReview(ctx, r, priority)
		if err != nil {
			return standing, err
		}
	default:
		s.leaveOut(ctx, r, reasonOf[standing])
	}

	s.reactTo(ctx, r, standing)

	// A crash before this leaves the comment: its key then adds nothing.
	return standing, s.DropReview(ctx, r)
}

// reasonOf says why a review is left out.
var reasonOf = map[reviewStanding]string{
	isForeign:    "the record of the marker's key has another pull request, or none",
	isJobless:    "the prompt of the marker's key has no job that a message could go to",
	isNotAllowed: "its author may not write to the repository",
	isUnfit:      "it cannot be sent",
}

// errPermission is that GitHub does not tell what an author may do.
var errPermission = errors.New("ask GitHub for the permission")

// askPermission asks GitHub whether the author may write: to GitHub a private member is a contributor.
func (s Reviews) askPermission(ctx context.Context, r Review) (reviewStanding, error) {
	if s.API == nil {
		return isUndecided, nil // a process with the token decides
	}

	may, err := s.API.mayWrite(ctx, r)
	if err != nil {
		return isUndecided, fmt.Errorf("%w of %s: %w", errPermission, r.Author, err)
	}
	if !may {
		return isNotAllowed, nil
	}
	return isForJob, nil
}

// reactTo shows the reviewer what became of a comment.
func (s Reviews) reactTo(ctx context.Context, r Review, standing reviewStanding) {
	content := "confused"
	if standing == isForJob {
		content = "eyes"
	}

	if s.API == nil || standing == isKnown || standing == isNotAllowed {
		return
	}
	if err := s.API.react(ctx, r, content); err != nil {
		s.Logger.Warn("a reaction could not be added to a comment", "pull", r.Pull, "comment", r.ID, "error", err)
	}
}

// leaveOut logs and keeps why a review is left out.
func (s Reviews) leaveOut(ctx context.Context, r Review, reason string) {
	s.Logger.Info("a comment is left out", "key", r.Key, "pull", r.Pull, "author", r.Author,
		"comment", r.ID, "reason", reason)
	err := s.KeepLeftOut(ctx, database.LeftOut{Kind: "comment", Pull: r.Pull, Author: r.Author, Reason: reason})
	if err != nil {
		s.Calm.Warn("what is left out could not be stored", "error", err)
	}
}

// AddReview adds the follow-up of a review, and returns isForJob, or isKnown if it is there already. One
// that cannot be sent is logged, and isUnfit.
func (s Reviews) AddReview(ctx context.Context, r Review, priority int) (reviewStanding, error) {
	p, err := r.prompt(priority)
	if err != nil {
		return s.leaveOutUnfit(r, err), nil
	}

	known, err := s.Enqueue(ctx, p)
	switch {
	case errors.Is(err, database.ErrNewer): // which is a usage error, too: the newer fleet decides
		return isUndecided, err
	case usage.Is(err): // the record is another program's: no later attempt can help
		return s.leaveOutUnfit(r, err), nil
	case err != nil:
		return isForJob, err
	case len(known) > 0:
		return isKnown, nil
	}
	return isForJob, nil
}

func (s Reviews) leaveOutUnfit(r Review, why error) reviewStanding {
	s.Logger.Warn("a comment cannot be sent", "key", r.Key, "pull", r.Pull, "comment", r.ID, "error", why)
	return isUnfit
}

// decideEarlier decides about the kept reviews that came before r, so that messages to a job keep their order. It
// reports whether one is left that r has to wait for.
func (s Reviews) decideEarlier(ctx context.Context, r Review, priority int) (waits bool, err error) {
	kept, err := s.KeptReviews(ctx, "", "")
	if err != nil {
		return true, err
	}

	earlier := slices.DeleteFunc(kept, func(other Review) bool { return other.Key != r.Key || other.ID >= r.ID })
	waiting, err := s.decideInOrder(ctx, earlier, priority)
	return waiting[r.Key], err
}

// DecideReviews decides about all kept reviews that can be decided about.
func (s Reviews) DecideReviews(ctx context.Context) error {
	kept, err := s.KeptReviews(ctx, "", "")
	if err != nil {
		return err
	}

	_, err = s.decideInOrder(ctx, kept, database.DefaultPriority)
	return err
}

// decideInOrder decides about kept reviews. Once one of a key is left, which the set of keys that it returns says,
// the later ones of the key wait, too. A permission that GitHub does not tell holds up no other review.
func (s Reviews) decideInOrder(ctx context.Context, kept []Review, priority int) (map[string]bool, error) {
	waiting := map[string]bool{}
	var failed []error
	for _, r := range kept {
		if waiting[r.Key] {
			continue
		}

		standing, err := s.decideReview(ctx, r, priority)
		failed = append(failed, err)
		isLeft := err != nil || standing == isUndecided
		waiting[r.Key] = isLeft && !errors.Is(err, errPermission)
	}
	return waiting, errors.Join(failed...)
}

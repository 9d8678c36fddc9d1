// Package github turns GitHub's webhooks into prompts and messages, looks for pull requests, and comments on them.
package github

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-github/v92/github"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

// HandlerTime is how long a response may take. GitHub gives up after 10 s.
const HandlerTime = 8 * time.Second

const (
	// MaxEvent is how many bytes a delivery may have.
	MaxEvent = 2 << 20

	maxBodies = 4 // in memory at once

	lookUpTime = HandlerTime / 2 // of a job, while GitHub waits
	bodyTime   = 2 * time.Second // to read a body
)

// Webhooks takes GitHub's webhooks.
type Webhooks struct {
	Docs
	secret   []byte
	projects atomic.Pointer[Projects]
	skip     merges.Authors
	priority int
	bodies   chan struct{} // one for each body in memory

	// Counts counts webhooks by event and status.
	Counts *prometheus.CounterVec

	// LookUp looks up the job of a record.
	LookUp func(ctx context.Context, key string) error
}

// NewWebhooks returns webhooks for a worker's queue.
func NewWebhooks(w *queue.Worker, secret string, known Projects, skip merges.Authors, priority int) *Webhooks {
	h := &Webhooks{
		Docs:     Docs{Queue: w.Queue},
		Counts:   newCounts(),
		secret:   []byte(strings.TrimSpace(secret)),
		skip:     skip,
		priority: priority,
		bodies:   make(chan struct{}, maxBodies),
		LookUp:   w.LookUp,
	}
	h.SetProjects(known)
	return h
}

// events are the names of events in the metrics.
var events = []string{
	"push", "pull_request", "issue_comment", "pull_request_review", "pull_request_review_comment", "ping", "other",
	unproved,
}

// unproved is the event of a delivery that calls itself GitHub's and fails the signature.
const unproved = "unproved"

// hookHeader has the number of the webhook that GitHub delivers for.
const hookHeader = "X-GitHub-Hook-ID"

// newCounts returns the counter of webhooks, with the series that alerts need from the start.
func newCounts() *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fleet_webhooks_total",
		Help: "Webhooks that this process has responded to. The event is other until the signature is proved, " +
			"and unproved if it fails and the delivery calls itself GitHub's.",
	}, []string{"event", "status"})

	for _, event := range events {
		for _, status := range []string{"200", "202", "401", "500", "503"} {
			counts.WithLabelValues(event, status)
		}
	}
	return counts
}

// SetProjects replaces the projects that document repositories.
func (h *Webhooks) SetProjects(known Projects) { h.projects.Store(&known) }

// NoteProjects notes which repositories are left out, and which of those that had no project have one now.
func (h *Webhooks) NoteProjects(ctx context.Context) error {
	if err := h.SetDocs(ctx, h.projects.Load().leftOut()); err != nil {
		return err
	}

	undocumented, err := h.Undocumented(ctx)
	if err != nil {
		return err
	}

	for _, u := range undocumented {
		if _, isKnown := h.projects.Load().Of(u.Repository); !isKnown {
			continue
		}
		if err := h.NoteDocumented(ctx, u.Repository); err != nil {
			return err
		}
	}
	return nil
}

// response is what GitHub shows as the response to a delivery.
type response struct {
	Status int
	Text   string
	Reason string // why the event is left out; "" if it is not
	About  Merge  // what the log says it is about; the zero value if nothing is known
	Event  string // empty before the signature is proved
	isKept bool   // fleet show says why it was left out

	isTaken  bool // nothing was stored: another event has brought a commit of it at the same moment
	isProved bool // the signature proves what the response is about
}

// respond returns the response to a delivery that somebody has to fix or to deliver again, or that fleet acts on.
func respond(status int, text string) response { return response{Status: status, Text: text} }

// leftOut is the response to an event that asks for nothing.
func leftOut(reason string) response {
	return response{Status: http.StatusOK, Text: "nothing to do: " + reason, Reason: reason}
}

// keptOut is the response to an event of which fleet show says why it is left out.
func keptOut(reason string) response {
	resp := leftOut(reason)
	resp.isKept = true
	return resp
}

// Handler takes deliveries at /github, and responds with 404 to all else.
func (h *Webhooks) Handler() http.Handler {
	const where = "webhooks are taken at POST /github"
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), HandlerTime)
		defer cancel()

		switch {
		case strings.TrimSuffix(r.URL.Path, "/") != "/github":
			h.respond(rw, r, respond(http.StatusNotFound, where))
		case r.Method != http.MethodPost:
			h.respond(rw, r, respond(http.StatusMethodNotAllowed, where))
		default:
			h.respond(rw, r, h.receive(rw, r.WithContext(ctx)))
		}
	})
}

// respond counts, logs and writes a response.
func (h *Webhooks) respond(rw http.ResponseWriter, r *http.Request, resp response) {
	if !slices.Contains(events, resp.Event) {
		resp.Event = "other"
	}
	h.Counts.WithLabelValues(resp.Event, strconv.Itoa(resp.Status)).Inc()
	h.log(r, resp)
	isRefused := resp.Status >= 400 && resp.Status < 500 && resp.Status != http.StatusUnprocessableEntity
	if isRefused && r.Header.Get(hookHeader) != "" {
		h.countRefused(r.Context(), resp)
	}
	http.Error(rw, resp.Text, resp.Status)
}

func (h *Webhooks) log(r *http.Request, resp response) {
	// Each line is needed: with the delivery and the hook GitHub can deliver again what was refused. A rotated secret
	// would lose each merge in silence.
	level := slog.LevelInfo
	switch resp.Status {
	case http.StatusInternalServerError, http.StatusServiceUnavailable:
		level = slog.LevelError
	case http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusRequestTimeout, http.StatusNotFound:
		level = slog.LevelWarn
	}

	h.Logger.Log(r.Context(), level, "webhook",
		"status", resp.Status,
		"delivery", safetext.OneLine(github.DeliveryID(r), 80),
		"hook", safetext.OneLine(r.Header.Get(hookHeader), 80),
		"address", r.RemoteAddr,
		"event", safetext.OneLine(github.WebHookType(r), 80),
		"repository", safetext.OneLine(resp.About.Repository, 150),
		"proved", resp.isProved,
		"sha", safetext.OneLine(resp.About.SHA, 80),
		"number", resp.About.Pulls,
		"response", resp.Text,
		"reason", safetext.OneLine(resp.Reason, 200))
}

// receive responds with 202 once a merge is stored, and with 200 to an event that asks for nothing.
func (h *Webhooks) receive(rw http.ResponseWriter, r *http.Request) response {
	signature := r.Header.Get(github.SHA256SignatureHeader)
	if !strings.HasPrefix(signature, "sha256=") {
		return respond(http.StatusUnauthorized, "no SHA-256 signature: set the webhook's secret")
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind != "application/json" {
		return respond(http.StatusUnsupportedMediaType, "set the webhook's content type to application/json")
	}

	select {
	case h.bodies <- struct{}{}:
		defer func() { <-h.bodies }()
	case <-r.Context().Done():
		return respond(http.StatusServiceUnavailable, "too much at once: deliver it again")
	}

	body, err := readBody(rw, r)
	if err != nil {
		return refusedBody(err)
	}
	if err := github.ValidateSignature(signature, body, h.secret); err != nil {
		return refusedSignature(r, body)
	}
	resp := h.take(r, body)
	resp.isProved = true
	return resp
}

// take acts on a delivery whose signature is proved.
func (h *Webhooks) take(r *http.Request, body []byte) response {
	if err := h.CheckVersion(r.Context()); err != nil {
		return h.notStored(err)
	}
	event, err := github.ParseWebHook(github.WebHookType(r), body)
	if err != nil {
		return respond(http.StatusBadRequest, "not an event of GitHub: "+safetext.OneLine(err.Error(), 200))
	}

	resp := h.act(r.Context(), event)
	for n := 0; resp.isTaken && n < maxPushed; n++ { // it then leaves out what others have taken
		resp = h.act(r.Context(), event)
	}
	resp.Event = github.WebHookType(r)
	return resp
}

// countRefused counts a delivery by the repository that its body names. A stalled body has ended the request's context.
func (h *Webhooks) countRefused(ctx context.Context, resp response) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), HandlerTime/4)
	defer cancel()

	repository := database.FoldCase(resp.About.Repository)
	if !database.RepositoryForm.MatchString(repository) {
		repository = ""
	}
	if err := h.CountRefused(ctx, repository, resp.Status); err != nil {
		h.Calm.Warn("a webhook that was refused is not in the report", "error", err)
	}
}

func (h *Webhooks) notStored(err error) response {
	h.Calm.Error("a webhook could not be stored", "error", err)
	h.NoteStored(safetext.OneLine(err.Error(), 500))
	return respond(http.StatusServiceUnavailable, "not stored: deliver it again")
}

// readBody reads a body. A client that sends slowly must not keep a place from others: the deadline stays unless the
// body was read whole, so that the connection of a body that stalls is closed.
func readBody(rw http.ResponseWriter, r *http.Request) ([]byte, error) {
	deadlines := http.NewResponseController(rw)
	isLimited := deadlines.SetReadDeadline(time.Now().Add(bodyTime)) == nil

	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, MaxEvent))
	if err != nil {
		rw.Header().Set("Connection", "close")
		return nil, err
	}
	if isLimited {
		err = deadlines.SetReadDeadline(time.Time{})
	}
	return body, err
}

// refusedBody is the response to a body that could not be read.
func refusedBody(err error) response {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return respond(http.StatusRequestEntityTooLarge, "the event is larger than 2 MiB: see docs/fleet.md")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return respond(http.StatusRequestTimeout, "the body took longer than 2 s: deliver it again")
	}
	return respond(http.StatusBadRequest, "the body could not be read")
}

// refusedSignature is the response to a body that the signature does not prove. It is about the repository that the
// body names, which anybody can write: a person has to know which webhook has another secret.
func refusedSignature(r *http.Request, body []byte) response {
	resp := respond(http.StatusUnauthorized, "the signature is not of this body and this server's secret")
	if strings.HasPrefix(r.UserAgent(), "GitHub-Hookshot/") && r.Header.Get(hookHeader) != "" {
		resp.Event = unproved
	}

	var names struct {
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
	}
	if err := json.Unmarshal(body, &names); err == nil {
		resp.About.Repository = names.Repository.FullName
	}
	return resp
}

func (h *Webhooks) act(ctx context.Context, event any) response {
	switch e := event.(type) {
	case *github.IssueCommentEvent:
		return h.Review(ctx, e)
	case *github.PushEvent:
		return h.actOnPush(ctx, e)

	case *github.PullRequestEvent:
		return h.actOnPullRequest(ctx, e)
	case *github.PullRequestReviewEvent:
		return h.actOnElsewhere(ctx, e.GetRepo(), e.GetPullRequest(), e.GetReview().GetID(), e.GetReview())
	case *github.PullRequestReviewCommentEvent:
		return h.actOnElsewhere(ctx, e.GetRepo(), e.GetPullRequest(), e.GetComment().GetID(), e.GetComment())
	}
	return leftOut("neither a push nor a pull request")
}

// written is a review, or a comment on a line.
type written interface {
	GetBody() string
	GetUser() *github.User
}

// actOnElsewhere says of a request in a review or on a line why it is none: it has no conversation.
func (h *Webhooks) actOnElsewhere(
	ctx context.Context, repo *github.Repository, pr *github.PullRequest, id int64, text written,
) response {
	about := Merge{Repository: repo.GetFullName(), Pulls: []int{pr.GetNumber()}}
	resp := leftOut("only comments of the conversation count")
	resp.About = about
	if requestForm.MatchString(text.GetBody()) {
		h.leaveOut(ctx, Review{
			ID:     id,
			Pull:   about.pulls(),
			Author: safetext.OneLine(text.GetUser().GetLogin(), 80),
		}, resp.Reason)
	}
	return resp
}

// actOnPullRequest notes a pull request of the agent's, which may be that of an unknown prompt, and acts on a merge.
func (h *Webhooks) actOnPullRequest(ctx context.Context, e *github.PullRequestEvent) response {
	pr := e.GetPullRequest()
	repository := e.GetRepo().GetFullName()
	isNews := slices.Contains([]string{"opened", "edited", "closed"}, e.GetAction())
	isOwn := strings.EqualFold(pr.GetHead().GetRepo().GetFullName(), repository) // that of a deleted fork is unknown

	noted := ""
	if isNews && isOwn {
		var err error
		if noted, err = h.note(ctx, repository, pr.GetHTMLURL(), pr); err != nil {
			return h.notStored(err)
		}
	}

	m, why := mergeOfPullRequest(e, h.skip)
	if noted == "" || m.isMerged {
		return h.actOnMerge(ctx, m, why)
	}
	resp := respond(http.StatusOK, "noted: it is the pull request of "+noted)
	resp.About = m
	return resp
}

// actOnPush acts on what no prompt has yet. The events of a merge queue come in any order, and each of its merges is to
// be documented once.
func (h *Webhooks) actOnPush(ctx context.Context, e *github.PushEvent) response {
	m, why := mergeOfPush(e, h.skip)
	if why != "" {
		return h.actOnMerge(ctx, m, why)
	}

	h.logLines(ctx, e)
	known := map[string]database.Row{}
	for _, c := range m.commits[:min(len(m.commits), maxPushed)] {
		row, err := database.First(h.Rows(ctx, "key = (SELECT key FROM fleet_commits WHERE commit_key = $1)",
			m.key(c.GetID())))
		if err != nil {
			return h.notStored(err)
		}
		known[c.GetID()] = row
	}

	rest, joins := m.without(known)
	for key, commits := range joins {
		if err := h.JoinCommits(ctx, key, commits); err != nil {
			return h.notStored(err)
		}
	}
	if len(rest.commits) > 0 {
		return h.actOnMerge(ctx, rest, "")
	}

	resp := respond(http.StatusAccepted, "known already: "+known[m.commits[len(m.commits)-1].GetID()].Key)
	resp.About = m
	return resp
}

// logLines logs why some commits of a push are left out, and which lines leave out nothing.
func (h *Webhooks) logLines(ctx context.Context, e *github.PushEvent) {
	for _, c := range e.Commits {
		about := slog.Group("", "repository", safetext.OneLine(e.GetRepo().GetFullName(), 150), "sha", c.GetID())
		line, isListed := merges.NoneLineOfCommit(c.GetMessage())
		if isListed {
			h.Logger.WarnContext(ctx, "a line of a squash skips nothing: it is about one of its commits, whose part "+
				"nobody can tell", about, "line", safetext.OneLine(line, 200))
		}
		if why := whySkip(c, h.skip); why != "" {
			h.Logger.InfoContext(ctx, "a commit is left out", about, "reason", safetext.OneLine(why, 200))
		}
	}
}

// actOnMerge enqueues a merge, or leaves it out: also if another event of it has given a final reason before.
func (h *Webhooks) actOnMerge(ctx context.Context, m Merge, why string) response {
	if why == "" && len(m.Pulls) < 2 {
		var err error
		if why, err = h.whyBefore(ctx, m); err != nil {
			return h.notStored(err)
		}
	}

	var resp response
	if why == "" {
		resp = h.enqueue(ctx, m)
	} else {
		resp = h.skipMerge(ctx, m, why)
	}

	resp.About = m
	if !resp.isKept {
		return resp
	}

	for _, pull := range strings.Split(m.pulls(), " ") { // or "" if there is none
		h.keepLeftOut(ctx, database.LeftOut{
			Kind:       "merge",
			Repository: safetext.OneLine(m.Repository, 150),
			SHA:        safetext.OneLine(m.SHA, 80),
			Pull:       pull,
			Author:     safetext.OneLine(strings.Join(m.authors, " "), 1000),
			Reason:     safetext.OneLine(resp.Reason, 200),
		})
	}
	return resp
}

// final has the reasons that hold for a merge, whichever of its events gives them.
var final = []string{merges.None, merges.Own}

// whyBefore returns the final reason for which another event of a merge was left out, "" if none was.
func (h *Webhooks) whyBefore(ctx context.Context, m Merge) (string, error) {
	for _, reason := range final {
		isBefore, err := h.WasLeftOut(ctx, m.Repository, m.SHA, reason)
		if err != nil || isBefore {
			return reason, err
		}
	}
	return "", nil
}

// skipMerge leaves out an event. It cancels the prompt of a merge whose pull request says that it needs none, or that
// it is the agent's, since its push may have come before, unless that is too late.
func (h *Webhooks) skipMerge(ctx context.Context, m Merge, why string) response {
	resp := leftOut(why)
	resp.isKept = m.isMerged
	isFinal := slices.ContainsFunc(final, func(reason string) bool { return strings.HasPrefix(why, reason) })
	if !isFinal || !m.isMerged {
		return resp
	}

	err := h.cancelUnlessShared(ctx, m)
	var refused *once.StateError
	switch {
	case errors.As(err, &refused) && refused.State != once.Canceled:
		return leftOut(fmt.Sprintf("%s; it came too late: %s is %s", why, refused.Key, database.NameOf(refused.State)))
	case err != nil && refused == nil:
		h.Calm.Warn("a prompt could not be canceled", "sha", m.SHA, "error", err)
	}
	return resp
}

// cancelUnlessShared cancels the prompt of a merge. It leaves the prompt of a push with other pull requests. The
// commits of a push may not name theirs: one whose event comes later gets a prompt of its own.
func (h *Webhooks) cancelUnlessShared(ctx context.Context, m Merge) error {
	key, err := h.keyOf(ctx, m)
	if err != nil {
		return err
	}
	row, err := database.First(h.Rows(ctx, "key = $1", key))
	isOwn := row.Pulls == m.pulls() || row.Pulls == "" && key == m.key(m.SHA)
	if err != nil || row.Key == "" || !isOwn {
		return err
	}

	return h.Transact(ctx, func(tx *sql.Tx) error {
		if _, err := h.RunnerIn(tx).Cancel(ctx, key); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE fleet_commits SET joined = 1 WHERE key = $1 AND commit_key <> $1", key)
		return err
	})
}

// enqueue stores a merge, if a project documents its repository.
func (h *Webhooks) enqueue(ctx context.Context, m Merge) response {
	project, isKnown := h.projects.Load().Of(m.Repository)
	if !isKnown {
		const reason = database.NoProject
		return response{Status: http.StatusUnprocessableEntity, Text: reason, Reason: reason, isKept: true}
	}

	if project == "" {
		return keptOut("the repository is left out")
	}

	p, err := m.Prompt(project, h.priority)
	if err != nil {
		return respond(http.StatusBadRequest, err.Error())
	}

	if p.Key, err = h.keyOf(ctx, m); err != nil {
		return h.notStored(err)
	}

	known, err := h.Enqueue(ctx, p)
	if errors.Is(err, database.ErrTaken) {
		resp := respond(http.StatusServiceUnavailable, "not stored: deliver it again")
		resp.isTaken = true
		return resp
	}
	if err != nil {
		return h.notStored(err)
	}
	h.NoteStored("")
	if len(known) == 0 {
		return respond(http.StatusAccepted, "enqueued: "+p.Key)
	}

	// A push may have brought it, without the pull request's title and description.
	text, err := m.text("pull")
	if err == nil && text != "" {
		err = h.ExtendPrompt(ctx, p.Key, text)
	}
	if err != nil {
		return h.notStored(err)
	}
	return respond(http.StatusAccepted, "known already: "+p.Key)
}

// keyOf returns the key of a merge: its own, or the key of the push that it came with, if that tells of it.
func (h *Webhooks) keyOf(ctx context.Context, m Merge) (string, error) {
	key := m.key(m.SHA)
	const query = "SELECT key FROM fleet_commits WHERE commit_key = $1 AND joined = 0"
	known, err := sqldb.Strings(ctx, h.DB, query, key)
	if err != nil || len(known) == 0 {
		return key, err
	}
	return known[0], nil
}

// Review stores a new comment, and makes it a follow-up if the link of the job's pull request is known. It has one
// that was edited or deleted be sent as it is now, or not at all.
func (h *Webhooks) Review(ctx context.Context, e *github.IssueCommentEvent) response {
	r, why := reviewOf(e, h.API != nil)
	resp, isLate := h.ifLate(ctx, e, &r, why)
	if !isLate {
		resp = h.actOnReview(ctx, e, r, why)
	}
	resp.About = Merge{Repository: e.GetRepo().GetFullName(), Pulls: []int{e.GetIssue().GetNumber()}}
	if resp.isKept {
		h.leaveOut(ctx, r, resp.Reason)
	}
	return resp
}

// ifLate responds to an event of a comment that a newer one has overtaken. A deletion is final. A comment whose edit
// came before it is taken as it was edited.
func (h *Webhooks) ifLate(ctx context.Context, e *github.IssueCommentEvent, r *Review, why string) (response, bool) {
	now := database.CommentEvent{
		ID:        r.ID,
		UpdatedAt: e.GetComment().GetUpdatedAt().Time,
		IsDeleted: e.GetAction() == "deleted",
	}
	if e.GetAction() == "edited" && why == "" {
		now.Text = r.Text
	}

	newest, err := h.NoteComment(ctx, now)
	isOlder := newest.UpdatedAt.After(now.UpdatedAt.Truncate(time.Millisecond))
	switch {
	case err != nil:
		return h.notStored(err), true
	case newest.IsDeleted && !now.IsDeleted:
		return leftOut("the comment was deleted"), true
	case isOlder && !now.IsDeleted && e.GetAction() == "created" && why == "" && newest.Text != "":
		r.Text = newest.Text
	case isOlder && !now.IsDeleted:
		return leftOut("a newer event of the comment came before"), true
	}
	return response{}, false
}

func (h *Webhooks) actOnReview(ctx context.Context, e *github.IssueCommentEvent, r Review, why string) response {
	action := e.GetAction()
	switch action {
	case "created":
		if why == "" {
			return h.takeReview(ctx, e, r)
		}

	case "edited", "deleted":
		resp, err := h.amend(ctx, r, action)
		if err != nil {
			return h.notStored(err)
		}
		if resp.Status > 0 {
			return resp
		}
		why = cmp.Or(why, "it was edited, and only a new one counts")
	default:
		return leftOut("the comment is not new")
	}

	resp := leftOut(why)
	resp.isKept = action != "deleted" && meantForm.MatchString(e.GetComment().GetBody())
	return resp
}

func (h *Webhooks) takeReview(ctx context.Context, e *github.IssueCommentEvent, r Review) response {
	_, err := r.prompt()
	if e.GetIssue().GetState() == "closed" {
		err = errors.New("the pull request is closed")
	}

	if err != nil {
		if r.isMember {
			h.reactTo(ctx, r, err.Error())
		}
		return keptOut(err.Error())
	}

	if r.isMember { // so the pull request is the agent's, and may be that of an unknown prompt
		_, err := h.note(ctx, e.GetRepo().GetFullName(), r.URL, e.GetIssue())
		if err != nil {
			return h.notStored(err)
		}
	}

	if err := h.KeepReview(ctx, r); err != nil {
		return h.notStored(err)
	}
	h.NoteStored("")

	looking, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	if err := h.LookUp(looking, r.Key); err != nil {
		h.Calm.Warn("a job could not be looked up", "key", r.Key, "error", err)
	}
	return h.decideKept(ctx, r)
}

// decideKept decides about a review that is kept. If a newer fleet has changed the tables meanwhile, it stays, and
// GitHub may deliver it again.
func (h *Webhooks) decideKept(ctx context.Context, r Review) response {
	decided, err := h.decideReviews(ctx, r.Key)
	if errors.Is(err, database.ErrNewer) {
		return h.notStored(err)
	}
	if err != nil { // the next pass of a worker decides
		h.Calm.Warn("comments could not be decided about yet", "key", r.Key, "error", err)
	}

	reason, isDecided := decided[r.ID]
	switch {
	case !isDecided:
		return respond(http.StatusAccepted, "noted until it can be decided about: "+r.FollowUp())
	case reason != "":
		return leftOut(reason)
	}
	return respond(http.StatusAccepted, "enqueued: "+r.FollowUp())
}

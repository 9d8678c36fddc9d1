package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"
	"github.com/riverqueue/river"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	tellTime  = 10 * time.Second
	tellEvery = time.Minute      // results within it are gathered
	tellAgain = 80 * time.Second // after a failure
	tellAtAll = 24 * time.Hour   // a result that fails for so long is given up
	tellMost  = 20               // in a message
)

// teller tells people what came of prompts, and returns the rows that it could not tell.
type teller interface {
	tell(ctx context.Context, rows []row) (failed []row, err error)
}

// newTeller returns the teller that the environment asks for, or nil. A webhook takes
// precedence over comments.
func newTeller(getenv func(string) string) (teller, error) {
	client := &http.Client{Timeout: tellTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if hook := getenv("FLEET_RESULTS_URL"); hook != "" {
		if !isWebURL(hook) {
			return nil, usageError("FLEET_RESULTS_URL is not a URL") // and may be a secret: it is not shown
		}
		return &webhook{hook, client}, nil
	}
	token := getenv("FLEET_GITHUB_TOKEN")
	if token == "" {
		return nil, nil
	}
	options := []github.ClientOptionsFunc{github.WithAuthToken(token), github.WithHTTPClient(client)}
	if api := getenv("GITHUB_API_URL"); api != "" {
		options = append(options, github.WithEnterpriseURLs(api, api))
	}
	gh, err := github.NewClient(options...)
	if err != nil {
		return nil, usageError("GITHUB_API_URL: %w", err)
	}
	return &comments{gh.Issues}, nil
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// webhook posts {"text": …}, as Slack, Mattermost, Discord (at …/slack) and others take it.
type webhook struct {
	url    string // a secret: who knows it can post
	client *http.Client
}

// escapeSlack is what Slack asks of text that is not its markup.
var escapeSlack = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (h *webhook) tell(ctx context.Context, rows []row) (failed []row, err error) {
	var sentences []string
	for _, r := range rows {
		sentences = append(sentences, escapeSlack.Replace(sentence(r)))
	}
	body, err := json.Marshal(map[string]string{"text": strings.Join(sentences, "\n")})
	if err != nil {
		return rows, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return rows, errors.New("FLEET_RESULTS_URL is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.client.Do(req)
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err
	}
	if err != nil {
		return rows, fmt.Errorf("post results to FLEET_RESULTS_URL: %w", err)
	}
	resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return rows, fmt.Errorf("post results to FLEET_RESULTS_URL: %s", resp.Status)
	}
	return nil, nil
}

// comments go to the merged pull requests.
type comments struct {
	issues *github.IssuesService
}

func (c *comments) tell(ctx context.Context, rows []row) (failed []row, err error) {
	for _, r := range rows {
		if oneErr := c.comment(ctx, r); oneErr != nil {
			failed, err = append(failed, r), oneErr
		}
	}
	return failed, err
}

func (c *comments) comment(ctx context.Context, r row) error {
	for _, pull := range strings.Fields(r.Pulls) {
		owner, repo, number, err := parsePull(pull)
		if err == nil {
			_, _, err = c.issues.CreateComment(ctx, owner, repo, number, github.IssueCommentRequest{Body: sentence(r)})
		}
		if err != nil {
			return fmt.Errorf("comment on %s: %w", pull, err)
		}
	}
	return nil
}

// sentence is the result in words. What the service said stands quoted at its end.
func sentence(r row) string {
	problem := ""
	if r.Problem != "" {
		problem = ": `" + strings.ReplaceAll(redact.OneLine(r.Problem, 500), "`", "'") + "`"
	}
	switch {
	case r.State == once.Running:
		return fmt.Sprintf("Docs for %s: the agent has been at work for more than a day. Somebody has to look: `fleet status` says how%s", r.Key, problem)
	case r.State == once.Unknown:
		return fmt.Sprintf("Docs for %s: it is unknown whether the agent was told. Somebody has to look: `fleet status` says how%s", r.Key, problem)
	case r.State != once.Done:
		return fmt.Sprintf("Docs for %s: %s%s", r.Key, r.State, problem)
	case r.PRLink == "":
		return fmt.Sprintf("Docs for %s: done, without a pull request (nothing changed, or the project publishes without a review)", r.Key)
	default:
		return fmt.Sprintf("Docs for %s: done, %s", r.Key, redact.OneLine(r.PRLink, 500))
	}
}

// tellSoon has the results told that nobody was told of.
func (s store) tellSoon(ctx context.Context) {
	if ctx.Err() == nil {
		s.insert(ctx, river.InsertManyParams{Args: tellArgs{}, InsertOpts: jobOptions(1)})
	}
}

// tellWorker tells results, at least once. The first goes at once, those of the next minute
// together.
type tellWorker struct {
	river.WorkerDefaults[tellArgs]
	store
	results teller // nil: nobody wants to know
}

// Work does not need a limit of its own: River's unique jobs keep it alone.
func (w *tellWorker) Work(ctx context.Context, _ *river.Job[tellArgs]) error {
	now := time.Now()
	rows, err := w.rows(ctx, `(o.state IN ('done', 'failed', 'refused', 'unknown') AND o.updated > $1 AND p.told < o.version
OR o.state = 'running' AND p.running_at BETWEEN 1 AND $2 AND p.told_job <> p.running_job) ORDER BY o.updated LIMIT $3`,
		now.Add(-tellAtAll).UnixMicro(), now.Add(-overdue).UnixMilli(), tellMost)
	if err != nil || len(rows) == 0 {
		return err
	}
	if w.results == nil {
		return w.told(ctx, rows, 0)
	}
	last, err := number(ctx, w.DB, "SELECT max(told_at) FROM fleet_prompts")
	if err != nil {
		return err
	}
	if early := tellEvery - time.Since(time.UnixMilli(last)); early > 0 {
		return river.JobSnooze(min(early, tellEvery))
	}
	ctx, cancel := context.WithTimeout(ctx, needs+tellTime*time.Duration(len(rows)))
	defer cancel()
	failed, tellErr := w.results.tell(ctx, rows)
	told := slices.DeleteFunc(rows, func(r row) bool {
		return slices.ContainsFunc(failed, func(f row) bool { return f.Key == r.Key })
	})
	if err := w.told(ctx, told, time.Now().UnixMilli()); err != nil {
		return err
	}
	if tellErr != nil {
		w.logger.Warn("results could not be told; they are told again for a day", "results", len(failed), "error", tellErr)
		return river.JobSnooze(tellAgain)
	}
	return river.JobSnooze(tellEvery) // what ends in the meantime is gathered
}

// told notes that rows were told.
func (s store) told(ctx context.Context, rows []row, at int64) error {
	for _, r := range rows {
		set, value := "told = $2", any(r.Version)
		if r.State == once.Running {
			set, value = "told_job = $2", r.JobID
		}
		if _, err := s.ExecContext(ctx, "UPDATE fleet_prompts SET "+set+", told_at = CASE WHEN $3 > 0 THEN $3 ELSE told_at END WHERE key = $1", r.Key, value, at); err != nil {
			return err
		}
	}
	return nil
}

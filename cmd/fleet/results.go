package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"
	"github.com/riverqueue/river"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	tellTime  = 10 * time.Second
	tellEvery = time.Minute      // results within it are gathered
	tellAgain = 80 * time.Second // after a failure
	tellMost  = 20               // in a message
)

// teller tells people what came of prompts, and returns the rows that it told.
type teller func(ctx context.Context, rows []row) (told []row, err error)

// newTeller returns the teller that the environment asks for, or nil. A webhook takes
// precedence over comments.
func newTeller(getenv func(string) string) (teller, error) {
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Timeout: tellTime, CheckRedirect: noRedirect}
	hook, token, api := getenv("FLEET_RESULTS_URL"), getenv("FLEET_GITHUB_TOKEN"), getenv("GITHUB_API_URL")
	switch {
	case hook != "" && !isWebURL(hook):
		return nil, usageError("FLEET_RESULTS_URL is not a URL") // and may be a secret: it is not shown
	case hook != "":
		return webhook{hook, client}.tell, nil
	case token == "":
		return nil, nil
	}
	options := []github.ClientOptionsFunc{github.WithAuthToken(token), github.WithHTTPClient(client)}
	if api != "" {
		options = append(options, github.WithEnterpriseURLs(api, api))
	}
	gh, err := github.NewClient(options...)
	if err != nil {
		return nil, usageError("GITHUB_API_URL: %w", err)
	}
	return comments{gh.Issues}.tell, nil
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

func (h webhook) tell(ctx context.Context, rows []row) (told []row, err error) {
	sentences := make([]string, len(rows))
	for i, r := range rows {
		sentences[i] = merges.EscapeForChat(sentence(r))
	}
	body, err := json.Marshal(map[string]string{"text": strings.Join(sentences, "\n")})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("FLEET_RESULTS_URL is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.client.Do(req)
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode < 200 || resp.StatusCode > 299 {
			err = errors.New(resp.Status)
		}
	}
	if withURL := (*url.Error)(nil); errors.As(err, &withURL) {
		err = withURL.Err
	}
	if err != nil {
		return nil, fmt.Errorf("post results to FLEET_RESULTS_URL: %w", err)
	}
	return rows, nil
}

// comments go to the merged pull requests.
type comments struct{ issues *github.IssuesService }

func (c comments) tell(ctx context.Context, rows []row) (told []row, err error) {
	for _, r := range rows {
		var failed error
		for _, pull := range strings.Fields(r.Pulls) {
			owner, repo, number, oneErr := parsePull(pull)
			if oneErr == nil {
				comment := github.IssueCommentRequest{Body: sentence(r)}
				_, _, oneErr = c.issues.CreateComment(ctx, owner, repo, number, comment)
			}
			if oneErr != nil {
				failed = fmt.Errorf("comment on %s: %w", pull, oneErr)
			}
		}
		if failed == nil {
			told = append(told, r)
		}
		err = cmp.Or(failed, err)
	}
	return told, err
}

// sentence is the result in words. What the service said stands quoted at its end.
func sentence(r row) string {
	text := string(r.State)
	switch {
	case r.State == once.Running:
		text = "the agent has been at work for more than a day. Somebody has to look: `fleet status` says how"
	case r.State == once.Unknown:
		text = "it is unknown whether the agent was told. Somebody has to look: `fleet status` says how"
	case r.State == once.Done && r.PRLink == "":
		text = "done, without a pull request (nothing changed, or the project publishes without a review)"
	case r.State == once.Done:
		text = "done, " + redact.OneLine(r.PRLink, 500)
	}
	if r.Problem != "" && r.State != once.Done {
		text += ": `" + strings.ReplaceAll(redact.OneLine(r.Problem, 500), "`", "'") + "`"
	}
	return "Docs for " + r.Key + ": " + text
}

// tellSoon has the results told that nobody was told of.
func (s store) tellSoon(ctx context.Context) { s.insert(ctx, jobOf(tellArgs{}, 1)) }

// tellWorker tells results, at least once. River's unique jobs keep it alone: the first
// result goes at once, and those that end while the job then waits go together.
type tellWorker struct {
	river.WorkerDefaults[tellArgs]
	store
	results teller // nil: nobody wants to know
}

// Work tells what is a day old at most, and jobs that have been running for longer.
func (w *tellWorker) Work(ctx context.Context, _ *river.Job[tellArgs]) error {
	if w.results == nil {
		return nil
	}
	rows, err := w.rows(ctx, `(o.state IN ('done', 'failed', 'refused', 'unknown') AND o.updated > $1
OR o.state = 'running' AND o.updated < $1) AND p.told < o.version ORDER BY o.updated LIMIT $2`,
		time.Now().Add(-day).UnixMicro(), tellMost)
	if err != nil || len(rows) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime+tellTime*time.Duration(len(rows)))
	defer cancel()
	told, tellErr := w.results(ctx, rows)
	for _, r := range told {
		_, err := w.ExecContext(ctx, "UPDATE fleet_prompts SET told = $2 WHERE key = $1", r.Key, r.Version)
		if err != nil {
			return err
		}
	}
	if tellErr != nil {
		w.logger.Warn("results could not be told; they are told again for a day",
			"results", len(rows)-len(told), "error", tellErr)
		return river.JobSnooze(tellAgain)
	}
	return river.JobSnooze(tellEvery)
}

package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	tellTime  = 10 * time.Second
	tellEvery = time.Minute      // results within it are gathered
	tellAgain = 80 * time.Second // after a failure
	tellMost  = 20               // in a message
)

// teller tells people how prompts ended, and returns the rows that it told.
type teller func(ctx context.Context, rows []row) (told []row, err error)

// newTeller returns the teller that the environment asks for, or nil. The chat of FLEET_RESULTS_URL
// takes precedence over comments, but for what a reviewer has asked for on a pull request.
func newTeller(getenv func(string) string) (teller, error) {
	client := &http.Client{
		Timeout:       tellTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	var onGitHub teller
	if token := getenv("FLEET_GITHUB_TOKEN"); token != "" {
		gh, err := newComments(token, getenv("GITHUB_API_URL"), client)
		if err != nil {
			return nil, err
		}
		onGitHub = gh.tell
	}

	hook := getenv("FLEET_RESULTS_URL")
	if hook == "" {
		return onGitHub, nil
	}
	if !isWebURL(hook) {
		return nil, usageError("FLEET_RESULTS_URL is not a URL") // and may be a secret: it is not shown
	}
	inChat := chat{hook, client}.tell
	if onGitHub == nil {
		return inChat, nil
	}
	return reviewers{onGitHub: onGitHub, others: inChat}.tell, nil
}

// reviewers get the result on the pull request where they asked, all others elsewhere.
type reviewers struct{ onGitHub, others teller }

func (r reviewers) tell(ctx context.Context, rows []row) (told []row, err error) {
	asked := func(one row) bool { return one.After != "" && one.Pulls != "" }
	var ofReviewers, ofOthers []row
	for _, one := range rows {
		if asked(one) {
			ofReviewers = append(ofReviewers, one)
		} else {
			ofOthers = append(ofOthers, one)
		}
	}

	told, onGitHubErr := tellSome(ctx, r.onGitHub, ofReviewers)
	toldOthers, othersErr := tellSome(ctx, r.others, ofOthers)
	return append(told, toldOthers...), errors.Join(onGitHubErr, othersErr)
}

func tellSome(ctx context.Context, t teller, rows []row) (told []row, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	return t(ctx, rows)
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// sentence returns the result in words, with the service's words quoted at its end.
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
	rows, err := w.untold(ctx)
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

// untold returns rows whose result nobody got yet.
func (s store) untold(ctx context.Context) ([]row, error) {
	return s.rows(ctx, `(o.state IN ('done', 'failed', 'refused', 'unknown') AND o.updated > $1
OR o.state = 'running' AND o.updated < $1) AND p.told < o.version ORDER BY o.updated LIMIT $2`,
		time.Now().Add(-day).UnixMicro(), tellMost)
}

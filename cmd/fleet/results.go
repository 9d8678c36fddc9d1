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

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

func newAPI(getenv func(string) string) (*github.API, error) {
	token := strings.TrimSpace(getenv("FLEET_GITHUB_TOKEN"))
	if token == "" {
		return nil, nil
	}
	return github.NewAPI(token, getenv("GITHUB_API_URL"), outside())
}

// outside returns a client for other services than the agent's. A redirect is a failure: what follows it may be a
// page that says 200 to anything.
func outside() *http.Client {
	return &http.Client{
		Timeout:       queue.TellTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// newTeller returns the teller that the environment asks for, or nil. The chat of FLEET_RESULTS_URL
// takes precedence over comments, but for what a reviewer has asked for on a pull request.
func newTeller(getenv func(string) string, api *github.API) (queue.Teller, error) {
	hook := strings.TrimSpace(getenv("FLEET_RESULTS_URL"))
	inChat := chat{hook, outside()}.tell
	switch {
	case hook == "" && api == nil:
		return nil, nil
	case hook == "":
		return api.Tell, nil

	case !github.IsWebURL(hook):
		return nil, usage.Errorf("FLEET_RESULTS_URL is not a URL") // and may be a secret: it is not shown
	case api == nil:
		return inChat, nil
	}
	return reviewers{onGitHub: api.Tell, others: inChat}.tell, nil
}

// reviewers get the result on the pull request where they asked, all others elsewhere.
type reviewers struct{ onGitHub, others queue.Teller }

func (r reviewers) tell(ctx context.Context, rows []database.Row) (told []database.Row, err error) {
	isAsked := func(one database.Row) bool { return one.After != "" && one.Pulls != "" }
	isOther := func(one database.Row) bool { return !isAsked(one) }
	told, onGitHubErr := r.onGitHub(ctx, slices.DeleteFunc(slices.Clone(rows), isOther))
	toldOthers, othersErr := r.others(ctx, slices.DeleteFunc(slices.Clone(rows), isAsked))
	return append(told, toldOthers...), errors.Join(onGitHubErr, othersErr)
}

// chat posts {"text": …}, as Slack, Mattermost, Discord (at …/slack) and others take it.
type chat struct {
	url    string // a secret: anybody who knows the URL can post
	client *http.Client
}

func (c chat) tell(ctx context.Context, rows []database.Row) (told []database.Row, err error) {
	if len(rows) == 0 {
		return nil, nil
	}

	sentences := make([]string, len(rows))
	for i, r := range rows {
		sentences[i] = merges.EscapeForChat(queue.Sentence(r))
	}

	if err := c.post(ctx, strings.Join(sentences, "\n")); err != nil {
		return nil, fmt.Errorf("post results to FLEET_RESULTS_URL: %w", err)
	}
	return rows, nil
}

// post posts a text. Its errors do not show the URL.
func (c chat) post(ctx context.Context, text string) error {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("it is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")

	resp, err := c.client.Do(req)
	if withURL, found := errors.AsType[*url.Error](err); found {
		return withURL.Err
	}
	if err != nil {
		return err
	}

	resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return errors.New(resp.Status)
	}
	return nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"
)

// teller tells people what came of a prompt, at least once.
type teller interface {
	tell(ctx context.Context, r row) error
}

const tellTime = 10 * time.Second

// newTeller returns the teller that the environment asks for, or nil. A webhook goes
// before comments.
func newTeller(getenv func(string) string) (teller, error) {
	if hook := getenv("FLEET_RESULTS_URL"); hook != "" {
		u, err := url.Parse(hook)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, errors.New("FLEET_RESULTS_URL is not a URL") // and may be a secret: it is not shown
		}
		return &webhook{url: hook}, nil
	}
	token := getenv("FLEET_GITHUB_TOKEN")
	if token == "" {
		return nil, nil
	}
	options := []github.ClientOptionsFunc{github.WithAuthToken(token), github.WithHTTPClient(&http.Client{Timeout: tellTime})}
	if api := getenv("GITHUB_API_URL"); api != "" {
		options = append(options, github.WithEnterpriseURLs(api, api))
	}
	client, err := github.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_API_URL: %w", err)
	}
	return &comments{client.Issues}, nil
}

// webhook posts {"text": …}, as Slack, Mattermost, Discord (at …/slack) and others take it.
type webhook struct {
	url string // a secret: who knows it can post
}

// escapeSlack is what Slack asks of text that is not its markup.
var escapeSlack = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (h *webhook) tell(ctx context.Context, r row) error {
	body, err := json.Marshal(map[string]string{"text": escapeSlack.Replace(sentence(r))})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("FLEET_RESULTS_URL is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err
	}
	if err != nil {
		return fmt.Errorf("post the result to FLEET_RESULTS_URL: %w", err)
	}
	resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("post the result to FLEET_RESULTS_URL: %s", resp.Status)
	}
	return nil
}

// comments go to the merged pull request.
type comments struct {
	issues *github.IssuesService
}

func (c *comments) tell(ctx context.Context, r row) error {
	if r.Pull == "" {
		return nil
	}
	p, err := parsePull(r.Pull)
	if err != nil {
		return err
	}
	_, _, err = c.issues.CreateComment(ctx, p.owner, p.repo, p.number, github.IssueCommentRequest{Body: sentence(r)})
	if err != nil {
		return fmt.Errorf("comment on %s: %w", r.Pull, err)
	}
	return nil
}

// sentence is the result in words. What the service said stands quoted at its end.
func sentence(r row) string {
	problem := ""
	if r.Problem != "" {
		problem = ": `" + strings.ReplaceAll(oneLine(r.Problem, 500), "`", "'") + "`"
	}
	switch {
	case r.State == unknown:
		return fmt.Sprintf("Docs for %s: it is unknown whether the agent was told. Somebody has to look: `fleet status` says how%s", r.Key, problem)
	case r.State == failed:
		return fmt.Sprintf("Docs for %s: failed%s", r.Key, problem)
	case r.PRLink == "":
		return fmt.Sprintf("Docs for %s: done, without a pull request (nothing changed, or the project publishes without a review)", r.Key)
	default:
		return fmt.Sprintf("Docs for %s: done, %s", r.Key, oneLine(r.PRLink, 500))
	}
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// judgeMarker looks whether the description of a job's pull request has the marker.
func (c *check) judgeMarker(ctx context.Context, job *mintlify.Job) {
	if job.PRLink == "" {
		c.report.notTried(expectMarker, "the job has no pull request")
		return
	}

	token := os.Getenv("GITHUB_TOKEN")
	if token == "" {
		c.askForMarker(job.PRLink)
		return
	}

	description, err := describe(ctx, job.PRLink, token)
	if err != nil {
		fmt.Fprintf(c.terminal.err, "%s: %v\n", job.PRLink, err)
		c.report.notTried(expectMarker, "GitHub did not show the description")
		return
	}

	key, _ := once.FindMarker(description)
	if key == markerKey {
		c.report.expected(expectMarker, "")
		return
	}
	c.report.differs(expectMarker, "it does not", "")
}

// askForMarker asks a person to look.
func (c *check) askForMarker(link string) {
	if !c.terminal.isTerminal {
		c.report.notTried(expectMarker, "needs GITHUB_TOKEN, or a person at a terminal")
		return
	}

	question := fmt.Sprintf("Look at %s. Does its description end with the line %q? [y/n, Enter: cannot tell]",
		link, once.Marker(markerKey))
	switch c.terminal.ask(question) {
	case "y", "yes":
		c.report.expected(expectMarker, "a person says so")
	case "n", "no":
		c.report.differs(expectMarker, "a person says no", "")
	default:
		c.report.notTried(expectMarker, "a person could not tell")
	}
}

var pullRequest = regexp.MustCompile(`^/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/pull/([0-9]+)/?$`)

const maxDescription = 1 << 20 // bytes of GitHub's response

// describe returns the description of a pull request on GitHub.
func describe(ctx context.Context, link, token string) (string, error) {
	request, err := describing(ctx, link, token)
	if err != nil {
		return "", err
	}

	client := http.Client{Timeout: 30 * time.Second}
	resp, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("GitHub responded %d", resp.StatusCode)
	}

	var found struct {
		Body string `json:"body"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxDescription)).Decode(&found)
	return found.Body, err
}

// describing returns the request for the description of a pull request.
func describing(ctx context.Context, link, token string) (*http.Request, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, err
	}
	web, err := url.Parse(cmp.Or(os.Getenv("GITHUB_SERVER_URL"), "https://github.com"))
	if err != nil {
		return nil, err
	}

	parts := pullRequest.FindStringSubmatch(u.Path)
	if u.Host != web.Host || parts == nil {
		return nil, errors.New("is not a pull request on GitHub")
	}

	api := cmp.Or(os.Getenv("GITHUB_API_URL"), "https://api.github.com")
	address := api + "/repos/" + parts[1] + "/pulls/" + parts[2]
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/vnd.github+json")
	return request, nil
}

package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// API is what a token lets fleet do on GitHub: comment, react, ask who may ask, and list pull requests.
type API struct {
	client *github.Client

	mu       sync.Mutex
	listings map[string]listing // by repository

	telling sync.Mutex
	made    map[string]bool // the comments that this process has made
}

// NewAPI returns the API of github.com, or of the GitHub at url.
func NewAPI(token, base string, client *http.Client) (*API, error) {
	options := []github.ClientOptionsFunc{github.WithAuthToken(token), github.WithHTTPClient(client)}
	if base != "" {
		if !IsWebURL(base) {
			return nil, usage.Errorf("GITHUB_API_URL is not a URL, want https://github.example.com")
		}
		options = append(options, github.WithEnterpriseURLs(base, base))
	}

	gh, err := github.NewClient(options...)
	if err != nil {
		return nil, usage.Errorf("GITHUB_API_URL: %w", err)
	}
	return &API{client: gh, listings: map[string]listing{}, made: map[string]bool{}}, nil
}

// IsWebURL reports whether a text is the URL of a page.
func IsWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

const listingTime = time.Minute // for which a listing is used again

// listing is the newest pull requests of a repository.
type listing struct {
	at    time.Time // when it was made
	since time.Time // it has all that were opened since
	pulls []docspulls.Pull
}

// pullsSince returns the pull requests of a repository that were opened since a time, the newest first, and those that
// it could read if it fails. One listing serves all that ask within a minute.
func (a *API) pullsSince(ctx context.Context, repository string, since time.Time) ([]docspulls.Pull, error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	known := a.listings[repository]
	if time.Since(known.at) < listingTime && !known.since.After(since) {
		return known.pulls, nil
	}

	made := listing{at: time.Now(), since: since}
	for pulls, err := range docspulls.Pages(ctx, a.get, repository, since) {
		if err != nil {
			return made.pulls, err
		}
		made.pulls = append(made.pulls, pulls...)
	}
	a.listings[repository] = made
	return made.pulls, nil
}

// get is a [docspulls.Get], whose errors are go-github's.
func (a *API) get(ctx context.Context, path string, into any) error {
	req, err := a.client.NewRequest(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	_, err = a.client.Do(req, into)
	return err
}

// mostMade is how many comments this process remembers. A result is told again only soon after it was.
const mostMade = 10_000

// Tell comments on the pull requests of each row, once. A row that fails keeps no other from being told.
func (a *API) Tell(ctx context.Context, rows []database.Row) (told []database.Row, err error) {
	a.telling.Lock()
	defer a.telling.Unlock()

	if len(a.made) > mostMade {
		clear(a.made)
	}

	refusals := queue.Refusals{}
	for _, r := range rows {
		failed := a.tellOne(ctx, r)
		if failed == nil {
			told = append(told, r)
			continue
		}

		err = failed
		if isRefused(failed) {
			refusals[r.Key] = safetext.OneLine(failed.Error(), 500)
		}
	}
	if len(refusals) > 0 {
		err = fmt.Errorf("%w: %w", err, refusals)
	}
	return told, err
}

// isRefused reports whether GitHub refuses a request, and would do so again.
func isRefused(err error) bool {
	refused, found := errors.AsType[*github.ErrorResponse](err)
	if !found || refused.Response == nil {
		return false
	}
	code := refused.Response.StatusCode
	return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

func (a *API) tellOne(ctx context.Context, r database.Row) error {
	var failed error
	for _, pull := range strings.Fields(r.Pulls) {
		id := fmt.Sprint(pull, " ", r.Key, " ", r.Version)
		if a.made[id] {
			continue
		}

		pr, err := database.ParsePull(pull)
		if err == nil {
			request := github.IssueCommentRequest{Body: queue.Sentence(r)}
			_, _, err = a.client.Issues.CreateComment(ctx, pr.Owner, pr.Repo, pr.Number, request)
		}

		if err != nil {
			failed = fmt.Errorf("comment on %s: %w", pull, err)
			continue
		}
		a.made[id] = true
	}
	return failed
}

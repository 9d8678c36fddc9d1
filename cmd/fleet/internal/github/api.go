package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
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

// agent is the author of the pull requests that the service's agent opens.
const agent = "mintlify[bot]"

// Docs is the repositories of the documentation: it has comments for the agent on their way into the queue, and looks
// for the pull requests of unknown prompts.
type Docs struct {
	queue.Queue
	API *API // nil: without a token
}

// Find implements [queue.Finder]. It looks in what webhooks and comments have named, and with a token on GitHub. Nobody
// has looked unless the pull requests of a repository of the documentation were listed back to the send.
func (s Docs) Find(ctx context.Context, record once.Record) (link, whyNot string, err error) {
	since := docspulls.SentAfter(record, s.Settings.SendTime)
	link, err = s.Found(ctx, record.Key, since)
	if err != nil || link != "" {
		return link, "", err
	}
	if s.API == nil {
		return "", "FLEET_GITHUB_TOKEN is not set", nil
	}

	repositories, err := s.repositories(ctx, record.ProjectID)
	if err != nil {
		return "", "", err
	}
	if len(repositories) == 0 {
		return "", "no repository of the documentation is known of project " + record.ProjectID +
			": fleet serve -project OWNER/DOCS= makes one known", nil
	}

	isListed := false
	var failed []error
	for _, repository := range repositories {
		pulls, err := s.API.pullsSince(ctx, repository, since)
		isKey := func(key string) bool { return database.FoldCase(key) == record.Key }
		if link := docspulls.Find(pulls, repository, since, isKey); link != "" {
			return link, "", nil
		}

		isListed = isListed || err == nil
		if err != nil {
			name := safetext.OneLine(repository, 150)
			failed = append(failed, fmt.Errorf("list the pull requests of %s: %w", name, err))
		}
	}
	if !isListed {
		whyNot = "no repository of the documentation could be listed back to the send"
	}
	return "", whyNot, errors.Join(failed...)
}

// repositories returns the repositories of the documentation: those that are left out, and those that links of
// the project's prompts name.
func (s Docs) repositories(ctx context.Context, project string) ([]string, error) {
	rows, err := s.Rows(ctx, "project = $1 AND pr_link <> '' ORDER BY updated DESC LIMIT 20", project)
	if err != nil {
		return nil, err
	}

	names, err := s.Queue.Docs(ctx)
	if err != nil {
		return nil, err
	}

	for _, r := range rows {
		if name := repositoryOf(r.PRLink); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// repositoryOf returns the repository of a pull request's link, "" if it has none.
func repositoryOf(link string) string {
	parts := strings.Split(link, "/") // https:, "", github.com, acme, docs, pull, 7
	if len(parts) < 6 || parts[5] != "pull" {
		return ""
	}
	name := database.FoldCase(parts[3] + "/" + parts[4])
	if !database.RepositoryForm.MatchString(name) {
		return ""
	}
	return name
}

// marked is a pull request, or the issue that it is to a comment.
type marked interface {
	GetBody() string
	GetUser() *github.User
	GetCreatedAt() github.Timestamp
}

// note keeps the link of a pull request with a marker, in a repository of the documentation, and ends an unknown prompt
// with it. If no such repository is known, the author must be the agent. It returns the prompt's key, "" if it keeps
// nothing.
func (s Docs) note(ctx context.Context, repository, link string, pr marked) (string, error) {
	key, isMarked := once.FindMarker(pr.GetBody())
	if !isMarked {
		return "", nil
	}

	rows, err := s.Rows(ctx, "key = $1 AND thread = ''", database.FoldCase(key))
	if err != nil || len(rows) == 0 {
		return "", err
	}

	r := rows[0]
	if r.State == once.Pending && !queue.IsLookedFor(r) {
		return "", nil
	}
	names, err := s.repositories(ctx, r.ProjectID)
	if err != nil {
		return "", err
	}

	isDocs := slices.Contains(names, database.FoldCase(repository))
	if len(names) == 0 {
		isDocs = strings.EqualFold(pr.GetUser().GetLogin(), agent)
	}
	if !isDocs || pr.GetCreatedAt().Before(docspulls.SentAfter(r.Record, s.Settings.SendTime)) {
		return "", nil
	}

	if err := s.KeepFound(ctx, r.Key, link); err != nil {
		return "", err
	}
	if !queue.IsLookedFor(r) {
		return r.Key, nil
	}
	return r.Key, s.Resolve(ctx, r.Record, link)
}

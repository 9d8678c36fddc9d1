package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v92/github"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

// agent is the author of the pull requests that the service's agent opens.
const agent = "mintlify[bot]"

// Docs is the repositories of the documentation: it has comments for the agent on their way into the queue, and looks
// for the pull requests of unknown prompts.
type Docs struct {
	queue.Queue
	API *API // nil: without a token

	// LeftOut returns the repositories that serve leaves out: the documentation's. Nil: none are known.
	LeftOut func() []string
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
		return "", "no repository of the documentation is known of project " + record.ProjectID, nil
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

	var names []string
	if s.LeftOut != nil {
		names = s.LeftOut()
	}

	for _, r := range rows {
		name := repositoryOf(r.PRLink)
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
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

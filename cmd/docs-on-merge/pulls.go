package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
)

// pullRequest has the fields that we read from a pull request of GitHub.
type pullRequest struct {
	Number      int
	Title, Body string
	User        struct{ Login string }
	// Merged is known in an event, MergedAt in a list.
	Merged         bool
	MergedAt       string `json:"merged_at"`
	MergeCommitSHA string `json:"merge_commit_sha"`

	Commits, Additions, Deletions int
	ChangedFiles                  int `json:"changed_files"`
}

// pullOf returns the pull request that a commit has merged, or the zero value. It fails if nobody can tell
// whether there is one: the pull request may say that nothing is to be sent. A dry run sends nothing
// anyway, so it goes on.
func (p *program) pullOf(ctx context.Context, repository, commit string) (pullRequest, error) {
	if p.isBlind || !p.onGitHub() {
		return pullRequest{}, nil
	}

	found, err := p.askForPulls(ctx, repository, commit)
	var failed *responseError
	isDenied := errors.As(err, &failed) && failed.isDenied

	switch {
	case isDenied, err != nil && p.options.dryRun:
		p.isBlind = true
		p.step.Warnf("Going on without pull requests, so only the commits tell which merges are to be skipped: %v", err)
	case err != nil:
		return pullRequest{}, fmt.Errorf("nothing is sent before the pull requests of the change are read: %w", err)
	}

	for _, pull := range found {
		if pull.MergedAt != "" {
			return pull, nil
		}
	}
	return pullRequest{}, nil
}

func (p *program) askForPulls(ctx context.Context, repository, commit string) ([]pullRequest, error) {
	g, err := p.gitHub.of(repository)
	if err != nil {
		return nil, err
	}

	var found []pullRequest
	err = g.get(ctx, fmt.Sprintf("repos/%s/commits/%s/pulls", repository, commit), &found)

	var failed *responseError
	if errors.As(err, &failed) {
		switch failed.code {
		case http.StatusUnprocessableEntity: // GitHub does not have the commit, and so no pull request of it
			return nil, nil
		case http.StatusUnauthorized:
			return nil, ci.NotStarted.Of(fmt.Errorf("%w (is GITHUB_TOKEN right?)", err))
		}
	}
	return found, err
}

// base returns the commit before the merge: its first parent or, if GitHub has rebased the pull
// request, the parent of the first of its commits.
func (r pullRequest) base(ctx context.Context, g *git, head string) string {
	parent := g.parent(ctx, head)
	isMerge := g.find(ctx, head+"^2") != ""
	if r.Commits < 2 || isMerge {
		return parent
	}

	var whole change
	whole.readCounts(ctx, g, []string{parent, head, "--"})
	isSquashed := whole.stat == stat{files: r.ChangedFiles, added: r.Additions, removed: r.Deletions}
	if isSquashed {
		return parent
	}
	return g.commit(ctx, fmt.Sprintf("%s~%d", head, r.Commits))
}

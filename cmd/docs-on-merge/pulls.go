package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
)

// namesAfter is how long GitHub may take until it names the pull request of commits that were just merged.
const namesAfter = 10 * time.Second

// pullRequest has the fields that we read from a pull request of GitHub.
type pullRequest struct {
	Number      int
	Title, Body string
	User        struct{ Login string }
	Base        struct{ Ref string }
	// Merged is known in an event, MergedAt in a list.
	Merged         bool
	MergedAt       string `json:"merged_at"`
	MergeCommitSHA string `json:"merge_commit_sha"`

	// A list lacks these.
	Commits, Additions, Deletions int
	ChangedFiles                  int `json:"changed_files"`
}

// pullOf returns the pull request that a commit of the change's branch has merged, or the zero value. Of those that
// GitHub names some may only contain the commit, such as one that merges the branch into another.
func (p *program) pullOf(ctx context.Context, c change, commit string) (pullRequest, error) {
	named, err := p.pullsOf(ctx, c.repository, commit)
	merged := slices.DeleteFunc(named, func(pull pullRequest) bool { return pull.MergedAt == "" })

	isMerger := func(pull pullRequest) bool { return pull.MergeCommitSHA == commit }
	isIntoBranch := func(pull pullRequest) bool { return c.branch != "" && pull.Base.Ref == c.branch }
	for _, isIts := range []func(pullRequest) bool{isMerger, isIntoBranch} {
		if i := slices.IndexFunc(merged, isIts); i >= 0 {
			return merged[i], err
		}
	}
	return pullRequest{}, err
}

// pullsOf returns the pull requests that GitHub names for a commit: none if the token may not read them. It fails if
// nobody can tell whether there is one: the pull request may say that nothing is to be sent. A dry run sends nothing
// anyway, so it goes on.
func (p *program) pullsOf(ctx context.Context, repository, commit string) ([]pullRequest, error) {
	if p.isBlind || !p.onGitHub() {
		return nil, nil
	}

	named, err := p.askForPulls(ctx, repository, commit)
	var failed *responseError
	isDenied := errors.As(err, &failed) && failed.isDenied

	switch {
	case isDenied, err != nil && p.options.dryRun:
		p.isBlind = true
		p.step.Warnf("Going on without pull requests, so only the commits tell which merges are to be skipped: %v", err)
	case err != nil:
		return nil, fmt.Errorf("nothing is sent before the pull requests of the change are read: %w", err)
	}
	return named, nil
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
			return nil, fmt.Errorf("%w (is GITHUB_TOKEN right?)", err)
		}
	}
	return found, err
}

// baseOf returns the commit before a merge: its first parent or, if GitHub has rebased the pull request, the parent
// of the first of its commits. GitHub tells which commits belong to it.
func (p *program) baseOf(ctx context.Context, g *git, pull pullRequest, c change) string {
	base := g.parent(ctx, c.head)
	isMerge := g.find(ctx, c.head+"^2") != ""
	if pull.Commits < 2 || isMerge || g.err != nil {
		return base
	}

	named, isNamed, err := p.pullsBefore(ctx, c, base)
	if err == nil && !isNamed {
		p.step.Warnf("GitHub does not say which commits pull request #%d has. The counts of its files decide, "+
			"so the prompt may have other people's merges", pull.Number)
		return p.countedBase(ctx, g, pull, c.head)
	}

	isIts := func(other pullRequest) bool { return other.Number == pull.Number }
	for left := pull.Commits - 1; err == nil && slices.ContainsFunc(named, isIts); left-- {
		base = g.parent(ctx, base)
		if left == 1 || g.err != nil {
			break
		}
		named, err = p.pullsOf(ctx, c.repository, base)
	}
	if err != nil {
		g.fail(err)
	}
	return base
}

// readPull returns a pull request with what a list of them lacks.
func (p *program) readPull(ctx context.Context, repository string, number int) (pullRequest, error) {
	var pull pullRequest
	api, err := p.gitHub.of(repository)
	if err == nil {
		err = api.get(ctx, fmt.Sprintf("repos/%s/pulls/%d", repository, number), &pull)
	}
	return pull, err
}

// pullsBefore returns the pull requests that GitHub names for the commit before a merge. It reports false if GitHub
// names none for the merge either: right after a merge it may know of none yet.
func (p *program) pullsBefore(ctx context.Context, c change, parent string) ([]pullRequest, bool, error) {
	named, err := p.pullsOf(ctx, c.repository, parent)
	mayAsk := p.onGitHub() && !p.isBlind
	if err == nil && len(named) == 0 && mayAsk && ci.Sleep(ctx, namesAfter) {
		named, err = p.pullsOf(ctx, c.repository, parent)
	}
	if err != nil || len(named) > 0 {
		return named, true, err
	}

	ofMerge, err := p.pullsOf(ctx, c.repository, c.head)
	return nil, len(ofMerge) > 0, err
}

// countedBase tells by the counts of a pull request's files how GitHub has merged it.
func (p *program) countedBase(ctx context.Context, g *git, pull pullRequest, head string) string {
	parent := g.parent(ctx, head)
	var whole change
	whole.readCounts(ctx, g, []string{parent, head, "--"})
	isSquashed := whole.stat == stat{files: pull.ChangedFiles, added: pull.Additions, removed: pull.Deletions}
	if isSquashed {
		return parent
	}
	return g.commit(ctx, fmt.Sprintf("%s~%d", head, pull.Commits))
}

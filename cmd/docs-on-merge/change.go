package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// change is what was merged.
type change struct {
	repository  string
	base, head  string // commits; base may be the empty tree
	title, body string // of the pull request, if it is known
	files       []file
	subjects    string // of the commits, a line each
	skip        string // why there is nothing to do; "" where there is
}

// event is what is read of an event of GitHub Actions.
type event struct {
	Before, After, Ref string // of a push
	Repository         struct {
		DefaultBranch string `json:"default_branch"`
	}
	PullRequest pullRequest `json:"pull_request"`
}

// pullRequest is what is read of a pull request of GitHub.
type pullRequest struct {
	Title, Body                   string
	Merged                        bool   // in an event
	MergedAt                      string `json:"merged_at"` // in a list
	MergeCommitSHA                string `json:"merge_commit_sha"`
	Commits, Additions, Deletions int
	ChangedFiles                  int `json:"changed_files"`
}

// isZeros is how events name the commit that is none.
func isZeros(commit string) bool { return commit != "" && strings.Trim(commit, "0") == "" }

// findChange finds what was merged: between two refs by hand, else of the event.
func (p *program) findChange(ctx context.Context) (c change, err error) {
	g, e := &git{dir: p.dir}, event{}
	c.base, c.head = p.options.base, p.options.head
	if name := p.getenv("GITHUB_EVENT_NAME"); name != "" && c.base == "" && c.head == "" {
		if e, c.skip, err = readEvent(name, p.getenv("GITHUB_EVENT_PATH")); err != nil || c.skip != "" {
			return c, err
		}
		c.base, c.head, c.title, c.body = e.Before, cmp.Or(e.After, e.PullRequest.MergeCommitSHA), e.PullRequest.Title, e.PullRequest.Body
	}
	c.head = g.commit(ctx, cmp.Or(c.head, "HEAD"))
	c.base = c.findBase(ctx, g, e)
	c.files = g.files(ctx, c.base, c.head, p.options.paths)
	c.subjects = g.run(ctx, "log", "--no-show-signature", "--format=%s", "--max-count=1000", c.head, "^"+c.base)
	c.repository = cmp.Or(p.options.repository, p.getenv("GITHUB_REPOSITORY"), p.getenv("CI_PROJECT_PATH"), filepath.Base(g.run(ctx, "rev-parse", "--show-toplevel")))
	switch {
	case g.err != nil && ctx.Err() != nil:
		return c, &outcomeError{notStarted, context.Cause(ctx)}
	case g.err == nil && len(c.files) == 0:
		c.skip = "nothing relevant changed"
	case g.err == nil && e.After != "":
		c.title, c.body = p.mergedPullRequest(ctx, c)
	}
	return c, g.err
}

// readEvent reads an event, and why it is to be skipped.
func readEvent(name, path string) (e event, skip string, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	pull := name == "pull_request" || name == "pull_request_target"
	switch {
	case err != nil:
		err = fmt.Errorf("the event cannot be read (GITHUB_EVENT_PATH): %w", err)
	case pull && !e.PullRequest.Merged:
		skip = "the pull request is not merged"
	case pull && e.PullRequest.MergeCommitSHA != "":
		e.Before, e.After = "", ""
	case name == "push" && isZeros(e.After):
		skip = "the branch was deleted"
	case name == "push" && e.Before != "" && e.After != "":
		e.PullRequest = pullRequest{}
	default:
		err = fmt.Errorf("the event %q names no merge: run on push or pull_request, or say -base and -head", name)
	}
	return e, skip, err
}

// findBase returns the commit before the change. (Before a force push that is what was
// there: what differs is what changed.)
func (c *change) findBase(ctx context.Context, g *git, e event) string {
	switch branch := e.Repository.DefaultBranch; {
	case c.base == "":
		return e.PullRequest.base(ctx, g, c.head)
	case !isZeros(c.base):
		return g.commit(ctx, c.base)
	case e.After == "":
		g.err = errors.New("-base is all zeros, since the branch is new or nothing was pushed: say where the change begins")
		return ""
	case e.Ref == "refs/heads/"+branch:
		return g.emptyTree(ctx)
	default:
		g.commit(ctx, "refs/remotes/origin/"+branch) // which a clone of all of it has
		return g.run(ctx, "merge-base", "refs/remotes/origin/"+branch, c.head)
	}
}

// base is the first parent of the merge. A rebased pull request is as many commits as it
// had: the last one alone is not all of it.
func (r pullRequest) base(ctx context.Context, g *git, head string) string {
	parent := g.parent(ctx, head)
	if r.Commits < 2 || g.find(ctx, head+"^2") != "" {
		return parent
	}
	files := g.files(ctx, parent, head, nil)
	if added, removed := count(files); len(files) == r.ChangedFiles && added == r.Additions && removed == r.Deletions {
		return parent // squashed
	}
	return g.commit(ctx, fmt.Sprintf("%s~%d", head, r.Commits))
}

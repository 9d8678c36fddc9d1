package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// change is what was merged.
type change struct {
	repository  string
	base, head  string // commits; base may be the empty tree
	tag         string // that head is of; "" for a merge
	title, body string // of the pull requests, as far as they are known
	files       []file
	diffs       []string // of the files
	subjects    string   // of the commits, a line each
	skip        string   // why there is nothing to do; "" if there is
}

// key names the change for good. A merge and a tag on one commit are two changes.
func (c change) key() string {
	if c.tag != "" {
		return c.repository + "@" + c.head + ":tag:" + c.tag
	}
	return c.repository + "@" + c.head
}

// name is what to give as -head to name the change again.
func (c change) name() string {
	if c.tag != "" {
		return "refs/tags/" + c.tag
	}
	return c.head
}

// event is what is read of an event of GitHub Actions.
type event struct {
	Action, Before, After, Ref string
	Repository                 struct {
		DefaultBranch string `json:"default_branch"`
	}
	PullRequest *pullRequest `json:"pull_request"`
	Release     struct {
		TagName string `json:"tag_name"`
		Draft   bool
	}
	Inputs map[string]any // of a workflow_dispatch
}

// isZeros reports whether an event names no commit.
func isZeros(commit string) bool { return commit != "" && strings.Trim(commit, "0") == "" }

// findChange finds what was merged: between two refs by hand, else of the event.
func (p *program) findChange(ctx context.Context) (c change, err error) {
	g, e, o := &git{dir: p.step.Dir}, event{}, &p.options
	if name := p.step.Getenv("GITHUB_EVENT_NAME"); name != "" && o.base == "" && o.head == "" {
		if e, c.skip, err = p.readEvent(name); err != nil || c.skip != "" {
			return c, err
		}
	}
	head := cmp.Or(o.head, e.After, "HEAD")
	if tag, ok := strings.CutPrefix(e.Ref, "refs/tags/"); !ok {
		c.tag = g.tag(ctx, o.head)
	} else if c.tag = tag; g.find(ctx, e.After) == "" { // a tag object that was not fetched, or a release
		head = e.Ref
	}
	c.head = g.commit(ctx, head)
	c.base = p.findBase(ctx, g, e, c)
	toplevel := g.run(ctx, "rev-parse", "--show-toplevel")
	c.repository = cmp.Or(o.repository, p.step.Getenv("GITHUB_REPOSITORY"), p.step.Getenv("CI_PROJECT_PATH"), url.PathEscape(filepath.Base(toplevel)))
	spans := p.findSpans(ctx, g, e.PullRequest, &c)
	for _, s := range spans {
		c.files = append(c.files, g.files(ctx, s.base, s.head, o.paths)...)
		c.subjects += g.run(ctx, "log", "--no-show-signature", "--format=%s", "--max-count=1000", s.head, "^"+s.base) + "\n"
		if o.withDiff {
			c.diffs = append(c.diffs, g.diffs(ctx, s.base, s.head, o.paths)...)
		}
	}
	if g.err == nil && len(c.files) == 0 && c.skip == "" {
		c.skip = "nothing relevant changed"
	}
	return c, g.err
}

// readEvent reads an event, and why it is to be skipped.
func (p *program) readEvent(name string) (e event, skip string, err error) {
	data, err := os.ReadFile(p.step.Getenv("GITHUB_EVENT_PATH"))
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	pull := name == "pull_request" || name == "pull_request_target"
	switch {
	case err != nil:
		err = fmt.Errorf("the event cannot be read (GITHUB_EVENT_PATH): %w", err)
	case pull && (e.PullRequest == nil || !e.PullRequest.Merged):
		skip = "the pull request is not merged"
	case pull && e.PullRequest.MergeCommitSHA != "":
		return event{After: e.PullRequest.MergeCommitSHA, PullRequest: e.PullRequest}, "", nil
	case name == "push" && isZeros(e.After):
		skip = "the branch or tag was deleted"
	case name == "push" && strings.HasPrefix(e.Ref, "refs/tags/"):
		e.Before, e.PullRequest = "", nil
	case name == "push" && e.Before != "" && e.After != "":
		e.PullRequest = nil
	case name == "release" && (e.Release.Draft || e.Action == "deleted" || e.Action == "unpublished"):
		skip = "the release is a draft, or no longer published"
	case name == "release" && e.Release.TagName != "":
		return event{Ref: "refs/tags/" + e.Release.TagName}, "", nil
	case name == "workflow_dispatch":
		return event{}, "", p.takeInputs(e.Inputs)
	default:
		err = fmt.Errorf("the event %q names no merge: run on push, pull_request, release or workflow_dispatch, or give -base and -head", name)
	}
	return e, skip, err
}

// takeInputs takes the inputs of a workflow_dispatch for flags that are not given.
func (p *program) takeInputs(inputs map[string]any) error {
	o := &p.options
	input := func(name string) string {
		if text := strings.TrimSpace(fmt.Sprint(inputs[name])); inputs[name] != nil && text != "false" {
			return text
		}
		return ""
	}
	o.base, o.job = input("base"), cmp.Or(o.job, input("job"))
	o.head = cmp.Or(input("head"), p.step.Getenv("GITHUB_SHA"))
	o.again = o.again || input("again") != ""
	switch {
	case o.job != "" && o.again:
		return errors.New("the inputs job and again exclude each other")
	case o.base == "" && o.job == "":
		return errors.New("the input base is empty: enter the commit before the change, or give -base and -head")
	}
	return nil
}

// findBase returns the commit before the change. (Before a force push, the base is what
// was there: the change is what differs.)
func (p *program) findBase(ctx context.Context, g *git, e event, c change) string {
	base, branch := cmp.Or(p.options.base, e.Before), e.Repository.DefaultBranch
	switch {
	case base == "" && c.tag != "":
		return g.previousTag(ctx, c)
	case base == "":
		return e.PullRequest.base(ctx, g, c.head)
	case base == g.emptyTree(ctx):
		return base
	case !isZeros(base):
		return g.commit(ctx, base)
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
func (r *pullRequest) base(ctx context.Context, g *git, head string) string {
	parent := g.parent(ctx, head)
	if r == nil || r.Commits < 2 || g.find(ctx, head+"^2") != "" {
		return parent
	}
	files := g.files(ctx, parent, head, nil)
	if added, removed := count(files); len(files) == r.ChangedFiles && added == r.Additions && removed == r.Deletions {
		return parent // squashed
	}
	return g.commit(ctx, fmt.Sprintf("%s~%d", head, r.Commits))
}

func (c change) stat() string {
	added, removed := count(c.files)
	return fmt.Sprintf("files: %d, lines added: %d, removed: %d", len(c.files), added, removed)
}

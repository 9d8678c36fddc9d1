package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

const (
	branches = "refs/heads/"
	tags     = "refs/tags/"
)

// occasion is a change as an event or the command line describes it. Nobody has looked up its
// names in the clone yet.
type occasion struct {
	// base is the commit before the change: all zeros if there is none, "" if nobody says.
	base string
	// head is the commit or tag after the change. "" means HEAD, or the tag.
	head string
	// tag is refs/tags/..., if the change is a release.
	tag string
	// branch is refs/heads/... that the change was merged into, if an event names it. defaultBranch is known with it.
	branch, defaultBranch string
	// pull is the pull request, if the change is one.
	pull pullRequest
	// skip says why there is nothing to do. "" means that there is something.
	skip string
}

// event has the fields that we read from an event of GitHub Actions.
type event struct {
	Action, Before, After, Ref string
	Repository                 struct {
		DefaultBranch string `json:"default_branch"`
	}
	// Commits are not nil if a push says which commits it has, also if it has none.
	Commits     []struct{}
	PullRequest pullRequest `json:"pull_request"`
	Release     struct {
		TagName string `json:"tag_name"`
		Draft   bool
	}
	// Inputs are the inputs of a workflow_dispatch.
	Inputs map[string]any
}

// isZeros reports whether an event says that there is no commit.
func isZeros(commit string) bool { return commit != "" && strings.Trim(commit, "0") == "" }

// findOccasion reads the event, unless the command line says what the change is.
func (p *program) findOccasion() (occasion, error) {
	given := occasion{base: p.options.base, head: p.options.head}
	isGiven := given.base != "" || given.head != ""
	name := p.step.Getenv("GITHUB_EVENT_NAME")
	if name == "" || isGiven && name != "workflow_dispatch" {
		return given, nil
	}

	e, err := readEvent(p.step.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return occasion{}, fmt.Errorf("the event cannot be read (GITHUB_EVENT_PATH): %w", err)
	}

	switch name {
	case "pull_request", "pull_request_target":
		return e.ofPullRequest(name, p.options.branches)
	case "push":
		return e.ofPush()
	case "release":
		return e.ofRelease()
	case "workflow_dispatch":
		return p.dispatched(e, given)
	case "merge_group":
		return occasion{skip: "a branch of a merge queue is not merged yet"}, nil
	}
	return occasion{}, namesNoMerge(name)
}

func readEvent(path string) (event, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return event{}, err
	}

	var e event
	err = json.Unmarshal(data, &e)
	return e, err
}

func namesNoMerge(event string) error {
	return fmt.Errorf("the event %q names no merge: run on push, pull_request, release or workflow_dispatch, "+
		"or give the action base and head (on a command line: -base and -head)", event)
}

// ofPullRequest returns a merge into the default branch, or into one of others.
func (e event) ofPullRequest(name string, others []string) (occasion, error) {
	pull := e.PullRequest
	into := e.Repository.DefaultBranch
	isElsewhere := into != "" && pull.Base.Ref != into && !slices.Contains(others, pull.Base.Ref)

	switch {
	case !pull.Merged:
		return occasion{skip: "the pull request is not merged"}, nil
	case isElsewhere:
		return occasion{skip: "not merged into " + into}, nil
	case pull.MergeCommitSHA == "":
		return occasion{}, namesNoMerge(name)
	}
	return occasion{head: pull.MergeCommitSHA, branch: branches + pull.Base.Ref, pull: pull}, nil
}

func (e event) ofPush() (occasion, error) {
	switch {
	case isZeros(e.After):
		return occasion{skip: "the branch or tag was deleted"}, nil
	case strings.HasPrefix(e.Ref, tags):
		return occasion{head: e.After, tag: e.Ref}, nil
	case e.Before == "" || e.After == "":
		return occasion{}, namesNoMerge("push")
	case e.Commits != nil && len(e.Commits) == 0:
		return occasion{skip: "no commits were pushed"}, nil
	}

	what := occasion{
		base:          e.Before,
		head:          e.After,
		branch:        e.Ref,
		defaultBranch: branches + e.Repository.DefaultBranch,
	}
	if isZeros(e.Before) && what.branch == what.defaultBranch {
		what.skip = "the default branch is new"
	}
	return what, nil
}

func (e event) ofRelease() (occasion, error) {
	switch {
	case e.Release.Draft || e.Action == "deleted" || e.Action == "unpublished":
		return occasion{skip: "the release is a draft, or no longer published"}, nil
	case e.Release.TagName == "":
		return occasion{}, namesNoMerge("release")
	}
	return occasion{tag: tags + e.Release.TagName}, nil
}

// input returns an input of a workflow_dispatch, or "" if it is not given.
func (e event) input(name string) string {
	text := strings.TrimSpace(fmt.Sprint(e.Inputs[name]))
	switch text {
	case "false", "<nil>":
		return ""
	}
	return text
}

// dispatched returns the change of a workflow_dispatch, and takes over what a person has entered about its job. given
// is what the workflow says of the change.
func (p *program) dispatched(e event, given occasion) (occasion, error) {
	p.options.job = cmp.Or(p.options.job, e.input("job"))
	p.options.again = p.options.again || e.input("again") != ""
	what := occasion{base: cmp.Or(e.input("base"), given.base), head: cmp.Or(e.input("head"), given.head)}

	isNothingGiven := given.base == "" && given.head == ""
	if isNothingGiven {
		what.head = cmp.Or(what.head, p.step.Getenv("GITHUB_SHA"))
	}
	if isNothingGiven && what.base == "" && p.options.job == "" {
		// A job alone is one of GITHUB_SHA. Since it rarely is, the error asks for the head, too.
		return occasion{}, errors.New("the input base is empty: enter the commit before the change as base, " +
			"and the commit or tag after it as head, also with the id of its job as job")
	}
	return what, nil
}

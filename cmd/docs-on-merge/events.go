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

const tags = "refs/tags/"

// event is what is read of an event of GitHub Actions.
type event struct {
	Action, Before, After, Ref string
	Repository                 struct {
		DefaultBranch string `json:"default_branch"`
	}
	PullRequest pullRequest `json:"pull_request"`
	Release     struct {
		TagName string `json:"tag_name"`
		Draft   bool
	}
	Inputs map[string]any // of a workflow_dispatch
}

// isZeros reports whether an event names no commit.
func isZeros(commit string) bool { return commit != "" && strings.Trim(commit, "0") == "" }

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
	case pull && !e.PullRequest.Merged:
		skip = "the pull request is not merged"
	case pull && e.PullRequest.MergeCommitSHA != "":
		return event{After: e.PullRequest.MergeCommitSHA, PullRequest: e.PullRequest}, "", nil
	case name == "push" && isZeros(e.After):
		skip = "the branch or tag was deleted"
	case name == "push" && strings.HasPrefix(e.Ref, tags):
		return event{After: e.After, Ref: e.Ref}, "", nil
	case name == "push" && e.Before != "" && e.After != "":
		e.PullRequest = pullRequest{}
	case name == "release" && (e.Release.Draft || e.Action == "deleted" || e.Action == "unpublished"):
		skip = "the release is a draft, or no longer published"
	case name == "release" && e.Release.TagName != "":
		return event{Ref: tags + e.Release.TagName}, "", nil
	case name == "workflow_dispatch":
		return event{}, "", p.takeInputs(e.Inputs)
	default:
		err = fmt.Errorf("the event %q names no merge: run on push, pull_request, release or workflow_dispatch, or give -base and -head", name)
	}
	return e, skip, err
}

// takeInputs takes the inputs of a workflow_dispatch for flags that are not given.
func (p *program) takeInputs(inputs map[string]any) error {
	o, none := &p.options, []string{"", "false", "<nil>"}
	input := func(name string) (text string) {
		if text = strings.TrimSpace(fmt.Sprint(inputs[name])); slices.Contains(none, text) {
			return ""
		}
		return text
	}
	o.base, o.head, o.job = input("base"), cmp.Or(input("head"), p.step.Getenv("GITHUB_SHA")), cmp.Or(o.job, input("job"))
	o.again = o.again || input("again") != ""
	if o.base == "" && o.job == "" {
		return errors.New("the input base is empty: enter the commit before the change, or give -base and -head")
	}
	return nil
}

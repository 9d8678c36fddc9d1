package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/mintlify-community/mintlify-go/once"
)

// refs is a journal in the refs of a git remote, with a ref for each record. Each version is a
// commit, whose parent is the version before. If several runs push one at once, the remote takes
// one of them.
type refs struct {
	git    git
	remote string
}

func refOf(key string) string {
	return fmt.Sprintf("refs/docs-on-merge/%.20x", sha256.Sum256([]byte(key)))
}

// read's end is the commit that the ref names.
func (s refs) read(ctx context.Context, key string) (versions []once.Record, end string, err error) {
	ref := refOf(key)
	history, err := s.fetch(ctx, ref)
	if err != nil || history == "" {
		return nil, "", err
	}

	for entry := range strings.SplitSeq(strings.Trim(history, "\x00"), "\x00") {
		commit, message, _ := strings.Cut(entry, "\n")
		var r once.Record
		err := json.Unmarshal([]byte(message), &r)
		if err != nil || r.Key != key || r.Version != len(versions)+1 {
			return nil, "", fmt.Errorf("%s of %s is not the record of %s: %q", ref, s.remote, key, message)
		}
		versions = append(versions, r)
		end = commit
	}
	return versions, end, nil
}

// fetch returns the commits of the remote's ref, the oldest first, or "" if there is no such ref. It asks
// for this ref alone: a remote may have hundreds of thousands. The clone keeps nothing but objects.
func (s refs) fetch(ctx context.Context, ref string) (string, error) {
	g := s.git
	local := fmt.Sprintf("refs/docs-on-merge-read/%s-%s", path.Base(ref), strings.ToLower(rand.Text()))
	defer func() {
		forget := s.git
		forget.run(context.WithoutCancel(ctx), "update-ref", "-d", local)
	}()

	// Without --depth: the history is the record, and a clone must not become shallow.
	g.runRemote(ctx, "fetch", "--quiet", "--no-write-fetch-head", "--no-tags",
		"--no-prune", "--no-recurse-submodules", "--no-auto-maintenance", s.remote, "+"+ref+":"+local)
	if hasNoRef(g.err, ref) {
		return "", nil
	}

	history := g.run(ctx, "log", "-z", "--reverse", "--no-show-signature", "--format=%H%n%B", local)
	return history, g.err
}

// hasNoRef reports whether git says that a remote lacks a ref. Git ends with the same status if the remote is
// down, and a record that is overlooked makes a second job, so only this one line counts.
func hasNoRef(err error, ref string) bool {
	if err == nil {
		return false
	}

	for line := range strings.Lines(err.Error()) {
		if strings.EqualFold(strings.TrimSpace(line), "fatal: couldn't find remote ref "+ref) {
			return true
		}
	}
	return false
}

func (s refs) add(ctx context.Context, r once.Record, end string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}

	g := s.git
	args := []string{"commit-tree", g.emptyTree(ctx), "-m", string(text)}
	if end != "" {
		args = append(args, "-p", end)
	}
	commit := g.run(ctx, args...)

	ref := refOf(r.Key)
	g.runRemote(ctx, "push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+end, s.remote, commit+":"+ref)
	return g.err
}

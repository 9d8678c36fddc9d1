package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mintlify-community/mintlify-go/once"
)

// refs is a journal in the refs of a git remote, one a record. Each version is a commit,
// whose parent is the version before. The remote takes one of several.
type refs struct{ dir, remote string }

func refOf(key string) string {
	return fmt.Sprintf("refs/docs-on-merge/%.20x", sha256.Sum256([]byte(key)))
}

// tip returns the commit of key's newest version, "" if there is none, and fetches it.
func (s *refs) tip(ctx context.Context, g *git, key string) (commit string) {
	ref := refOf(key)
	for line := range strings.Lines(g.run(ctx, "ls-remote", s.remote, ref)) {
		if name, found, _ := strings.Cut(strings.TrimSpace(line), "\t"); found == ref {
			commit = name
		}
	}
	if commit != "" && g.find(ctx, commit) == "" {
		g.run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", s.remote, ref)
	}
	return commit
}

func (s *refs) read(ctx context.Context, key string) (versions []once.Record, err error) {
	g := &git{dir: s.dir}
	commit := s.tip(ctx, g, key)
	if commit == "" {
		return nil, g.err
	}
	messages := strings.Split(strings.TrimRight(g.run(ctx, "log", "-z", "--no-show-signature", "--format=%B", commit), "\x00"), "\x00")
	for _, message := range slices.Backward(messages) {
		var r once.Record
		if err := json.Unmarshal([]byte(message), &r); g.err == nil && (err != nil || r.Key != key || r.Version != len(versions)+1) {
			return nil, fmt.Errorf("%s of %s is not the record of %s: %q", refOf(key), s.remote, key, message)
		}
		versions = append(versions, r)
	}
	return versions, g.err
}

func (s *refs) add(ctx context.Context, r once.Record) error {
	g, ref := &git{dir: s.dir}, refOf(r.Key)
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	args := []string{"-c", "user.name=docs-on-merge", "-c", "user.email=docs-on-merge@localhost", "commit-tree", g.emptyTree(ctx), "-m", string(text)}
	parent, count := s.tip(ctx, g, r.Key), "0"
	if parent != "" {
		args, count = append(args, "-p", parent), g.run(ctx, "rev-list", "--count", parent)
	}
	if g.err == nil && count != strconv.Itoa(r.Version-1) {
		return once.ErrConflict
	}
	g.run(ctx, "-c", "push.followTags=false", "-c", "push.gpgSign=false", "push", "--quiet", "--no-verify", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+parent, s.remote, g.run(ctx, args...)+":"+ref)
	return g.err
}

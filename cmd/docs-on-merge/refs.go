package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mintlify-community/mintlify-go/once"
)

// refs is a journal in the refs of a git remote, one a record. Each version is a commit,
// whose parent is the version before. The remote takes one of several.
type refs struct {
	git    git
	remote string
}

func refOf(key string) string {
	return fmt.Sprintf("refs/docs-on-merge/%.20x", sha256.Sum256([]byte(key)))
}

func (s refs) read(ctx context.Context, key string) (versions []once.Record, end string, err error) {
	g, ref := s.git, refOf(key)
	for line := range strings.Lines(g.run(ctx, "ls-remote", s.remote, ref)) {
		if name, found, _ := strings.Cut(strings.TrimSpace(line), "\t"); found == ref {
			end = name
		}
	}
	if end == "" {
		return nil, "", g.err
	}
	if g.find(ctx, end) == "" {
		g.run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", s.remote, ref)
	}
	messages := strings.Split(strings.Trim(g.run(ctx, "log", "-z", "--reverse", "--no-show-signature", "--format=%B", end), "\x00"), "\x00")
	for _, message := range messages {
		var r once.Record
		if err := json.Unmarshal([]byte(message), &r); g.err == nil && (err != nil || r.Key != key || r.Version != len(versions)+1) {
			return nil, "", fmt.Errorf("%s of %s is not the record of %s: %q", ref, s.remote, key, message)
		}
		versions = append(versions, r)
	}
	return versions, end, g.err
}

func (s refs) add(ctx context.Context, r once.Record, end string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	g, ref := s.git, refOf(r.Key)
	args := []string{"commit-tree", g.emptyTree(ctx), "-m", string(text)}
	if end != "" {
		args = append(args, "-p", end)
	}
	g.run(ctx, "push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+end, s.remote, g.run(ctx, args...)+":"+ref)
	return g.err
}

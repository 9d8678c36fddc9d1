package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
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
	g := s.git
	ref := refOf(key)
	end = s.find(ctx, &g, ref)
	if end == "" {
		return nil, "", g.err
	}

	if g.find(ctx, end) == "" {
		g.runRemote(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
			"--no-auto-maintenance", s.remote, ref)
	}

	log := g.run(ctx, "log", "-z", "--reverse", "--no-show-signature", "--format=%B", end)
	if g.err != nil {
		return nil, "", g.err
	}

	for message := range strings.SplitSeq(strings.Trim(log, "\x00"), "\x00") {
		var r once.Record
		err := json.Unmarshal([]byte(message), &r)
		if err != nil || r.Key != key || r.Version != len(versions)+1 {
			return nil, "", fmt.Errorf("%s of %s is not the record of %s: %q", ref, s.remote, key, message)
		}
		versions = append(versions, r)
	}
	return versions, end, nil
}

// find returns the commit that the remote's ref names, or "" if there is no such ref.
func (s refs) find(ctx context.Context, g *git, ref string) string {
	for line := range strings.Lines(g.runRemote(ctx, "ls-remote", s.remote, ref)) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name == ref { // ls-remote also lists refs that end with it
			return commit
		}
	}
	return ""
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

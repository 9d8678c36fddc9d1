package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheReleaseBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tags := range [][]string{
		{"v1.4.0", "cli-v1.0.0"},
		{"v1.5.0-rc.1", "web-v3.1.0", "1.4"},
		{"v1.5.0-rc.2", "nightly", "v1.5.0rc3"},
		{"v1.5.0", "cli-v1.1.0", "2.0", "v1.5.0-rc.4"},
	} {
		w.commit(tags[0], tags[0]+".go", "package x\n")
		for _, tag := range tags {
			w.git("tag", tag)
		}
	}

	for tag, before := range map[string]string{
		"v1.5.0":      "v1.4.0",
		"v1.5.0-rc.4": "", // the nearest of either kind
		"cli-v1.1.0":  "cli-v1.0.0",
		"2.0":         "1.4",
	} {
		if before == "" {
			before = w.git("describe", "--tags", "--abbrev=0", "--match=v[0-9]*", "HEAD^")
		}
		w.onGitHub("release", publishedRelease(tag))
		r := w.run(t.Context(), "-dry-run")
		assert.Contains(t, r.Log, "The release before "+tag+" is "+before+".\n")
		assert.Contains(t, r.Summary, "base: "+w.git("rev-parse", before)+"\n")
	}

	w.onGitHub("release", publishedRelease("web-v3.1.0"))
	r := w.runOnce()
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "no tag before refs/tags/web-v3.1.0")
}

func TestPrereleases(t *testing.T) {
	for tag, is := range map[string]bool{
		"v1.5.0":           false,
		"v1.5.0-rc.1":      true,
		"v1.5.0-SNAPSHOT":  true,
		"1.5.0rc1":         true,
		"1.5.0.dev3":       true,
		"2.0b2":            true,
		"cli-v1.1.0":       false,
		"cli-v1.1.0-beta":  true,
		"4.1.100.Final":    false,
		"v1.5.0+build.7":   false,
		"release-2026.11":  false,
		"docs_v3":          false,
		"nightly":          false,
		"r12_M1":           true,
		"v1.5.0-rc.1+meta": true,
	} {
		assert.Equal(t, is, isPrerelease(tag), tag)
	}
}

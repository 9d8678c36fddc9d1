package docspulls_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
	"github.com/mintlify-community/mintlify-go/once"
)

var sent = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func pull(change func(p *docspulls.Pull)) docspulls.Pull {
	p := docspulls.Pull{
		HTMLURL:   "https://github.com/acme/docs/pull/9",
		Body:      "Documents it.\n\n" + once.Marker("acme/api@1:tag:V1"),
		CreatedAt: sent,
		Head:      docspulls.Head{Repo: &docspulls.Repository{FullName: "Acme/docs"}},
	}
	change(&p)
	return p
}

func TestFind(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(p *docspulls.Pull)
		found  bool
	}{
		"its own":          {func(*docspulls.Pull) {}, true},
		"another's marker": {func(p *docspulls.Pull) { p.Body = once.Marker("acme/api@2") }, false},
		"another case":     {func(p *docspulls.Pull) { p.Body = once.Marker("acme/api@1:tag:v1") }, false},
		"no marker":        {func(p *docspulls.Pull) { p.Body = "" }, false},
		"a fork":           {func(p *docspulls.Pull) { p.Head.Repo.FullName = "eve/docs" }, false},
		"a deleted fork":   {func(p *docspulls.Pull) { p.Head.Repo = nil }, false},
		"older":            {func(p *docspulls.Pull) { p.CreatedAt = sent.Add(-time.Second) }, false},
	} {
		pulls := []docspulls.Pull{pull(func(p *docspulls.Pull) { p.Body = "Something else" }), pull(tc.change)}
		isKey := func(key string) bool { return key == "acme/api@1:tag:V1" }
		assert.Equal(t, tc.found, docspulls.Find(pulls, "acme/docs", sent, isKey) != "", name)
	}

	folded := func(key string) bool { return strings.EqualFold(key, "ACME/API@1:tag:v1") }
	assert.NotEmpty(t, docspulls.Find([]docspulls.Pull{pull(func(*docspulls.Pull) {})}, "acme/docs", sent, folded),
		"the caller compares")
}

func TestPages(t *testing.T) {
	for name, tc := range map[string]struct {
		all   int
		every time.Duration
		pages int
	}{
		"none":           {0, time.Second, 1},
		"a page":         {29, time.Second, 1},
		"a full page":    {30, time.Second, 2},
		"at most ten":    {1000, time.Second, 10},
		"a day older":    {1000, time.Hour, 1},
		"a day in pages": {1000, 30 * time.Minute, 2},
	} {
		pages := 0
		get := func(_ context.Context, path string, into any) error {
			require.True(t, strings.HasPrefix(path, "repos/acme/docs/pulls?state=all&sort=created&direction=desc&"), path)
			pulls := into.(*[]docspulls.Pull)
			for i := pages * 30; i < min(tc.all, pages*30+30); i++ {
				*pulls = append(*pulls, docspulls.Pull{CreatedAt: sent.Add(-time.Duration(i) * tc.every)})
			}
			pages++
			return nil
		}

		read := 0
		for pulls, err := range docspulls.Pages(t.Context(), get, "acme/docs", sent) {
			if name == "at most ten" && pulls == nil {
				require.ErrorIs(t, err, docspulls.ErrTooMany)
				continue
			}
			require.NoError(t, err)
			read += len(pulls)
		}
		assert.Equal(t, tc.pages, pages, name)
		assert.Equal(t, min(tc.all, tc.pages*30), read, name)
	}
}

func TestAnErrorEndsThePages(t *testing.T) {
	down := errors.New("down")
	calls := 0
	get := func(context.Context, string, any) error { calls++; return down }
	for _, err := range docspulls.Pages(t.Context(), get, "acme/docs", sent) {
		assert.ErrorIs(t, err, down)
	}
	assert.Equal(t, 1, calls)
}

// A sender whose clock is ahead has its pull request opened before the send, by that clock.
func TestSentAfterLeavesTimeForTheSendAndForClocks(t *testing.T) {
	for sends, leeway := range map[int]time.Duration{0: 2 * time.Minute, 1: 24 * time.Hour, 2: 2 * time.Minute} {
		record := once.Record{Deadline: sent, Sends: sends}
		assert.Equal(t, sent.Add(-time.Minute-leeway), docspulls.SentAfter(record, time.Minute), sends)
	}
}

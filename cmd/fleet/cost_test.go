//go:build unix

package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/once"
)

// copyPrompt makes copies of a prompt of Postgres, as they are after a vacuum.
func copyPrompt(t *testing.T, s queue.Queue, key string, from, to int) {
	t.Helper()
	execute(t, s, `INSERT INTO fleet_prompts SELECT (jsonb_populate_record(p, jsonb_build_object('key', p.key || '-' || n))).*
FROM fleet_prompts p, generate_series($2::bigint, $3::bigint) n WHERE p.key = $1`, key, from, to)
	execute(t, s, "VACUUM ANALYZE")
}

// TestALookReadsTheSame of a queue of 100 prompts and of one of 10,000, beside another of 10,000, but for a level of
// each index.
func TestALookReadsTheSame(t *testing.T) {
	t.Parallel()
	url := testPostgres.Database(t)
	s := openStore(t, url)
	add(t, s, promptOf(1, testProject), promptOf(2, "another"))
	copyPrompt(t, s, promptOf(1, "").Key, 1, 99)
	few := blocksOfALook(t, url, testProject)

	copyPrompt(t, s, promptOf(1, "").Key, 100, 9_999)
	copyPrompt(t, s, promptOf(2, "").Key, 1, 9_999)
	many := blocksOfALook(t, url, testProject)
	t.Logf("%d blocks of 100, %d of 10,000", few, many)
	assert.LessOrEqual(t, many, few+6, "each of its indexes may have a level more")
}

// TestAnIdlePassReadsNoEndedPrompts: after 100,000 of them it reads at most twice as many blocks as after 1,000.
func TestAnIdlePassReadsNoEndedPrompts(t *testing.T) {
	t.Parallel()
	url := testPostgres.Database(t)
	s := openStore(t, url)
	add(t, s, promptOf(1, testProject))
	put(t, s, promptOf(1, "").Key, func(r *once.Record) {
		r.State, r.Reported, r.JobID, r.Deadline = once.Done, once.Done, "job_1", r.AddedAt
	})
	copyPrompt(t, s, promptOf(1, "").Key, 1, 999)
	few := blocksOfAPass(t, url)

	copyPrompt(t, s, promptOf(1, "").Key, 1_000, 99_999)
	many := blocksOfAPass(t, url)
	t.Logf("%d blocks after 1,000, %d after 100,000", few, many)
	assert.LessOrEqual(t, many, 2*few)
}

// blocksOfAPass returns how many blocks of Postgres an idle worker reads in a pass, and to tell results.
func blocksOfAPass(t *testing.T, url string) int {
	t.Helper()
	s := openStore(t, url)
	s.Keep = 13
	seen := record(t, s.DB, url)
	w := queue.NewWorker(s, nil, nil)
	w.Decide = github.Docs{Queue: s}.DecideReviews
	w.Find = github.Docs{Queue: s}.Find
	require.NoError(t, w.MakePass(t.Context()))
	require.NoError(t, queue.NewWorker(s, nil, (&notebook{}).tell).Tell(t.Context(), nil))

	blocks := 0
	for query, args := range maps.Clone(seen.args) {
		n := blocksOf(t, s, query, args...)
		blocks += n
		if n > 50 {
			t.Logf("%d blocks: %s", n, strings.Join(strings.Fields(query), " "))
		}
	}
	assert.Greater(t, len(seen.args), 8)
	return blocks
}

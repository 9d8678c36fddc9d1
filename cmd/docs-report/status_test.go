package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestStatusSaysHowTheLastSyncEnded(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) { // a Wednesday
		require.Equal(t, exitQuota, r.sync(t.Context(), "-budget", "3"), r.messages)
		r.ok("status")
		assert.Regexp(t, `^docs\n  last sync   2000-03-15 02:00 UTC, missing: about \d+ requests\n  newest day  none\n$`, r.stdout)

		r.synced()
		r.ok("status")
		assert.Equal(t, "docs\n"+
			"  last sync   2000-03-15 02:00 UTC, missing: nothing\n"+
			"  newest day  2000-03-14, may still change\n", r.stdout)

		time.Sleep(30 * time.Hour)
		r.ok("status")
		assert.Contains(t, r.stdout, "newest day  2000-03-14, may still change; 1 day since is not loaded\n")

		bad := mintlifytest.Fault{Status: 400, Body: `{"error":"not now"}`}
		r.service.FailNext(mintlify.OpGetVisitors, 1, bad)
		require.Equal(t, exitFailed, r.sync(t.Context()))
		r.ok("status")
		assert.Contains(t, r.stdout, "last sync   2000-03-16 08:00 UTC, missing: about 1 request: docs 2000-03-14, visitors: ")
		assert.Contains(t, r.stdout, "not now")
		assert.Contains(t, r.stdout, "newest day  2000-03-15, may still change")
	})
}

// During the first sync, after its kill, and for a project that is mistyped.
func TestStatusWithoutASyncThatHasEnded(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) {
		require.Equal(t, exitQuota, r.sync(t.Context(), "-budget", "3"), r.messages)
		_, err := rawDatabase(t, r.db).ExecContext(t.Context(), `DELETE FROM docs_syncs`)
		require.NoError(t, err)

		r.ok("status", "-projects", "docs")
		assert.Equal(t, "docs\n"+
			"  last sync   none has ended yet\n"+
			"  newest day  none\n", r.stdout)

		assert.Equal(t, exitUsage, r.run(t.Context(), "status", "-projects", "docs,dosc"))
		assert.Contains(t, r.messages, `the database has no project "dosc", only: docs`)
		assert.Empty(t, r.stdout)
	})
}

// A list that fails stops nothing: sync warns, and status names the list until it is loaded.
func TestStatusNamesListsThatFail(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) {
		r.service.FailNext(mintlify.OpGetSearches, 1, mintlifytest.Fault{Status: 400, Body: `{"error":"too\u001b[31m long"}`})
		r.synced()
		assert.Contains(t, r.messages, "Warning: docs: searches of 2000-02-14 to 2000-03-12: mintlify: ")
		assert.NotContains(t, r.messages, "\x1b")

		r.ok("status")
		assert.Contains(t, r.stdout, "\n  not loaded  searches of 2000-02-14 to 2000-03-12: mintlify: ")
		assert.NotContains(t, r.stdout, "\x1b")
		assert.NotContains(t, r.stdout, "missing: nothing")

		time.Sleep(24 * time.Hour)
		r.synced()
		r.ok("status")
		assert.NotContains(t, r.stdout, "not loaded")
		assert.Contains(t, r.stdout, "missing: nothing")
	})
}

// A sync that is dead is found by the exit code. The page and the digest are written all the same.
func TestMaxAge(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) {
		r.synced("-projects", "docs,handbook")

		time.Sleep(7 * 24 * time.Hour)
		r.ok("status", "-max-age", "8d")
		assert.Contains(t, r.stdout, "newest day  2000-03-14, may still change; 7 days since are not loaded\n")
		r.synced("-projects", "docs")

		time.Sleep(24 * time.Hour)
		for _, args := range [][]string{
			{"status"},
			{"digest", "-projects", "handbook"},
			{"report", "-o", "-", "-projects", "handbook"},
			{"report", "-o", "-", "-projects", "handbook", "-page", "/handbook/page-1"},
		} {
			assert.Equal(t, exitOK, r.run(t.Context(), args...), r.messages)
			assert.Equal(t, exitFailed, r.run(t.Context(), append(args, "-max-age", "8d")...), args)
			assert.NotEmpty(t, r.stdout)
			assert.Contains(t, r.messages, `older than -max-age 8d: "handbook" (newest day: 2000-03-14). `)
			assert.NotContains(t, r.messages, `"docs"`)
		}

		assert.Equal(t, exitOK, r.run(t.Context(), "digest", "-projects", "docs", "-max-age", "8d"), r.messages)
	})
}

func TestAMonthThatIsNotOverIsCalledSo(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) {
		r.synced()

		for month, want := range map[string]string{
			"2000-03": "March 2000 is not over: it ends on 31 March and is final on 2 April.\n",
			"2000-04": "April 2000 begins on 1 April.\n",
			"1998-12": "December 1998 of \"docs\" is not in the database: docs-report sync -from 1998-12-01 loads it.\n",
		} {
			assert.Equal(t, exitFailed, r.run(t.Context(), "digest", "-month", month))
			assert.Equal(t, want, r.messages)
		}
	})
}

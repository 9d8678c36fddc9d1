package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page shows the week that has just ended as soon as a night has loaded it, on a Monday, too,
// and says what may still change.
func TestTheWeekThatHasJustEnded(t *testing.T) {
	onDay(t, time.March, 19, 12, site(3), func(t *testing.T, r *rig) { // a Sunday
		withLists(r)
		r.synced()

		titleAt := func(d, hour int) string {
			sleepUntil(time.March, d, hour)
			r.ok("digest")
			title, _, _ := strings.Cut(r.stdout, "\n")
			r.ok("report", "-o", "-")
			return title
		}

		assert.Equal(t, "docs: 14 February to 12 March 2000", titleAt(19, 13), "the week is not over")

		// Monday, before the night's run.
		title := titleAt(20, 1)
		assert.Equal(t, "docs: 14 February to 12 March 2000 · The week of 13 March is not loaded yet", title)
		assert.Contains(t, words(r.stdout), "The week of 13 March is not loaded yet: docs-report sync loads what is missing.")
		assert.NotContains(t, words(r.stdout), "Old")

		// A dead sync is Old 48 hours after the last one has ended, not before.
		assert.NotContains(t, titleAt(21, 11), "Old.")
		assert.True(t, strings.HasPrefix(titleAt(21, 13), "Old. docs: 14 February to 12 March 2000 · The week of 13 March"))
		assert.Contains(t, words(r.stdout), "What happened Old: 1 week is not loaded, 13 March to 19 March 2000."+
			" The last sync ended on 19 March, 12:00 UTC. Look at docs-report status, and at sync's log.")

		r.synced()
		assert.Equal(t, "docs: 21 February to 19 March 2000", titleAt(22, 4))

		// A week later, on the Monday after the night's run.
		sleepUntil(time.March, 27, 2)
		r.synced()
		title = titleAt(27, 8)
		assert.True(t, strings.HasPrefix(title, "docs: 28 February to 26 March 2000 · Not final"), title)
		assert.Contains(t, words(r.stdout), "Not final: the newest counts may still change a little, until 24 hours after the last day.")

		folder := filepath.Join(t.TempDir(), "pages")
		require.NoError(t, os.Mkdir(folder, 0o777))
		r.ok("report", "-o", folder)
		assert.Contains(t, words(read(t, filepath.Join(folder, "index.html"))), "docs 28 February to 26 March 2000. Not final")

		sleepUntil(time.March, 28, 2)
		r.synced()
		assert.Equal(t, "docs: 28 February to 26 March 2000", titleAt(28, 3))
	})
}

// The four weeks of a report may be a February, which the database has as a month.
func TestFourWeeksThatAreAFebruary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2010, time.March, 3, 12, 0, 0, 0, time.UTC)))
		r := newRig(t, site(3))
		r.synced()

		r.ok("digest")
		assert.Regexp(t, `^docs: February 2010\n`, r.stdout)
		r.ok("report", "-o", "-")
		assert.Contains(t, words(r.stdout), "4 January to 31 January 2010")
		assert.NotContains(t, words(r.stdout), "is not in the database, so there is no comparison")

		r.ok("report", "-month", "2010-02", "-o", "-")
		assert.NotContains(t, words(r.stdout), "4 January to 31 January 2010", "a month is compared with a month")
	})
}

// May 2000 begins on a Monday: it is not the last four weeks, which a sync of two weeks does not load.
func TestAMonthThatBeginsOnAMonday(t *testing.T) {
	onDay(t, time.June, 7, 12, site(3), func(t *testing.T, r *rig) {
		r.synced("-weeks", "2", "-from", "2000-05-01")
		assert.Equal(t, exitFailed, r.run(t.Context(), "digest"))
		assert.Contains(t, r.messages, `4 weeks of "docs" is not in the database: docs-report sync -weeks 4 loads it`)
	})
}

// A page that moved, and the pages of the sitemap.
func TestMovesAndTheSitemap(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		r.synced()

		folder := t.TempDir()
		sitemap := filepath.Join(folder, "sitemap.xml")
		require.NoError(t, os.WriteFile(sitemap, []byte(`<urlset><url><loc>https://docs.example.com/docs/page-1</loc></url>`+
			`<url><loc>https://docs.example.com/docs/never</loc></url></urlset>`), 0o666))
		index := filepath.Join(folder, "index.xml")
		require.NoError(t, os.WriteFile(index, []byte(`<sitemapindex></sitemapindex>`), 0o666))

		args := []string{"-moved", "/docs/page-0=/docs/page-2", "-sitemap", sitemap}
		csv := filepath.Join(folder, "pages.csv")
		r.ok(append([]string{"report", "-o", "-", "-csv", csv}, args...)...)
		page := words(r.stdout)
		assert.Contains(t, page, "1 of the sitemap's 2 pages. The pages /docs/never")
		assert.Contains(t, page, "1 moved /docs/page-0 → /docs/page-2")
		assert.Equal(t, 1+2, strings.Count(read(t, csv), "\n"))

		r.ok(append([]string{"digest"}, args...)...)
		assert.Contains(t, r.stdout, "\nNobody visited: 1 of the sitemap's 2 pages, such as /docs/never\n")

		for want, wrong := range map[string][]string{
			"moves in a circle":           {"-moved", "/a=/b", "-moved", "/b=/a"},
			"-moved is given and empty":   {"-moved", ""},
			"a sitemap of sitemaps":       {"-sitemap", index},
			"no such file":                {"-sitemap", filepath.Join(folder, "none.xml")},
			"-sitemap is given and empty": {"-sitemap", ""},
			"leave out -sitemap":          {"-page", "/docs/page-1", "-sitemap", sitemap},
		} {
			code := r.run(t.Context(), append([]string{"report", "-o", "-"}, wrong...)...)
			assert.Equal(t, exitUsage, code, want)
			assert.Contains(t, r.messages, want)
			assert.Empty(t, r.stdout)
		}
	})
}

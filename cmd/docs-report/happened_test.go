package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// eventful is a site of eight pages of 50 humans a day. From a day on, each page has another name.
func eventful(moved mintlify.Date, name func(int) string) visitors {
	return func(_ string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		old, now := 0, 0
		for _, day := range store.Windows("docs", store.Day, p.DateFrom, p.DateTo) {
			if day.From.Time().Before(moved.Time()) {
				old++
			} else {
				now++
			}
		}

		var rows []mintlify.Visitor
		for i := range 8 {
			for path, days := range map[string]int{fmt.Sprintf("/docs/page-%d", i): old, name(i): now} {
				if days > 0 {
					human := int64(50 * days)
					rows = append(rows, mintlify.Visitor{Path: path, Human: human, AI: human / 5, Total: human})
				}
			}
		}
		human := int64(400 * (old + now))
		return rows, mintlify.VisitorTotals{Human: human, AI: human / 5, Total: human}
	}
}

// A folder that moved in mid-week is told on Monday, its pages count under their new names, and sync keeps it for
// the report of one page. A page of which one says that it has not moved keeps its name.
func TestAFolderThatMovedIsFound(t *testing.T) {
	moved := day(time.March, 8) // a Wednesday
	site := eventful(moved, func(i int) string { return fmt.Sprintf("/learn/page-%d/", i) })
	onDay(t, time.March, 14, 12, site, func(t *testing.T, r *rig) {
		r.synced()
		page := r.page()
		assert.Contains(t, page, "What happened 8 pages moved from /docs/ to /learn/ on Wed 8 March. They count under their new names.")
		assert.Contains(t, page, "Gains and losses: No page gained or lost more than chance.")
		assert.Contains(t, page, "/learn 8 100.0% 16.7% /learn/page-0 1,400 280 16.7% about the same")
		assert.Contains(t, page, "8 moved /docs/page-0 → /learn/page-0,")
		assert.NotContains(t, page, "/learn/page-0/")

		r.ok("digest")
		assert.Contains(t, r.stdout, "\nWhat happened: 8 pages moved from /docs/ to /learn/ on Wed 8 March.")
		assert.NotContains(t, r.stdout, "new)")

		one := r.page("-page", "/docs/page-3", "-since", "2000-02-21")
		assert.Contains(t, one, "one page /learn/page-3 17 January")
		assert.Contains(t, one, "Humans a week Before: 350 After: 350 (3 of 4 weeks) ±0%")
		var kept string
		const statement = `SELECT path_to || moved_on FROM docs_moved WHERE path_from = '/docs/page-3'`
		require.NoError(t, rawDatabase(t, r.db).QueryRowContext(t.Context(), statement).Scan(&kept))
		assert.Equal(t, "/learn/page-32000-03-08", kept)

		page = r.page("-moved", "/docs/page-3=/docs/page-3")
		assert.Contains(t, page, "7 pages moved from /docs/ to /learn/")
		assert.Contains(t, page, "/docs/page-3 −250, now 1,150, nobody since 8 Mar −18%")
	})
}

// A slash at the end of all paths makes no other page.
func TestAFinalSlashMakesNoOtherPage(t *testing.T) {
	site := eventful(day(time.March, 8), func(i int) string { return fmt.Sprintf("/docs/page-%d/", i) })
	onDay(t, time.March, 14, 12, site, func(t *testing.T, r *rig) {
		r.synced()
		page := r.page()
		assert.Contains(t, page, "What happened Nothing that stands out")
		assert.Contains(t, page, "Gains and losses: No page gained or lost more than chance.")
		assert.NotContains(t, page, "page-1/ ")
		assert.Contains(t, r.page("-page", "docs/page-1/"), "6 Mar to 12 Mar 350 70 ")
	})
}

// Days without a human are told, and are in no change; while they last, there is something to do.
func TestDaysWithoutHumans(t *testing.T) {
	silent := store.Window{From: day(time.March, 8), To: day(time.March, 13)}
	flat := eventful(day(time.December, 31), func(int) string { return "/never" })
	site := func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		rows, totals := flat(project, p)
		for day := p.DateFrom; day != p.DateTo; day = day.AddDays(1) {
			if !silent.Has(day.Time()) {
				continue
			}
			for i := range rows {
				rows[i].Human -= 50
			}
			totals.Human -= 400
		}
		return rows, totals
	}

	onDay(t, time.March, 14, 12, site, func(t *testing.T, r *rig) {
		r.synced()
		page := r.page()
		assert.Contains(t, page, "What happened No humans from Wed 8 March to Sun 12 March. About 400 a day are usual. Changes allow for it.")
		assert.Contains(t, page, "; AIs are 20% of the visitors. ", "the share before is not compared")
		assert.Contains(t, page, "Humans 9,200 no humans from Wed 8 March to Sun 12 March ±0% from 11,200")
		assert.NotContains(t, page, "Does the site still load")

		one := r.page("-page", "/docs/page-1", "-since", "2000-02-14")
		assert.Contains(t, one, "No humans from Wed 8 March to Sun 12 March: humans are not compared.")
		assert.Contains(t, one, "Humans a week Before: 350 After: 287 – Humans a week")
		assert.Contains(t, one, "AIs a week Before: 70 After: 70 ±0%", "they came")
		assert.NotContains(t, one, "nobody")

		onlySilent := strings.Contains(r.stdout, `class="todo"`)
		assert.False(t, onlySilent, "it is over")
		r.ok("digest")
		assert.NotContains(t, r.stdout, "−")
	})
}

// A wave of bad votes on a page is told, and the page is the first to fix.
func TestAWaveOfBadVotes(t *testing.T) {
	site := eventful(day(time.December, 31), func(int) string { return "/never" })
	onDay(t, time.March, 14, 12, site, func(t *testing.T, r *rig) {
		no := false
		var rows []mintlify.Feedback
		add := func(path string, d mintlify.Date, n int) {
			for i := range n {
				rows = append(rows, mintlify.Feedback{
					ID: fmt.Sprint(path, d, i), Path: path, CreatedAt: d.Time().Add(time.Hour), Helpful: &no,
				})
			}
		}
		for week := range 8 {
			add("/docs/page-1", day(time.January, 17+7*week), 8)
			add("/docs/page-2", day(time.January, 17+7*week), 1)
		}
		add("/docs/page-2", day(time.March, 7), 30)
		r.service.SetFeedback(rows)
		r.synced()

		page := r.page()
		assert.Contains(t, page, "What happened A wave of bad votes on /docs/page-2. 31 in the week of 6 March, against 7 in the 7 weeks before."+
			" It is the page to fix first.")
		_, fixes, _ := strings.Cut(page, "Bad votes ")
		assert.True(t, strings.HasPrefix(fixes, "/docs/page-2 "), fixes[:100])
		r.ok("digest")
		assert.Contains(t, r.stdout, "\nFix first: /docs/page-2 (")
	})
}

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// files returns all that SQLite keeps of the rig's database.
func (r *rig) files() string {
	r.t.Helper()
	var all string
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(strings.TrimPrefix(r.db, "sqlite:") + suffix)
		if err == nil {
			all += string(data)
		}
	}
	return all
}

// assertTexts asserts that the database's files have what readers wrote, or nothing of it.
func (r *rig) assertTexts(kept bool) {
	r.t.Helper()
	for _, text := range []string{"Is there a Terraform", "I do not know", "jo@example", "Out of date"} {
		assert.Equal(r.t, kept, strings.Contains(r.files(), text), text)
	}
}

// What readers wrote is personal: it is kept only if it is asked for, and forgotten for good.
func TestTexts(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		withLists(r)
		r.synced()
		r.assertTexts(false)

		r.synced("-texts")
		r.assertTexts(true)
		asked := len(r.asked())
		r.synced("-texts")
		assert.NotContains(t, r.messages, "forget")
		assert.Len(t, r.asked(), asked, "nothing is loaded anew")

		page := r.page()
		assert.Contains(t, page, "Is there a Terraform provider? 1 unanswered")
		assert.Contains(t, page, "Out of date. on /docs/page-1")
		assert.NotContains(t, page, "is not kept")

		r.synced()
		assert.Contains(t, r.messages,
			"still keeps what readers wrote, from runs with -texts. To delete it: docs-report forget -texts")

		r.ok("forget", "-texts")
		assert.Contains(t, r.messages, "run sync without -texts")
		r.assertTexts(false)

		r.synced()
		assert.NotContains(t, r.messages, "forget")
		assert.Len(t, r.asked(), asked, "nothing is loaded anew")

		page = r.page()
		assert.Contains(t, page, "Integrations 1 unanswered · of 1", "counts stay")
		assert.Contains(t, page, "What readers asked is not kept")

		assert.Contains(t, r.page("-page", "/docs/page-1"), "What readers wrote is not kept")
	})
}

// What is forgotten by its id is left out when a later sync brings it again.
func TestForgetByID(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		withLists(r)

		r.synced("-texts")

		r.ok("forget", "-conversation", "c1", "-project", "docs")
		assert.Regexp(t, `^Deleted [1-9]\d* rows of conversation "c1"`, r.messages)

		r.ok("forget", "-feedback", "f1")
		r.assertTexts(false)

		time.Sleep(7 * 24 * time.Hour) // another period, with the same conversation in it
		asked := len(r.asked())

		for _, args := range [][]string{{"-texts"}, {"-texts"}, {"-texts"}, nil, nil} {
			r.synced(args...)
		}

		assert.Contains(t, strings.Join(r.asked()[asked:], "\n"), "docs assistant 2000-02-21 2000-03-20")
		r.assertTexts(false)

		assert.NotContains(t, r.page(), "Integrations")

		r.ok("forget", "-feedback", "typo")
		assert.Contains(t, r.messages, `Deleted 0 rows of feedback "typo"`)
	})
}

// A search term is forgotten in all its spellings, and nothing in the files tells it.
func TestForgetSearch(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		withLists(r)
		r.service.SetSearches([]mintlify.SearchTerm{
			{Query: "Jo Miller", Hits: 3},
			{Query: "jo  miller?", Hits: 2},
			{Query: "jo", Hits: 9},
		})
		r.synced()
		assert.Contains(t, r.files(), "Jo Miller")

		r.ok("forget", "-search", "JO MILLER")
		assert.Regexp(t, `^Deleted [1-9]\d* rows of this search term`, r.messages)
		assert.NotContains(t, strings.ToLower(r.files()), "miller")
		assert.Contains(t, r.files(), "\"jo\"")

		time.Sleep(7 * 24 * time.Hour) // another period, with the same searches in it
		asked := len(r.asked())
		r.synced()
		assert.Contains(t, strings.Join(r.asked()[asked:], "\n"), "docs searches 2000-02-21 2000-03-20")
		assert.Contains(t, r.page(), "without terms that were forgotten")
		assert.NotContains(t, strings.ToLower(r.files()), "miller")
		assert.Contains(t, r.files(), "\"jo\"")

		r.ok("forget", "-search", "nothing", "-project", "docs")
		assert.Contains(t, r.messages, "Deleted 0 rows of this search term")
		assert.NotContains(t, r.messages, "nothing")
	})
}

// Rows of old lists are deleted, and no later run loads them again. Counts stay.
func TestKeep(t *testing.T) {
	onDay(t, time.April, 15, 12, site(3), func(t *testing.T, r *rig) {
		withLists(r)

		args := []string{"-texts", "-from", "2000-02-01"}
		r.synced(args...)

		rows := func(condition string) (n int) {
			query := `SELECT COUNT(*) FROM docs_lists WHERE ` + condition
			err := rawDatabase(t, r.db).QueryRowContext(t.Context(), query).Scan(&n)
			require.NoError(t, err)
			return n
		}

		assert.NotZero(t, rows("date_to <= '2000-03-15'"))
		asked := len(r.asked())
		kept := rows("date_to > '2000-03-15'")

		r.synced(append(args, "-keep", "1m")...)
		assert.Zero(t, rows("date_to <= '2000-03-15'"))
		assert.Equal(t, kept, rows("date_to > '2000-03-15'"))

		r.synced(args...)
		assert.Len(t, r.asked(), asked, "without -keep neither")
		assert.Contains(t, r.messages, "Up to date")

		r.ok("report", "-month", "2000-02", "-o", "-")
		assert.Contains(t, words(r.stdout), "sync -keep deleted the rows of this list because of their age.")
		assert.NotContains(t, words(r.stdout), "terraform")

		r.synced(append(args, "-keep", "1m", "-from", "2000-01-01")...)
		assert.NotContains(t, strings.Join(r.asked()[asked:], "\n"), "searches 2000-01-01",
			"what would be deleted is not loaded")
	})
}

// flatWithBots has 400 humans each day, and on 15 March 9,000 more on one page, of bots.
func flatWithBots(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
	var rows []mintlify.Visitor
	var totals mintlify.VisitorTotals
	for i := range 4 {
		row := mintlify.Visitor{Path: fmt.Sprintf("/%s/page-%d", project, i)}
		for d := p.DateFrom; d.Time().Before(p.DateTo.Time()); d = d.AddDays(1) {
			row.Human += 100
			if d == day(time.March, 15) && i == 1 {
				row.Human += 9000
			}
		}
		row.Total = row.Human
		totals.Human += row.Human
		rows = append(rows, row)
	}
	totals.Total = totals.Human
	return rows, totals
}

// The pages of old days are most of a database. Without them, a month with a day of bots reads the same, since
// that day and the one that it is compared with keep theirs.
func TestKeepDays(t *testing.T) {
	onDay(t, time.July, 15, 12, flatWithBots, func(t *testing.T, r *rig) {
		withLists(r)
		args := []string{"-from", "2000-01-01"}
		r.synced(args...)

		texts := func() []string {
			var all []string
			events := regexp.MustCompile(`(?s)id="happened-title".*?</section>|What happened: [^\n]*`) // are of pages by day, too
			for _, month := range []string{"2000-02", "2000-03", "2000-04"} {
				r.ok("report", "-month", month, "-o", "-")
				all = append(all, events.ReplaceAllString(r.stdout, ""))
				r.ok("digest", "-month", month)
				all = append(all, events.ReplaceAllString(r.stdout, ""))
			}
			r.ok("digest")
			return append(all, r.stdout)
		}
		days := func() string {
			text := ""
			const statement = `SELECT COALESCE(GROUP_CONCAT(DISTINCT date_from), '') FROM docs_pages
				WHERE span = 'day' AND date_to <= '2000-04-16'`
			require.NoError(t, rawDatabase(t, r.db).QueryRowContext(t.Context(), statement).Scan(&text))
			return text
		}

		before := texts()
		require.Contains(t, before[3], "9,000 more than usual on Wed 15 Mar")
		require.Greater(t, len(strings.Split(days(), ",")), 90)

		asked := len(r.asked())
		r.synced(append(args, "-keep-days", "90d")...)
		assert.Equal(t, "2000-03-08,2000-03-15", days())
		assert.Equal(t, before, texts())

		// What stands out on a page is known from its own days.
		r.ok("report", "-page", "/docs/page-1", "-since", "2000-03-13", "-o", "-")
		assert.Contains(t, words(r.stdout), "The database does not have this page's days from 14 February to 20 February 2000: "+
			"what stands out on them is not known, so there is no comparison.")
		assert.NotContains(t, words(r.stdout), "+321%")

		r.synced(args...)
		assert.Len(t, r.asked(), asked, "what is deleted is not loaded again")
		assert.Equal(t, "2000-03-08,2000-03-15", days())
	})
}

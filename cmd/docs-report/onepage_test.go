package main

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// The report of one page has all weeks of the database, and compares four before a day with
// four after it.
func TestOnePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.April, 5, 12)
		rewritten := day(time.March, 6) // a Monday
		r := newRig(t, func(_ string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			rows := []mintlify.Visitor{
				{Path: "/start", Human: 100, AI: 10, Total: 105},
				{Path: "/other", Human: 7, Total: 7},
			}
			if !p.DateFrom.Time().Before(rewritten.Time()) {
				rows[0] = mintlify.Visitor{Path: "/start", Human: 150, AI: 30, Total: 170}
			}
			return rows, mintlify.VisitorTotals{Human: 500, AI: 50, Total: 540}
		})

		no := false
		yes := true

		var feedback []mintlify.Feedback
		var turns []mintlify.Conversation
		for i := range 60 {
			at := day(time.February, 1).AddDays(i).Time()

			helpful := &yes
			if i%2 == 0 || at.Before(rewritten.Time()) {
				helpful = &no
			}

			feedback = append(feedback, mintlify.Feedback{
				ID:        at.String(),
				Path:      "https://docs.example.com/start/",
				Source:    mintlify.FeedbackContextual,
				CreatedAt: at,
				Helpful:   helpful,
				Comment:   "Day " + at.Format("2 Jan"),
			})
			turns = append(turns, mintlify.Conversation{
				ID:               at.String(),
				Timestamp:        at,
				Query:            "Where to?",
				ResolutionStatus: mintlify.ResolutionUnanswered,
				PageURL:          "https://docs.example.com/start?x=1",
			})
		}

		r.service.SetFeedback(feedback)
		r.service.SetConversations(turns)
		r.service.SetSearches([]mintlify.SearchTerm{
			{Query: "begin", Hits: 12, CTR: 50, TopClickedPage: "/start"},
			{Query: "elsewhere", Hits: 90, CTR: 50, TopClickedPage: "/other"},
		})

		output := filepath.Join(t.TempDir(), "one.html")
		r.synced("-texts", "-from", "2000-02-01")
		assert.Contains(t, r.messages, "Up to date")

		r.ok("report", "-page", "start", "-since", "2000-03-06", "-o", output)
		page := words(read(t, output))
		assert.Contains(t, page, "one page /start 7 February to 2 April 2000")
		assert.Contains(t, page, "Before and after 6 March 2000"+
			" Measure Before: 7 February to 5 March 2000 After: 6 March to 2 April 2000 Change"+
			" Humans a week Before: 100 After: 150 +50% Humans a week, all pages of the site Before: 500 After: 500 ±0%"+
			" AIs a week Before: 10 After: 30 +200% AIs a week, all pages of the site Before: 50 After: 50 ±0%"+
			" Thumbs down Before: 28 of 28 After: 13 of 26 −50.0 points better"+
			" Unanswered questions Before: 28 After: 26 −2 about the same"+
			" Written complaints Before: 28 After: 13 −15 better Visitors by week")
		assert.Contains(t, page, "20 Mar to 26 Mar 150 30 4 of 7 27 Mar to 2 Apr 150 30 2 of 5 ")
		assert.Contains(t, page, "begin 12 searches · 50% with a click")
		assert.NotContains(t, page, "elsewhere")
		assert.Contains(t, page, "Where to? 54 questions · 54 unanswered")
		assert.Contains(t, page, "In their words Day 30 Mar 30 March 2000 Day 28 Mar")

		page = r.page("-page", "/start", "-since", "2000-03-22")
		assert.Contains(t, page, "Measure Before: 21 February to 19 March 2000 After: 27 March to 23 April 2000 Change"+
			" Humans a week Before: 125 After: 150 (1 of 4 weeks) +20%", "whole weeks only")
		assert.Contains(t, page, "The week from 20 March to 26 March 2000 is left out")
		assert.Contains(t, page, "Unanswered questions Before: 28 After: 5 (1 of 4 weeks) −2.0 a week about the same")

		page = r.page("-page", "/start", "-since", "2000-04-03")
		assert.Contains(t, page, "Humans a week Before: 150 After: its first week ends on 9 April – ", "what has not happened is not missing")
		assert.NotContains(t, page, "not in the database")

		page = r.page("-page", "/old", "-moved", "/old=/other", "-moved", "/other=/start")
		assert.Contains(t, page, "one page /start 7 February")
		assert.Contains(t, page, "With the numbers of /old, /other: a visitor who read both counts twice.")
		assert.Contains(t, page, "7 Feb to 13 Feb 107 10 7 of 7", "100 and 7 humans")

		assert.NotContains(t, r.page("-page", "/start"), "Before and after")

		for want, args := range map[string][]string{
			"no page \"/nope\"":     {"-page", "/nope", "-o", output},
			"-since wants -page":    {"-since", "2000-03-01", "-o", output},
			"leave out -csv":        {"-page", "/start", "-csv", "x.csv"},
			"give -o one-page.html": {"-page", "/start"},
			"in the future":         {"-page", "/start", "-since", "2000-05-01", "-o", output},
			"-page is given and":    {"-page", "", "-o", output},
			"names the database":    {"-page", "/start", "-o", r.db[len("sqlite:"):]},
		} {
			assert.Equal(t, exitUsage, r.run(t.Context(), append([]string{"report"}, args...)...), want)
			assert.Contains(t, r.messages, want)
		}
	})
}

// A page that loses as many readers as the whole site does not lose them because it was changed. What one day has more
// is in no mean, and named.
func TestOnePageBesideItsSite(t *testing.T) {
	falls := day(time.March, 6)
	site := func(_ string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		rows := []mintlify.Visitor{{Path: "/start"}, {Path: "/other"}}
		for day := p.DateFrom; day != p.DateTo; day = day.AddDays(1) {
			human := int64(200)
			if !day.Time().Before(falls.Time()) {
				human = 100
			}
			rows[0].Human += human
			rows[1].Human += 4 * human
			if day == falls.AddDays(15) {
				rows[1].Human += 3000
			}
		}
		return rows, mintlify.VisitorTotals{Human: rows[0].Human + rows[1].Human}
	}

	onDay(t, time.April, 5, 12, site, func(t *testing.T, r *rig) {
		r.synced("-from", "2000-01-03")
		page := r.page("-page", "/start", "-since", "2000-03-06")
		assert.Contains(t, page, "The means of all pages are without 3,000 more than usual on Tue 21 Mar.")
		assert.Contains(t, page, "Humans a week Before: 1,400 After: 700 −50% as all pages"+
			" Humans a week, all pages of the site Before: 7,000 After: 3,500 −50%")
		assert.NotContains(t, r.stdout, `class="change bad`)
	})
}

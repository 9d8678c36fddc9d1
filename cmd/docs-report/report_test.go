package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// withLists gives a fake some of everything: five requests more.
func withLists(r *rig) {
	no := false
	at := time.Now().Add(-20 * 24 * time.Hour)

	r.service.SetSearches([]mintlify.SearchTerm{
		{Query: "terraform", Hits: 40},
		{Query: "webhooks", Hits: 90, CTR: 50, TopClickedPage: "/webhooks"},
	})
	r.service.SetFeedback([]mintlify.Feedback{{
		ID:        "f1",
		Path:      "/docs/page-1",
		Comment:   "Out of date.",
		Contact:   "jo@example.com",
		CreatedAt: at,
		Source:    mintlify.FeedbackContextual,
		Helpful:   &no,
	}})
	r.service.SetConversations([]mintlify.Conversation{{
		ID:               "c1",
		Timestamp:        at,
		Query:            "Is there a Terraform provider?",
		Response:         "I do not know.",
		ResolutionStatus: mintlify.ResolutionUnanswered,
		QueryCategory:    "Integrations",
		PageURL:          "https://docs.example.com/docs/page-2?email=jo@example.com",
	}})
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestAFreshMachineWithoutAKey(t *testing.T) {
	r := newRig(t, nil)
	r.env = nil
	folder := t.TempDir()
	t.Chdir(folder)

	r.ok("report", "-demo", "-o", "page.html")

	page := words(read(t, "page.html"))
	for _, want := range []string{
		"These numbers are made up",
		"/quickstart",
		"By month.",
		"Humans: gained",
		"searches went to terms that nobody clicked",
		"unanswered",
		"thumbs down",
		"In their words",
		"Machine files",
	} {
		assert.Contains(t, page, want)
	}

	assert.NotContains(t, page, "not in the database")

	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, files, 1, "FILE alone")

	r.ok("report", "-demo", "-o", "-")
	assert.True(t, strings.HasPrefix(r.stdout, "<!DOCTYPE html>"))

	r.ok("digest", "-demo")
	assert.LessOrEqual(t, strings.Count(r.stdout, "\n"), 12)
}

// A report needs no key, sends nothing, and has a database that sync has filled.
func TestReportOfTheLastFourWholeWeeks(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) { // a Wednesday
		withLists(r)

		output := filepath.Join(t.TempDir(), "page.html")
		assert.Equal(t, exitUsage, r.run(t.Context(), "report", "-o", output))
		assert.NoFileExists(t, strings.TrimPrefix(r.db, "sqlite:"), "a report makes no database")

		require.Equal(t, exitQuota, r.sync(t.Context(), "-budget", "9"), r.messages)
		r.ok("report", "-o", output)
		page := words(read(t, output))
		assert.Contains(t, page, "are not in the database, so there is no comparison. To load them: docs-report sync -from 2000-01-17")
		assert.NotContains(t, page, "±0 Integrations")

		r.synced()
		asked := len(r.asked())
		r.env = map[string]string{}
		r.ok("report", "-o", output)
		assert.Len(t, r.asked(), asked)

		page = words(read(t, output))
		assert.Contains(t, page, "14 February to 12 March 2000")
		assert.Contains(t, page, "compared with 17 January to 13 February 2000")
		assert.NotContains(t, page, "made up")
		assert.NotContains(t, page, "Not final.")
		assert.NotContains(t, page, "not in the database")

		assert.Contains(t, page, "40 of 130 searches went to terms that nobody clicked.")
		assert.Contains(t, page, "terraform 40 searches")

		assert.Contains(t, page, "category: Integrations 1 unanswered · of 1")
		assert.Contains(t, page, "What readers asked is not kept")
		assert.NotContains(t, page, "Terraform provider")

		assert.NotContains(t, page, "Out of date.")
		assert.Regexp(t, `/docs/page-1 [\d,]+ 1 \S+ about the same 1 of 1`, page, "with its votes")

		r.ok("report", "-o", output, "-month", "1999-02")
		february := words(read(t, output))
		assert.Contains(t, february, "February 1999")
		assert.Contains(t, february, "59 days from 1 January to 28 February 1999 are not in the database")
		assert.Contains(t, february, "docs-report sync -from 1999-01-01")
		assert.NotContains(t, february, "gained")

		r.ok("report", "-o", output, "-weeks", "1")
		assert.Contains(t, words(read(t, output)), "6 March to 12 March 2000")

		assert.Equal(t, exitFailed, r.run(t.Context(), "report", "-o", output, "-weeks", "12"))
		assert.Contains(t, r.messages, "docs-report sync -weeks 12 loads it")

		assert.Equal(t, exitUsage, r.run(t.Context(), "report", "-o", output, "-projects", "docs,other"))
		assert.Contains(t, r.messages, `no project "other", only: docs`)
		assert.Equal(t, exitUsage, r.run(t.Context(), "report"))
	})
}

// A list that the service refuses is said to be, and asked for again; the rest is loaded.
func TestAListThatIsRefused(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		withLists(r)

		r.service.FailNext(mintlify.OpGetSearches, 1, mintlifytest.Fault{
			Status: 403,
			Body:   `{"error":"key lacks <scope>"}`,
		})

		r.synced()
		assert.Contains(t, r.messages, "Not loaded: docs 2000-02-14 to 2000-03-12, searches: ")

		r.ok("report", "-o", "-")
		assert.Contains(t, words(r.stdout), "The service refused this list: mintlify: ")
		assert.Contains(t, words(r.stdout), "key lacks &lt;scope&gt;")

		r.ok("digest")
		assert.Contains(t, r.stdout, "Searched without result: The service refused this list")

		r.synced()

		assert.Contains(t, r.page(), "terraform 40 searches")
	})
}

func TestAListStopsAtItsPages(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		var rows []mintlify.SearchTerm
		for i := range 1000 {
			rows = append(rows, mintlify.SearchTerm{Query: fmt.Sprint("term ", i), Hits: int64(2000 - i)})
		}

		r.service.SetSearches(rows)

		r.synced("-pages", "3")

		searches := 0
		for _, request := range r.asked() {
			searches += strings.Count(request, "searches 2000-02-14")
		}

		assert.Equal(t, 3, searches)

		page := r.page()
		assert.Contains(t, page, "more than these first 300 rows")
		assert.Contains(t, page, "The service has nothing in these dates.", "of conversations")
	})
}

func TestSeveralProjects(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		withLists(r)

		r.synced("-projects", "docs,handbook,index")

		folder := filepath.Join(t.TempDir(), "pages")

		assert.Equal(t, exitUsage, r.run(t.Context(), "report", "-o", folder+".html"))
		assert.Contains(t, r.messages, "3 projects")

		r.ok("digest")
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		assert.Len(t, lines, 3, "one for each")
		for _, line := range lines {
			assert.Regexp(t, `^(docs|handbook|index): 14 February to 12 March 2000 · Humans .* Fix first: /\S+ \(`, line)
		}

		r.ok("report", "-o", folder, "-csv", folder+".csv")

		index := read(t, filepath.Join(folder, "index.html"))
		for _, file := range []string{"docs.html", "handbook.html", "index-project.html"} {
			assert.Contains(t, index, `<a href="`+file+`">`)
			assert.Contains(t, read(t, filepath.Join(folder, file)), "By month.")
		}

		assert.Equal(t, 3, strings.Count(index, ">nothing<"), "got worse")
		assert.Equal(t, 1+9, strings.Count(read(t, folder+".csv"), "\n"))

		r.ok("report", "-o", "-", "-projects", "handbook")
		assert.Contains(t, words(r.stdout), "/handbook/page-1")
		assert.NotContains(t, r.stdout, "/docs/<wbr>page-<wbr>1</th>")
	})
}

func TestDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 15, 12)
		r := newRig(t, func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			rows, totals := site(9)(project, p)
			rows[2].Path = "/a<b>&\x1b[31m\nnext"
			rows[2].Human = int64(p.DateFrom.Time().YearDay()) * 100_000
			return rows, totals
		})

		withLists(r)
		r.synced()

		r.ok("digest")

		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		assert.LessOrEqual(t, len(lines), 12)
		assert.Equal(t, "docs: 14 February to 12 March 2000", lines[0])

		assert.Regexp(t, `^Humans \S+.*; AIs are \d+% of the visitors \(.*\)\.`, lines[1])
		assert.Contains(t, lines[2], "Humans ")
		assert.Contains(t, r.stdout, "/a<b>& [31m next (now ", "of one line, without control characters")

		assert.Contains(t, lines[3], "Searches for terms nobody clicked 30.8% (±0 points), 40 of 130 · ")
		assert.Contains(t, lines[4], "Fix first: /docs/page-", "")
		assert.Contains(t, r.stdout, "Searched without result: terraform (40 searches, about the same)\n")
		assert.Contains(t, r.stdout, "Most complaints: /docs/page-1 (1 thumb down, about the same)\n")

		text := strings.TrimSpace(r.stdout)

		r.ok("digest", "-slack")
		var message map[string]string
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &message))

		escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
		assert.Equal(t, escaped, message["text"])
	})
}

func TestMachineFilesAndLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 15, 12)
		paths := []string{
			"/llms.txt",
			"/guides/llms-full.txt",
			"/mcp",
			"/mcp/tools",
			"/guides/start.md",
			"/guides/start",
			"/ä b?#",
			"javascript:alert(1)",
			"//evil.example.com",
		}

		r := newRig(t, func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			rows, totals := site(len(paths))(project, p)
			for i := range rows {
				rows[i].Path = paths[i]
			}
			return rows, totals
		})

		r.synced()

		r.ok("report", "-o", "-", "-machine", "*.md", "-site", "https://docs.example.com/")

		page := r.stdout

		_, machine, _ := strings.Cut(words(page), "Machine files 4")

		for _, path := range []string{"/llms.txt", "/guides/llms-full.txt", "/mcp ", "/guides/start.md"} {
			assert.Contains(t, machine, path)
		}

		assert.NotContains(t, machine, "/mcp/tools")
		assert.NotContains(t, machine, "/guides/start ")

		_, gained, _ := strings.Cut(words(page), "Humans: gained")
		gained, _, _ = strings.Cut(gained, "AIs: gained")
		assert.NotContains(t, gained, "llms")

		assert.Contains(t, page, `href="https://docs.example.com/guides/start"`)
		assert.Contains(t, page, `href="https://docs.example.com/%C3%A4%20b%3F%23"`)
		assert.NotContains(t, page, `href="javascript`)
		assert.NotRegexp(t, `href="(//|https://evil)`, page)
	})
}

func TestCSVHasAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 15, 12)

		r := newRig(t, func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			rows, totals := site(1)(project, p)
			if p.DateTo.Time().Sub(p.DateFrom.Time()) == 28*24*time.Hour {
				rows, totals = site(5100)(project, p)
				rows[7].Path = "=cmd()"
			}
			return rows, totals
		})

		r.synced()

		folder := t.TempDir()
		pagePath := filepath.Join(folder, "page.html")
		csvPath := filepath.Join(folder, "pages.csv")
		r.ok("report", "-o", pagePath, "-csv", csvPath)

		csv := read(t, csvPath)
		assert.Equal(t, 1+5100, strings.Count(csv, "\n"))
		assert.True(t, strings.HasPrefix(csv,
			"project,date_from,date_to,path,human,ai,total,human_before,ai_before,total_before\n"+
				"docs,2000-02-14,2000-03-13,/docs/page-"))
		assert.Contains(t, csv, ",'=cmd(),")

		page := read(t, pagePath)
		assert.Contains(t, page, "These are the first 5000 of 5100 pages")
		_, table, _ := strings.Cut(page, `<table id="pages"`)
		assert.Equal(t, 5000, strings.Count(table, `<th scope="row">`))
	})
}

// After a sync of four weeks, a report of one has its questions and comments: they have times. It names the
// command that loads its searches.
func TestOneWeekAfterASyncOfFour(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		withLists(r)
		at := day(time.March, 7).Time()
		r.service.SetConversations([]mintlify.Conversation{
			{ID: "1", Timestamp: at, Query: "This week?", ResolutionStatus: mintlify.ResolutionUnanswered},
			{ID: "2", Timestamp: at.AddDate(0, 0, -14), Query: "Earlier?", ResolutionStatus: mintlify.ResolutionUnanswered},
		})
		r.service.SetFeedback([]mintlify.Feedback{
			{ID: "1", Path: "/docs/page-1", CreatedAt: at, Comment: "This week."},
			{ID: "2", Path: "/docs/page-1", CreatedAt: at.AddDate(0, 0, -14), Comment: "Earlier."},
		})
		r.synced("-texts")

		page := r.page("-weeks", "1")
		assert.Contains(t, page, "The assistant could not answer 1 of 1 question. Asked most This week? 1 unanswered")
		assert.Contains(t, page, "In their words This week. on /docs/page-1, 7 March 2000")
		assert.NotContains(t, page, "Earlier")
		assert.NotContains(t, page, "is not kept")
		assert.Contains(t, page, "This list is not in the database: docs-report sync -weeks 1 loads it.")
	})
}

// A folder that moved counts as its new one, and a name that no page has is warned of.
func TestAMovedFolder(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		r.synced()
		page := r.page("-moved", "/docs/=/learn/", "-moved", "/odl=/learn/page-1")
		assert.Contains(t, page, "/learn/page-1 ")
		assert.NotContains(t, page, " /docs/page-1 ")
		assert.Contains(t, r.messages, "-moved: no page of these weeks has the name /odl.")
		assert.NotContains(t, r.messages, "the name /docs/.")

		assert.Contains(t, r.page("-page", "/docs/page-1", "-moved", "/docs/=/learn/"), "one page /learn/page-1 ")
	})
}

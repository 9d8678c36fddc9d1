package report_test

import (
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// demoInput is four weeks of the demo.
func demoInput(pages int) report.Input {
	return inputOf(pages, mintlify.Day(2026, time.October, 19), mintlify.Day(2026, time.November, 16))
}

func inputOf(pages int, from, to mintlify.Date) report.Input {
	visitors := demo.Visitors(pages)
	period := func(w store.Window) report.Period {
		rows, totals := visitors("docs", mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To})
		return report.Period{Window: w, Known: true, Rows: rows, Totals: totals}
	}

	series := func(span store.Span, w store.Window) []store.Point {
		var all []store.Point
		for _, w := range store.Windows("docs", span, w.From, w.To) {
			all = append(all, store.Point{Window: w, Counts: period(w).Totals})
		}
		return all
	}

	w := store.Window{Project: "docs", From: from, To: to}
	before := w.Before()
	if w.Span() == store.Month {
		before = w.MonthBefore()
	}
	year := store.Window{Project: "docs", From: from.AddDays(-365), To: to}

	in := report.Input{
		Project:   "docs",
		Demo:      true,
		Final:     true,
		Generated: time.Date(2026, time.November, 17, 6, 0, 0, 0, time.UTC),
		Period:    period(w),
		Before:    period(before),
		Trend:     series(report.Unit(w), w),
		TrendFrom: series(report.Unit(w), before),
		Months:    series(store.Month, year),
		Days:      daysOfDemo(min(pages, 1), before.From.AddDays(-28), to),
		Machine:   []string{"llms.txt", "llms-full.txt", "/mcp"},
	}

	addLists(&in)
	return in
}

// daysOfDemo returns the demo's days.
func daysOfDemo(pages int, from, to mintlify.Date) []store.Point {
	visitors := demo.Visitors(pages)
	var all []store.Point
	for _, w := range store.Windows("docs", store.Day, from, to) {
		_, totals := visitors("docs", mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To})
		all = append(all, store.Point{Window: w, Counts: totals})
	}
	return all
}

// addLists adds some rows to every list.
func addLists(in *report.Input) {
	addListsBefore(in)

	loaded := store.Export{At: in.Generated, State: store.Loaded, Kept: 30, Texts: true}
	in.Period.Searches.Export = loaded
	in.Period.Conversations.Export = loaded
	in.Period.ByPage.Export = loaded
	in.Period.Comments.Export = loaded
	in.Period.Searches.Totals.Total = 1210

	words := strings.Fields("terraform graphql kubernetes okta billing quotas" +
		" sandbox saml rss invoices export localization")
	for i, word := range words {
		page := "/guides/" + word
		in.Period.Searches.Rows = append(in.Period.Searches.Rows, mintlify.SearchTerm{
			Query:          word,
			Hits:           int64(100 - 5*i),
			LastSearchedAt: in.Generated,
		})

		for range len(words) - i {
			in.Period.Conversations.Rows = append(in.Period.Conversations.Rows, mintlify.Conversation{
				Query:            "How do I use " + word + "?",
				QueryCategory:    words[i/3],
				ResolutionStatus: mintlify.ResolutionUnanswered,
			})
		}

		in.Period.ByPage.Rows = append(in.Period.ByPage.Rows, mintlify.FeedbackCount{
			Path:       page,
			ThumbsUp:   int64(i),
			ThumbsDown: int64(20 - i),
		})
		in.Period.Comments.Rows = append(in.Period.Comments.Rows, mintlify.Feedback{
			Path:      page,
			Comment:   "Nothing on " + word,
			CreatedAt: in.Generated,
		})
	}

	in.Period.Searches.Rows = append(in.Period.Searches.Rows, mintlify.SearchTerm{
		Query:          "webhooks",
		Hits:           340,
		CTR:            60,
		TopClickedPage: "/guides/webhooks",
	})
	in.Period.Conversations.Rows = append(in.Period.Conversations.Rows, mintlify.Conversation{
		Query:            "What is a key?",
		QueryCategory:    words[0],
		ResolutionStatus: mintlify.ResolutionAnswered,
	})
}

// addListsBefore adds fewer rows to the lists of the period before.
func addListsBefore(in *report.Input) {
	in.Before.Searches = report.List[mintlify.SearchTerm]{
		Export: store.Export{At: in.Generated, State: store.Loaded, Kept: 2},
		Rows: []mintlify.SearchTerm{
			{Query: "terraform", Hits: 88},
			{Query: "graphql", Hits: 195},
		},
	}
	in.Before.Searches.Totals.Total = 1000

	in.Before.Conversations = report.List[mintlify.Conversation]{
		Export: store.Export{At: in.Generated, State: store.Loaded, Kept: 2, Texts: true},
		Rows: []mintlify.Conversation{
			{
				Query:            "How do I use terraform?",
				QueryCategory:    "terraform",
				ResolutionStatus: mintlify.ResolutionUnanswered,
			},
			{
				Query:            "What is a key?",
				ResolutionStatus: mintlify.ResolutionAnswered,
			},
		},
	}

	in.Before.ByPage = report.List[mintlify.FeedbackCount]{
		Export: store.Export{At: in.Generated, State: store.Loaded, Kept: 1},
		Rows:   []mintlify.FeedbackCount{{Path: "/guides/terraform", ThumbsUp: 3, ThumbsDown: 22}},
	}
}

// hostileInput is a report of names that somebody can give a site by requesting its pages.
func hostileInput() report.Input {
	in := demoInput(8)
	in.Project = `"><img src=x onerror=alert(1)></title><script>alert(1)</script>`
	in.Site = "https://docs.example.com"

	for i, path := range []string{
		`/<script>alert(1)</script>`,
		`/"onmouseover="alert(1)`,
		`/<img src=https://example.com/x.png onerror=alert(1)>`,
		"/\u202etxt.exe\u0000\u0007",
		"/</table></section></style><style>*{display:none}",
		"",
		"/" + strings.Repeat("long", 100),
		"/ä/日本語/🙂",
	} {
		in.Period.Rows[i].Path = path
		in.Before.Rows[i].Path = path
		in.Period.Searches.Rows[i].Query = path
		in.Period.Conversations.Rows[i].Query = path
		in.Period.Conversations.Rows[i].QueryCategory = path
		in.Period.ByPage.Rows[i].Path = path
		in.Period.Comments.Rows[i].Comment = path
	}
	return in
}

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
	series := func(span store.Span, w store.Window) (all []store.Export) {
		for _, w := range store.Windows("docs", span, w.From, w.To) {
			all = append(all, store.Export{Window: w, Totals: period(w).Totals})
		}
		return all
	}
	w := store.Window{Project: "docs", From: from, To: to}
	year := store.Window{Project: "docs", From: from.AddDays(-365), To: to}
	in := report.Input{Project: "docs", Demo: true, Final: true, Generated: time.Date(2026, time.November, 17, 6, 0, 0, 0, time.UTC),
		Period: period(w), Before: period(w.Before()), Trend: series(report.Unit(w), w), TrendFrom: series(report.Unit(w), w.Before()),
		Months: series(store.Month, year), Machine: []string{"llms.txt", "llms-full.txt", "/mcp"}}
	addLists(&in)
	return in
}

// addLists adds some rows to every list.
func addLists(in *report.Input) {
	loaded := store.Export{At: in.Generated, Kept: 30, Texts: true}
	in.Searches.Export, in.Conversations.Export, in.ByPage.Export, in.Comments.Export, in.Views.Export = loaded, loaded, loaded, loaded, loaded
	in.Searches.Totals.Total = 1000
	words := strings.Fields("terraform graphql kubernetes okta billing quotas sandbox saml rss invoices export localization")
	for i, word := range words {
		hits := int64(100 - 5*i)
		in.Searches.Rows = append(in.Searches.Rows, mintlify.SearchTerm{Query: word, Hits: hits, LastSearchedAt: in.Generated})
		for range len(words) - i {
			in.Conversations.Rows = append(in.Conversations.Rows, mintlify.Conversation{Query: "How do I use " + word + "?", QueryCategory: words[i/3], ResolutionStatus: mintlify.ResolutionUnanswered})
		}
		in.ByPage.Rows = append(in.ByPage.Rows, mintlify.PageFeedback{Path: "/guides/" + word, ThumbsUp: int64(i), ThumbsDown: int64(20 - i)})
		in.Comments.Rows = append(in.Comments.Rows, mintlify.Feedback{Path: "/guides/" + word, Comment: "Nothing on " + word, CreatedAt: in.Generated})
	}
	in.Searches.Rows = append(in.Searches.Rows, mintlify.SearchTerm{Query: "webhooks", Hits: 340, CTR: 60, TopClickedPage: "/guides/webhooks"})
	in.Conversations.Rows = append(in.Conversations.Rows, mintlify.Conversation{Query: "What is a key?", QueryCategory: words[0], ResolutionStatus: mintlify.ResolutionAnswered})
	for _, row := range in.Period.Rows {
		in.Views.Rows = append(in.Views.Rows, mintlify.View{Path: row.Path, Total: 3 * row.Total})
	}
}

// hostileInput is what a site could be told of by whoever requests its pages.
func hostileInput() report.Input {
	in := demoInput(8)
	in.Project = `"><img src=x onerror=alert(1)></title><script>alert(1)</script>`
	in.Site = "https://docs.example.com"
	for i, path := range []string{
		`/<script>alert(1)</script>`, `/"onmouseover="alert(1)`, `/<img src=https://example.com/x.png onerror=alert(1)>`,
		"/\u202etxt.exe\u0000\u0007", "/</table></section></style><style>*{display:none}", "", "/" + strings.Repeat("long", 100), "/ä/日本語/🙂",
	} {
		in.Period.Rows[i].Path, in.Before.Rows[i].Path = path, path
		in.Searches.Rows[i].Query, in.Conversations.Rows[i].Query, in.Conversations.Rows[i].QueryCategory = path, path, path
		in.ByPage.Rows[i].Path, in.Comments.Rows[i].Comment = path, path
	}
	return in
}

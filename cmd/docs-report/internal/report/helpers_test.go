package report_test

import (
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

// demoInput is four weeks of the demo.
func demoInput(pages int) report.Input {
	return inputOf(pages, mintlify.Day(2026, time.October, 19), mintlify.Day(2026, time.November, 16), load.ByDay)
}

func inputOf(pages int, from, to mintlify.Date, unit load.Span) report.Input {
	visitors := demo.Visitors(pages)
	period := func(from, to mintlify.Date) report.Period {
		rows, totals := visitors("docs", mintlify.VisitorsParams{DateFrom: from, DateTo: to})
		return report.Period{From: from, To: to, Rows: rows, Totals: totals}
	}
	days := int(to.Time().Sub(from.Time()).Hours() / 24)
	in := report.Input{Title: "Who reads the docs", Project: "docs", Demo: true, Final: true, Unit: string(unit),
		Period: period(from, to), Before: period(from.AddDays(-days), from), Generated: time.Date(2026, time.November, 17, 6, 0, 0, 0, time.UTC)}
	for _, w := range load.Windows("docs", unit, from, to) {
		in.Trend = append(in.Trend, report.Bucket{From: w.From, To: w.To, Totals: period(w.From, w.To).Totals})
	}
	return in
}

// hostileInput is what a site could be told of by whoever requests its pages.
func hostileInput() report.Input {
	in := demoInput(8)
	in.Title, in.Project = `</title><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`
	for i, path := range []string{
		`/<script>alert(1)</script>`, `/"onmouseover="alert(1)`, `/<img src=https://example.com/x.png onerror=alert(1)>`,
		"/\u202etxt.exe\u0000\u0007", "/</table></section></style><style>*{display:none}", "", "/" + strings.Repeat("long", 100), "/ä/日本語/🙂",
	} {
		in.Period.Rows[i].Path, in.Before.Rows[i].Path = path, path
	}
	return in
}

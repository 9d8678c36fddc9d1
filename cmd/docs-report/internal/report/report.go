// Package report writes visitors of a period as one HTML page that works offline, on
// paper and without scripts, and loads nothing.
package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"html/template"
	"io"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Input is what a report is about.
type Input struct {
	Title     string
	Project   string
	Demo      bool   // the visitors are made up
	Period    Period // what the page shows
	Before    Period // what it compares with: as many days, right before
	Trend     []Bucket
	Unit      string // of the trend: day or week
	Final     bool   // the counts of the period will not change any more
	Generated time.Time
}

// Period is the visitors of the days from From to before To.
type Period struct {
	From, To mintlify.Date
	Totals   mintlify.VisitorTotals
	Rows     []mintlify.Visitor
}

// Bucket is the totals of one day or week.
type Bucket struct {
	From, To mintlify.Date
	Totals   mintlify.VisitorTotals
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	style string
	//go:embed script.js
	script string
)

// Write writes the page.
func Write(w io.Writer, in Input) error {
	page, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return err
	}
	var out bytes.Buffer // so that an error leaves nothing half written
	if err := page.Execute(&out, newView(in)); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// view is what the page's template shows: all numbers are text by now.
type view struct {
	Title, Project, Dates, BeforeDates, Generated string
	Demo, Final, Empty                            bool
	CSP                                           string
	Style                                         template.CSS
	Script                                        template.JS

	Headlines []headline
	Sentences []string
	Trend     trend
	MostRead  []pageBar
	ForAIs    []pageBar
	Gainers   []mover
	Losers    []mover
	Pages     []pageRow
	Breaks    []string // dates within the page's at which the service changed what it counts
}

func newView(in Input) view {
	pages := compare(in.Period.Rows, in.Before.Rows)
	gainers, losers := movers(pages)
	return view{
		Title: printable(in.Title), Project: printable(in.Project), Demo: in.Demo, Final: in.Final,
		Dates: span(in.Period.From, in.Period.To), BeforeDates: span(in.Before.From, in.Before.To),
		Generated: in.Generated.Format("2 January 2006, 15:04 MST"),
		Empty:     len(pages) == 0 && in.Period.Totals == mintlify.VisitorTotals{},
		CSP: "default-src 'none'; base-uri 'none'; form-action 'none'; style-src '" + hash(style) +
			"'; script-src '" + hash(script) + "'",
		Style: template.CSS(style), Script: template.JS(script),
		Headlines: headlines(in), Sentences: sentences(in, gainers, losers), Trend: newTrend(in),
		MostRead: mostRead(pages), ForAIs: forAIs(pages), Gainers: texts(gainers), Losers: texts(losers),
		Pages: pageRows(pages), Breaks: breaks(in.Before.From, in.Period.To),
	}
}

// hash is how a Content-Security-Policy names the only text that it allows.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// breaks returns the dates on which the service changed what counts as human and as
// AI, as far as they lie within the page's.
func breaks(from, to mintlify.Date) []string {
	var within []string
	for _, day := range []mintlify.Date{mintlify.Day(2026, time.June, 12), mintlify.Day(2026, time.July, 31)} {
		if day.Time().After(from.Time()) && day.Time().Before(to.Time()) {
			within = append(within, day.Time().Format(longDay))
		}
	}
	return within
}

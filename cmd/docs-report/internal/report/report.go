// Package report answers the questions of a docs lead on one HTML page. The page works offline,
// on paper and without scripts, and loads nothing.
package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Input has everything that a report shows.
type Input struct {
	Project   string
	Demo      bool           // the numbers are made up
	Period    Period         // is what the page shows
	Before    Period         // is what the page compares with
	Trend     []store.Export // are the period's days or weeks
	TrendFrom []store.Export // are the days or weeks before
	Months    []store.Export // go back as far as the database does
	Stale     bool           // there should be newer numbers
	Final     bool           // the counts of the period will not change any more
	Generated time.Time

	Site    string   // is what paths link to; "" for none
	Machine []string // are patterns of files that machines read
}

// Period has the visitors and the lists of a window. The page does not show the comments and views
// of the period before.
type Period struct {
	store.Window
	Known  bool // the database has the visitors
	Totals mintlify.VisitorTotals
	Rows   []mintlify.Visitor

	Searches      List[mintlify.SearchTerm]
	Conversations List[mintlify.Conversation]
	ByPage        List[mintlify.PageFeedback]
	Comments      List[mintlify.Feedback]
	Views         List[mintlify.View]
}

// List is a list of a period.
type List[T any] struct {
	store.Export
	Rows []T
}

func (l List[T]) isKnown() bool { return isKnown(l.Export) }

// isKnown reports whether the database has the rows of a list.
func isKnown(list store.Export) bool { return !list.At.IsZero() && list.Problem == "" && !list.Expired }

var (
	//go:embed page.html onepage.html parts.html index.html
	files embed.FS
	//go:embed style.css
	style string
	//go:embed script.js
	script string

	templates = template.Must(template.New("").Funcs(template.FuncMap{
		"number":  number,
		"share":   shareText,
		"signed":  signedCount,
		"days":    bucketDays,
		"weekend": isWeekend,
	}).ParseFS(files, "*.html"))
)

// Page returns the page.
func Page(in Input) ([]byte, error) { return render("page.html", newView(in)) }

// Index returns a page with a row for each project. files are their pages.
func Index(inputs []Input, files []string) ([]byte, error) {
	index := newView(inputs[0])
	for i, in := range inputs {
		row := newView(in)
		row.File = files[i]
		index.Rows = append(index.Rows, row)
	}
	return render("index.html", index)
}

func render(name string, v view) ([]byte, error) {
	var out bytes.Buffer
	err := templates.ExecuteTemplate(&out, name, v)
	return out.Bytes(), err
}

// view is what a template shows.
type view struct {
	Input
	head
	Name, Dates, BeforeDates string

	Headlines  headlines
	Fixes      fixes
	HumansRead findings
	AIsRead    findings
	Chart      trend
	Growth     section
	Movers     movers
	Searches   section
	Questions  section
	Complaints section

	Groups []group
	Pages  int    // counts all pages
	Shown  int    // counts those in the table
	Break  string // is what was redefined within the comparison

	Command string // reports one of these pages
	Missing string // is what is not compared, and why

	File string // is this page's file, in an index
	Rows []view // are an index's projects
}

const mostPages = 5000 // in the table: browsers are slow with more

func newView(in Input) view {
	pages := in.compare()

	shown := min(len(pages), mostPages)

	command := ""
	if len(pages) > 0 {
		command = PageCommand(in.Project, pages[0].raw, in.Period.From)
	}

	return view{
		Input:       in,
		head:        newHead(),
		Name:        textOf(in.Project),
		Dates:       span(in.Period.Window),
		BeforeDates: span(in.Before.Window),

		Headlines:  newHeadlines(in),
		Fixes:      in.fixFirst(pages),
		HumansRead: in.mostRead(humans, pages),
		AIsRead:    in.mostRead(ais, pages),
		Chart:      newTrend(in),
		Growth:     growth(in),
		Movers:     in.newMovers(pages),
		Searches:   in.searches(),
		Questions:  in.questions(),
		Complaints: in.complaints(),

		Groups: groups(pages[:shown]),
		Pages:  len(pages),
		Shown:  shown,
		Break:  breakWithin(in.Before.From, in.Period.To),

		Command: command,
		Missing: in.missing(),
	}
}

// head has the data of the beginning of every page.
type head struct {
	Title  string
	CSP    string
	Style  template.CSS
	Script template.JS
}

func newHead() head {
	return head{
		Title: "Who reads the docs",
		CSP: "default-src 'none'; base-uri 'none'; form-action 'none'; " +
			"style-src '" + hash(style) + "'; script-src '" + hash(script) + "'",
		Style:  template.CSS(style),
		Script: template.JS(script),
	}
}

// hash is how a Content-Security-Policy names the only text that it allows.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

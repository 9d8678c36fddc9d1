// Package report answers the questions of a docs lead on one HTML page. The page works offline,
// on paper and without scripts, and loads nothing.
package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Input has everything that a report shows.
type Input struct {
	Project   string
	Demo      bool          // the numbers are made up
	Period    Period        // is what the page shows
	Before    Period        // is what the page compares with
	Trend     []store.Point // are the period's days or weeks
	TrendFrom []store.Point // are the days or weeks before
	Days      []store.Point // are all days that are known
	ByDay     *events.Site  // has the pages of the last days; nil: they are not known
	Months    []store.Point // are the last months, and those of the year before
	Generated time.Time

	Final     bool         // the counts of the period will not change any more
	NotLoaded store.Window // are the weeks that have ended and are not loaded yet
	Old       bool         // the week should have been loaded long ago
	LastSync  time.Time    // is when the last sync ended
	Failing   []store.FailingList

	Site    string   // is what paths link to; "" for none
	Machine []string // are patterns of files that machines read
	Moved   Moved
	Sitemap []string // are the paths of all pages; nil: they are not known

	HasForgotten bool // search terms were taken out

	history
	compared windows
	spikes   *events.Spikes
	happened happened
}

// Period has the visitors and the lists of a window.
type Period struct {
	store.Window
	Known  bool // the database has the visitors
	Totals mintlify.VisitorTotals
	Rows   []mintlify.Visitor

	Searches      List[mintlify.SearchTerm]
	Conversations List[mintlify.Conversation]
	ByPage        List[mintlify.FeedbackCount]
	Comments      List[mintlify.Feedback]

	Weeks []List[mintlify.FeedbackCount] // are the thumbs of each of the window's weeks

	pages    map[string]counted     // by name
	usual    mintlify.VisitorTotals // are the totals without what stands out
	searched searched
}

// List is a list of a period.
type List[T any] struct {
	store.Export
	Rows []T

	Covered store.Window // are the days that are known, if the list is not cut, and lacks the others
}

// whole are the days of which a list has all rows. The service gives the newest first: a list that is cut has all
// rows of the days after its oldest row.
func (l List[T]) whole(at func(T) time.Time) store.Window {
	switch {
	case !isKnown(l.Export):
		return store.Window{}
	case !l.Truncated || l.Covered != (store.Window{}):
		return cmp.Or(l.Covered, l.Window)
	}

	whole := store.Window{From: l.To, To: l.To}
	for _, row := range l.Rows {
		if after := mintlify.DayOf(at(row).UTC()).AddDays(1); after.Time().Before(whole.From.Time()) {
			whole.From = after
		}
	}
	return whole
}

// partly says that a list lacks days, or that the service has more rows, or returns "".
func (l List[T]) partly() string {
	const day = "2 January"
	switch known := l.Covered; {
	case !isKnown(l.Export) || !l.Truncated:
		return ""
	case known == (store.Window{}):
		return fmt.Sprintf("The service has more than these first %s rows.", number(int64(l.Kept)))
	case known.To == l.To:
		return "Known since " + known.From.Time().Format(day) + "."
	default:
		return "Nothing is loaded from " + known.To.Time().Format(day) + " on."
	}
}

// isKnown reports whether the database has the rows of a list.
func isKnown(list store.Export) bool { return list.State == store.Loaded }

var (
	//go:embed page.html onepage.html parts.html index.html
	files embed.FS
	//go:embed style.css
	style string
	//go:embed script.js
	script string

	templates = template.Must(template.New("").Funcs(template.FuncMap{
		"style":   func() template.CSS { return template.CSS(style) },
		"script":  func() template.JS { return template.JS(script) },
		"csp":     csp,
		"number":  number,
		"signed":  signedCount,
		"days":    bucketDays,
		"weekend": isWeekend,
		"breaks":  breaks,
	}).ParseFS(files, "*.html"))
)

// Page returns the page.
func Page(in Input) ([]byte, error) { return render("page.html", newView(in)) }

// Index returns a page with a row for each project, the worst first. files are their pages, by project.
func Index(inputs []Input, files map[string]string) ([]byte, error) {
	index := newView(inputs[0])
	index.Rows = worstFirst(inputs)
	for i, row := range index.Rows {
		index.Rows[i].File = files[row.Project]
	}
	return render("index.html", index)
}

func render(name string, v any) ([]byte, error) {
	var out bytes.Buffer
	err := templates.ExecuteTemplate(&out, name, v)
	return out.Bytes(), err
}

// view is what a template shows.
type view struct {
	Input
	Name, Dates, BeforeDates string

	Sentence   string // is what a docs lead can tell the boss; it names no page
	Happened   happened
	Fixes      fixes
	Headlines  headlines
	AIsRead    []finding
	Chart      chart
	Growth     growth
	Movers     movers
	Unread     section
	Searches   section
	Questions  section
	Complaints section

	Groups []*group
	Pages  int // counts all pages
	Shown  int // counts those in the table

	HasVotes bool // readers say something about a page
	HasTexts bool // the page holds what readers typed

	LateWeeks string // names the weeks that are not loaded yet
	MovedFrom []string

	File string // is this page's file, in an index
	Rows []view // are an index's projects
}

const mostPages = 5000 // in the table: browsers are slow with more

func newView(in Input) view {
	in = in.prepared()
	pages, elsewhere := in.pages()

	v := view{
		Input:       in,
		Name:        textOf(in.Project),
		Dates:       span(in.Period.Window),
		BeforeDates: span(in.Before.Window),

		Fixes:      in.fixFirst(pages, elsewhere),
		Happened:   in.happened,
		Headlines:  newHeadlines(in),
		AIsRead:    aisRead(pages),
		Chart:      newChart(in),
		Growth:     newGrowth(in),
		Movers:     newMovers(pages),
		Unread:     in.unread(),
		Searches:   in.searches(),
		Questions:  in.questions(),
		Complaints: in.complaints(),

		Pages: len(pages),
		Shown: min(len(pages), mostPages),

		MovedFrom: in.Moved.words(),
		LateWeeks: in.lateWeeks(),
	}

	v.Groups = groups(pages[:v.Shown], elsewhere)
	v.HasVotes = slices.ContainsFunc(v.Groups, func(g *group) bool { return g.votes().all > 0 })
	v.HasTexts = len(in.Period.Searches.Rows) > 0 || len(in.Period.Comments.Rows) > 0 ||
		in.Period.Conversations.Texts && len(in.Period.Conversations.Rows) > 0

	v.Sentence = sentences(v.whoCame(), v.whatChanged())
	return v
}

// Missing is why there is no comparison, or "".
func (in Input) Missing() string { return in.compared.missing }

// Sections are those with lists.
func (v view) Sections() []section { return []section{v.Searches, v.Questions, v.Complaints} }

// csp is a Content-Security-Policy that allows nothing but this style and this script.
func csp() string {
	return "default-src 'none'; base-uri 'none'; form-action 'none'; " +
		"style-src '" + hash(style) + "'; script-src '" + hash(script) + "'"
}

// hash is how a Content-Security-Policy names the only text that it allows.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

package report_test

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the JavaScript of the tests
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

//go:embed testdata/looks.js
var looks string

var axe = flag.String("axe", "", "the file axe.min.js of npm's axe-core, which looks for barriers")

// look asks a page one of the questions of looks.js.
func look[T any](p *tab, question string, arguments ...any) T {
	p.t.Helper()
	var texts []string
	for _, argument := range arguments {
		text, err := json.Marshal(argument)
		require.NoError(p.t, err)
		texts = append(texts, string(text))
	}
	return eval[T](p, "(() => {"+looks+"; return look."+question+"("+strings.Join(texts, ", ")+"); })()")
}

// One browser for all that needs one.
func TestInABrowser(t *testing.T) {
	chrome := browser(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"quiet, legible, and no wider than the screen": everyScreen,
		"a phone's first screen":                       firstScreen,
		"targets":                                      targets,
		"sorting":                                      sorting,
		"sorting of a site":                            sortingOfALargeSite,
		"the day under the pointer":                    underThePointer,
		"nothing is drawn where nothing is known":      holes,
		"an outlier":                                   outlier,
		"keyboard":                                     keyboard,
		"folding":                                      folding,
		"order":                                        order,
		"one page":                                     onePage,
		"screen reader":                                screenReader,
		"barriers":                                     barriers,
		"without script":                               withoutScript,
		"on paper":                                     onPaper,
		"policy":                                       policy,
		"a page without data":                          withoutData,
	} {
		t.Run(name, func(t *testing.T) { test(t, chrome) })
	}
}

func everyScreen(t *testing.T, chrome context.Context) {
	for name, in := range map[string]report.Input{
		"demo":      demoInput(60),
		"hostile":   withFiller(hostileInput()),
		"weeks":     inputOf(60, mintlify.Day(2026, 8, 24), mintlify.Day(2026, 11, 16)),
		"redefined": inputOf(60, mintlify.Day(2026, 7, 20), mintlify.Day(2026, 8, 17)),
		"holes":     withHoles(demoInput(60)),
		"bots":      withBots(demoInput(60)),
	} {
		in = withEvents(in) // more to read
		for _, s := range []screen{desktop, dark, phone, nightly} {
			p := open(t, chrome, in, s)
			p.assertReadable(name, s)
			assert.Equal(t, s.dark, look[bool](p, "isDark"), "%s, %s: the scheme", name, s.name)
		}
	}
}

// assertReadable asserts that a page is legible with all of it unfolded, no wider than its screen, and
// quiet.
func (p *tab) assertReadable(name string, s screen) {
	p.t.Helper()
	look[chromedp.Void](p, "openAll")
	assert.Empty(p.t, look[[]string](p, "illegible"), "%s, %s: contrast", name, s.name)
	assert.Empty(p.t, look[[]string](p, "tooWide", s.width), "%s, %s: overflow", name, s.name)
	assert.LessOrEqual(p.t, look[int64](p, "width"), s.width, "%s, %s", name, s.name)
	p.assertQuiet(name, s)
}

// assertQuiet asserts that the browser had nothing to say and loaded only the page.
func (p *tab) assertQuiet(name string, s screen) {
	p.t.Helper()
	console, requests := p.heard()
	assert.Empty(p.t, console, "%s, %s", name, s.name)
	assert.Equal(p.t, []string{p.url}, requests, "%s, %s", name, s.name)
}

// withFiller adds pages, so that there is text enough to judge.
func withFiller(in report.Input) report.Input {
	in.Period.Rows = append(in.Period.Rows, demoInput(40).Period.Rows[8:]...)
	return in
}

// withEvents lacks a week, has a list that fails and pages that moved.
func withEvents(in report.Input) report.Input {
	in.Old = true
	in.Final = false
	in.NotLoaded = store.Window{From: in.Period.To, To: in.Period.To.AddDays(7)}
	in.LastSync = in.Period.To.Time()
	in.Failing = []store.FailingList{{Kind: store.Searches, Times: 3, Problem: "500 Internal Server Error"}}
	in.Moved = in.Moved.With([]store.Move{{From: "/docs/a-long-name-of-a-page-that-was-here", To: "/quickstart", Day: in.Period.From}})
	return in
}

// withHoles removes days, as a first night with a small budget leaves them.
func withHoles(in report.Input) report.Input {
	in.Trend = slices.Concat(in.Trend[3:9], in.Trend[10:11], in.Trend[14:])
	in.TrendFrom = in.TrendFrom[20:]
	return in
}

// withBots makes a day of many AIs.
func withBots(in report.Input) report.Input {
	return withDay(in, 10, mintlify.VisitorTotals{AI: 41_250})
}

// withDay sets the counts of a day that are not 0, and what it has more in the totals.
func withDay(in report.Input, i int, counts mintlify.VisitorTotals) report.Input {
	in.Trend = slices.Clone(in.Trend)
	in.Days = slices.Clone(in.Days)
	at := slices.IndexFunc(in.Days, func(p store.Point) bool { return p.From == in.Trend[i].From })
	was := in.Days[at].Counts
	now := mintlify.VisitorTotals{Human: cmp.Or(counts.Human, was.Human), AI: cmp.Or(counts.AI, was.AI)}
	now.Total = now.Human + now.AI

	in.Trend[i].Counts = now
	in.Days[at].Counts = now
	in.Period.Totals.Human += now.Human - was.Human
	in.Period.Totals.AI += now.AI - was.AI
	in.Period.Totals.Total += now.Human + now.AI - was.Human - was.AI
	return in
}

// Somebody who sees one screen knows what to do first.
func firstScreen(t *testing.T, chrome context.Context) {
	for _, s := range []screen{{name: "phone", width: 390, height: 844}, phone, {name: "laptop", width: 1440, height: 900}} {
		in := pictured(t)
		in.Final = false
		p := open(t, chrome, in, s)
		const first = "#fixes tbody tr:nth-child(2)"
		assert.Less(t, look[float64](p, "bottomOf", first), float64(s.height), "two of the fixes, %s", s.name)
		size := "20px"
		if s.width < 720 {
			size = "17px"
		}
		assert.Equal(t, size, look[string](p, "style", ".sentence", "fontSize"))
	}
}

// Fingers want 44 pixels.
func targets(t *testing.T, chrome context.Context) {
	in := demoInput(60)
	in.Site = "https://docs.example.com"
	in.Sitemap = []string{"/never", "/quickstart"}
	for _, page := range []string{write(t, in), pageOfOnePage(t)} {
		p := openPage(t, chrome, page, screen{name: "phone", width: 390, height: 844})
		look[chromedp.Void](p, "openAll")
		assert.Empty(t, look[[]string](p, "smallTargets"))
	}
}

func (p *tab) click(selector string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS(selector))))
}

func (p *tab) write(selector, text string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS(selector), text)))
}

func (p *tab) focus(selector string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS(selector))))
}

func (p *tab) filter(text string) {
	p.t.Helper()
	eval[chromedp.Void](p, "(() => { const f = document.getElementById('filter'); f.value = "+quote(text)+
		"; f.dispatchEvent(new Event('input')); })()")
}

func sorting(t *testing.T, chrome context.Context) {
	in := demoInput(0)
	in.Period.Rows = nil
	in.Before.Rows = nil
	before := []int64{0, 20, 100, 150, 10, 50}
	for i, total := range []int64{9, 10, 1000, 200, 1_000_000, 5} {
		path := "/page-" + strconv.Itoa(i*7+2)
		in.Period.Rows = append(in.Period.Rows, mintlify.Visitor{Path: path, Human: total, AI: total / 3, Total: total})
		if i > 0 {
			in.Before.Rows = append(in.Before.Rows, mintlify.Visitor{Path: path, Human: before[i], Total: before[i]})
		}
	}

	p := open(t, chrome, in, desktop)
	column := func(n int) []string {
		return p.text("#pages tbody tr:not(.group) > :nth-child(" + strconv.Itoa(n) + ")")
	}
	click := func(n int) { p.click("#pages thead th:nth-child(" + strconv.Itoa(n) + ") button") }

	assert.Equal(t, []string{"1,000,000", "1,000", "200", "10", "9", "5"}, column(2), "at first, by humans")
	click(2)
	assert.Equal(t, []string{"5", "9", "10", "200", "1,000", "1,000,000"}, column(2), "numbers, not text")
	click(3)
	assert.Equal(t, []string{"333,333", "333", "66", "3", "3", "1"}, column(3))

	click(1)
	paths := []string{"/page-2", "/page-9", "/page-16", "/page-23", "/page-30", "/page-37"}
	assert.Equal(t, paths, column(1), "as people count")

	click(5)
	assert.Equal(t, []string{"new", "×100,000", "×10", "+33%", "about the same", "−90%"}, column(5))
	click(5)
	assert.Equal(t, []string{"−90%", "about the same", "+33%", "×10", "×100,000", "new"}, column(5))

	sorted := eval[[]string](p, "[...document.querySelectorAll('th[aria-sort]')].map((e) => e.ariaSort)")
	assert.Equal(t, []string{"ascending"}, sorted, "one column says that it is sorted")
}

// Sorting and filtering are over all pages, not within folded sections, and keep each other.
func sortingOfALargeSite(t *testing.T, chrome context.Context) {
	in := demoInput(120)
	p := open(t, chrome, in, desktop)
	shown := func() []string { return p.text("#pages tbody th[scope=row]") }
	p.click("#pages thead th:nth-child(3) button")
	paths := shown()
	require.Len(t, paths, 120, "none is folded away")
	assert.Empty(t, p.text("#pages tr.group"))
	assert.Equal(t, []string{"120 of 120 pages"}, p.text("#shown"))

	rows := slices.Clone(in.Period.Rows)
	slices.SortStableFunc(rows, func(a, b mintlify.Visitor) int { return cmp.Compare(b.AI, a.AI) })
	for i, row := range rows[:20] {
		assert.Equal(t, row.Path, paths[i])
	}

	p.write("#filter", "GUIDES/")
	guides := slices.DeleteFunc(paths, func(path string) bool { return !strings.Contains(path, "guides/") })
	assert.Equal(t, guides, shown())
	assert.Equal(t, []string{strconv.Itoa(len(guides)) + " of 120 pages"}, p.text("#shown"))
	p.click("#pages thead th:first-child button")
	assert.Equal(t, slices.Sorted(slices.Values(guides)), shown())

	p.write("#filter", "nowhere")
	assert.Empty(t, shown())
	p.filter("")
	p.click("#grouped")
	assert.Greater(t, len(p.text("#pages tr.group")), 5, "by section again")
	assert.Less(t, len(shown()), 25)
}

// Pointing reads the day under the pointer, wherever in the day's place, also beside days that are missing.
func underThePointer(t *testing.T, chrome context.Context) {
	for name, in := range map[string]report.Input{
		"all days": demoInput(20),
		"holes":    withHoles(demoInput(20)),
		"weeks":    inputOf(20, mintlify.Day(2026, 8, 24), mintlify.Day(2026, 11, 16)),
	} {
		for _, s := range []screen{desktop, phone} {
			p := open(t, chrome, in, s)
			assert.Equal(t, look[[]string](p, "numbersOfTable"), look[[]string](p, "pointed"), "%s, %s", name, s.name)
		}
	}
}

// Lines and areas are split at days that are missing.
func holes(t *testing.T, chrome context.Context) {
	full := demoInput(20)
	in := withHoles(demoInput(20))
	for _, s := range []screen{desktop, phone} {
		p := open(t, chrome, in, s)
		for _, kind := range []string{"human", "ai"} {
			lines := look[[][][2]float64](p, "shapes", "polyline.line."+kind+":not(.before)")
			require.Len(t, lines, 2, kind)
			assert.Len(t, lines[0], 6)
			assert.Len(t, lines[1], 14)
			assert.Len(t, look[[][][2]float64](p, "shapes", "polygon.area."+kind), 2)
			assert.Equal(t, 1, look[int](p, "count", "#chart .dot."+kind), "a day between two holes")
		}

		for i, point := range full.Trend {
			isKnown := slices.Contains(in.Trend, point)
			drawn := slices.DeleteFunc(look[[]string](p, "drawnAt", point.From.String()),
				func(class string) bool { return strings.Contains(class, "before") })
			assert.Equal(t, isKnown, len(drawn) > 0, "%s: day %d has %v", s.name, i, drawn)
		}
		for _, class := range look[[]string](p, "drawnAt", full.Trend[5].From.String()) {
			assert.NotContains(t, class, "before", "the period before is known only from its 21st day on")
		}
	}

	text := words(write(t, in))
	assert.Contains(t, text, "Not in the database: Mon 19 Oct, Tue 20 Oct, Wed 21 Oct and 4 more. Nothing is drawn there.")
	assert.Contains(t, text, "Wed 28 Oct – –")
}

// A day of bots does not flatten all other days.
func outlier(t *testing.T, chrome context.Context) {
	p := open(t, chrome, withBots(demoInput(20)), desktop)
	line := look[[][][2]float64](p, "shapes", "polyline.line.ai:not(.before)")[0]
	usual := look[[][][2]float64](open(t, chrome, demoInput(20), desktop), "shapes", "polyline.line.ai:not(.before)")[0]
	for i := range line {
		if i != 10 {
			assert.Equal(t, usual[i], line[i], "day %d", i)
		}
	}
	top := look[float64](p, "topOfPanel", "AIs")
	assert.InDelta(t, top, line[10][1], 0.1, "the bots' day ends at the top")

	assert.Equal(t, []string{"▲ 41,250"}, p.text("#chart .flag"))
	assert.Contains(t, words(write(t, withBots(demoInput(20)))), "40,489 more AIs than usual on Thu 29 October.")
}

// The keyboard reaches everything that does something, in the order of the page.
func keyboard(t *testing.T, chrome context.Context) {
	in := demoInput(20)
	in.Site = "https://docs.example.com"
	in.Period.Rows = in.Period.Rows[:2]
	in.Before.Rows = in.Before.Rows[:2]
	in.Period.ByPage.Rows = in.Period.ByPage.Rows[:1]
	in.Period.Comments.Rows = nil

	p := open(t, chrome, in, desktop)
	var reached []string
	for len(reached) < 40 && (len(reached) == 0 || reached[len(reached)-1] != "BODY") {
		p.press(kb.Tab)
		at := look[string](p, "focused")
		reached = append(reached, at)
		if at != "BODY" {
			assert.NotEqual(t, "none", look[string](p, "outlineOfFocused"), "%s shows that it has the focus", at)
		}
	}

	pages := []string{"/introduction", "/quickstart"}
	want := slices.Concat([]string{"/guides/terraform", "The numbers as a table",
		"/introduction", "/quickstart", "/introduction"}, pages, []string{"2 more", "2 more", "filter", "grouped",
		"Page", "Humans", "AIs", "AI share", "Change", "pages without a section 2"}, pages)
	require.Equal(t, want, reached[:min(len(want), len(reached))])

	p.focus("#pages thead th:nth-child(3) button")
	p.press(kb.Enter)
	order := eval[string](p, "document.querySelector('#pages thead th:nth-child(3)').ariaSort")
	assert.Equal(t, "descending", order)

	p.focus("summary")
	p.press(kb.Enter)
	assert.Len(t, p.text("#numbers tbody tr"), 28)

	p.focus("#grouped")
	p.press(" ")
	p.focus("#pages tr.group button")
	p.press(kb.Enter)
	assert.Empty(t, p.text("#pages tbody th[scope=row]"), "folded")
	assert.Equal(t, "false", eval[string](p, "document.activeElement.ariaExpanded"))
	p.press(" ")
	assert.Len(t, p.text("#pages tbody th[scope=row]"), 2)
}

// The sections of a large site are folded, and what is filtered for is not.
func folding(t *testing.T, chrome context.Context) {
	in := demoInput(120)
	for _, s := range []screen{desktop, phone} {
		p := open(t, chrome, in, s)
		groups := p.text("#pages tr.group")
		assert.Greater(t, len(groups), 5)
		assert.Regexp(t, "^Machine files 2", groups[len(groups)-1])

		shown := p.text("#pages tbody th[scope=row]")
		assert.Less(t, len(shown), 25)
		p.click("#pages tbody:nth-last-child(2) button")
		assert.Equal(t, append(shown, "/llms.txt", "/llms-full.txt"), p.text("#pages tbody th[scope=row]"))

		p.write("#filter", "webhooks")
		assert.Len(t, p.text("#pages tbody th[scope=row]"), 6, "of folded sections too")
		assert.Len(t, p.text("#pages tr.group"), 2, "and no other section is named")
	}
}

// The sections answer in the order in which they are asked.
func order(t *testing.T, chrome context.Context) {
	in := demoInput(60)
	in.Sitemap = []string{"/never", "/quickstart"}
	p := open(t, chrome, in, desktop)
	assert.Equal(t, []string{"What happened", "What to fix first", "Humans", "AIs", "What readers did not find",
		"Visitors by day", "Gains and losses", "What AIs read most",
		"What readers search for and do not find", "What readers ask the assistant and get no answer to",
		"What readers complain about", "Pages that no human visited", "All pages", "How to read this"}, p.text("h2"))
	assert.Empty(t, look[[]string](p, "tallSections"), "a screen each")
	assert.Equal(t, 1, eval[int](p, "document.querySelectorAll('header .sentence').length"), "before the first h2")
}

func pageOfOnePage(t *testing.T) string {
	t.Helper()
	in := inputOf(8, mintlify.Day(2026, 1, 5), mintlify.Day(2026, 11, 16))
	page, err := report.OnePage(report.PageInput{
		Input: report.Input{
			Project:   in.Project,
			Demo:      true,
			Site:      "https://docs.example.com",
			Generated: in.Generated,
		},
		Path:          hostileInput().Period.Rows[6].Path,
		Since:         mintlify.Day(2026, 7, 20),
		Weeks:         in.Trend,
		Searches:      []report.List[mintlify.SearchTerm]{in.Period.Searches},
		ByPage:        []report.List[mintlify.FeedbackCount]{in.Period.ByPage},
		Conversations: []report.List[mintlify.Conversation]{in.Period.Conversations},
		Comments:      []report.List[mintlify.Feedback]{in.Period.Comments},
	})
	require.NoError(t, err)
	return string(page)
}

// The report of one page is as quiet, legible and narrow as the report of all pages.
func onePage(t *testing.T, chrome context.Context) {
	page := pageOfOnePage(t)
	assert.Contains(t, words(page), "There is no comparison: human and AI redefined on 31 July 2026.")
	for _, s := range []screen{desktop, dark, phone, nightly} {
		p := openPage(t, chrome, page, s)
		p.assertReadable("one page", s)
	}
}

func screenReader(t *testing.T, chrome context.Context) {
	p := open(t, chrome, demoInput(20), phone)
	assert.Empty(t, look[[]string](p, "unnamedDrawings"), "every drawing has a text, or stands beside one")
	summary := eval[string](p, "document.getElementById('summary').textContent")
	assert.Contains(t, summary, "Line chart of visitors by day, humans above and AIs below. Humans: ")

	for _, table := range []string{"#pages", "#fixes"} {
		for selector, role := range map[string]string{
			"":          "table",
			" thead th": "columnheader",
			" tbody th": "rowheader",
			" tbody td": "cell",
		} {
			found := eval[string](p, "document.querySelector('"+table+selector+"').role")
			assert.Equal(t, role, found, "%s%s: lines on the screen, a table to the ear", table, selector)
		}
	}

	assert.Equal(t, 1, look[int](p, "count", "h1"))
	assert.Empty(t, look[[]string](p, "unlabeledInputs"))
	assert.Empty(t, look[[]string](p, "doubleIds"))
	assert.Equal(t, "en", eval[string](p, "document.documentElement.lang"))
}

// barriers are what axe-core finds. It is not part of the project: give its file by -axe.
func barriers(t *testing.T, chrome context.Context) {
	if *axe == "" {
		t.Skip("-axe is not given")
	}
	library, err := os.ReadFile(*axe)
	require.NoError(t, err)

	in := withBots(withHoles(pictured(t)))
	in.Site = "https://docs.example.com"
	in.Sitemap = []string{"/never", "/quickstart"}
	in = withEvents(in)
	index, err := report.Index([]report.Input{in, demoInput(5)}, map[string]string{"docs": "a.html"})
	require.NoError(t, err)

	for name, page := range map[string]string{"page": write(t, in), "one page": pageOfOnePage(t), "index": string(index)} {
		for _, s := range []screen{
			desktop, dark, phone, nightly,
			{name: "laptop", width: 1440, height: 900}, {name: "laptop-dark", width: 1440, height: 900, dark: true},
			{name: "large phone", width: 390, height: 844}, {name: "large phone-dark", width: 390, height: 844, dark: true},
		} {
			p := openPage(t, chrome, page, s)
			assert.LessOrEqual(t, look[int64](p, "width"), s.width, "%s, %s", name, s.name)
			look[chromedp.Void](p, "openAll")
			eval[bool](p, string(library)+"; true")
			const run = `axe.run().then((found) => found.violations.map((v) =>
				v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(' | ')))`
			found, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](run, chromedp.EvalAwaitPromise))
			require.NoError(t, err)
			assert.Empty(t, found, "%s, %s", name, s.name)
		}
	}
}

func withoutScript(t *testing.T, chrome context.Context) {
	in := demoInput(60)
	s := desktop
	s.noScript = true
	p := open(t, chrome, in, s)
	// To look; the page's own script has not run.
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	require.NoError(t, err)

	assert.Len(t, p.text(".cards .value, .cards .small"), 2+1+3)
	assert.Len(t, p.text("#fixes tbody tr"), 10)
	assert.Len(t, p.text("#pages tbody th[scope=row]"), 60)
	assert.Len(t, p.text("#chart .chart"), 1)
	assert.Empty(t, p.text("input, button, #tools"), "nothing is offered that would not work")
	assert.Empty(t, look[[]string](p, "illegible"))
	p.assertQuiet("without script", s)
}

func onPaper(t *testing.T, chrome context.Context) {
	p := open(t, chrome, demoInput(400), dark)
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media:    "print",
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	require.NoError(t, err)

	white := look[string](p, "style", "body", "backgroundColor")
	assert.Equal(t, "rgb(255, 255, 255)", white, "light, whatever the screen's scheme")
	assert.Empty(t, look[[]string](p, "illegible"))
	assert.Empty(t, p.text("input, #tools"))
	assert.Len(t, p.text("#pages tbody th[scope=row]"), 100, "paper ends after 100 pages")
	assert.Len(t, p.text(".paper"), 1, "and says so")

	printed, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize()))
	require.NoError(t, err)
	pdf := string(printed)
	assert.True(t, strings.HasPrefix(pdf, "%PDF-"))
	sheets := strings.Count(pdf, "/Type /Page\n")
	assert.True(t, sheets >= 3 && sheets <= 9, "%d sheets", sheets)
	filled := filledSheets(t, pdf)
	for i, part := range filled {
		if i < len(filled)-1 { // the last sheet has what is left
			assert.Greater(t, part, 1.0/3, "sheet %d of %d", i+1, sheets)
		}
	}

	p.filter("article")
	assert.Len(t, p.text("#pages tbody th[scope=row]"), 400-96, "what was filtered is printed, all of it")
	assert.Empty(t, p.text(".paper"))
}

// filledSheets returns how far down each sheet of a PDF is printed on, from 0 to 1.
func filledSheets(t *testing.T, pdf string) []float64 {
	if _, err := exec.LookPath("pdftoppm"); err != nil && os.Getenv("CI") == "" {
		t.Log("without pdftoppm of poppler-utils, nobody looks at the sheets")
		return nil
	}

	folder := t.TempDir()
	file := filepath.Join(folder, "page.pdf")
	require.NoError(t, os.WriteFile(file, []byte(pdf), 0o600))
	output, err := exec.Command("pdftoppm", "-r", "20", "-png", file, filepath.Join(folder, "sheet")).CombinedOutput()
	require.NoError(t, err, "%s", output)
	sheets, err := fs.Glob(os.DirFS(folder), "sheet*.png") // in order
	require.NoError(t, err)

	var all []float64
	for _, sheet := range sheets {
		data, err := os.ReadFile(filepath.Join(folder, sheet))
		require.NoError(t, err)
		picture, err := png.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		all = append(all, lastInk(picture))
	}
	return all
}

func lastInk(picture image.Image) float64 {
	const white = 0xf000
	bounds := picture.Bounds()
	for y := bounds.Max.Y - 1; y >= bounds.Min.Y; y-- {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			if r, g, b, _ := picture.At(x, y).RGBA(); min(r, g, b) < white {
				return float64(y) / float64(bounds.Dy())
			}
		}
	}
	return 0
}

// What is not of this page is not loaded and does not run.
func policy(t *testing.T, chrome context.Context) {
	loaded := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { loaded = true }))
	t.Cleanup(elsewhere.Close)

	page := write(t, demoInput(20))
	for name, foreign := range map[string]string{
		"image":  `<img src="` + elsewhere.URL + `/x.png">`,
		"script": `<script>document.title = "foreign"</script>`,
		"style":  `<style>body { display: none }</style>`,
		"frame":  `<iframe src="data:text/html,x"></iframe>`,
	} {
		p := openPage(t, chrome, strings.Replace(page, "<main>", "<main>"+foreign, 1), desktop)
		console, _ := p.heard()
		assert.Len(t, console, 1, name)
		assert.Contains(t, strings.Join(console, " "), "Content Security Policy", name)
		assert.False(t, loaded, name)
		assert.NotEqual(t, "foreign", eval[string](p, "document.title"))
		assert.Equal(t, "block", look[string](p, "style", "body", "display"))
	}
}

func withoutData(t *testing.T, chrome context.Context) {
	withoutDays := demoInput(0)
	withoutDays.Trend = nil
	for name, in := range map[string]report.Input{"no days": withoutDays, "no visitors": demoInput(0)} {
		for _, s := range []screen{desktop, phone} {
			p := open(t, chrome, in, s)
			p.assertQuiet(name, s)
			assert.Contains(t, p.text(".sentence")[0], "The service counts no visitors", fmt.Sprint(name, " ", s.name))
			assert.Equal(t, []string{"No page was visited."}, p.text(".pages .quiet"))
			assert.Empty(t, look[[]string](p, "tooWide", s.width))
		}
	}
}

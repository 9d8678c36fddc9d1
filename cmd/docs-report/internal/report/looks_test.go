package report_test

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

// One browser for all that needs one.
func TestInABrowser(t *testing.T) {
	chrome := browser(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"quiet, legible, and no wider than the screen": everyScreen,
		"sorting":             sorting,
		"sorting of a site":   sortingOfALargeSite,
		"filtering":           filtering,
		"the chart's cursor":  cursor,
		"keyboard":            keyboard,
		"folding":             folding,
		"order":               order,
		"one page":            onePage,
		"screen reader":       screenReader,
		"without script":      withoutScript,
		"on paper":            onPaper,
		"policy":              policy,
		"a page without data": withoutData,
	} {
		t.Run(name, func(t *testing.T) { test(t, chrome) })
	}
}

// illegible lists texts whose contrast to their background is below 4.5.
const illegible = `(() => {
	const parse = (color) => (color.match(/[\d.]+/g) || []).map(Number);
	const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length && c[3] !== 0) return c; } return [255, 255, 255]; };
	const bad = [];
	let seen = 0;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; (node = walk.nextNode());) {
		const e = node.parentElement;
		if (!node.textContent.trim() || e.closest('script, .unseen') || !e.checkVisibility()) continue;
		seen++;
		const style = getComputedStyle(e);
		const a = light(parse(e instanceof SVGElement ? style.fill : style.color)), b = light(behind(e));
		const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (contrast < 4.5) bad.push(node.textContent.trim() + ' ' + contrast.toFixed(2));
	}
	return seen < 100 ? ['only ' + seen + ' texts'] : bad;
})()`

// tooWide lists what reaches beyond the screen.
const tooWide = `[...document.querySelectorAll('body *:not(script, .unseen)')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML.slice(0, 80))`

func everyScreen(t *testing.T, chrome context.Context) {
	inputs := map[string]report.Input{"demo": demoInput(60), "hostile": withFiller(hostileInput()),
		"weeks":     inputOf(60, mintlify.Day(2026, time.August, 24), mintlify.Day(2026, time.November, 16)),
		"redefined": inputOf(60, mintlify.Day(2026, time.July, 20), mintlify.Day(2026, time.August, 17))}
	for name, in := range inputs {
		in.Final, in.Stale = false, true // more notices to read
		for _, s := range []screen{desktop, dark, phone, nightly} {
			p := open(t, chrome, in, s)
			eval[chromedp.Void](p, "document.querySelectorAll('details').forEach((d) => d.open = true)")
			assert.Empty(t, eval[[]string](p, illegible), "%s, %s: contrast", name, s.name)
			assert.Empty(t, eval[[]string](p, tooWide), "%s, %s: overflow", name, s.name)
			assert.LessOrEqual(t, eval[int64](p, "document.documentElement.scrollWidth"), s.width, "%s, %s", name, s.name)
			console, requests := p.heard()
			assert.Empty(t, console, "%s, %s", name, s.name)
			assert.Equal(t, []string{p.url}, requests, "%s, %s", name, s.name)
			assert.Equal(t, s.dark, eval[bool](p, "getComputedStyle(document.body).color.match(/\\d+/)[0] > 128"), "%s, %s: the scheme", name, s.name)
		}
	}
}

// withFiller adds pages, so that there is text enough to judge.
func withFiller(in report.Input) report.Input {
	in.Period.Rows = append(in.Period.Rows, demoInput(40).Period.Rows[8:]...)
	return in
}

func sorting(t *testing.T, chrome context.Context) {
	in := demoInput(0)
	in.Period.Rows, in.Before.Rows = nil, nil
	for i, total := range []int64{9, 10, 1000, 200, 1_000_000, 5} {
		path := "/page-" + strconv.Itoa(i*7+2)
		in.Period.Rows = append(in.Period.Rows, mintlify.Visitor{Path: path, Human: total, AI: total / 3, Total: total})
		if i > 0 {
			in.Before.Rows = append(in.Before.Rows, mintlify.Visitor{Path: path, Total: []int64{0, 20, 100, 150, 10, 50}[i]})
		}
	}
	p := open(t, chrome, in, desktop)
	column := func(n int) []string {
		return p.text("#pages tbody tr:not(.group) > :nth-child(" + strconv.Itoa(n) + ")")
	}
	click := func(n int) {
		require.NoError(t, chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS("#pages thead th:nth-child("+strconv.Itoa(n)+") button"))))
	}
	assert.Equal(t, []string{"1,000,000", "1,000", "200", "10", "9", "5"}, column(4), "at first, by all visitors")
	click(4)
	assert.Equal(t, []string{"5", "9", "10", "200", "1,000", "1,000,000"}, column(4), "numbers, not text")
	click(2)
	assert.Equal(t, []string{"1,000,000", "1,000", "200", "10", "9", "5"}, column(2))
	click(1)
	assert.Equal(t, []string{"/page-2", "/page-9", "/page-16", "/page-23", "/page-30", "/page-37"}, column(1), "as people count")
	click(6)
	assert.Equal(t, []string{"new", "×100,000", "×10", "+33%", "−50%", "−90%"}, column(6))
	click(6)
	assert.Equal(t, []string{"−90%", "−50%", "+33%", "×10", "×100,000", "new"}, column(6))
	assert.Equal(t, []string{"ascending"}, eval[[]string](p, "[...document.querySelectorAll('th[aria-sort]')].map((e) => e.ariaSort)"), "one column says that it is sorted")
}

// Sorting is over all pages, not within folded sections.
func sortingOfALargeSite(t *testing.T, chrome context.Context) {
	in := demoInput(120)
	p := open(t, chrome, in, desktop)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS("#pages thead th:nth-child(3) button"))))
	paths := p.text("#pages tbody th[scope=row]")
	require.Len(t, paths, 120, "none is folded away")
	assert.Empty(t, p.text("#pages tr.group"))
	rows := slices.Clone(in.Period.Rows)
	slices.SortStableFunc(rows, func(a, b mintlify.Visitor) int { return cmp.Compare(b.AI, a.AI) })
	for i, row := range rows[:20] {
		assert.Equal(t, row.Path, paths[i])
	}
	require.NoError(t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#filter"), "guides/")))
	assert.Equal(t, slices.DeleteFunc(paths, func(path string) bool { return !strings.Contains(path, "guides/") }), p.text("#pages tbody th[scope=row]"))

	eval[chromedp.Void](p, "(() => { const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input')); })()")
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS("#grouped"))))
	assert.Greater(t, len(p.text("#pages tr.group")), 5, "by section again")
	assert.Less(t, len(p.text("#pages tbody th[scope=row]")), 25)
}

func filtering(t *testing.T, chrome context.Context) {
	in := demoInput(120)
	p := open(t, chrome, in, desktop)
	assert.Equal(t, []string{"120 of 120 pages"}, p.text("#shown"))
	require.NoError(t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#filter"), "GUIDES/")))
	paths := p.text("#pages tbody th[scope=row]")
	want := 0
	for _, row := range in.Period.Rows {
		if strings.Contains(row.Path, "guides/") {
			want++
		}
	}
	assert.Len(t, paths, want)
	for _, path := range paths {
		assert.Contains(t, path, "guides/")
	}
	assert.Equal(t, []string{strconv.Itoa(want) + " of 120 pages"}, p.text("#shown"))
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS("#pages thead th:first-child button"))))
	assert.True(t, slices.IsSorted(p.text("#pages tbody th[scope=row]")), "sorting keeps the filter")
	assert.Len(t, p.text("#pages tbody th[scope=row]"), want)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#filter"), "nowhere")))
	assert.Empty(t, p.text("#pages tbody th[scope=row]"))
	assert.Equal(t, []string{"0 of 120 pages"}, p.text("#shown"))
}

func cursor(t *testing.T, chrome context.Context) {
	for _, s := range []screen{desktop, phone} {
		p := open(t, chrome, demoInput(20), s)
		rows := eval[[]string](p, "[...document.querySelectorAll('#numbers tbody tr')].map((r) => r.cells[0].textContent.trim() + ': ' + r.cells[1].textContent.trim() + ' humans, ' + r.cells[2].textContent.trim() + ' AIs')")
		require.Len(t, rows, 28)
		at := func() string { return p.text("#readout")[0] }
		assert.Equal(t, rows[27], at())
		require.NoError(t, chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS("#cursor"))))
		p.press(kb.ArrowLeft, kb.ArrowLeft)
		assert.Equal(t, rows[25], at())
		assert.Equal(t, rows[25], eval[string](p, "document.querySelector('#cursor').getAttribute('aria-valuetext')"), "for a screen reader too")
		p.press(kb.Home)
		assert.Equal(t, rows[0], at())
		assert.Equal(t, []int64{0}, eval[[]int64](p, "[...document.querySelectorAll('.chart')].filter((c) => c.checkVisibility()).flatMap((c) => [...c.querySelectorAll('.point')].flatMap((g, i) => getComputedStyle(g).display === 'none' ? [] : [i]))"), "the chart shows it")

		x := eval[float64](p, "(() => { const b = [...document.querySelectorAll('.chart')].find((c) => c.checkVisibility()).querySelectorAll('.point')[9]; b.style.display = 'inline'; const r = b.firstElementChild.getBoundingClientRect(); b.style.display = ''; return r.left + r.width / 2; })()")
		y := eval[float64](p, "(() => { scrollTo(0, 0); const c = [...document.querySelectorAll('.chart')].find((c) => c.checkVisibility()); c.scrollIntoView(); return c.getBoundingClientRect().top + 50; })()")
		require.NoError(t, chromedp.Do(p.ctx, chromedp.MouseEvent("mouseMoved", x, y)))
		assert.Equal(t, rows[9], at(), "by the pointer")
	}
}

// The keyboard reaches everything that does something, in the order of the page.
func keyboard(t *testing.T, chrome context.Context) {
	in := demoInput(20)
	in.Site = "https://docs.example.com"
	in.Period.Rows, in.Before.Rows = in.Period.Rows[:2], in.Before.Rows[:2]
	in.Period.ByPage.Rows = in.Period.ByPage.Rows[:1]
	p := open(t, chrome, in, desktop)
	var reached []string
	for len(reached) < 40 && (len(reached) == 0 || reached[len(reached)-1] != "BODY") {
		p.press(kb.Tab)
		reached = append(reached, eval[string](p, "document.activeElement.id || document.activeElement.tagName === 'BODY' && 'BODY' || document.activeElement.textContent.trim()"))
		if reached[len(reached)-1] != "BODY" {
			assert.NotEqual(t, "none", eval[string](p, "getComputedStyle(document.activeElement).outlineStyle"), "%s shows that it has the focus", reached[len(reached)-1])
		}
	}
	pages := []string{"/introduction", "/quickstart"}
	want := slices.Concat(pages, pages, []string{"cursor", "The numbers as a table"}, pages, pages,
		[]string{"2 more", "2 more", "/guides/terraform", "2 more", "filter", "grouped",
			"Page", "Humans", "AIs", "All", "AI share", "Change", "Views", "Top level 2"}, pages)
	assert.Equal(t, want, reached[:len(want)])
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS("#pages thead th:nth-child(3) button"))))
	p.press(kb.Enter)
	assert.Equal(t, "descending", eval[string](p, "document.querySelector('#pages thead th:nth-child(3)').ariaSort"))
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS("summary"))))
	p.press(kb.Enter)
	assert.Len(t, p.text("#numbers tbody tr"), 28)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS("#grouped"))))
	p.press(" ")
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS("#pages tr.group button"))))
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
		assert.Equal(t, "Machine files 2", groups[len(groups)-1])
		shown := p.text("#pages tbody th[scope=row]")
		assert.Less(t, len(shown), 25)
		require.NoError(t, chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS("#pages tbody:nth-last-child(2) button"))))
		assert.Equal(t, append(shown, "/llms.txt", "/llms-full.txt"), p.text("#pages tbody th[scope=row]"))
		require.NoError(t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#filter"), "webhooks")))
		assert.Len(t, p.text("#pages tbody th[scope=row]"), 6, "of folded sections too")
		assert.Len(t, p.text("#pages tr.group"), 2, "and no other section is named")
	}
}

// The sections answer in the order in which they are asked.
func order(t *testing.T, chrome context.Context) {
	p := open(t, chrome, demoInput(60), desktop)
	assert.Equal(t, []string{"All visitors", "Humans", "AIs", "Share of AI",
		"Searches without a click", "Questions without an answer", "Thumbs down", "What to fix first", "What humans read most", "What AIs read most",
		"Visitors by day", "Is AI traffic growing?", "Gains and losses, by humans and by AIs",
		"What readers search for and do not find", "What readers ask the assistant and get no answer to",
		"What readers complain about", "All pages", "How to read this"}, p.text("h2"))
	tall := eval[[]string](p, "[...document.querySelectorAll('main > section, main > .pair')].filter((e) => e.getBoundingClientRect().height > innerHeight).map((e) => e.textContent.trim().slice(0, 40) + ' ' + e.getBoundingClientRect().height)")
	assert.Empty(t, tall, "a screen each")
}

// The report of one page is as quiet, legible and narrow as the report of all pages.
func onePage(t *testing.T, chrome context.Context) {
	in := inputOf(8, mintlify.Day(2026, time.January, 5), mintlify.Day(2026, time.November, 16))
	one := report.PageInput{
		Project: in.Project, Path: hostileInput().Period.Rows[6].Path, Demo: true, Generated: in.Generated, Since: mintlify.Day(2026, time.July, 20), Weeks: in.Trend,
		Searches: []report.List[mintlify.SearchTerm]{in.Period.Searches}, ByPage: []report.List[mintlify.PageFeedback]{in.Period.ByPage},
		Conversations: []report.List[mintlify.Conversation]{in.Period.Conversations}, Comments: []report.List[mintlify.Feedback]{in.Period.Comments},
	}
	page, err := report.OnePage(one)
	require.NoError(t, err)
	assert.Contains(t, words(string(page)), "human and AI redefined on 31 July 2026: these visitors cannot be compared.")
	for _, s := range []screen{desktop, dark, phone, nightly} {
		p := openPage(t, chrome, string(page), s)
		eval[chromedp.Void](p, "document.querySelectorAll('details').forEach((d) => d.open = true)")
		assert.Empty(t, eval[[]string](p, illegible), s.name)
		assert.Empty(t, eval[[]string](p, tooWide), s.name)
		assert.LessOrEqual(t, eval[int64](p, "document.documentElement.scrollWidth"), s.width, s.name)
		assert.Contains(t, p.text("#readout")[0], "9 Nov to 15 Nov: ", "the chart's end")
		console, requests := p.heard()
		assert.Empty(t, console, s.name)
		assert.Equal(t, []string{p.url}, requests, s.name)
	}
}

func screenReader(t *testing.T, chrome context.Context) {
	p := open(t, chrome, demoInput(20), phone)
	assert.Empty(t, eval[[]string](p, "[...document.querySelectorAll('svg')].filter((e) => e.ariaHidden !== 'true' && !(e.role === 'img' && document.getElementById(e.getAttribute('aria-labelledby')))).map((e) => e.outerHTML.slice(0, 80))"), "every drawing has a text, or stands beside one")
	assert.Contains(t, eval[string](p, "document.getElementById('summary').textContent"), "Line chart of visitors by day. Humans: ")
	assert.Equal(t, []string{"columnheader", "rowheader", "cell"}, eval[[]string](p, "['#pages thead th', '#pages tbody th', '#pages tbody td'].map((s) => document.querySelector(s).role)"), "a grid on the screen, a table to the ear")
	assert.Equal(t, int64(1), eval[int64](p, "document.querySelectorAll('h1').length"))
	assert.Empty(t, eval[[]string](p, "[...document.querySelectorAll('input')].filter((e) => e.labels.length === 0).map((e) => e.id)"))
	assert.Empty(t, eval[[]string](p, "[...document.querySelectorAll('[id]')].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)"))
	assert.Equal(t, "en", eval[string](p, "document.documentElement.lang"))
}

func withoutScript(t *testing.T, chrome context.Context) {
	in := demoInput(60)
	s := desktop
	s.noScript = true
	p := open(t, chrome, in, s)
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}) // to look; the page's own has not run
	require.NoError(t, err)
	assert.Len(t, p.text(".headlines .value"), 4+3)
	assert.Len(t, p.text("#pages tbody th[scope=row]"), 60)
	assert.Len(t, p.text(".bars > li"), 10+10+12+10+4+10+10+10)
	assert.Equal(t, int64(1), eval[int64](p, "[...document.querySelectorAll('.chart')].filter((e) => e.checkVisibility()).length"))
	assert.Empty(t, p.text("input, button, #tools, #cursor-line"), "nothing is offered that would not work")
	assert.Empty(t, eval[[]string](p, illegible))
	console, requests := p.heard()
	assert.Empty(t, console)
	assert.Equal(t, []string{p.url}, requests)
}

func onPaper(t *testing.T, chrome context.Context) {
	p := open(t, chrome, demoInput(400), dark)
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	require.NoError(t, err)
	assert.Equal(t, "rgb(255, 255, 255)", eval[string](p, "getComputedStyle(document.body).backgroundColor"), "light, whatever the screen's scheme")
	assert.Empty(t, eval[[]string](p, illegible))
	assert.Empty(t, p.text("input, #tools, #cursor-line"))
	assert.Len(t, p.text("#pages tbody th[scope=row]"), 100, "paper ends after 100 pages")
	assert.Len(t, p.text(".paper"), 1, "and says so")
	pdf := string(paper(p))
	assert.True(t, strings.HasPrefix(pdf, "%PDF-"))
	sheets := strings.Count(pdf, "/Type /Page\n")
	assert.True(t, sheets >= 3 && sheets <= 8, "%d sheets", sheets)
	for i, filled := range filledSheets(t, pdf) {
		assert.Greater(t, filled, 1.0/3, "sheet %d of %d", i+1, sheets)
	}

	eval[chromedp.Void](p, "(() => { const f = document.getElementById('filter'); f.value = 'article'; f.dispatchEvent(new Event('input')); })()")
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
	sheets, err := filepath.Glob(filepath.Join(folder, "sheet*.png")) // in order
	require.NoError(t, err)
	var all []float64
	for _, sheet := range sheets {
		data, err := os.ReadFile(sheet)
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
		assert.Equal(t, "block", eval[string](p, "getComputedStyle(document.body).display"))
	}
}

func withoutData(t *testing.T, chrome context.Context) {
	in := demoInput(0)
	in.Trend = nil
	for _, in := range []report.Input{in, demoInput(0)} {
		for _, s := range []screen{desktop, phone} {
			p := open(t, chrome, in, s)
			console, requests := p.heard()
			assert.Empty(t, console)
			assert.Equal(t, []string{p.url}, requests)
			assert.Contains(t, p.text(".words")[0], "The service counts no visitors")
			assert.Equal(t, []string{"No page was visited."}, p.text(".pages .quiet"))
			assert.Empty(t, eval[[]string](p, tooWide))
		}
	}
}

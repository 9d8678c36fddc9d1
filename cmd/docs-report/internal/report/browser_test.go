package report_test

import (
	"context"
	"flag"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

var (
	screenshots = flag.String("screenshots", "", "the folder to write screenshots to")
	allSites    = flag.Bool("sites", false, "write screenshots of six sites, and their pages on paper")
)

const limit = 30 * time.Second // of a whole look at a page

// browser starts a Chromium that ends with the test. Without one, the test is skipped,
// or fails in CI.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" && os.Getenv("CI") != "" {
		t.Fatal("there is no Chromium: apt-get install chromium fonts-dejavu-core")
	}
	if path == "" {
		t.Skip("there is no Chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("force-color-profile", "srgb"))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx)) // starts it, for as long as ctx lasts
	return ctx
}

// screen is what a page is looked at on.
type screen struct {
	name          string
	width, height int64
	dark          bool
	noScript      bool
}

var (
	desktop = screen{name: "desktop", width: 1280, height: 900}
	dark    = screen{name: "dark", width: 1280, height: 900, dark: true}
	phone   = screen{name: "phone", width: 360, height: 740}
	nightly = screen{name: "phone-dark", width: 360, height: 740, dark: true}
)

// tab is a page as a browser shows it.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex
	console  []string // everything the browser has to say
	requests []string
}

// open writes the page to a file and shows it.
func open(t *testing.T, browser context.Context, in report.Input, s screen) *tab {
	t.Helper()
	return openPage(t, browser, write(t, in), s)
}

func openPage(t *testing.T, browser context.Context, html string, s screen) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(file, []byte(html), 0o600))
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx))
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, url: "file://" + file}
	require.NoError(t, chromedp.Listen(ctx, p.hear))

	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: s.noScript})
	require.NoError(t, err)
	view := []chromedp.EmulateViewportOption{}
	if s.width < 720 {
		view = append(view, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2))
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(s.width, s.height, view...), chromedp.Navigate(p.url)))
	return p
}

func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *cdplog.EventEntryAdded:
		p.console = append(p.console, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		p.console = append(p.console, "console."+string(e.Type))
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, e.ExceptionDetails.Text)
	}
}

// heard returns what the browser has said and asked for so far.
func (p *tab) heard() (console, requests []string) {
	eval[bool](p, "true") // what comes before its response has come
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.console, p.requests
}

func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	require.NoError(p.t, err, expression)
	return value
}

// text returns the text of what a selector finds, a string each.
func (p *tab) text(selector string) []string {
	p.t.Helper()
	return eval[[]string](p, "[...document.querySelectorAll("+quote(selector)+")].filter(e => e.checkVisibility()).map(e => e.textContent.trim())")
}

func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		require.NoError(p.t, chromedp.Do(p.ctx, chromedp.KeyEvent(key)))
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }

// TestScreenshots writes what people see. From this folder:
//
//	go test -run Screenshots -screenshots ../../docs
//
// With -sites it writes whole pages of six sites, on paper, too.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots is not given")
	}

	chrome := browser(t)
	if *allSites {
		for name, in := range sixSites(t) {
			lookAt(t, chrome, name, in)
		}
		return
	}

	in := pictured(t)
	for _, s := range []screen{desktop, dark, phone, nightly} {
		s.height *= 2
		p := open(t, chrome, in, s)
		image, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*screenshots, s.name+".png"), image, 0o644))
	}
}

// lookAt writes a site's page as a whole, on screens of all kinds and on paper.
func lookAt(t *testing.T, chrome context.Context, name string, in report.Input) {
	t.Helper()
	for _, s := range []screen{
		{name: "1440", width: 1440, height: 900},
		{name: "390", width: 390, height: 844},
		{name: "1440-dark", width: 1440, height: 900, dark: true},
		{name: "390-dark", width: 390, height: 844, dark: true},
	} {
		p := open(t, chrome, in, s)
		image, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(90))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name+"-"+s.name+".jpg"), image, 0o644))
	}

	p := open(t, chrome, in, desktop)
	require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name+".pdf"), paper(p), 0o644))
}

// sixSites are sites as people have them.
func sixSites(t *testing.T) map[string]report.Input {
	t.Helper()

	bots := withBots(pictured(t))
	bots.Site = "https://docs.example.com"
	bots.Marks = []report.Mark{{Day: bots.Period.From.AddDays(15), Text: "Launch of version 2"}}
	bots.Days = slices.Concat(bots.TrendFrom, bots.Trend)
	bots.Sitemap = []string{"/never", "/quickstart", "/drafts/one", "/drafts/two"}

	large := inputOf(15_000, bots.Period.From, bots.Period.To)
	fill(t, 15_000, &large)
	large.Period.ByPage.Truncated = true

	withoutAIs := pictured(t)
	for _, points := range [][]store.Point{withoutAIs.Trend, withoutAIs.TrendFrom, withoutAIs.Months} {
		for i := range points {
			points[i].Counts.AI = 0
		}
	}
	for _, p := range []*report.Period{&withoutAIs.Period, &withoutAIs.Before} {
		p.Totals.AI = 0
		for i := range p.Rows {
			p.Rows[i].AI = 0
			p.Rows[i].Total = p.Rows[i].Human
		}
	}

	return map[string]report.Input{
		"small":       smallSite(),
		"bots":        bots,
		"large":       large,
		"young":       youngSite(),
		"without-ais": withoutAIs,
		"holes":       withHoles(pictured(t)),
	}
}

// smallSite has a few readers and a thumb.
func smallSite() report.Input {
	in := inputOf(4, mintlify.Day(2026, time.October, 19), mintlify.Day(2026, time.November, 16))
	in.Demo = false
	shrink := func(points []store.Point) {
		for i := range points {
			c := &points[i].Counts
			*c = mintlify.VisitorTotals{Human: c.Human / 300, AI: c.AI / 300, Total: c.Total / 300}
		}
	}
	shrink(in.Trend)
	shrink(in.TrendFrom)
	shrink(in.Months)

	loaded := store.Export{At: in.Generated, State: store.Loaded}
	for _, p := range []*report.Period{&in.Period, &in.Before} {
		p.Totals = mintlify.VisitorTotals{Human: p.Totals.Human / 300, AI: p.Totals.AI / 300, Total: p.Totals.Total / 300}
		for i := range p.Rows {
			row := &p.Rows[i]
			row.Human /= 300
			row.AI /= 300
			row.Total = row.Human + row.AI
		}
		p.Searches = report.List[mintlify.SearchTerm]{Export: loaded}
		p.Conversations = report.List[mintlify.Conversation]{Export: loaded}
		p.ByPage = report.List[mintlify.FeedbackCount]{Export: loaded}
		p.Comments = report.List[mintlify.Feedback]{Export: loaded}
		p.Views = report.List[mintlify.View]{Export: loaded}
	}
	in.Period.ByPage.Kept = 1
	in.Period.ByPage.Rows = []mintlify.FeedbackCount{{Path: "/quickstart", ThumbsDown: 1}}
	return in
}

// youngSite is five days old.
func youngSite() report.Input {
	in := smallSite()
	for i := range in.Trend {
		if i < len(in.Trend)-5 {
			in.Trend[i].Counts = mintlify.VisitorTotals{}
		}
	}
	for _, points := range [][]store.Point{in.TrendFrom, in.Months} {
		for i := range points {
			points[i].Counts = mintlify.VisitorTotals{}
		}
	}
	in.Before.Totals = mintlify.VisitorTotals{}
	in.Before.Rows = nil
	return in
}

// paper returns the page as it is printed.
func paper(p *tab) []byte {
	p.t.Helper()
	pdf, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize()))
	require.NoError(p.t, err)
	return pdf
}

// pictured returns what report -demo shows.
func pictured(t *testing.T) report.Input {
	t.Helper()
	in := demoInput(120)
	fill(t, 120, &in)
	return in
}

// fill replaces the lists by those of the demo.
func fill(t *testing.T, pages int, in *report.Input) {
	t.Helper()
	transport := &http.Client{Transport: demo.NewService(pages, in.Generated)}
	client, err := mintlify.NewClient(mintlifytest.APIKey, in.Project, mintlify.WithHTTPClient(transport))
	require.NoError(t, err)
	fillPeriod(t, client.Analytics, &in.Period)
	fillPeriod(t, client.Analytics, &in.Before)
}

func fillPeriod(t *testing.T, a *mintlify.AnalyticsService, p *report.Period) {
	t.Helper()
	loaded := store.Export{Window: p.Window, At: time.Now(), State: store.Loaded, Kept: 1, Texts: true}
	dates := mintlify.SearchesParams{DateFrom: p.From, DateTo: p.To}

	p.Searches.Export = loaded
	p.Searches.Rows = rowsOf(t, a.Searches(t.Context(), dates))

	p.Conversations.Export = loaded
	p.Conversations.Rows = rowsOf(t, a.Conversations(t.Context(),
		mintlify.ConversationsParams{DateFrom: p.From, DateTo: p.To}))

	p.Comments.Export = loaded
	p.Comments.Rows = rowsOf(t, a.Feedback(t.Context(), mintlify.FeedbackParams{DateFrom: p.From, DateTo: p.To}))

	p.Views.Export = loaded
	p.Views.Rows = rowsOf(t, a.Views(t.Context(), mintlify.ViewsParams{DateFrom: p.From, DateTo: p.To}))

	byPage, err := a.GetFeedbackCounts(t.Context(),
		mintlify.FeedbackCountsParams{DateFrom: p.From, DateTo: p.To, Limit: 100})
	require.NoError(t, err)
	p.ByPage.Export = loaded
	p.ByPage.Rows = byPage.Counts

	callers, err := a.GetCallerStats(t.Context(), mintlify.CallerStatsParams{DateFrom: p.From, DateTo: p.To})
	require.NoError(t, err)
	p.Callers.Export = loaded
	p.Callers.Rows = []mintlify.CallerStats{*callers}
}

func rowsOf[T any](t *testing.T, rows iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for row, err := range rows {
		require.NoError(t, err)
		all = append(all, row)
	}
	return all
}

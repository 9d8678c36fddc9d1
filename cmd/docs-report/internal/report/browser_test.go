package report_test

import (
	"context"
	"flag"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

var screenshots = flag.String("screenshots", "", "the folder to write screenshots to")

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
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots is not given")
	}

	chrome := browser(t)
	in := withBots(pictured(t))
	for _, s := range []screen{desktop, dark, phone, nightly} {
		s.height *= 2
		p := open(t, chrome, in, s)
		image, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*screenshots, s.name+".png"), image, 0o644))
	}
}

// pictured returns what report -demo shows.
func pictured(t *testing.T) report.Input {
	t.Helper()
	in := demoInput(120)
	fill(t, 120, &in)

	visitors := demo.Visitors(120)
	in.ByDay = events.NewSite(in.Days, func(store.Point) bool { return true })
	for _, day := range in.Days {
		pages, _ := visitors("docs", mintlify.VisitorsParams{DateFrom: day.From, DateTo: day.To})
		in.ByDay.AddDay(day.From, pages)
	}
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

	byPage, err := a.GetFeedbackCounts(t.Context(),
		mintlify.FeedbackCountsParams{DateFrom: p.From, DateTo: p.To, Limit: 100})
	require.NoError(t, err)
	p.ByPage.Export = loaded
	p.ByPage.Rows = byPage.Counts
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

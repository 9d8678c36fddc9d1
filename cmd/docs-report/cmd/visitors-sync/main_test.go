package main

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/command"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/testrig"
)

func newRig(t *testing.T, visitors testrig.Visitors) *testrig.Rig {
	return testrig.New(t, run, visitors)
}

func day(month time.Month, d int) mintlify.Date { return mintlify.Day(2000, month, d) }

// Time begins on 2000-01-01, a Saturday, in a bubble.
func sleepUntil(month time.Month, d, hour int) {
	time.Sleep(time.Until(day(month, d).Time().Add(time.Duration(hour) * time.Hour)))
}

func TestEveryWindowIsLoadedNewestFirstAndProjectsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.February, 9, 5)
		r := newRig(t, testrig.Site(3))
		r.Env["MINTLIFY_PROJECT_ID"] = "" // not needed
		require.Equal(t, command.OK, r.Run(t.Context(), "-projects", "docs, handbook", "-from", "2000-01-24"), r.Messages)
		asked := r.Asked()
		require.Len(t, asked, 2*(16+2), "16 days, 2 weeks, no whole month")
		assert.Equal(t, []string{
			"docs 2000-02-08 2000-02-09", "handbook 2000-02-08 2000-02-09",
			"docs 2000-02-07 2000-02-08", "handbook 2000-02-07 2000-02-08",
			"docs 2000-02-06 2000-02-07", "handbook 2000-02-06 2000-02-07",
			"docs 2000-01-31 2000-02-07", "handbook 2000-01-31 2000-02-07",
		}, asked[:8])
		for _, request := range r.Service.Requests() {
			assert.Equal(t, "250", request.Query.Get("limit"))
		}
		for _, project := range []string{"docs", "handbook"} {
			for _, span := range []load.Span{load.ByDay, load.ByWeek} {
				r.RequireWindows(testrig.Site(3), load.Windows(project, span, day(time.January, 24), day(time.February, 9)))
			}
		}

		require.Equal(t, command.OK, r.Run(t.Context(), "-projects", "docs,handbook", "-from", "2000-01-24"))
		assert.Len(t, r.Asked(), len(asked), "again, nothing is asked")
		require.Equal(t, command.OK, r.Run(t.Context(), "-projects", "docs,handbook", "-from", "2000-01-01", "-by", "month"))
		r.RequireWindows(testrig.Site(3), []store.Window{{Project: "docs", From: day(time.January, 1), To: day(time.February, 1)}})
	})
}

func TestExportResumesAtItsOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(1100))
		r.Service.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Delay: time.Second})
		args := []string{"-from", "2000-02-29", "-by", "day"}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		require.Equal(t, command.Interrupted, r.Run(ctx, args...), r.Messages)
		assert.Contains(t, r.Messages, "interrupted")
		assert.Contains(t, r.Messages, "resumes where it stopped")
		require.Equal(t, command.OK, r.Run(t.Context(), args...), r.Messages)
		window := "docs 2000-02-29 2000-03-01"
		assert.Equal(t, []string{window, window + " 250", window + " 500", window + " 500", window + " 750", window + " 1000"}, r.Asked(), "one page was on its way")
		r.RequireWindows(testrig.Site(1100), load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
	})
}

// lastByte is a transport that ends a context when a response has come whole.
type lastByte struct {
	http.RoundTripper
	cancel context.CancelFunc
}

func (l lastByte) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = body{response.Body, l.cancel}
	}
	return response, err
}

type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.cancel()
	}
	return n, err
}

func TestAPageThatHasComeIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(600))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r.Transport = lastByte{r.Service, cancel}
		args := []string{"-from", "2000-02-29", "-by", "day"}
		require.Equal(t, command.Interrupted, r.Run(ctx, args...))
		r.Transport = r.Service
		require.Equal(t, command.OK, r.Run(t.Context(), args...), r.Messages)
		assert.Len(t, r.Asked(), 3, "no page twice")
		r.RequireWindows(testrig.Site(600), load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
	})
}

func TestNobodySeesHalfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(600))
		args := []string{"-from", "2000-02-29", "-by", "day", "-max-age", "1h"}
		windows := load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1))
		require.Equal(t, command.OK, r.Run(t.Context(), args...), r.Messages)
		time.Sleep(2 * time.Hour)

		r.Service.SetVisitorsFunc(testrig.Site(700))
		for range 2 {
			r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: time.Second})
		}
		r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})
		require.Equal(t, command.Failed, r.Run(t.Context(), args...), r.Messages)
		r.RequireWindows(testrig.Site(600), windows)
		require.Equal(t, command.OK, r.Run(t.Context(), args...), r.Messages)
		r.RequireWindows(testrig.Site(700), windows)
		assert.Len(t, r.Asked(), 3+3+1, "it resumed at the last page")
	})
}

func TestAnExportThatHasGrownOldBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(600))
		args := []string{"-from", "2000-02-29", "-by", "day"}
		r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: time.Second})
		r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})
		require.Equal(t, command.Failed, r.Run(t.Context(), args...))
		time.Sleep(25 * time.Hour)
		require.Equal(t, command.OK, r.Run(t.Context(), args...), r.Messages)
		window := "docs 2000-02-29 2000-03-01"
		assert.Equal(t, []string{window, window + " 250", window, window + " 250", window + " 500"}, slices.DeleteFunc(r.Asked(), func(s string) bool { return !strings.HasPrefix(s, window) }))
		r.RequireWindows(testrig.Site(600), load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 2)))
	})
}

func TestTotalsThatChangeWithinAnExportBeginItAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, nil)
		requests := 0
		moving := func(until int) testrig.Visitors {
			requests = 0
			return func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
				requests++
				rows, totals := testrig.Site(600)(project, p)
				totals.Human += int64(min(requests, until))
				return rows, totals
			}
		}
		args := []string{"-from", "2000-02-29", "-by", "day"}
		r.Service.SetVisitorsFunc(moving(1000))
		require.Equal(t, command.Failed, r.Run(t.Context(), args...))
		assert.Contains(t, r.Messages, "totals change")
		assert.Len(t, r.Asked(), 8, "it does not go on for ever")

		settled := moving(3)
		r.Service.SetVisitorsFunc(settled)
		require.Equal(t, command.OK, r.Run(t.Context(), args...), r.Messages)
		r.RequireWindows(settled, load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
	})
}

func TestBudgetIsKeptOverAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(600)) // 3 requests a window
		args := []string{"-from", "2000-02-22", "-by", "day", "-budget", "10"}
		require.Equal(t, command.Quota, r.Run(t.Context(), args...))
		assert.Contains(t, r.Messages, "nothing is sent before 01:00:00 UTC on 2000-03-01")
		assert.Len(t, r.Asked(), 10)
		time.Sleep(59 * time.Minute)
		require.Equal(t, command.Quota, r.Run(t.Context(), args...))
		assert.Len(t, r.Asked(), 10, "nothing is sent before")
		time.Sleep(time.Minute)
		require.Equal(t, command.Quota, r.Run(t.Context(), args...))
		assert.Len(t, r.Asked(), 20)
		time.Sleep(time.Hour)
		require.Equal(t, command.OK, r.Run(t.Context(), args...))
		assert.Len(t, r.Asked(), 24, "8 windows, no page twice")
		r.RequireWindows(testrig.Site(600), load.Windows("docs", load.ByDay, day(time.February, 22), day(time.March, 1)))
	})
}

func TestQuotaOfTheService(t *testing.T) {
	for name, tc := range map[string]struct {
		header http.Header
		wait   time.Duration
	}{
		"says when":      {http.Header{"Retry-After": {"720"}}, 12 * time.Minute},
		"does not say":   {nil, 10 * time.Minute},
		"says next year": {http.Header{"Retry-After": {"31536000"}}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sleepUntil(time.March, 1, 0)
				r := newRig(t, testrig.Site(600))
				limited := mintlifytest.Fault{Status: 429, Header: tc.header}
				r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: 1})
				r.Service.FailNext(mintlify.OpGetVisitors, 1, limited)
				args := []string{"-from", "2000-02-29", "-by", "day"}
				require.Equal(t, command.Quota, r.Run(t.Context(), args...))
				back := time.Now().Add(tc.wait)
				assert.Contains(t, r.Messages, "nothing is sent before "+back.Format(time.TimeOnly))
				assert.Contains(t, r.Messages, "429")
				assert.Len(t, r.Asked(), 2, "a 429 is not retried")

				time.Sleep(tc.wait - time.Second)
				require.Equal(t, command.Quota, r.Run(t.Context(), args...))
				assert.Len(t, r.Asked(), 2, "nothing is sent before")
				time.Sleep(time.Second)
				r.Service.FailNext(mintlify.OpGetVisitors, 1, limited)
				require.Equal(t, command.OK, r.Run(t.Context(), append(args, "-wait")...), r.Messages)
				assert.Contains(t, r.Messages, "Waiting for the hourly quota until")
				assert.WithinDuration(t, back.Add(tc.wait), time.Now(), time.Second)
				assert.Len(t, r.Asked(), 5)
				r.RequireWindows(testrig.Site(600), load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
			})
		})
	}
}

func TestAWaitForTheQuotaCanBeInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(1))
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		start := time.Now()
		assert.Equal(t, command.Interrupted, r.Run(ctx, "-budget", "1", "-wait"))
		assert.Equal(t, 90*time.Second, time.Since(start))
	})
}

// What the service tells of a day moves until 20 hours after its end. The quota is
// enforced, and another program of the organization spends some of it each night.
func TestThirtyNights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moving := func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			rows, totals := testrig.Site(3)(project, p)
			early := max(0, int64(time.Until(p.DateTo.Time().Add(20*time.Hour)).Hours()))
			totals.Human -= early
			rows[0].Human -= early
			return rows, totals
		}
		sleepUntil(time.February, 1, 2)
		r := newRig(t, moving)
		r.Service.EnforceQuotas()
		projects := []string{"docs", "handbook"}
		var quotaNights, refusedNights int // at the own budget, and at the service's quota
		for night := range 30 {
			for range night % 3 * 45 {
				_, err := r.Service.Client().Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
				require.NoError(t, err)
			}
			code := r.Run(t.Context(), "-projects", strings.Join(projects, ","), "-from", "2000-01-01", "-budget", "20")
			if code == command.Quota {
				quotaNights++
				refusedNights += strings.Count(r.Messages, "(429)")
			} else {
				require.Equal(t, command.OK, code, r.Messages)
			}
			time.Sleep(24 * time.Hour)
		}
		assert.Greater(t, quotaNights, refusedNights, "the first nights have more to load than the budget")
		assert.NotZero(t, refusedNights, "and than the others leave of the quota")
		assert.Less(t, quotaNights, 10)
		require.Equal(t, command.OK, r.Run(t.Context(), "-projects", strings.Join(projects, ","), "-from", "2000-01-01"), r.Messages)

		settled := mintlify.DayOf(time.Now().Add(-24 * time.Hour).UTC())
		windows := 0
		for _, project := range projects {
			for _, span := range []load.Span{load.ByDay, load.ByWeek, load.ByMonth} {
				all := load.Windows(project, span, day(time.January, 1), settled)
				windows += len(all)
				r.RequireWindows(testrig.Site(3), all)
			}
		}
		t.Logf("%d nights ended at the budget or the quota; %d windows that are final, %d requests", quotaNights, windows, len(r.Service.Requests()))
	})
}

func TestAFailingProjectLeavesTheOthersToBeLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(3))
		r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 404, Body: `{"error":"no such project"}`})
		require.Equal(t, command.Failed, r.Run(t.Context(), "-projects", "gone,docs", "-from", "2000-02-27", "-by", "day"))
		assert.Contains(t, r.Messages, "gone 2000-02-29: ")
		assert.Contains(t, r.Messages, "no such project")
		assert.Len(t, r.Asked(), 1+3, "no more of the one that fails")
		r.RequireWindows(testrig.Site(3), load.Windows("docs", load.ByDay, day(time.February, 27), day(time.March, 1)))
	})
}

func TestAFailingWindowLeavesTheOthersToBeLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(3))
		bad := mintlifytest.Fault{Status: 400, Body: `{"error":"too long ago"}`}
		r.Service.FailNext(mintlify.OpGetVisitors, 2, bad)
		r.Service.SucceedNext(mintlify.OpGetVisitors, 1)
		r.Service.FailNext(mintlify.OpGetVisitors, 2, bad)
		require.Equal(t, command.Failed, r.Run(t.Context(), "-from", "2000-02-20", "-by", "day"))
		assert.Contains(t, r.Messages, "docs 2000-02-29: ")
		assert.Contains(t, r.Messages, "too long ago")
		assert.Len(t, r.Asked(), 10)
		r.RequireWindows(testrig.Site(3), load.Windows("docs", load.ByDay, day(time.February, 20), day(time.February, 25)))

		r.Service.FailNext(mintlify.OpGetVisitors, 9, bad)
		require.Equal(t, command.Failed, r.Run(t.Context(), "-from", "2000-02-10", "-by", "day"))
		assert.Len(t, r.Asked(), 10+3, "three in a row are enough")
	})
}

func TestQuotaAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(3))
		r.Service.FailNext(mintlify.OpGetVisitors, 3, mintlifytest.Fault{Status: 502})
		r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 429})
		require.Equal(t, command.Quota, r.Run(t.Context(), "-from", "2000-02-29", "-by", "day"), r.Messages)
		require.Equal(t, command.Quota, r.Run(t.Context(), "-from", "2000-02-29", "-by", "day"))
		assert.Len(t, r.Asked(), 4)
	})
}

func TestWarningsOfTheSDKAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(3))
		r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Body: `{"totals":{"human":1,"ai":1,"total":2},"visitors":[{"path":"/a","human":1,"ai":1,"total":2}],"hasMore":true}`})
		r.Run(t.Context(), "-from", "2000-02-29", "-by", "day")
		assert.Contains(t, r.Messages, "level=WARN")
	})
}

func TestFailuresThatPassAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		args := []string{"-from", "2000-02-29", "-by", "day"}
		r := newRig(t, testrig.Site(600))
		r.Service.FailNext(mintlify.OpGetVisitors, 2, mintlifytest.Fault{Status: 502})
		r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 503, Header: http.Header{"Retry-After": {"30"}}})
		start := time.Now()
		require.Equal(t, command.OK, r.Run(t.Context(), args...), r.Messages)
		assert.Equal(t, 2*time.Second+4*time.Second+30*time.Second, time.Since(start))
		assert.Contains(t, r.Messages, "6 requests, 84 left", "failures count against the budget")

		r = newRig(t, testrig.Site(600))
		r.Service.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Status: 502})
		require.Equal(t, command.Failed, r.Run(t.Context(), args...))
		assert.Len(t, r.Asked(), 4)
		assert.Contains(t, r.Messages, "502")
	})
}

func TestRowsAreKeptAsReceived(t *testing.T) {
	rows := []mintlify.Visitor{
		{Path: "/twice", Human: 1, Total: 1}, {Path: "/twice", AI: 2, Total: 2}, {Path: ""},
		{Path: "/nul\x00", Total: 1 << 60}, {Path: "/" + strings.Repeat("ä", 5000)}, {Path: `/';--"<script>`, Human: -1},
	}
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			return rows, mintlify.VisitorTotals{Total: 7}
		})
		require.Equal(t, command.OK, r.Run(t.Context(), "-from", "2000-02-29", "-by", "day"), r.Messages)
		want := slices.Clone(rows)
		want[3].Path = "/nul\uFFFD"
		r.RequireWindows(func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			return want, mintlify.VisitorTotals{Total: 7}
		}, load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
	})
}

func TestPlanSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, testrig.Site(600))
		args := []string{"-from", "2000-01-31", "-by", "day,week"}
		require.Equal(t, command.OK, r.Run(t.Context(), append(args, "-plan")...))
		assert.Equal(t, "34 windows to load, 34 requests or more; 90 of the hour's budget of 90 are left.\n", r.Stdout)
		require.Equal(t, command.OK, r.Run(t.Context(), "-from", "2000-02-29", "-by", "day"))
		require.Equal(t, command.OK, r.Run(t.Context(), append(args, "-plan")...))
		assert.Equal(t, "33 windows to load, 99 requests; 87 of the hour's budget of 90 are left, so it takes 2 runs an hour apart.\n", r.Stdout)
		assert.Len(t, r.Asked(), 3)
	})
}

func TestDemoAndRealDataDoNotMix(t *testing.T) {
	r := newRig(t, testrig.Site(3))
	real := r.Env
	r.Env = map[string]string{}
	require.Equal(t, command.OK, r.Run(t.Context(), "-by", "week"), r.Messages)
	assert.Contains(t, r.Messages, "made up")
	r.Env = real
	assert.Equal(t, command.Usage, r.Run(t.Context(), "-by", "week"))
	assert.Contains(t, r.Messages, "demo data of 120 pages")
	r.Env = map[string]string{}
	assert.Equal(t, command.Usage, r.Run(t.Context(), "-by", "week", "-demo-pages", "7"))

	r.DB, r.Env = filepath.Join(t.TempDir(), "real.db"), real
	require.Equal(t, command.OK, r.Run(t.Context(), "-by", "week"), r.Messages)
	r.Env = map[string]string{}
	assert.Equal(t, command.Usage, r.Run(t.Context(), "-by", "week"))
	assert.Contains(t, r.Messages, mintlify.DefaultBaseURL)
	r.Env = map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey, "MINTLIFY_PROJECT_ID": "docs", "MINTLIFY_BASE_URL": "https://other.example.com/"}
	assert.Equal(t, command.Usage, r.Run(t.Context(), "-by", "week"))
	assert.Contains(t, r.Messages, "https://other.example.com")
	assert.NotContains(t, r.Messages, mintlifytest.APIKey)
}

func TestWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"unexpected argument": {"surplus"},
		"-budget is 0":        {"-budget", "0"},
		"-settle and":         {"-settle", "-1h"},
		"-demo-pages is -1":   {"-demo-pages", "-1"},
		`"year" is no span`:   {"-by", "day,year"},
		"want a day":          {"-from", "2000-01-01T00:00:00Z"},
		"-nonsense":           {"-nonsense"},
		"swapped":             {"-projects", "docs,mint_abc"},
	} {
		r := newRig(t, testrig.Site(3))
		assert.Equal(t, command.Usage, r.Run(t.Context(), args...), want)
		assert.Contains(t, r.Messages, want)
	}
	r := newRig(t, testrig.Site(3))
	r.Env["MINTLIFY_PROJECT_ID"] = " "
	assert.Equal(t, command.Usage, r.Run(t.Context()))
	assert.Contains(t, r.Messages, "MINTLIFY_PROJECT_ID")
	assert.Equal(t, command.OK, r.Run(t.Context(), "-h"))
	r.DB = "/no/such/folder/visitors.db"
	r.Env["MINTLIFY_PROJECT_ID"] = "docs"
	assert.Equal(t, command.Failed, r.Run(t.Context()))
}

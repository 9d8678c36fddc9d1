package main

import (
	"context"
	"fmt"
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

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func TestEveryWindowIsLoadedNewestFirstAndProjectsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.February, 9, 5)
		r := newRig(t, site(3))
		r.env["MINTLIFY_PROJECT_ID"] = "" // not needed
		require.Equal(t, exitOK, r.sync(t.Context(), "-projects", "docs, handbook", "-from", "2000-01-24"), r.messages)

		asked := r.asked()
		require.Len(t, asked, 2*(16+2+2), "16 days, 2 weeks and their thumbs, no whole month")
		assert.Equal(t, "handbook feedback/by-page 2000-01-24 2000-01-31", asked[39])

		assert.Equal(t, []string{
			"docs 2000-02-08 2000-02-09", "handbook 2000-02-08 2000-02-09",
			"docs 2000-02-07 2000-02-08", "handbook 2000-02-07 2000-02-08",
			"docs 2000-02-06 2000-02-07", "handbook 2000-02-06 2000-02-07",
			"docs 2000-01-31 2000-02-07", "handbook 2000-01-31 2000-02-07",
		}, asked[:8])

		for _, request := range r.service.Requests()[:36] {
			assert.Equal(t, "250", request.Query.Get("limit"))
		}

		for _, project := range []string{"docs", "handbook"} {
			for _, span := range []store.Span{store.Day, store.Week} {
				r.requireWindows(site(3), store.Windows(project, span, day(time.January, 24), day(time.February, 9)))
			}
		}

		require.Equal(t, exitOK, r.sync(t.Context(), "-projects", "docs,handbook", "-from", "2000-01-24"))
		assert.Len(t, r.asked(), len(asked), "again, nothing is asked")
	})
}

func TestExportResumesAtItsOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(1100))
		r.service.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Delay: time.Second})
		args := []string{"-from", "2000-02-29"}

		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()

		require.Equal(t, exitInterrupted, r.sync(ctx, args...), r.messages)
		assert.Contains(t, r.messages, "interrupted")
		assert.Contains(t, r.messages, "resumes where it stopped")

		require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)

		window := "docs 2000-02-29 2000-03-01"
		want := []string{
			window,
			window + " 250",
			window + " 500",
			window + " 500",
			window + " 750",
			window + " 1000",
		}
		assert.Equal(t, want, r.asked(), "one page was on its way")
		r.requireWindows(site(1100), store.Windows("docs", store.Day, day(time.February, 29), day(time.March, 1)))
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
		r := newRig(t, site(600))

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r.transport = lastByte{r.service, cancel}

		args := []string{"-from", "2000-02-29"}
		require.Equal(t, exitInterrupted, r.sync(ctx, args...))

		r.transport = r.service
		require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		assert.Len(t, r.asked(), 3, "no page twice")
		r.requireWindows(site(600), store.Windows("docs", store.Day, day(time.February, 29), day(time.March, 1)))
	})
}

func TestNobodySeesHalfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(600))

		args := []string{"-from", "2000-02-29"}
		windows := store.Windows("docs", store.Day, day(time.February, 29), day(time.March, 1))

		require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		time.Sleep(7 * time.Hour)

		r.service.SetVisitorsFunc(site(700))
		for range 2 {
			r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: time.Second})
		}
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})

		require.Equal(t, exitFailed, r.sync(t.Context(), args...), r.messages)
		r.requireWindows(site(600), windows)

		require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		r.requireWindows(site(700), windows)
		assert.Len(t, r.asked(), 3+3+1, "it resumed at the last page")
	})
}

func TestAnExportThatHasGrownOldBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(600))
		args := []string{"-from", "2000-02-29"}

		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: time.Second})
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})

		require.Equal(t, exitFailed, r.sync(t.Context(), args...))

		time.Sleep(25 * time.Hour)
		require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)

		window := "docs 2000-02-29 2000-03-01"
		ofWindow := slices.DeleteFunc(r.asked(), func(s string) bool { return !strings.HasPrefix(s, window) })
		want := []string{
			window,
			window + " 250",
			window,
			window + " 250",
			window + " 500",
		}
		assert.Equal(t, want, ofWindow)

		r.requireWindows(site(600), store.Windows("docs", store.Day, day(time.February, 29), day(time.March, 2)))
	})
}

func TestTotalsThatChangeWithinAnExportBeginItAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, nil)

		requests := 0
		moving := func(until int) visitors {
			requests = 0
			return func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
				requests++
				rows, totals := site(600)(project, p)
				totals.Human += int64(min(requests, until))
				return rows, totals
			}
		}

		args := []string{"-from", "2000-02-29"}
		r.service.SetVisitorsFunc(moving(1000))
		require.Equal(t, exitFailed, r.sync(t.Context(), args...))
		assert.Contains(t, r.messages, "totals change")
		assert.Len(t, r.asked(), 8, "it does not go on for ever")

		settled := moving(3)
		r.service.SetVisitorsFunc(settled)
		require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		r.requireWindows(settled, store.Windows("docs", store.Day, day(time.February, 29), day(time.March, 1)))
	})
}

func TestBudgetIsKeptOverAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(600)) // 3 requests a window
		args := []string{"-from", "2000-02-22", "-budget", "10"}

		require.Equal(t, exitQuota, r.sync(t.Context(), args...))
		assert.Contains(t, r.messages, "nothing is sent before 01:00:00 UTC on 2000-03-01")
		assert.Len(t, r.asked(), 10)

		time.Sleep(59 * time.Minute)
		require.Equal(t, exitQuota, r.sync(t.Context(), args...))
		assert.Len(t, r.asked(), 10, "nothing is sent before")

		time.Sleep(time.Minute)
		require.Equal(t, exitQuota, r.sync(t.Context(), args...))
		assert.Len(t, r.asked(), 20)

		time.Sleep(time.Hour)
		require.Equal(t, exitOK, r.sync(t.Context(), args...))
		assert.Len(t, r.asked(), 24, "8 windows, no page twice")
		r.requireWindows(site(600), store.Windows("docs", store.Day, day(time.February, 22), day(time.March, 1)))
	})
}

func TestQuotaOfTheService(t *testing.T) {
	for name, tc := range map[string]struct {
		header http.Header
		wait   time.Duration
	}{
		"says when": {
			header: http.Header{"Retry-After": {"720"}},
			wait:   12 * time.Minute,
		},
		"does not say": {
			wait: 10 * time.Minute,
		},
		"says next year": {
			header: http.Header{"Retry-After": {"31536000"}},
			wait:   time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sleepUntil(time.March, 1, 0)
				r := newRig(t, site(600))

				limited := mintlifytest.Fault{Status: 429, Header: tc.header}
				r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: 1})
				r.service.FailNext(mintlify.OpGetVisitors, 1, limited)

				args := []string{"-from", "2000-02-29"}
				require.Equal(t, exitQuota, r.sync(t.Context(), args...))

				back := time.Now().Add(tc.wait)
				assert.Contains(t, r.messages, "nothing is sent before "+back.Format(time.TimeOnly))
				assert.Contains(t, r.messages, "429")
				assert.Len(t, r.asked(), 2, "a 429 is not retried")

				time.Sleep(tc.wait - time.Second)
				require.Equal(t, exitQuota, r.sync(t.Context(), args...))
				assert.Len(t, r.asked(), 2, "nothing is sent before")

				time.Sleep(time.Second)
				r.service.FailNext(mintlify.OpGetVisitors, 1, limited)

				require.Equal(t, exitOK, r.sync(t.Context(), append(args, "-wait")...), r.messages)
				assert.Contains(t, r.messages, "Waiting for the hourly quota until")
				assert.WithinDuration(t, back.Add(tc.wait), time.Now(), time.Second)
				assert.Len(t, r.asked(), 5)

				windows := store.Windows("docs", store.Day, day(time.February, 29), day(time.March, 1))
				r.requireWindows(site(600), windows)
			})
		})
	}
}

func TestAWaitForTheQuotaCanBeInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(1))

		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()

		start := time.Now()
		assert.Equal(t, exitInterrupted, r.sync(ctx, "-budget", "1", "-wait"))
		assert.Equal(t, 90*time.Second, time.Since(start))
	})
}

// The counts of a day change until 20 hours after its end. The quota is
// enforced, and another program of the organization spends some of it each night.
func TestThirtyNights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moving := func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			rows, totals := site(3)(project, p)
			early := max(0, int64(time.Until(p.DateTo.Time().Add(20*time.Hour)).Hours()))
			totals.Human -= early
			rows[0].Human -= early
			return rows, totals
		}

		sleepUntil(time.February, 1, 2)
		r := newRig(t, moving)
		r.service.EnforceQuotas()

		projects := []string{"docs", "handbook"}
		list := strings.Join(projects, ",")
		var quotaNights, refusedNights int // at the own budget, and at the service's quota

		for night := range 30 {
			for range night % 3 * 45 {
				_, err := r.service.Client().Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
				require.NoError(t, err)
			}

			code := r.sync(t.Context(), "-projects", list, "-from", "2000-01-01", "-budget", "20")
			if code == exitQuota {
				quotaNights++
				refusedNights += strings.Count(r.messages, "(429)")
			} else {
				require.Equal(t, exitOK, code, r.messages)
			}

			time.Sleep(24 * time.Hour)
		}

		assert.Greater(t, quotaNights, refusedNights, "the first nights have more to load than the budget")
		assert.NotZero(t, refusedNights, "and than the others leave of the quota")
		assert.Less(t, quotaNights, 10)

		require.Equal(t, exitOK, r.sync(t.Context(), "-projects", list, "-from", "2000-01-01"), r.messages)

		settled := mintlify.DayOf(time.Now().Add(-24 * time.Hour).UTC())
		windows := 0
		for _, project := range projects {
			for _, span := range []store.Span{store.Day, store.Week, store.Month} {
				all := store.Windows(project, span, day(time.January, 1), settled)
				windows += len(all)
				r.requireWindows(site(3), all)
			}
		}
		t.Logf("%d nights ended at the budget or the quota; %d windows that are final, %d requests",
			quotaNights, windows, len(r.service.Requests()))
	})
}

func TestAFailingProjectLeavesTheOthersToBeLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(3))

		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{
			Status: 404,
			Body:   `{"error":"no such project"}`,
		})

		require.Equal(t, exitFailed, r.sync(t.Context(), "-projects", "gone,docs", "-from", "2000-02-27"))
		assert.Contains(t, r.messages, "gone 2000-02-29, visitors: ")
		assert.Contains(t, r.messages, "no such project")
		assert.Len(t, r.asked(), 1+3, "no more of the one that fails")

		r.requireWindows(site(3), store.Windows("docs", store.Day, day(time.February, 27), day(time.March, 1)))
	})
}

func TestAFailingWindowLeavesTheOthersToBeLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(3))

		bad := mintlifytest.Fault{Status: 400, Body: `{"error":"too long ago"}`}
		r.service.FailNext(mintlify.OpGetVisitors, 2, bad)
		r.service.SucceedNext(mintlify.OpGetVisitors, 1)
		r.service.FailNext(mintlify.OpGetVisitors, 2, bad)

		require.Equal(t, exitFailed, r.sync(t.Context(), "-from", "2000-02-22"))
		assert.Contains(t, r.messages, "docs 2000-02-29, visitors: ")
		assert.Contains(t, r.messages, "too long ago")
		assert.Len(t, r.asked(), 8)
		r.requireWindows(site(3), store.Windows("docs", store.Day, day(time.February, 22), day(time.February, 25)))

		r.service.FailNext(mintlify.OpGetVisitors, 9, bad)
		require.Equal(t, exitFailed, r.sync(t.Context(), "-from", "2000-02-15"))
		assert.Len(t, r.asked(), 8+3, "three in a row are enough")
	})
}

func TestQuotaAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(3))

		r.service.FailNext(mintlify.OpGetVisitors, 3, mintlifytest.Fault{Status: 502})
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 429})

		require.Equal(t, exitQuota, r.sync(t.Context(), "-from", "2000-02-29"), r.messages)
		require.Equal(t, exitQuota, r.sync(t.Context(), "-from", "2000-02-29"))
		assert.Len(t, r.asked(), 4)
	})
}

func TestWarningsOfTheSDKAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(3))
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{
			Body: `{"totals":{"human":1,"ai":1,"total":2},` +
				`"visitors":[{"path":"/a","human":1,"ai":1,"total":2}],"hasMore":true}`,
		})

		r.sync(t.Context(), "-from", "2000-02-29")
		assert.Contains(t, r.messages, "level=WARN")
	})
}

func TestFailuresThatPassAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		args := []string{"-from", "2000-02-29"}
		r := newRig(t, site(600))
		r.service.FailNext(mintlify.OpGetVisitors, 2, mintlifytest.Fault{Status: 502})
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{
			Status: 503,
			Header: http.Header{"Retry-After": {"30"}},
		})

		start := time.Now()
		require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		assert.Equal(t, 2*time.Second+4*time.Second+30*time.Second, time.Since(start))
		assert.Contains(t, r.messages, "6 requests, 84 left", "failures count against the budget")

		r = newRig(t, site(600))
		r.service.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Status: 502})
		require.Equal(t, exitFailed, r.sync(t.Context(), args...))
		assert.Len(t, r.asked(), 4)
		assert.Contains(t, r.messages, "502")
	})
}

func TestRowsAreKeptAsReceived(t *testing.T) {
	rows := []mintlify.Visitor{
		{Path: "/twice", Human: 1, Total: 1},
		{Path: "/twice", AI: 2, Total: 2},
		{Path: ""},
		{Path: "/nul\x00", Total: 1 << 60},
		{Path: "/" + strings.Repeat("ä", 5000)},
		{Path: `/';--"<script>`, Human: -1},
	}

	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			return rows, mintlify.VisitorTotals{Total: 7}
		})

		require.Equal(t, exitOK, r.sync(t.Context(), "-from", "2000-02-29"), r.messages)

		want := slices.Clone(rows)
		want[3].Path = "/nul\uFFFD"
		r.requireWindows(func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			return want, mintlify.VisitorTotals{Total: 7}
		}, store.Windows("docs", store.Day, day(time.February, 29), day(time.March, 1)))
	})
}

func TestPlan(t *testing.T) {
	for name, tc := range map[string]struct{ pages, probes, most int }{
		"a small site":   {pages: 250, probes: 1, most: 8},
		"a larger one":   {pages: 600, probes: 3, most: 8 * 3},
		"6,000 pages":    {pages: 6000, probes: 8, most: 8 * 30},
		"no page at all": {pages: 0, probes: 1, most: 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sleepUntil(time.March, 1, 0)
				r := newRig(t, site(tc.pages))
				args := []string{"-from", "2000-02-22", "-budget", "2000"}

				plan := func() (exports, requests, lists int) {
					require.Equal(t, exitOK, r.run(t.Context(), append([]string{"plan"}, args...)...), r.messages)
					_, err := fmt.Sscanf(r.stdout, "%d exports to load, about %d requests and at most %d for lists;",
						&exports, &requests, &lists)
					require.NoError(t, err, r.stdout)
					return exports, requests, lists
				}

				exports, requests, lists := plan()
				assert.Equal(t, 8, exports)
				assert.Zero(t, lists)
				assert.LessOrEqual(t, len(r.asked()), tc.probes)

				asked := len(r.asked())
				_, again, _ := plan()
				assert.Equal(t, requests, again)
				assert.Len(t, r.asked(), asked, "what was found out is kept")
				assert.LessOrEqual(t, requests, tc.most)

				require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)

				visitors := 0
				for _, request := range r.asked()[asked:] {
					if strings.HasPrefix(request, "docs 2000-") {
						visitors++
					}
				}

				t.Logf("planned %d requests, took %d", requests, visitors)
				assert.GreaterOrEqual(t, requests, visitors)
				assert.LessOrEqual(t, float64(requests), 1.25*float64(visitors))
			})
		})
	}
}

func TestPlanCountsTheLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(3))

		require.Equal(t, exitOK, r.run(t.Context(), "plan", "-from", "2000-01-31", "-pages", "9"))
		assert.Equal(t, "41 exports to load, about 36 requests and at most 29 for lists;"+
			" 89 of the hour's budget of 90 are left (requests that found out how large the site is: 1).\n", r.stdout)

		require.Equal(t, exitOK, r.sync(t.Context(), "-from", "2000-01-31"), r.messages)
		require.Equal(t, exitOK, r.run(t.Context(), "plan", "-from", "2000-01-24"))
		assert.Equal(t, "12 exports to load, about 8 requests and at most 4 for lists;"+
			" 48 of the hour's budget of 90 are left (requests that found out how large the site is: 0).\n", r.stdout)
	})
}

// After the README's statement, the next run loads a range anew, and nothing else.
func TestARangeThatWasCorrectedIsLoadedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 15, 12)
		r := newRig(t, site(3))

		args := []string{"-from", "2000-01-10", "-budget", "1000"}
		for range 6 {
			require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		}

		asked := len(r.asked())
		r.service.SetVisitorsFunc(site(4))

		_, statement, _ := strings.Cut(read(t, "README.md"), "```sql\nUPDATE")
		statement, _, _ = strings.Cut("UPDATE"+statement, "```")

		statement = strings.NewReplacer("2026-10-01", "2000-02-01", "2026-11-01", "2000-03-01").Replace(statement)
		_, err := rawDatabase(t, r.db).ExecContext(t.Context(), statement)
		require.NoError(t, err)

		for range 6 {
			require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		}

		for _, span := range []store.Span{store.Day, store.Week, store.Month, store.Weeks(4)} {
			windows := store.Windows("docs", span, day(time.February, 1), day(time.March, 1))
			if span == store.Weeks(4) {
				windows = []store.Window{store.LastWeeks("docs", 4, day(time.March, 14))}
			}
			r.requireWindows(site(4), windows)
		}

		r.requireWindows(site(3), store.Windows("docs", store.Day, day(time.January, 10), day(time.February, 1)))

		again := strings.Join(r.asked()[asked:], "\n")
		assert.Contains(t, again, "docs searches 2000-02-01 2000-03-01")
		assert.NotContains(t, again, "2000-01-30 2000-01-31")
		assert.NotContains(t, again, "2000-03-01 2000-03-02")
	})
}

func TestPlanEndsAtTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(3))

		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 429})

		assert.Equal(t, exitQuota, r.run(t.Context(), "plan", "-from", "2000-01-31"), r.messages)
		assert.Equal(t, exitQuota, r.run(t.Context(), "plan", "-from", "2000-01-31"), r.messages)
		assert.Len(t, r.asked(), 1)
	})
}

// Each project has a demo's or the service's database, never both.
func TestDemoAndRealDataDoNotMix(t *testing.T) {
	r := newRig(t, site(3))

	r.env["MINTLIFY_API_KEY"] = ""
	assert.Equal(t, exitUsage, r.sync(t.Context()), "no key, no made-up numbers")
	assert.Contains(t, r.messages, "MINTLIFY_API_KEY is not set")
	assert.Empty(t, r.stdout)
	assert.NoFileExists(t, strings.TrimPrefix(r.db, "sqlite:"))

	assert.Equal(t, exitUsage, r.sync(t.Context(), "-demo"), "the real database is not named by the flag")
	assert.Contains(t, r.messages, "-db")

	require.Equal(t, exitOK, r.sync(t.Context(), "-demo", "-db", r.db), r.messages)
	require.Equal(t, exitOK, r.run(t.Context(), "digest"), r.messages)
	assert.Contains(t, r.stdout, "made-up")

	r.env["MINTLIFY_API_KEY"] = mintlifytest.APIKey
	assert.Equal(t, exitUsage, r.sync(t.Context()))
	assert.Contains(t, r.messages, "the demo")

	r.db = "sqlite:" + filepath.Join(t.TempDir(), "real.db")
	require.Equal(t, exitOK, r.sync(t.Context()), r.messages)

	assert.Equal(t, exitUsage, r.sync(t.Context(), "-demo", "-db", r.db))
	assert.Contains(t, r.messages, mintlify.DefaultBaseURL)

	r.env["MINTLIFY_BASE_URL"] = "https://other.example.com/"
	assert.Equal(t, exitUsage, r.sync(t.Context()))
	assert.Contains(t, r.messages, "https://other.example.com")
	assert.NotContains(t, r.messages, mintlifytest.APIKey)
}

func TestWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"Want a command":        {},
		"unexpected argument":   {"sync", "surplus"},
		"-budget is 0":          {"sync", "-budget", "0"},
		"-pages is 0":           {"sync", "-pages", "0"},
		"-weeks is 0":           {"plan", "-weeks", "0"},
		"in the future":         {"sync", "-from", "2999-01-01"},
		"stat /no/such:":        {"report", "-demo", "-o", "/no/such/page.html"},
		"stat /no/such/csv:":    {"report", "-demo", "-csv", "/no/such/csv/pages.csv"},
		"no folder /no/such":    {"sync", "-db", "sqlite:/no/such/docs.db"},
		"no database at /no/x":  {"digest", "-db", "sqlite:/no/x"},
		"want it as 2006-01-02": {"sync", "-from", "2000-01-01T00:00:00Z"},
		"-nonsense":             {"sync", "-nonsense"},
		"swapped":               {"sync", "-projects", "docs,mint_abc"},
		"a project is empty":    {"sync", "-projects", ""},
		"-db is empty":          {"sync", "-db", ""},
		"-o is empty":           {"report", "-o", ""},
		"-csv is empty":         {"report", "-csv", ""},
		"-site is empty":        {"report", "-site", ""},
		"-site is not a URL":    {"report", "-site", "docs.example.com"},
		"want it as 2006-01":    {"digest", "-month", "October"},
		"want a pattern":        {"report", "-machine", ""},
		"it reads no -db":       {"report", "-demo", "-db", "sqlite:x.db"},
		"give -db or DATABASE_": {"sync", "-db", "docs.db"},
		"postgres://…":          {"sync", "-db", "mysql://user:secret@host/x"},
		"cannot be parsed":      {"sync", "-db", "host=x port=secret"},
		"want months":           {"sync", "-keep", "13"},
		"give one of -texts":    {"forget", "-texts", "-feedback", "f1"},
		"-conversation is empt": {"forget", "-conversation", ""},
		"no database at /no/y":  {"forget", "-texts", "-db", "sqlite:/no/y"},
	} {
		r := newRig(t, site(3))
		assert.Equal(t, exitUsage, r.run(t.Context(), args...), want)
		assert.Contains(t, r.messages, want)
		assert.NotContains(t, r.messages, "secret")
		assert.Empty(t, r.stdout)
	}

	r := newRig(t, site(3))
	r.env["MINTLIFY_PROJECT_ID"] = " "
	assert.Equal(t, exitUsage, r.sync(t.Context()))
	assert.Contains(t, r.messages, "MINTLIFY_PROJECT_ID")

	r.env["MINTLIFY_PROJECT_ID"] = "docs"
	r.env = map[string]string{"DATABASE_URL": ""}
	for _, args := range [][]string{
		{"-h"},
		{"--version"},
		{"sync", "-h"},
		{"plan", "-h"},
		{"report", "-h"},
		{"digest", "-h"},
		{"forget", "-h"},
	} {
		assert.Equal(t, exitOK, r.run(t.Context(), args...), args)
		assert.NotEmpty(t, r.stdout)
	}
	assert.Equal(t, exitUsage, r.run(t.Context(), "digest"))
}

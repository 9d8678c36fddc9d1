package exports_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func TestEveryWindowIsLoadedNewestFirstAndProjectsInTurn(t *testing.T) {
	onDay(t, time.February, 10, 5, site(3), func(t *testing.T, r *rig) {
		require.NoError(t, r.load(t.Context(), "2000-01-24", "docs", "handbook"))

		asked := r.asked()
		require.Len(t, asked, 2*(17+2+2), "17 days, 2 weeks and their thumbs, no whole month")

		assert.Equal(t, []string{
			"docs 2000-01-31 2000-02-07", "docs feedback/by-page 2000-01-31 2000-02-07",
			"handbook 2000-01-31 2000-02-07", "handbook feedback/by-page 2000-01-31 2000-02-07",
			"docs 2000-02-08 2000-02-09", "handbook 2000-02-08 2000-02-09",
			"docs 2000-02-07 2000-02-08", "handbook 2000-02-07 2000-02-08",
		}, asked[:8], "the week of the report first")

		last := asked[len(asked)-2:]
		assert.Equal(t, []string{"docs 2000-02-09 2000-02-10", "handbook 2000-02-09 2000-02-10"}, last, "may change")

		for _, request := range r.service.Requests() {
			if strings.HasSuffix(request.Path, "/visitors") {
				assert.Equal(t, "250", request.Query.Get("limit"))
			}
		}

		for _, project := range []string{"docs", "handbook"} {
			for _, span := range []store.Span{store.Day, store.Week} {
				r.requireWindows(site(3), store.Windows(project, span, day(time.January, 24), day(time.February, 10)))
			}
		}

		require.NoError(t, r.load(t.Context(), "2000-01-24", "docs", "handbook"))
		assert.Len(t, r.asked(), len(asked), "again, nothing is asked")
	})
}

func TestExportResumesAtItsOffset(t *testing.T) {
	onDay(t, time.March, 2, 0, site(1100), func(t *testing.T, r *rig) {
		r.service.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Delay: time.Second})

		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()

		require.Error(t, r.load(ctx, "2000-02-29"))
		require.Error(t, ctx.Err())
		r.read(func(s *store.Store) {
			syncs, err := s.Syncs(t.Context())
			require.NoError(t, err)
			require.Len(t, syncs, 1)
			assert.Equal(t, "interrupted", syncs["docs"].Problem)
			assert.Equal(t, 1, syncs["docs"].Missing)
		})

		require.NoError(t, r.load(t.Context(), "2000-02-29"))

		window := "docs 2000-02-29 2000-03-01"
		want := []string{
			window,
			window + " 250",
			window + " 500",
			window + " 500",
			window + " 750",
			window + " 1000",
		}
		assert.Equal(t, want, r.askedFor("2000-02-29"), "one page was on its way")
		r.requireWindows(site(1100), days(day(time.February, 29), day(time.March, 1)))
	})
}

// atEnd is the end of a body, which calls a function.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// lastByte is a transport that ends a context when a response has come whole.
type lastByte struct {
	http.RoundTripper
	cancel context.CancelFunc
}

func (l lastByte) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = io.NopCloser(io.MultiReader(response.Body, atEnd(l.cancel)))
	}
	return response, err
}

func TestAPageThatHasComeIsKept(t *testing.T) {
	onDay(t, time.March, 2, 0, site(600), func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r.transport = lastByte{r.service, cancel}

		require.Error(t, r.load(ctx, "2000-02-29"))
		require.Error(t, ctx.Err())

		r.transport = r.service
		require.NoError(t, r.load(t.Context(), "2000-02-29"))
		assert.Len(t, r.askedFor("2000-02-29"), 3, "no page twice")
		r.requireWindows(site(600), days(day(time.February, 29), day(time.March, 1)))
	})
}

// What is half loaded is thrown away after six hours, or once it is final.
func TestAnExportThatHasGrownOldBeginsAnew(t *testing.T) {
	for hour, pause := range map[int]time.Duration{0: 7 * time.Hour, 23: 2 * time.Hour} {
		onDay(t, time.March, 1, hour, site(600), func(t *testing.T, r *rig) {
			r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: time.Second})
			r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})
			require.Error(t, r.load(t.Context(), "2000-02-29"))

			time.Sleep(pause)
			require.NoError(t, r.load(t.Context(), "2000-02-29"))

			window := "docs 2000-02-29 2000-03-01"
			want := []string{window, window + " 250", window, window + " 250", window + " 500"}
			assert.Equal(t, want, r.askedFor("2000-02-29"))
			r.requireWindows(site(600), days(day(time.February, 29), day(time.March, 1)))
		})
	}
}

func TestTotalsThatChangeWithinAnExportBeginItAnew(t *testing.T) {
	onDay(t, time.March, 2, 0, nil, func(t *testing.T, r *rig) {
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

		r.service.SetVisitorsFunc(moving(1000))
		require.ErrorContains(t, r.load(t.Context(), "2000-02-29"), "totals change")
		assert.Len(t, r.askedFor("2000-02-29"), 8, "it does not go on for ever")

		settled := moving(3)
		r.service.SetVisitorsFunc(settled)
		require.NoError(t, r.load(t.Context(), "2000-02-29"))
		r.requireWindows(settled, days(day(time.February, 29), day(time.March, 1)))
	})
}

func TestBudgetIsKeptOverAllRuns(t *testing.T) {
	onDay(t, time.March, 1, 0, site(600), func(t *testing.T, r *rig) { // 3 requests a window
		r.budget = 10

		quota := requireQuota(t, r.load(t.Context(), "2000-02-22"))
		assert.Contains(t, quota.Error(), "nothing is sent before 01:00:00 UTC on 2000-03-01")
		assert.Len(t, r.asked(), 10)

		time.Sleep(59 * time.Minute)
		requireQuota(t, r.load(t.Context(), "2000-02-22"))
		assert.Len(t, r.asked(), 10, "nothing is sent before")

		time.Sleep(time.Minute)
		requireQuota(t, r.load(t.Context(), "2000-02-22"))
		assert.Len(t, r.asked(), 20)

		time.Sleep(time.Hour)
		require.NoError(t, r.load(t.Context(), "2000-02-22"))
		assert.Len(t, r.asked(), 24, "8 windows, no page twice")
		r.requireWindows(site(600), days(day(time.February, 22), day(time.March, 1)))
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
			onDay(t, time.March, 2, 0, site(600), func(t *testing.T, r *rig) {
				limited := mintlifytest.Fault{Status: 429, Header: tc.header}
				r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: 1})
				r.service.FailNext(mintlify.OpGetVisitors, 1, limited)

				quota := requireQuota(t, r.load(t.Context(), "2000-02-29"))

				back := time.Now().Add(tc.wait)
				assert.Contains(t, quota.Error(), "nothing is sent before "+back.Format(time.TimeOnly))
				assert.Contains(t, quota.Error(), "429")
				assert.Len(t, r.askedFor("2000-02-29"), 2, "a 429 is not retried")

				time.Sleep(tc.wait - time.Second)
				requireQuota(t, r.load(t.Context(), "2000-02-29"))
				assert.Len(t, r.askedFor("2000-02-29"), 2, "nothing is sent before")

				time.Sleep(time.Second)
				r.service.FailNext(mintlify.OpGetVisitors, 1, limited)

				r.wait = true
				require.NoError(t, r.load(t.Context(), "2000-02-29"))
				assert.Contains(t, strings.Join(r.log, "\n"), "Waiting for the hourly quota until")
				assert.WithinDuration(t, back.Add(tc.wait), time.Now(), time.Second)
				assert.Len(t, r.askedFor("2000-02-29"), 5)

				windows := days(day(time.February, 29), day(time.March, 1))
				r.requireWindows(site(600), windows)
			})
		})
	}
}

func TestAWaitForTheQuotaCanBeInterrupted(t *testing.T) {
	onDay(t, time.March, 1, 0, site(1), func(t *testing.T, r *rig) {
		r.budget = 1
		r.wait = true

		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()

		start := time.Now()
		assert.ErrorIs(t, r.load(ctx, "2000-02-01"), context.DeadlineExceeded)
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
		r.budget = 20

		projects := []string{"docs", "handbook"}
		var quotaNights, refusedNights int // at the own budget, and at the service's quota

		for night := range 30 {
			for range night % 3 * 45 {
				_, err := r.service.Client().Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
				require.NoError(t, err)
			}

			if err := r.load(t.Context(), "2000-01-01", projects...); err != nil {
				quota := requireQuota(t, err)
				quotaNights++
				refusedNights += strings.Count(quota.Error(), "(429)")
			}

			time.Sleep(24 * time.Hour)
		}

		assert.Greater(t, quotaNights, refusedNights, "the first nights have more to load than the budget")
		assert.NotZero(t, refusedNights, "and than the others leave of the quota")
		assert.Less(t, quotaNights, 10)

		require.NoError(t, r.load(t.Context(), "2000-01-01", projects...))

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
	onDay(t, time.March, 1, 0, site(3), func(t *testing.T, r *rig) {
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{
			Status: 404,
			Body:   `{"error":"no such project"}`,
		})

		err := r.load(t.Context(), "2000-02-27", "gone", "docs")
		require.ErrorContains(t, err, "gone 2000-02-28, visitors: ")
		require.ErrorContains(t, err, "no such project")
		assert.Len(t, r.asked(), 1+3, "no more of the one that fails")

		r.requireWindows(site(3), days(day(time.February, 27), day(time.March, 1)))
	})
}

func TestAFailingWindowLeavesTheOthersToBeLoaded(t *testing.T) {
	onDay(t, time.March, 1, 0, site(3), func(t *testing.T, r *rig) {
		bad := mintlifytest.Fault{Status: 400, Body: `{"error":"too long ago"}`}
		r.service.FailNext(mintlify.OpGetVisitors, 2, bad)
		r.service.SucceedNext(mintlify.OpGetVisitors, 1)
		r.service.FailNext(mintlify.OpGetVisitors, 2, bad)

		err := r.load(t.Context(), "2000-02-22")
		require.ErrorContains(t, err, "docs 2000-02-28, visitors: ")
		require.ErrorContains(t, err, "too long ago")
		assert.Len(t, r.asked(), 8)
		r.requireWindows(site(3), days(day(time.February, 22), day(time.February, 24)))

		r.service.FailNext(mintlify.OpGetVisitors, 9, bad)
		require.Error(t, r.load(t.Context(), "2000-02-15"))
		assert.Len(t, r.asked(), 8+3+1, "three in a row are enough, and lists do not wait for days")
	})
}

func TestQuotaAfterFailures(t *testing.T) {
	onDay(t, time.March, 2, 0, site(3), func(t *testing.T, r *rig) {
		r.service.FailNext(mintlify.OpGetVisitors, 3, mintlifytest.Fault{Status: 502})
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 429})

		requireQuota(t, r.load(t.Context(), "2000-02-29"))
		requireQuota(t, r.load(t.Context(), "2000-02-29"))
		assert.Len(t, r.asked(), 4)
	})
}

func TestFailuresThatPassAreRetried(t *testing.T) {
	onDay(t, time.March, 1, 0, site(600), func(t *testing.T, r *rig) {
		r.service.FailNext(mintlify.OpGetVisitors, 2, mintlifytest.Fault{Status: 502})
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{
			Status: 503,
			Header: http.Header{"Retry-After": {"70"}},
		})

		start := time.Now()
		require.NoError(t, r.load(t.Context(), "2000-02-29"))
		assert.Equal(t, 30*time.Second+30*time.Second+70*time.Second, time.Since(start))
		assert.Contains(t, strings.Join(r.log, "\n"), "6 requests, 84 left", "failures count against the budget")

		r = newRig(t, site(600))
		r.service.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Status: 502})
		require.ErrorContains(t, r.load(t.Context(), "2000-02-29"), "502")
		assert.Len(t, r.asked(), 4)
	})
}

// Once an export of the site is loaded, plan knows how large the site is. Before, it says that it guesses. It
// sends nothing.
func TestPlan(t *testing.T) {
	for _, pages := range []int{0, 250, 600, 6000} {
		onDay(t, time.March, 2, 0, site(pages), func(t *testing.T, r *rig) {
			assert.Equal(t, exports.Plan{Missing: 7, Left: 90, Night: 4, IsGuess: true}, r.plan("2000-02-23"))
			assert.Empty(t, r.asked())

			r.budget = max(1, (pages+249)/250) // one export
			requireQuota(t, r.load(t.Context(), "2000-02-23"))
			asked := len(r.asked())

			r.budget = 2000
			plan := r.plan("2000-02-23")
			assert.Len(t, r.asked(), asked)
			assert.False(t, plan.IsGuess)

			require.NoError(t, r.load(t.Context(), "2000-02-23"))
			took := 0
			for _, request := range r.asked()[asked:] {
				if !strings.Contains(request, "2000-03-02") { // may still change
					took++
				}
			}
			assert.Equal(t, took, plan.Missing)
		})
	}
}

// The size of the site is known from an export of another span.
func TestPlanKnowsTheSizeFromAWeek(t *testing.T) {
	onDay(t, time.March, 2, 0, site(600), func(t *testing.T, r *rig) {
		r.budget = 3
		requireQuota(t, r.load(t.Context(), "2000-02-21"))
		assert.Equal(t, "docs 2000-02-21 2000-02-28", r.asked()[0])
		assert.Equal(t, exports.Plan{Missing: 27 + 1, Night: 7}, r.plan("2000-02-21"))
	})
}

func TestPlanOfANight(t *testing.T) {
	onDay(t, time.March, 2, 0, site(3), func(t *testing.T, r *rig) {
		r.months = 13
		assert.Equal(t, exports.Plan{Missing: 48 + 26, Left: 90, Night: 4, IsGuess: true}, r.plan("2000-01-31"))

		r.budget = 1000
		require.NoError(t, r.load(t.Context(), "2000-01-31"))
		assert.Equal(t, exports.Plan{Left: 941, Night: 2}, r.plan("2000-01-31"))
	})
}

// After the README's statement, the next run loads a range anew, and nothing else.
func TestARangeThatWasCorrectedIsLoadedAnew(t *testing.T) {
	onDay(t, time.March, 15, 12, site(3), func(t *testing.T, r *rig) {
		r.budget = 1000
		require.NoError(t, r.load(t.Context(), "2000-01-10"))

		asked := len(r.asked())
		r.service.SetVisitorsFunc(site(4))

		readme, err := os.ReadFile("../../README.md")
		require.NoError(t, err)

		_, statement, _ := strings.Cut(string(readme), "```sql\nUPDATE")
		statement, _, _ = strings.Cut("UPDATE"+statement, "```")

		statement = strings.NewReplacer("2026-10-01", "2000-02-01", "2026-11-01", "2000-03-01").Replace(statement)
		_, err = rawDatabase(t, r.db).ExecContext(t.Context(), statement)
		require.NoError(t, err)

		require.NoError(t, r.load(t.Context(), "2000-01-10"))

		for _, span := range []store.Span{store.Day, store.Week, store.Month, store.Weeks(4)} {
			windows := store.Windows("docs", span, day(time.February, 1), day(time.March, 1))
			if span == store.Weeks(4) {
				windows = []store.Window{store.LastWeeks("docs", 4, day(time.March, 14))}
			}
			r.requireWindows(site(4), windows)
		}

		r.requireWindows(site(3), days(day(time.January, 10), day(time.February, 1)))

		again := strings.Join(r.asked()[asked:], "\n")
		assert.Contains(t, again, "docs searches 2000-02-01 2000-03-01")
		assert.NotContains(t, again, "2000-01-30 2000-01-31")
		assert.NotContains(t, again, "2000-03-01 2000-03-02")
	})
}

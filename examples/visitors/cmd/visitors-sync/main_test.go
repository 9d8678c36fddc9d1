package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
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

	"github.com/mintlify-community/mintlify-go/examples/visitors/internal/command"
	"github.com/mintlify-community/mintlify-go/examples/visitors/internal/load"
	"github.com/mintlify-community/mintlify-go/examples/visitors/internal/store"
)

// rig runs the program against a fake that it knows as the service, on a database of
// its own, and keeps what it prints.
type rig struct {
	t        *testing.T
	svc      *mintlifytest.Service
	env      map[string]string
	db       string
	stdout   string
	messages string
}

func newRig(t *testing.T, visitors visitorsFunc) *rig {
	svc := mintlifytest.NewService()
	svc.SetVisitorsFunc(visitors)
	return &rig{t: t, svc: svc, db: filepath.Join(t.TempDir(), "visitors.db"),
		env: map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey, "MINTLIFY_PROJECT_ID": "docs"}}
}

func (r *rig) run(ctx context.Context, args ...string) (code int) {
	r.t.Helper()
	dir := r.t.TempDir()
	stdout, err := os.Create(filepath.Join(dir, "stdout"))
	require.NoError(r.t, err)
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(dir, "stderr"))
	require.NoError(r.t, err)
	defer stderr.Close()
	p := command.Program{Getenv: func(name string) string { return r.env[name] }, Transport: r.svc, Stdout: stdout, Stderr: stderr}
	code = run(ctx, p, append([]string{"-db", r.db}, args...))
	for name, into := range map[string]*string{"stdout": &r.stdout, "stderr": &r.messages} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(r.t, err)
		*into = string(text)
	}
	return code
}

// asked returns what was asked for, one text a request: project, dates, offset.
func (r *rig) asked() []string {
	var all []string
	for _, request := range r.svc.Requests() {
		project := strings.Split(request.Path, "/")[3]
		all = append(all, strings.TrimSpace(fmt.Sprint(project, " ", request.Query.Get("dateFrom"), " ", request.Query.Get("dateTo"), " ", request.Query.Get("offset"))))
	}
	return all
}

// requireWindows asserts that the database holds exactly what visitors tells of them.
func (r *rig) requireWindows(visitors visitorsFunc, windows []store.Window) {
	r.t.Helper()
	db, err := store.Open(r.t.Context(), r.db, mintlify.DefaultBaseURL)
	require.NoError(r.t, err)
	defer db.Close()
	for _, w := range windows {
		counts, rows, err := db.Visitors(r.t.Context(), w)
		require.NoError(r.t, err)
		require.NotNil(r.t, counts, "%v is missing", w)
		want, totals := visitors(w.Project, mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To})
		require.Equal(r.t, totals, counts.Totals, w)
		require.Equal(r.t, len(want), counts.Pages, w)
		require.True(r.t, slices.Equal(want, rows), "%v differs", w)
	}
}

type visitorsFunc = func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals)

// site returns a fake's visitors: n rows that differ by project and window.
func site(n int) visitorsFunc {
	return func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		seed := int64(len(project))*1000 + p.DateFrom.Time().Unix()/86400 + p.DateTo.Time().Unix()/864000
		rows := make([]mintlify.Visitor, n)
		for i := range rows {
			human, ai := seed+int64(i), int64(i)%7
			rows[i] = mintlify.Visitor{Path: fmt.Sprintf("/%s/page-%d", project, i), Human: human, AI: ai, Total: human + ai}
		}
		return rows, mintlify.VisitorTotals{Human: seed, AI: seed / 2, Total: seed + seed/3}
	}
}

func day(month time.Month, d int) mintlify.Date { return mintlify.Day(2000, month, d) }

// Time begins on 2000-01-01, a Saturday, in a bubble.
func sleepUntil(month time.Month, d, hour int) {
	time.Sleep(time.Until(day(month, d).Time().Add(time.Duration(hour) * time.Hour)))
}

func TestEveryWindowIsLoadedNewestFirstAndProjectsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.February, 9, 5)
		r := newRig(t, site(3))
		r.env["MINTLIFY_PROJECT_ID"] = "" // not needed
		require.Equal(t, command.OK, r.run(t.Context(), "-projects", "docs, handbook", "-from", "2000-01-24"), r.messages)
		asked := r.asked()
		require.Len(t, asked, 2*(16+2), "16 days, 2 weeks, no whole month")
		assert.Equal(t, []string{
			"docs 2000-02-08 2000-02-09", "handbook 2000-02-08 2000-02-09",
			"docs 2000-02-07 2000-02-08", "handbook 2000-02-07 2000-02-08",
			"docs 2000-02-06 2000-02-07", "handbook 2000-02-06 2000-02-07",
			"docs 2000-01-31 2000-02-07", "handbook 2000-01-31 2000-02-07",
		}, asked[:8])
		for _, request := range r.svc.Requests() {
			assert.Equal(t, "250", request.Query.Get("limit"))
		}
		for _, project := range []string{"docs", "handbook"} {
			for _, span := range []load.Span{load.ByDay, load.ByWeek} {
				r.requireWindows(site(3), load.Windows(project, span, day(time.January, 24), day(time.February, 9)))
			}
		}

		require.Equal(t, command.OK, r.run(t.Context(), "-projects", "docs,handbook", "-from", "2000-01-24"))
		assert.Len(t, r.asked(), len(asked), "again, nothing is asked")
		require.Equal(t, command.OK, r.run(t.Context(), "-projects", "docs,handbook", "-from", "2000-01-01", "-by", "month"))
		r.requireWindows(site(3), []store.Window{{Project: "docs", From: day(time.January, 1), To: day(time.February, 1)}})
	})
}

func TestExportResumesAtItsOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(1100))
		r.svc.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Delay: time.Second})
		args := []string{"-from", "2000-02-29", "-by", "day"}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		require.Equal(t, command.Interrupted, r.run(ctx, args...), r.messages)
		assert.Contains(t, r.messages, "interrupted")
		assert.Contains(t, r.messages, "resumes where it stopped")
		require.Equal(t, command.OK, r.run(t.Context(), args...), r.messages)
		window := "docs 2000-02-29 2000-03-01"
		assert.Equal(t, []string{window, window + " 250", window + " 500", window + " 500", window + " 750", window + " 1000"}, r.asked(), "one page was on its way")
		r.requireWindows(site(1100), load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
	})
}

func TestNobodySeesHalfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(600))
		args := []string{"-from", "2000-02-29", "-by", "day", "-max-age", "1h"}
		windows := load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1))
		require.Equal(t, command.OK, r.run(t.Context(), args...), r.messages)
		time.Sleep(2 * time.Hour)

		r.svc.SetVisitorsFunc(site(700))
		for range 2 {
			r.svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: time.Second})
		}
		r.svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})
		require.Equal(t, command.Failed, r.run(t.Context(), args...), r.messages)
		r.requireWindows(site(600), windows)
		require.Equal(t, command.OK, r.run(t.Context(), args...), r.messages)
		r.requireWindows(site(700), windows)
		assert.Len(t, r.asked(), 3+3+1, "it resumed at the last page")
	})
}

func TestAnExportThatHasGrownOldBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(600))
		args := []string{"-from", "2000-02-29", "-by", "day"}
		r.svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: time.Second})
		r.svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})
		require.Equal(t, command.Failed, r.run(t.Context(), args...))
		time.Sleep(25 * time.Hour)
		require.Equal(t, command.OK, r.run(t.Context(), args...), r.messages)
		window := "docs 2000-02-29 2000-03-01"
		assert.Equal(t, []string{window, window + " 250", window, window + " 250", window + " 500"}, slices.DeleteFunc(r.asked(), func(s string) bool { return !strings.HasPrefix(s, window) }))
		r.requireWindows(site(600), load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 2)))
	})
}

func TestTotalsThatChangeWithinAnExportBeginItAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, nil)
		requests := 0
		moving := func(until int) visitorsFunc {
			requests = 0
			return func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
				requests++
				rows, totals := site(600)(project, p)
				totals.Human += int64(min(requests, until))
				return rows, totals
			}
		}
		args := []string{"-from", "2000-02-29", "-by", "day"}
		r.svc.SetVisitorsFunc(moving(1000))
		require.Equal(t, command.Failed, r.run(t.Context(), args...))
		assert.Contains(t, r.messages, "totals change")
		assert.Len(t, r.asked(), 8, "it does not go on for ever")

		settled := moving(3)
		r.svc.SetVisitorsFunc(settled)
		require.Equal(t, command.OK, r.run(t.Context(), args...), r.messages)
		r.requireWindows(settled, load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
	})
}

func TestBudgetIsKeptOverAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(600)) // 3 requests a window
		args := []string{"-from", "2000-02-22", "-by", "day", "-budget", "10"}
		require.Equal(t, command.Quota, r.run(t.Context(), args...))
		assert.Contains(t, r.messages, "nothing is sent before 01:00:00 UTC on 2000-03-01")
		assert.Len(t, r.asked(), 10)
		time.Sleep(59 * time.Minute)
		require.Equal(t, command.Quota, r.run(t.Context(), args...))
		assert.Len(t, r.asked(), 10, "nothing is sent before")
		time.Sleep(time.Minute)
		require.Equal(t, command.Quota, r.run(t.Context(), args...))
		assert.Len(t, r.asked(), 20)
		time.Sleep(time.Hour)
		require.Equal(t, command.OK, r.run(t.Context(), args...))
		assert.Len(t, r.asked(), 24, "8 windows, no page twice")
		r.requireWindows(site(600), load.Windows("docs", load.ByDay, day(time.February, 22), day(time.March, 1)))
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
				r := newRig(t, site(600))
				limited := mintlifytest.Fault{Status: 429, Header: tc.header}
				r.svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: 1})
				r.svc.FailNext(mintlify.OpGetVisitors, 1, limited)
				args := []string{"-from", "2000-02-29", "-by", "day"}
				require.Equal(t, command.Quota, r.run(t.Context(), args...))
				back := time.Now().Add(tc.wait)
				assert.Contains(t, r.messages, "nothing is sent before "+back.Format(time.TimeOnly))
				assert.Contains(t, r.messages, "429")
				assert.Len(t, r.asked(), 2, "a 429 is not retried")

				time.Sleep(tc.wait - time.Second)
				require.Equal(t, command.Quota, r.run(t.Context(), args...))
				assert.Len(t, r.asked(), 2, "nothing is sent before")
				time.Sleep(time.Second)
				r.svc.FailNext(mintlify.OpGetVisitors, 1, limited)
				require.Equal(t, command.OK, r.run(t.Context(), append(args, "-wait")...), r.messages)
				assert.Contains(t, r.messages, "Waiting for the hourly quota until")
				assert.WithinDuration(t, back.Add(tc.wait), time.Now(), time.Second)
				assert.Len(t, r.asked(), 5)
				r.requireWindows(site(600), load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
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
		assert.Equal(t, command.Interrupted, r.run(ctx, "-budget", "1", "-wait"))
		assert.Equal(t, 90*time.Second, time.Since(start))
	})
}

// What the service tells of a day moves until 20 hours after its end. The quota is
// enforced, and another program of the organization spends some of it each night.
func TestThirtyNights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moving := func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			rows, totals := site(400)(project, p)
			early := max(0, int64(p.DateTo.Time().Add(20*time.Hour).Sub(time.Now()).Hours()))
			totals.Human -= early
			rows[0].Human -= early
			return rows, totals
		}
		sleepUntil(time.February, 1, 2)
		r := newRig(t, moving)
		r.svc.EnforceQuotas()
		projects := []string{"docs", "handbook", "blog"}
		var quotaNights int
		for night := range 30 {
			for range night % 3 * 10 {
				_, err := r.svc.Client().Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
				require.NoError(t, err)
			}
			code := r.run(t.Context(), "-projects", strings.Join(projects, ","), "-from", "2000-01-01")
			if code == command.Quota {
				quotaNights++
			} else {
				require.Equal(t, command.OK, code, r.messages)
			}
			time.Sleep(24 * time.Hour)
		}
		assert.Greater(t, quotaNights, 0, "the first nights have more to load than an hour's quota")
		assert.Less(t, quotaNights, 10)
		require.Equal(t, command.OK, r.run(t.Context(), "-projects", strings.Join(projects, ","), "-from", "2000-01-01"), r.messages)

		settled := mintlify.DayOf(time.Now().Add(-24 * time.Hour).UTC())
		windows := 0
		for _, project := range projects {
			for _, span := range []load.Span{load.ByDay, load.ByWeek, load.ByMonth} {
				all := load.Windows(project, span, day(time.January, 1), settled)
				windows += len(all)
				r.requireWindows(site(400), all)
			}
		}
		t.Logf("%d nights ended at the quota; %d windows that are final, %d requests", quotaNights, windows, len(r.svc.Requests()))
	})
}

func TestAFailingProjectLeavesTheOthersToBeLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(3))
		r.svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 404, Body: `{"error":"no such project"}`})
		require.Equal(t, command.Failed, r.run(t.Context(), "-projects", "gone,docs", "-from", "2000-02-27", "-by", "day"))
		assert.Contains(t, r.messages, "gone 2000-02-29: ")
		assert.Contains(t, r.messages, "no such project")
		assert.Len(t, r.asked(), 1+3, "no more of the one that fails")
		r.requireWindows(site(3), load.Windows("docs", load.ByDay, day(time.February, 27), day(time.March, 1)))
	})
}

func TestFailuresThatPassAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		args := []string{"-from", "2000-02-29", "-by", "day"}
		r := newRig(t, site(600))
		r.svc.FailNext(mintlify.OpGetVisitors, 2, mintlifytest.Fault{Status: 502})
		r.svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 503, Header: http.Header{"Retry-After": {"30"}}})
		start := time.Now()
		require.Equal(t, command.OK, r.run(t.Context(), args...), r.messages)
		assert.Equal(t, 2*time.Second+4*time.Second+30*time.Second, time.Since(start))
		assert.Contains(t, r.messages, "6 requests, 84 left", "failures count against the budget")

		r = newRig(t, site(600))
		r.svc.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Status: 502})
		require.Equal(t, command.Failed, r.run(t.Context(), args...))
		assert.Len(t, r.asked(), 4)
		assert.Contains(t, r.messages, "502")
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
		require.Equal(t, command.OK, r.run(t.Context(), "-from", "2000-02-29", "-by", "day"), r.messages)
		want := slices.Clone(rows)
		want[3].Path = "/nul\uFFFD"
		r.requireWindows(func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
			return want, mintlify.VisitorTotals{Total: 7}
		}, load.Windows("docs", load.ByDay, day(time.February, 29), day(time.March, 1)))
	})
}

func TestPlanSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 1, 0)
		r := newRig(t, site(600))
		args := []string{"-from", "2000-01-31", "-by", "day,week"}
		require.Equal(t, command.OK, r.run(t.Context(), append(args, "-plan")...))
		assert.Equal(t, "34 windows to load, 34 requests or more; 90 of the hour's budget of 90 are left.\n", r.stdout)
		require.Equal(t, command.OK, r.run(t.Context(), "-from", "2000-02-29", "-by", "day"))
		require.Equal(t, command.OK, r.run(t.Context(), append(args, "-plan")...))
		assert.Equal(t, "33 windows to load, 99 requests; 87 of the hour's budget of 90 are left, so it takes 2 runs an hour apart.\n", r.stdout)
		assert.Len(t, r.asked(), 3)
	})
}

func TestDemoAndRealDataDoNotMix(t *testing.T) {
	r := newRig(t, site(3))
	real := r.env
	r.env = map[string]string{}
	require.Equal(t, command.OK, r.run(t.Context(), "-by", "week"), r.messages)
	assert.Contains(t, r.messages, "made up")
	r.env = real
	assert.Equal(t, command.Usage, r.run(t.Context(), "-by", "week"))
	assert.Contains(t, r.messages, "demo data of 120 pages")
	r.env = map[string]string{}
	assert.Equal(t, command.Usage, r.run(t.Context(), "-by", "week", "-demo-pages", "7"))

	r.db, r.env = filepath.Join(t.TempDir(), "real.db"), real
	require.Equal(t, command.OK, r.run(t.Context(), "-by", "week"), r.messages)
	r.env = map[string]string{}
	assert.Equal(t, command.Usage, r.run(t.Context(), "-by", "week"))
	assert.Contains(t, r.messages, mintlify.DefaultBaseURL)
	r.env = map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey, "MINTLIFY_PROJECT_ID": "docs", "MINTLIFY_BASE_URL": "https://other.example.com/"}
	assert.Equal(t, command.Usage, r.run(t.Context(), "-by", "week"))
	assert.Contains(t, r.messages, "https://other.example.com")
	assert.NotContains(t, r.messages, mintlifytest.APIKey)
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
		r := newRig(t, site(3))
		assert.Equal(t, command.Usage, r.run(t.Context(), args...), want)
		assert.Contains(t, r.messages, want)
	}
	r := newRig(t, site(3))
	r.env["MINTLIFY_PROJECT_ID"] = " "
	assert.Equal(t, command.Usage, r.run(t.Context()))
	assert.Contains(t, r.messages, "MINTLIFY_PROJECT_ID")
	assert.Equal(t, command.OK, r.run(t.Context(), "-h"))
	r.db = "/no/such/folder/visitors.db"
	r.env["MINTLIFY_PROJECT_ID"] = "docs"
	assert.Equal(t, command.Failed, r.run(t.Context()))
}

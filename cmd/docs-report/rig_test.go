package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// visitors is what a fake reports.
type visitors = func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals)

// rig is the program, the fake that it takes for the service, a database, and what the
// last run printed.
type rig struct {
	t                *testing.T
	service          *mintlifytest.Service
	transport        http.RoundTripper // to the service: the service itself, unless set
	env              map[string]string
	db               string
	demoPages        int
	stdout, messages string
}

// newRig returns a rig with a key and the project docs in its environment.
func newRig(t *testing.T, site visitors) *rig {
	svc := mintlifytest.NewService()
	svc.SetVisitorsFunc(site)
	return &rig{
		t:         t,
		service:   svc,
		transport: svc,
		db:        "sqlite:" + filepath.Join(t.TempDir(), "docs.db"),
		demoPages: 120,
		env: map[string]string{
			"MINTLIFY_API_KEY":    mintlifytest.APIKey,
			"MINTLIFY_PROJECT_ID": "docs",
		},
	}
}

// run runs a command with the rig's database by DATABASE_URL, and returns its exit code.
func (r *rig) run(ctx context.Context, args ...string) (code int) {
	r.t.Helper()

	dir := r.t.TempDir()
	stdout, err := os.Create(filepath.Join(dir, "stdout"))
	require.NoError(r.t, err)
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(dir, "stderr"))
	require.NoError(r.t, err)
	defer stderr.Close()

	getenv := func(name string) string {
		if value, ok := r.env[name]; ok || name != "DATABASE_URL" {
			return value
		}
		return r.db
	}

	p := program{
		getenv:    getenv,
		transport: r.transport,
		demoPages: r.demoPages,
		stdout:    stdout,
		stderr:    stderr,
	}
	code = p.run(ctx, args)

	for file, into := range map[*os.File]*string{stdout: &r.stdout, stderr: &r.messages} {
		text, err := os.ReadFile(file.Name())
		require.NoError(r.t, err)
		*into = string(text)
	}
	return code
}

// sync runs sync with an ample budget, unless args have another.
func (r *rig) sync(ctx context.Context, args ...string) (code int) {
	r.t.Helper()
	return r.run(ctx, append([]string{"sync", "-budget", "1000"}, args...)...)
}

// asked returns what the fake was asked for, a text per request: project, what if it is
// not visitors, dates, offset.
func (r *rig) asked() []string {
	var all []string
	for _, request := range r.service.Requests() {
		parts := strings.SplitN(strings.TrimPrefix(request.Path, "/v1/analytics/"), "/", 2)
		text := parts[0]
		if parts[1] != "visitors" {
			text += " " + parts[1]
		}

		for _, name := range []string{"dateFrom", "dateTo", "offset"} {
			text += " " + request.Query.Get(name)
		}
		all = append(all, strings.TrimSpace(text))
	}
	return all
}

// requireWindows asserts that the database holds exactly what the fake reports.
func requireWindows(t *testing.T, where string, site visitors, windows []store.Window) {
	t.Helper()
	db, err := store.Read(t.Context(), where)
	require.NoError(t, err)
	defer db.Close()
	for _, w := range windows {
		export, rows, err := db.Visitors(t.Context(), w)
		require.NoError(t, err)
		require.Equal(t, store.Loaded, export.State, "%v is missing", w)
		want, totals := site(w.Project, mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To})
		require.Equal(t, totals, export.Totals, w)
		require.Equal(t, len(want), export.Kept, w)
		require.True(t, slices.Equal(want, rows), "%v differs", w)
	}
}

// site returns a fake's visitors: n rows that differ by project and window.
func site(n int) visitors {
	return func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		seed := int64(len(project))*1000 + p.DateFrom.Time().Unix()/86400 + p.DateTo.Time().Unix()/864000
		rows := make([]mintlify.Visitor, n)
		for i := range rows {
			human := seed + int64(i)
			ai := int64(i) % 7
			rows[i] = mintlify.Visitor{
				Path:  fmt.Sprintf("/%s/page-%d", project, i),
				Human: human,
				AI:    ai,
				Total: human + ai,
			}
		}
		return rows, mintlify.VisitorTotals{Human: seed, AI: seed / 2, Total: seed + seed/3}
	}
}

func day(month time.Month, d int) mintlify.Date { return mintlify.Day(2000, month, d) }

// sleepUntil moves the clock of a bubble, where time begins on 2000-01-01, a Saturday.
func sleepUntil(month time.Month, d, hour int) {
	time.Sleep(time.Until(day(month, d).Time().Add(time.Duration(hour) * time.Hour)))
}

// rawDatabase opens a database as other programs do.
func rawDatabase(t *testing.T, where string) *sql.DB {
	t.Helper()

	driver := "pgx"
	if path, isSQLite := strings.CutPrefix(where, "sqlite:"); isSQLite {
		driver = "sqlite"
		where = "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=busy_timeout(30000)"
	}

	db, err := sql.Open(driver, where)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

package exports_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// visitors is what a fake reports.
type visitors = func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals)

// rig is a fake of the service, a database, and how to load the one into the other.
type rig struct {
	t         *testing.T
	service   *mintlifytest.Service
	transport http.RoundTripper // to the service: the service itself, unless set
	path      string            // of the database

	weeks  int
	months int
	budget int
	texts  bool
	wait   bool

	log      []string // of the last run
	requests int      // of the last run
}

func newRig(t *testing.T, site visitors) *rig {
	t.Helper()
	service := mintlifytest.NewService()
	service.SetVisitorsFunc(site)
	return &rig{
		t:         t,
		service:   service,
		transport: service,
		path:      filepath.Join(t.TempDir(), "docs.db"),
		weeks:     4,
		budget:    90,
	}
}

// run calls work with a loader of its own, as each run of the program does.
func (r *rig) run(work func(*exports.Loader) error) error {
	r.t.Helper()
	s, err := store.Open(context.Background(), "sqlite:"+r.path, "a test")
	require.NoError(r.t, err)
	defer s.Close()

	r.log = nil
	loader := &exports.Loader{Store: s, Budget: r.budget, Pages: 5, Texts: r.texts, Wait: r.wait}
	loader.Log = func(format string, args ...any) { r.log = append(r.log, fmt.Sprintf(format, args...)) }
	loader.Client, err = mintlify.NewClient(mintlifytest.APIKey, "docs",
		mintlify.WithHTTPClient(&http.Client{Transport: r.transport}),
		mintlify.WithRateLimiter(loader.Reserve),
		mintlify.WithMaxRetries(0))
	require.NoError(r.t, err)

	err = work(loader)
	r.requests = loader.Requests
	return err
}

// load loads projects, docs if none is named, since a day.
func (r *rig) load(ctx context.Context, from string, projects ...string) error {
	r.t.Helper()
	return r.run(func(l *exports.Loader) error { return l.Load(ctx, r.rangeOf(from, projects)) })
}

// plan returns what Plan says.
func (r *rig) plan(from string, projects ...string) (string, error) {
	r.t.Helper()
	text := ""
	err := r.run(func(l *exports.Loader) error {
		var err error
		text, err = l.Plan(context.Background(), r.rangeOf(from, projects))
		return err
	})
	return text, err
}

func (r *rig) rangeOf(from string, projects []string) exports.Range {
	first, err := mintlify.ParseDate(from)
	require.NoError(r.t, err)
	if len(projects) == 0 {
		projects = []string{"docs"}
	}
	return exports.Range{Projects: projects, From: first, Weeks: r.weeks, Months: r.months}
}

// requireQuota asserts that a run has ended at its budget or at the quota.
func requireQuota(t *testing.T, err error) *store.QuotaError {
	t.Helper()
	var quota *store.QuotaError
	require.ErrorAs(t, err, &quota)
	return quota
}

// read calls work with the database.
func (r *rig) read(work func(*store.Store)) {
	r.t.Helper()
	s, err := store.Read(context.Background(), "sqlite:"+r.path)
	require.NoError(r.t, err)
	defer s.Close()
	work(s)
}

// asked returns what the fake was asked for, a text per request: project, what if it is
// not visitors, dates, offset.
func (r *rig) asked() []string {
	var all []string
	for _, request := range r.service.Requests() {
		all = append(all, textOf(request.Path, request.Query))
	}
	return all
}

// askedFor returns what the fake was asked for the day that begins then.
func (r *rig) askedFor(from string) []string {
	until, err := mintlify.ParseDate(from)
	require.NoError(r.t, err)
	window := fmt.Sprintf("docs %s %v", from, until.AddDays(1))
	return slices.DeleteFunc(r.asked(), func(s string) bool { return !strings.HasPrefix(s, window) })
}

func textOf(path string, query url.Values) string {
	project, list, _ := strings.Cut(strings.TrimPrefix(path, "/v1/analytics/"), "/")
	text := project
	if list != "visitors" {
		text += " " + list
	}
	for _, name := range []string{"dateFrom", "dateTo", "offset"} {
		text += " " + query.Get(name)
	}
	return strings.TrimSpace(text)
}

// rawDatabase opens a database as other programs do.
func rawDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(30000)")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// requireWindows asserts that the database holds exactly what the fake reports.
func (r *rig) requireWindows(site visitors, windows []store.Window) {
	r.t.Helper()
	r.read(func(s *store.Store) {
		for _, w := range windows {
			export, rows, err := s.Visitors(context.Background(), w)
			require.NoError(r.t, err)
			require.Equal(r.t, store.Loaded, export.State, "%v is missing", w)

			want, totals := site(w.Project, mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To})
			require.Equal(r.t, totals, export.Totals, w)
			require.Equal(r.t, len(want), export.Kept, w)
			require.True(r.t, slices.Equal(want, rows), "%v differs", w)
		}
	})
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

// days returns the windows of each day from one until the day before another.
func days(from, to mintlify.Date) []store.Window { return store.Windows("docs", store.Day, from, to) }

// sleepUntil moves the clock of a bubble, where time begins on 2000-01-01, a Saturday.
func sleepUntil(month time.Month, d, hour int) {
	time.Sleep(time.Until(day(month, d).Time().Add(time.Duration(hour) * time.Hour)))
}

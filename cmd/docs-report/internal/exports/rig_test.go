package exports_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/docstest"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

type visitors = docstest.Visitors

// The tests say these often.
var (
	site        = docstest.Site
	day         = docstest.Day
	sleepUntil  = docstest.SleepUntil
	rawDatabase = docstest.Database
)

// rig is a fake of the service, a database, and how to load the one into the other.
type rig struct {
	t         *testing.T
	service   *mintlifytest.Service
	transport http.RoundTripper // to the service: the service itself, unless set
	db        string            // the address of the database

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
		db:        "sqlite:" + filepath.Join(t.TempDir(), "docs.db"),
		weeks:     4,
		budget:    90,
	}
}

// onDay calls test with a rig, in a bubble, on a day of 2000.
func onDay(t *testing.T, month time.Month, d, hour int, site visitors, test func(*testing.T, *rig)) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(month, d, hour)
		test(t, newRig(t, site))
	})
}

// run calls work with a loader of its own, as each run of the program does.
func (r *rig) run(work func(*exports.Loader) error) error {
	r.t.Helper()
	s, err := store.Open(context.Background(), r.db, store.Demo)
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
func (r *rig) plan(from string) (plan exports.Plan) {
	r.t.Helper()
	require.NoError(r.t, r.run(func(l *exports.Loader) error {
		var err error
		plan, err = l.Plan(context.Background(), r.rangeOf(from, nil))
		return err
	}))
	return plan
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
	s, err := store.Read(context.Background(), r.db)
	require.NoError(r.t, err)
	defer s.Close()
	work(s)
}

func (r *rig) asked() []string { return docstest.Asked(r.service) }

// askedFor returns what the fake was asked for the day that begins then.
func (r *rig) askedFor(from string) []string {
	until, err := mintlify.ParseDate(from)
	require.NoError(r.t, err)
	window := fmt.Sprintf("docs %s %v", from, until.AddDays(1))
	return slices.DeleteFunc(r.asked(), func(s string) bool { return !strings.HasPrefix(s, window) })
}

// requireWindows asserts that the database holds exactly what the fake reports.
func (r *rig) requireWindows(site visitors, windows []store.Window) {
	r.t.Helper()
	docstest.RequireWindows(r.t, r.db, site, windows)
}

// days returns the windows of each day from one until the day before another.
func days(from, to mintlify.Date) []store.Window { return store.Windows("docs", store.Day, from, to) }

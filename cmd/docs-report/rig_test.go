package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/docstest"
)

type visitors = docstest.Visitors

// The tests say these often.
var (
	site        = docstest.Site
	day         = docstest.Day
	sleepUntil  = docstest.SleepUntil
	rawDatabase = docstest.Database
	words       = docstest.Words
)

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

// ok runs a command that must succeed.
func (r *rig) ok(args ...string) {
	r.t.Helper()
	require.Equal(r.t, exitOK, r.run(r.t.Context(), args...), r.messages)
}

// synced runs a sync that must succeed.
func (r *rig) synced(args ...string) {
	r.t.Helper()
	require.Equal(r.t, exitOK, r.sync(r.t.Context(), args...), r.messages)
}

// page returns what a report says.
func (r *rig) page(args ...string) string {
	r.t.Helper()
	r.ok(append([]string{"report", "-o", "-"}, args...)...)
	return words(r.stdout)
}

// onDay calls test with a rig, in a bubble, on a day of 2000.
func onDay(t *testing.T, month time.Month, d, hour int, site visitors, test func(*testing.T, *rig)) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(month, d, hour)
		test(t, newRig(t, site))
	})
}

func (r *rig) asked() []string { return docstest.Asked(r.service) }

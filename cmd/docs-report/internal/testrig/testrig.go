// Package testrig runs a command in a test, against a fake that it takes for the
// service.
package testrig

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/command"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Visitors is what a fake tells.
type Visitors = func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals)

// Rig is a command, the fake, a database of its own, and what the last run printed.
type Rig struct {
	Service          *mintlifytest.Service
	Transport        http.RoundTripper // to the service: the Service itself, unless set
	Env              map[string]string
	DB               string
	Stdout, Messages string

	t       *testing.T
	command func(ctx context.Context, p command.Program, args []string) int
}

// New returns a rig with a key and the project docs in its environment.
func New(t *testing.T, command func(ctx context.Context, p command.Program, args []string) int, visitors Visitors) *Rig {
	svc := mintlifytest.NewService()
	svc.SetVisitorsFunc(visitors)
	return &Rig{
		Service: svc, Transport: svc, DB: filepath.Join(t.TempDir(), "visitors.db"),
		Env: map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey, "MINTLIFY_PROJECT_ID": "docs"},
		t:   t, command: command,
	}
}

// Run runs the command and returns its exit code.
func (r *Rig) Run(ctx context.Context, args ...string) (code int) {
	r.t.Helper()
	dir := r.t.TempDir()
	stdout, err := os.Create(filepath.Join(dir, "stdout"))
	require.NoError(r.t, err)
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(dir, "stderr"))
	require.NoError(r.t, err)
	defer stderr.Close()
	p := command.Program{Getenv: func(name string) string { return r.Env[name] }, Transport: r.Transport, Stdout: stdout, Stderr: stderr}
	code = r.command(ctx, p, append([]string{"-db", r.DB}, args...))
	for file, into := range map[*os.File]*string{stdout: &r.Stdout, stderr: &r.Messages} {
		text, err := os.ReadFile(file.Name())
		require.NoError(r.t, err)
		*into = string(text)
	}
	return code
}

// Asked returns what the fake was asked for, a text per request: project, dates, offset.
func (r *Rig) Asked() []string {
	var all []string
	for _, request := range r.Service.Requests() {
		project := strings.Split(request.Path, "/")[3]
		all = append(all, strings.TrimSpace(fmt.Sprint(project, " ", request.Query.Get("dateFrom"), " ", request.Query.Get("dateTo"), " ", request.Query.Get("offset"))))
	}
	return all
}

// RequireWindows asserts that the database holds exactly what visitors tells.
func (r *Rig) RequireWindows(visitors Visitors, windows []store.Window) {
	r.t.Helper()
	RequireWindows(r.t, r.DB, mintlify.DefaultBaseURL, visitors, windows)
}

// RequireWindows asserts that a database holds exactly what visitors tells.
func RequireWindows(t *testing.T, where, source string, visitors Visitors, windows []store.Window) {
	t.Helper()
	db, err := store.Open(t.Context(), where, source)
	require.NoError(t, err)
	defer db.Close()
	for _, w := range windows {
		counts, rows, err := db.Visitors(t.Context(), w)
		require.NoError(t, err)
		require.NotNil(t, counts, "%v is missing", w)
		want, totals := visitors(w.Project, mintlify.VisitorsParams{DateFrom: w.From, DateTo: w.To})
		require.Equal(t, totals, counts.Totals, w)
		require.Equal(t, len(want), counts.Pages, w)
		require.True(t, slices.Equal(want, rows), "%v differs", w)
	}
}

// Site returns a fake's visitors: n rows that differ by project and window.
func Site(n int) Visitors {
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

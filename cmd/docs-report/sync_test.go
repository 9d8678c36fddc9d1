package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestWarningsOfTheSDKAreTold(t *testing.T) {
	onDay(t, time.March, 1, 0, site(3), func(t *testing.T, r *rig) {
		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{
			Body: `{"totals":{"human":1,"ai":1,"total":2},` +
				`"visitors":[{"path":"/a","human":1,"ai":1,"total":2}],"hasMore":true}`,
		})

		r.sync(t.Context(), "-from", "2000-02-29")
		assert.Contains(t, r.messages, "level=WARN")
		assert.Contains(t, r.messages, "short page with hasMore")
	})
}

// A service manager takes 3 for a success.
func TestAFailureComesBeforeTheQuota(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) {
		gone := mintlifytest.Fault{Status: 404, Body: `{"error":"no such project"}`}
		r.service.FailNext(mintlify.OpGetVisitors, 1, gone)

		assert.Equal(t, exitFailed, r.sync(t.Context(), "-budget", "3", "-projects", "gone,docs"))
		assert.Contains(t, r.messages, "no such project")
		assert.Contains(t, r.messages, "the budget of 3 requests an hour is spent")

		time.Sleep(time.Hour)
		assert.Equal(t, exitQuota, r.sync(t.Context(), "-budget", "3", "-projects", "docs"))
		assert.Regexp(t, `(?m)^the budget of 3 requests an hour is spent: nothing is sent before`, r.messages)
	})
}

// A pooler in transaction mode gives a statement to a connection that has not prepared it.
func TestTheErrorBehindAPoolerSaysWhatToDo(t *testing.T) {
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer stderr.Close()

	p := program{stderr: stderr}
	for code, isOfPooler := range map[string]bool{"26000": true, "42P05": true, "42P01": false} {
		require.NoError(t, stderr.Truncate(0))
		failed := fmt.Errorf("the database: %w", &pgconn.PgError{Code: code})
		assert.Equal(t, exitFailed, p.exit(t.Context(), failed))
		said := strings.Contains(read(t, stderr.Name()), "add default_query_exec_mode=exec to the database's address")
		assert.Equal(t, isOfPooler, said, code)
	}
}

func TestDemoAndRealDataDoNotMix(t *testing.T) {
	r := newRig(t, site(3))

	r.env["MINTLIFY_API_KEY"] = ""
	assert.Equal(t, exitUsage, r.sync(t.Context()), "no key, no made-up numbers")
	assert.Contains(t, r.messages, "MINTLIFY_API_KEY is not set")
	r.env["MINTLIFY_API_KEY"] = `"mint_key"`
	assert.Equal(t, exitUsage, r.sync(t.Context()))
	assert.Contains(t, r.messages, "MINTLIFY_API_KEY has a quote at an end")
	assert.Empty(t, r.stdout)
	assert.NoFileExists(t, strings.TrimPrefix(r.db, "sqlite:"))

	assert.Equal(t, exitUsage, r.sync(t.Context(), "-demo"), "the real database is not named by the flag")
	assert.Contains(t, r.messages, "-db")

	r.ok("sync", "-demo", "-db", r.db)
	r.ok("digest")
	assert.Contains(t, r.stdout, "made-up")

	r.env["MINTLIFY_API_KEY"] = mintlifytest.APIKey
	assert.Equal(t, exitUsage, r.sync(t.Context()))
	assert.Contains(t, r.messages, "the demo")

	r.db = "sqlite:" + filepath.Join(t.TempDir(), "real.db")
	r.synced()

	assert.Equal(t, exitUsage, r.sync(t.Context(), "-demo", "-db", r.db))
	assert.Contains(t, r.messages, mintlify.DefaultBaseURL)

	r.env["MINTLIFY_BASE_URL"] = "https://other.example.com/"
	assert.Equal(t, exitUsage, r.sync(t.Context()))
	assert.Contains(t, r.messages, "https://other.example.com")
	assert.NotContains(t, r.messages, mintlifytest.APIKey)
}

func TestWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"Want a command":             {},
		"unexpected argument":        {"sync", "surplus"},
		"-budget is 0":               {"sync", "-budget", "0"},
		"-pages is 0":                {"sync", "-pages", "0"},
		"-weeks is 0":                {"plan", "-weeks", "0"},
		"in the future":              {"sync", "-from", "2999-01-01"},
		"stat /no/such:":             {"report", "-demo", "-o", "/no/such/page.html"},
		"stat /no/such/csv:":         {"report", "-demo", "-csv", "/no/such/csv/pages.csv"},
		"open /no/such/docs.db:":     {"sync", "-db", "sqlite:/no/such/docs.db"},
		"no database at /no/x":       {"digest", "-db", "sqlite:/no/x"},
		"want it as 2006-01-02":      {"sync", "-from", "2000-01-01T00:00:00Z"},
		"-nonsense":                  {"sync", "-nonsense"},
		"swapped":                    {"sync", "-projects", "docs,mint_abc"},
		"a project is empty":         {"sync", "-projects", "docs,"},
		"-db is given and empty":     {"sync", "-db", ""},
		"is its variable set?\n":     {"report", "-o", ""},
		`There is no command "nope"`: {"nope"},
		"-site is not a URL":         {"report", "-site", "docs.example.com"},
		"want it as 2006-01":         {"digest", "-month", "October"},
		"it reads no -db":            {"report", "-demo", "-db", "sqlite:x.db"},
		"has an unknown form;":       {"sync", "-db", "docs.db"},
		"names no file; give":        {"sync", "-db", "sqlite::memory:"},
		"postgres://…":               {"sync", "-db", "mysql://user:secret@host/x"},
		"cannot be parsed":           {"sync", "-db", "host=x port=secret"},
		"want it as 13m":             {"sync", "-keep", "13"},
		"want it as 90d":             {"sync", "-keep-days", "0d"},
		"want 84d or more":           {"sync", "-keep-days", "55d"},
		"want it as 8d":              {"status", "-max-age", "12h"},
		"-search is given and empty": {"forget", "-search", " "},
		"give one of -texts":         {"forget", "-texts", "-feedback", "f1"},
		"no database at /no/y":       {"forget", "-texts", "-db", "sqlite:/no/y"},
	} {
		r := newRig(t, site(3))
		assert.Equal(t, exitUsage, r.run(t.Context(), args...), want)
		assert.Contains(t, r.messages, want)
		assert.NotContains(t, r.messages, "secret")
		assert.Empty(t, r.stdout)
	}

	r := newRig(t, site(3))
	r.env["MINTLIFY_PROJECT_ID"] = " "
	assert.Equal(t, exitUsage, r.sync(t.Context()))
	assert.Contains(t, r.messages, "MINTLIFY_PROJECT_ID")

	r.env["MINTLIFY_PROJECT_ID"] = "docs"
	r.env = map[string]string{"DATABASE_URL": ""}
	for _, args := range [][]string{
		{"-h"},
		{"--version"},
		{"sync", "-h"},
		{"plan", "-h"},
		{"status", "-h"},
		{"report", "-h"},
		{"digest", "-h"},
		{"forget", "-h"},
	} {
		assert.Equal(t, exitOK, r.run(t.Context(), args...), args)
		assert.NotEmpty(t, r.stdout)
	}
	assert.Equal(t, exitUsage, r.run(t.Context(), "digest"))
	assert.Contains(t, r.messages, "-db or DATABASE_URL is not set: it names the database; give sqlite:PATH")
}

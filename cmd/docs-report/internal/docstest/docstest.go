// Package docstest has what the tests of docs-report share: the visitors of a made-up site, the
// requests that a fake of the service got, and the database as other programs see it.
package docstest

import (
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Visitors is what a fake of the service reports.
type Visitors = func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals)

// Site returns a fake's visitors: n rows that differ by project and window.
func Site(n int) Visitors {
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

// Asked returns what the fake was asked for, a text per request: project, what if it is not
// visitors, dates, offset.
func Asked(service *mintlifytest.Service) []string {
	var all []string
	for _, request := range service.Requests() {
		project, list, _ := strings.Cut(strings.TrimPrefix(request.Path, "/v1/analytics/"), "/")
		text := project
		if list != "visitors" {
			text += " " + list
		}

		for _, name := range []string{"dateFrom", "dateTo", "offset"} {
			text += " " + request.Query.Get(name)
		}
		all = append(all, strings.TrimSpace(text))
	}
	return all
}

// RequireWindows asserts that the database holds exactly what the fake reports.
func RequireWindows(t *testing.T, where string, site Visitors, windows []store.Window) {
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

// Database opens a database as other programs do.
func Database(t *testing.T, where string) *sql.DB {
	t.Helper()

	address, err := sqldb.ParseAddress(where)
	require.NoError(t, err)

	driver := "pgx"
	name := address.Postgres
	if address.IsSQLite() {
		driver = "sqlite"
		name = address.SQLite(url.Values{"_pragma": {"busy_timeout(30000)"}})
	}

	db, err := sql.Open(driver, name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Words returns what a page says, without its markup.
func Words(page string) string {
	_, page, _ = strings.Cut(page, "<body>")
	page, _, _ = strings.Cut(page, "<script>")
	page = strings.ReplaceAll(page, "<wbr>", "")
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")

	page = strings.NewReplacer("&#43;", "+", "&#39;", "'", "&amp;", "&").Replace(page)
	return strings.Join(strings.Fields(page), " ")
}

// Day returns a day of 2000, the year in which a bubble begins.
func Day(month time.Month, d int) mintlify.Date { return mintlify.Day(2000, month, d) }

// SleepUntil moves the clock of a bubble, where time begins on 2000-01-01, a Saturday.
func SleepUntil(month time.Month, d, hour int) {
	time.Sleep(time.Until(Day(month, d).Time().Add(time.Duration(hour) * time.Hour)))
}

package exports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// shortPages is a transport to a service whose pages of visitors and searches have fewer rows than it
// is asked for, although there are more.
type shortPages struct {
	http.RoundTripper

	// limit is the most rows of a page. If it is 0, pages are not capped.
	limit int

	// removes has a path whose rows the service removes after it has applied the limit. nil is none.
	removes func(path string) bool
}

// RoundTrip implements [http.RoundTripper].
func (s *shortPages) RoundTrip(request *http.Request) (*http.Response, error) {
	_, list, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v1/analytics/"), "/")
	if list != "visitors" && list != "searches" {
		return s.RoundTripper.RoundTrip(request)
	}

	if s.limit > 0 {
		query := request.URL.Query()
		query.Set("limit", fmt.Sprint(s.limit))
		request.URL.RawQuery = query.Encode()
	}

	response, err := s.RoundTripper.RoundTrip(request)
	if err != nil || s.removes == nil || list != "visitors" || response.StatusCode != http.StatusOK {
		return response, err
	}
	return response, s.remove(response)
}

// remove takes rows out of a page.
func (s *shortPages) remove(response *http.Response) error {
	var page map[string]any
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		return err
	}

	left := []any{}
	for _, row := range page["visitors"].([]any) {
		path := row.(map[string]any)["path"].(string)
		if !s.removes(path) {
			left = append(left, row)
		}
	}
	page["visitors"] = left

	body, err := json.Marshal(page)
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Del("Content-Length")
	return err
}

// left returns the rows of a site that the service does not remove.
func (s *shortPages) left(site visitors) visitors {
	return func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		rows, totals := site(project, params)
		left := []mintlify.Visitor{}
		for _, row := range rows {
			if s.removes == nil || !s.removes(row.Path) {
				left = append(left, row)
			}
		}
		return left, totals
	}
}

// endsInSeven is true of each tenth page.
func endsInSeven(path string) bool { return strings.HasSuffix(path, "7") }

// failsOnce is a transport to a service that refuses each page of visitors of one window once.
type failsOnce struct {
	http.RoundTripper
	service  *mintlifytest.Service
	from, to string
	failed   map[string]bool
	pages    int // that have come
}

func (f *failsOnce) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	_, list, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v1/analytics/"), "/")
	if list != "visitors" || query.Get("dateFrom") != f.from || query.Get("dateTo") != f.to {
		return f.RoundTripper.RoundTrip(request)
	}

	page := query.Get("offset")
	if f.failed[page] {
		f.pages++
	} else {
		f.failed[page] = true
		f.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: http.StatusBadRequest})
	}
	return f.RoundTripper.RoundTrip(request)
}

// A run ends before each page. The next one resumes the export at the offset that the page before
// named, and stores what that page has not brought.
func TestShortPagesAreStoredOnceWhereverARunEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		rows  int
		short shortPages
	}{
		"capped":   {220, shortPages{limit: 50}},
		"filtered": {900, shortPages{removes: endsInSeven}},
	} {
		t.Run(name, func(t *testing.T) {
			onDay(t, time.March, 15, 2, site(tc.rows), func(t *testing.T, r *rig) {
				r.budget = 1000

				short := tc.short
				short.RoundTripper = r.service
				ending := &failsOnce{
					RoundTripper: &short, service: r.service,
					from: "2000-02-14", to: "2000-03-13", failed: map[string]bool{},
				}
				r.transport = ending

				runs := 1
				for r.load(t.Context(), "2000-02-14") != nil {
					runs++
					require.Less(t, runs, 40)
				}
				assert.Equal(t, len(ending.failed), ending.pages, "no page twice")
				assert.GreaterOrEqual(t, ending.pages, 4)

				w := store.LastWeeks("docs", 4, day(time.March, 14))
				require.Equal(t, "2000-02-14", w.From.String())
				r.requireWindows(short.left(site(tc.rows)), []store.Window{w})
			})
		})
	}
}

// A cap of 50 must not make a list five times as many requests.
func TestTheBoundOfAListCountsItsPages(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) {
		r.withLists(600)
		r.transport = &shortPages{RoundTripper: r.service, limit: 50}

		r.budget = 1 + 2 // visitors, and two pages of searches
		requireQuota(t, r.load(t.Context(), "2000-02-14"))
		assert.Equal(t, 33+15, r.plan("2000-02-14").Missing, "visitors, and of lists: "+
			"five pages of searches and of questions, and feedback by page of the report and its weeks")

		r.budget = 1000
		require.NoError(t, r.load(t.Context(), "2000-02-14"))

		pages := 0
		for _, asked := range r.asked() {
			if asked == "docs searches 2000-02-14 2000-03-13" {
				pages++
			}
		}
		assert.Equal(t, 5, pages)

		r.read(func(s *store.Store) {
			w := store.LastWeeks("docs", 4, day(time.March, 14))
			export, rows, err := store.List[mintlify.SearchTerm](t.Context(), s, w, store.Searches)
			require.NoError(t, err)
			assert.Len(t, rows, 250)
			assert.True(t, export.Truncated)
		})
	})
}

package exports_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// withLists gives the fake some rows for each list.
func (r *rig) withLists(rows int) {
	at := time.Now()
	var searches []mintlify.SearchTerm
	for i := range rows {
		searches = append(searches, mintlify.SearchTerm{Query: fmt.Sprint("term ", i), Hits: int64(rows - i)})
	}
	r.service.SetSearches(searches)
	r.service.SetConversations([]mintlify.Conversation{{ID: "c", Timestamp: at, Query: "q"}})
}

// missing returns how many requests the last sync has left for the next ones.
func (r *rig) missing() int {
	r.t.Helper()
	requests := 0
	r.read(func(s *store.Store) {
		syncs, err := s.Syncs(context.Background())
		require.NoError(r.t, err)
		for _, last := range syncs {
			requests += last.Missing
		}
	})
	return requests
}

// The newest lists come first, then what the report shows. What may still change comes last, and a month of the last
// year before that.
func TestTheOrderOfANight(t *testing.T) {
	onDay(t, time.May, 8, 2, site(3), func(t *testing.T, r *rig) { // a Monday: the week has ended, and is not final
		r.withLists(3)
		r.months = 13
		r.budget = 1000
		require.NoError(t, r.load(t.Context(), "2000-03-06"))

		assert.Equal(t, []string{
			"docs searches 2000-04-10 2000-05-08", // the newest lists
			"docs assistant 2000-04-10 2000-05-08",
			"docs feedback/by-page 2000-04-10 2000-05-08",
			"docs 2000-04-03 2000-05-01", // the four weeks that are final
			"docs searches 2000-04-03 2000-05-01",
			"docs assistant 2000-04-03 2000-05-01",
			"docs feedback/by-page 2000-04-03 2000-05-01",
			"docs 2000-04-24 2000-05-01",
			"docs feedback/by-page 2000-04-24 2000-05-01",
			"docs 2000-03-06 2000-04-03", // what they are compared with
			"docs searches 2000-03-06 2000-04-03",
			"docs assistant 2000-03-06 2000-04-03",
			"docs feedback/by-page 2000-03-06 2000-04-03",
			"docs 2000-03-13 2000-04-10", // what the next report is compared with
		}, r.asked()[:14])

		asked := r.asked()
		backlog := slices.Index(asked, "docs 2000-05-06 2000-05-07")
		year := slices.Index(asked, "docs 1999-12-01 2000-01-01")
		assert.Equal(t, "docs 2000-05-05 2000-05-06", asked[backlog+1], "the newest first")
		assert.Greater(t, year, slices.Index(asked, "docs 2000-03-06 2000-03-07"), "after the backlog")
		assert.Equal(t, "docs 1999-11-01 1999-12-01", asked[year+1])
		assert.Contains(t, asked, "docs 1999-04-01 1999-05-01", "13 months")
		assert.NotContains(t, asked, "docs 1999-03-01 1999-04-01")

		open := slices.Index(asked, "docs 2000-04-10 2000-05-08")
		assert.Greater(t, open, slices.Index(asked, "docs 1999-04-01 1999-05-01"), "what may still change is last")
		assert.Contains(t, asked[open:], "docs 2000-05-01 2000-05-08")
		assert.Equal(t, "docs 2000-05-07 2000-05-08", asked[len(asked)-1])
	})
}

// What may still change is loaded only if it fits into the budget: half of it would be
// thrown away.
func TestWhatMayStillChangeIsLoadedWholeOrNotAtAll(t *testing.T) {
	onDay(t, time.March, 2, 2, site(600), func(t *testing.T, r *rig) { // 3 requests a window
		require.NoError(t, r.load(t.Context(), "2000-02-29"))
		assert.Len(t, r.asked(), 3+3, "the 29th is final, the 1st is not")

		time.Sleep(24 * time.Hour)
		r.budget = 5
		require.NoError(t, r.load(t.Context(), "2000-02-29"), "up to date: exit 0")
		assert.Len(t, r.asked(), 6+3, "the 1st is final now, and the 2nd takes 3 requests of the 2 that are left")

		time.Sleep(24 * time.Hour)
		r.budget = 6
		require.NoError(t, r.load(t.Context(), "2000-02-29"))
		assert.Len(t, r.asked(), 9+6)

		r.service.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 429})
		time.Sleep(8 * time.Hour)
		require.NoError(t, r.load(t.Context(), "2000-02-29"), "the quota of what may change is no reason to come back")
		assert.Len(t, r.asked(), 15+1)
	})
}

// refusing is a transport that responds in the service's place if refuse returns a status.
type refusing struct {
	http.RoundTripper
	refuse  func(list, from string) (status int)
	refused []string
}

func (r *refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	_, list, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v1/analytics/"), "/")
	status := r.refuse(list, request.URL.Query().Get("dateFrom"))
	if status == 0 {
		return r.RoundTripper.RoundTrip(request)
	}

	r.refused = append(r.refused, list)
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(`{"error":"not today"}`)),
		Request:    request,
	}, nil
}

// Lists fail for ever. No day waits, and from the second night on the run fails: but not for a list that is refused.
func TestListsThatFailStopNoDay(t *testing.T) {
	onDay(t, time.April, 3, 2, site(3), func(t *testing.T, r *rig) {
		r.withLists(3)
		r.budget = 1000

		status := map[string]int{"searches": 500, "assistant": 403}
		transport := &refusing{r.service, func(list, _ string) int { return status[list] }, nil}
		r.transport = transport

		for night := range 15 {
			transport.refused = nil
			err := r.load(t.Context(), "2000-01-31")
			if night == 0 {
				require.NoError(t, err)
			} else {
				var failure *exports.LoadError
				require.ErrorAs(t, err, &failure)
				want := fmt.Sprintf("the list of searches of docs could not be loaded in %d syncs in a row: ", night+1)
				require.ErrorContains(t, err, want)
				require.NotContains(t, err.Error(), "questions")
			}

			slices.Sort(transport.refused)
			if night == 0 { // a list that has never failed is retried
				transport.refused = slices.Compact(transport.refused)
			}
			assert.Equal(t, []string{"assistant", "searches"}, transport.refused, "night %d", night)

			settled := exports.SettledDay(time.Now())
			for _, span := range []store.Span{store.Day, store.Week, store.Month} {
				r.requireWindows(site(3), store.Windows("docs", span, day(time.January, 31), settled))
			}
			r.requireWindows(site(3), []store.Window{store.LastWeeks("docs", 4, settled)})
			time.Sleep(24 * time.Hour)
		}

		assert.Equal(t, []store.Kind{store.Conversations, store.Searches}, r.troubles())
		assert.NotZero(t, r.missing())

		clear(status)
		require.NoError(t, r.load(t.Context(), "2000-01-31"))
		assert.Zero(t, r.missing(), "what has failed is loaded once it works")
		assert.Empty(t, r.troubles())
	})
}

// A key that lost its scope, or a plan that lost the assistant, costs no rows of the nights before.
// The list costs one request a night, as one that fails does.
func TestAListThatIsRefusedLaterKeepsItsRows(t *testing.T) {
	for _, status := range []int{403, 404} {
		onDay(t, time.April, 4, 2, site(3), func(t *testing.T, r *rig) { // a Tuesday
			r.withLists(3)
			at := day(time.March, 20).Time()
			r.service.SetConversations([]mintlify.Conversation{{ID: "c", Timestamp: at, Query: "q"}})
			r.budget = 1000
			require.NoError(t, r.load(t.Context(), "2000-03-06"))

			transport := &refusing{r.service, func(list, _ string) int {
				if list == "assistant" {
					return status
				}
				return 0
			}, nil}
			r.transport = transport
			r.texts = true // each list with texts is loaded again

			for range 3 {
				transport.refused = nil
				require.NoError(t, r.load(t.Context(), "2000-03-06"))
				assert.Equal(t, []string{"assistant"}, transport.refused)
				time.Sleep(24 * time.Hour)
			}

			assert.Equal(t, []store.Kind{store.Conversations}, r.troubles())
			r.read(func(s *store.Store) {
				w := store.LastWeeks("docs", 4, day(time.April, 3))
				export, rows, err := store.List[mintlify.Conversation](t.Context(), s, w, store.Conversations)
				require.NoError(t, err)
				assert.Equal(t, store.Loaded, export.State)
				assert.Len(t, rows, 1)
			})

			r.transport = r.service
			require.NoError(t, r.load(t.Context(), "2000-03-06"))
			assert.Empty(t, r.troubles(), "it is loaded once it works")
		})
	}
}

// Nobody says how long a cursor lives.
func TestAListWhoseCursorIsRejectedBeginsAnew(t *testing.T) {
	onDay(t, time.April, 4, 2, site(3), func(t *testing.T, r *rig) { // a Tuesday
		r.withLists(250)
		r.budget = 2 // ends the run after the first page of searches
		requireQuota(t, r.load(t.Context(), "2000-03-06"))

		time.Sleep(24 * time.Hour)
		r.budget = 1000
		r.service.FailNext(mintlify.OpGetSearches, 1, mintlifytest.Fault{Status: 400, Body: `{"error":"old cursor"}`})
		require.NoError(t, r.load(t.Context(), "2000-03-06"))
		assert.Empty(t, r.troubles())

		var hasCursor []bool
		for _, request := range r.service.Requests() {
			isOfWeeks := request.Query.Get("dateFrom") == "2000-03-06" && request.Query.Get("dateTo") == "2000-04-03"
			if isOfWeeks && strings.HasSuffix(request.Path, "/searches") {
				hasCursor = append(hasCursor, request.Query.Get("cursor") != "")
			}
		}
		assert.Equal(t, []bool{false, true, false, true, true}, hasCursor)

		r.read(func(s *store.Store) {
			w := store.LastWeeks("docs", 4, day(time.April, 3))
			_, rows, err := store.List[mintlify.SearchTerm](t.Context(), s, w, store.Searches)
			require.NoError(t, err)
			assert.Len(t, rows, 250)
		})
	})
}

// troubles returns the kinds that could not be loaded.
func (r *rig) troubles() []store.Kind {
	var kinds []store.Kind
	r.read(func(s *store.Store) {
		all, err := s.Exports(context.Background(), "docs")
		require.NoError(r.t, err)
		for _, e := range all {
			if e.HasFailed() {
				kinds = append(kinds, e.Kind)
			}
		}
	})
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// The service does not go back for 13 months. That is no failure, and costs one request a night.
func TestMonthsThatTheServiceDoesNotHave(t *testing.T) {
	for _, status := range []int{400, 403, 500} {
		onDay(t, time.April, 4, 2, site(3), func(t *testing.T, r *rig) {
			r.budget = 1000
			r.months = 13
			transport := &refusing{r.service, func(list, from string) int {
				if list == "visitors" && from < "1999-10" {
					return status
				}
				return 0
			}, nil}
			r.transport = transport

			for night := range 3 {
				transport.refused = nil
				require.NoError(t, r.load(t.Context(), "2000-03-06"))
				if night > 0 {
					assert.Len(t, transport.refused, 1)
				}
				settled := exports.SettledDay(time.Now())
				r.requireWindows(site(3), days(day(time.March, 6), settled.AddDays(1)))
				r.requireWindows(site(3), store.Windows("docs", store.Month, mintlify.Day(1999, time.October, 1), settled))
				time.Sleep(24 * time.Hour)
			}
			assert.Equal(t, []store.Kind{store.Visitors}, r.troubles())
			assert.Equal(t, 7-3, r.missing(), "a month that has failed is not missing")
		})
	}
}

// With a range that rolls, nothing asks any more for what failed before it.
func TestAFailureThatLeavesTheRangeIsNoLongerTold(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) { // a Wednesday
		r.transport = &refusing{r.service, func(list, from string) int {
			switch {
			case list == "visitors" && from == "2000-03-01":
				return 500
			case list == "feedback/by-page" && from == "2000-02-28":
				return 403
			}
			return 0
		}, nil}

		require.Error(t, r.load(t.Context(), "2000-02-28"))
		assert.Equal(t, []store.Kind{store.FeedbackByPage, store.Visitors}, r.troubles())

		require.NoError(t, r.load(t.Context(), "2000-03-06"))
		assert.Empty(t, r.troubles())
	})
}

// One list of a kind fails for ever. The others of its kind are loaded.
func TestAListThatFailsKeepsNoOtherFromBeingLoaded(t *testing.T) {
	onDay(t, time.April, 4, 2, site(3), func(t *testing.T, r *rig) { // a Tuesday
		r.withLists(3)
		r.budget = 1000
		r.transport = &refusing{r.service, func(list, from string) int {
			if list == "searches" && from == "2000-03-06" {
				return 400
			}
			return 0
		}, nil}

		for night := range 3 {
			assert.Equal(t, night == 0, r.load(t.Context(), "2000-01-10") == nil)
			time.Sleep(24 * time.Hour)
		}

		assert.Equal(t, []store.Kind{store.Searches}, r.troubles())
		r.read(func(s *store.Store) {
			lists, err := s.Lists(context.Background(), "docs", store.Searches)
			require.NoError(t, err)
			assert.Len(t, lists, 3, "of the weeks before and two months")
		})
	})
}

// A site of 15,000 pages takes 60 requests for each day, week, month and window. With one run of
// 90 requests a night, it keeps up: what becomes final is loaded, and the backlog does not grow.
func TestALargeSiteKeepsUpFor28Nights(t *testing.T) {
	if os.Getenv("MINTLIFY_LONG") == "" {
		t.Skip("it stores some million rows: MINTLIFY_LONG=1 runs it")
	}

	const pages = 15_000
	site := func(project string, p mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		return large[:pages], mintlify.VisitorTotals{Human: 10, AI: 10, Total: 20}
	}
	onDay(t, time.March, 28, 2, site, func(t *testing.T, r *rig) { // a Tuesday
		r.withLists(2000)
		r.service.EnforceQuotas()
		r.months = 2
		r.wait = true
		from := day(time.March, 13)
		require.NoError(t, r.load(t.Context(), from.String()))
		loadedAt := time.Now()
		t.Logf("the first load took %v", loadedAt.Sub(day(time.March, 28).Time()).Round(time.Hour))

		r.wait = false
		sleepUntil(time.March, 29, 2)
		var left []int // requests, by night
		for night := range 28 {
			if err := r.load(t.Context(), from.String()); err != nil {
				requireQuota(t, err)
			}
			left = append(left, r.missing())
			assert.LessOrEqual(t, r.requests, 90)

			days := exports.SettledDay(time.Now()).AddDays(-6)
			r.requireLoaded(store.Windows("docs", store.Day, days, days.AddDays(1)), night)
			time.Sleep(24 * time.Hour)
		}

		t.Logf("requests missing after each night: %v, of %d a night", left, r.plan(from.String()).Night)
		for week := range slices.Chunk(left, 7) {
			assert.Contains(t, week, 0, "each week it catches up")
		}
		assert.LessOrEqual(t, left[27], left[13], "and after four Tuesdays no more is missing than after two")
	})
}

// requireLoaded asserts that the database has windows, whatever they contain.
func (r *rig) requireLoaded(windows []store.Window, night int) {
	r.t.Helper()
	r.read(func(s *store.Store) {
		for _, w := range windows {
			export, _, err := s.Visitors(context.Background(), w)
			require.NoError(r.t, err)
			require.Equal(r.t, store.Loaded, export.State, "%v in night %d", w, night)
		}
	})
}

// large are the visitors of a large site.
var large = func() []mintlify.Visitor {
	rows := make([]mintlify.Visitor, 15_000)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: fmt.Sprintf("/knowledge/article-%05d", i), Human: 1, AI: 1, Total: 2}
	}
	return rows
}()

// A list that begins to fail on a Monday is warned of, even if the budget ends that night: the list of the newest weeks
// is asked for first, and only once.
func TestAListThatBeginsToFailOnAMonday(t *testing.T) {
	onDay(t, time.April, 2, 2, site(3), func(t *testing.T, r *rig) { // a Sunday
		r.withLists(3)
		r.budget = 1000
		require.NoError(t, r.load(t.Context(), "2000-01-31"))

		time.Sleep(24 * time.Hour)
		transport := &refusing{r.service, func(list, _ string) int {
			if list == "searches" {
				return 400
			}
			return 0
		}, nil}
		r.transport = transport
		asked := len(r.asked())
		r.budget = 3
		requireQuota(t, r.load(t.Context(), "2000-02-07"))

		assert.Equal(t, []store.Kind{store.Searches}, r.troubles())
		assert.Len(t, transport.refused, 1, "of the newest weeks")
		assert.Equal(t, "docs assistant 2000-03-06 2000-04-03", r.asked()[asked], "the other lists go on")
	})
}

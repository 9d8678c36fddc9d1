package mintlify_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// withAndWithoutPrefetch runs a test of an export both ways.
func withAndWithoutPrefetch(t *testing.T, test func(t *testing.T, opts ...mintlify.ExportOption)) {
	t.Run("without prefetch", func(t *testing.T) { test(t) })
	t.Run("with prefetch", func(t *testing.T) { test(t, mintlify.WithPrefetch(1)) })
}

// exportVisitors collects the rows of an export of visitors from rt.
func exportVisitors(t *testing.T, rt http.RoundTripper, opts ...mintlify.ExportOption) ([]mintlify.Visitor, error) {
	t.Helper()
	return mintlify.Collect(kit.NewClient(t, rt).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}, opts...))
}

// visitorPages is the sequence of the pages of visitors from rt.
func visitorPages(
	t *testing.T, rt http.RoundTripper, opts ...mintlify.ExportOption,
) iter.Seq2[*mintlify.VisitorPage, error] {
	t.Helper()
	return kit.NewClient(t, rt).Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, opts...)
}

func offsets(svc *mintlifytest.Service) []string {
	var asked []string
	for _, request := range svc.Requests() {
		asked = append(asked, request.Query.Get("offset")+"/"+request.Query.Get("limit"))
	}
	return asked
}

func TestVisitorsDeliversEachRowOnceInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, prefetch := range []int{0, 1, 2, 4, 8} {
			for n, pages := range map[int]int{0: 1, 1: 1, 249: 1, 250: 1, 251: 2, 1000: 4, 1001: 5, 2600: 11} {
				svc := mintlifytest.NewService()
				svc.SetVisitors(kit.Visitors(n))
				delayed := kit.Transport(func(r *http.Request) (*http.Response, error) {
					time.Sleep(rand.N(50 * time.Millisecond)) // responses overtake each other
					return svc.RoundTrip(r)
				})
				prefetching := mintlify.WithPrefetch(prefetch)
				analytics := svc.Client(kit.Through(delayed)).Analytics
				seq := analytics.Visitors(t.Context(), mintlify.VisitorsParams{}, prefetching)

				for range 2 { // a sequence can be ranged over again
					rows, err := mintlify.Collect(seq)
					require.NoError(t, err)
					require.Len(t, rows, n)
					for i, row := range rows {
						require.Equal(t, fmt.Sprintf("/page/%d", i), row.Path)
					}
				}

				requests := len(svc.Requests())
				assert.GreaterOrEqual(t, requests, 2*pages, "ceil(n/250) requests by default")
				assert.LessOrEqual(t, requests, 2*(pages+max(0, prefetch-1)), "requests beyond the end")
			}
		}
	})
}

func TestVisitorPages(t *testing.T) {
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		svc := mintlifytest.NewService()
		svc.SetVisitors(kit.Visitors(25))
		params := mintlify.VisitorsParams{PageSize: 10, Offset: 3}
		pages, err := mintlify.Collect(svc.Client().Analytics.VisitorPages(t.Context(), params, opts...))
		require.NoError(t, err)
		assert.Equal(t, []string{"3/10", "13/10", "23/10"}, offsets(svc))

		totals := mintlify.VisitorTotals{Human: 24, AI: 2, Total: 25}
		require.Len(t, pages, 3)
		for i, page := range pages {
			assert.Equal(t, min(13+10*i, 25), page.NextOffset)
			assert.Equal(t, i < 2, page.HasMore)
			assert.Equal(t, totals, page.Totals, "of all, not of the page")
		}
	})
}

// script is a recording that responds with page after page.
func script(pages ...string) *kit.Recording {
	rt := kit.NewRecording()
	for _, page := range pages {
		rt.Steps = append(rt.Steps, kit.RespondWith(200, page))
	}
	return rt
}

func pageOf(hasMore bool, paths ...string) string {
	rows := ""
	for i, path := range paths {
		if i > 0 {
			rows += ","
		}
		rows += fmt.Sprintf(`{"path":%q,"human":1,"ai":1,"total":1}`, path)
	}
	return fmt.Sprintf(`{"totals":{},"visitors":[%s],"hasMore":%t}`, rows, hasMore)
}

// fullPage is a page of as many rows as the iterators ask for.
func fullPage(hasMore bool) string {
	paths := make([]string, 250)
	for i := range paths {
		paths[i] = fmt.Sprintf("/%d", i)
	}
	return pageOf(hasMore, paths...)
}

func TestVisitorsPaginatesPastEmptyAndShortPages(t *testing.T) {
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		rt := script(
			pageOf(true, "/a"), pageOf(true), pageOf(true),
			pageOf(true, "/b"), pageOf(true), pageOf(true),
			pageOf(false, "/c"))
		rows, err := exportVisitors(t, rt, opts...)
		require.NoError(t, err)
		assert.Len(t, rows, 3)
		assert.Equal(t, 7, rt.Count())
	})
}

func TestVisitorsThatWouldNeverEndEndsWithAnError(t *testing.T) {
	const empty = "third consecutive empty page with hasMore"
	const repeats = "repeats an earlier page"

	for name, tc := range map[string]struct {
		pages  []string
		rows   int
		offset int
		reason string
	}{
		"three empty pages":    {[]string{pageOf(true, "/a"), pageOf(true)}, 1, 501, empty},
		"empty from the start": {[]string{pageOf(true)}, 0, 500, empty},
		"the same page again and again": {
			// All its rows are known: it counts as an empty page, and nothing is known after it.
			[]string{pageOf(true, "/a", "/b")}, 2, 252, repeats,
		},
		"two pages without new rows": {
			[]string{pageOf(true, "/a", "/b"), pageOf(true, "/a"), pageOf(true)}, 2, 502, empty,
		},
		"with an empty one between": {
			[]string{pageOf(true, "/a"), pageOf(true), pageOf(true, "/a")}, 1, 251, repeats,
		},
		"two pages by turns": {
			[]string{pageOf(true, "/a"), pageOf(true, "/b"), pageOf(true, "/a")}, 2, 2, repeats,
		},
		"a full page at the end": {
			[]string{fullPage(true), fullPage(false)}, 250, 250, repeats,
		},
	} {
		t.Run(name, func(t *testing.T) {
			withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
				rows, err := exportVisitors(t, script(tc.pages...), opts...)
				require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
				assert.ErrorContains(t, err, tc.reason)
				assert.Equal(t, tc.offset, kit.RequireAs[*mintlify.ExportError](t, err).Offset)
				require.ErrorAs(t, err, new(*mintlify.MalformedResponseError))
				assert.Len(t, rows, tc.rows)
				kit.AssertReadable(t, err)
			})
		})
	}
}

func TestVisitorsHasAnErrorInItsPlaceOnceAndSaysWhereToResume(t *testing.T) {
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		svc := mintlifytest.NewService()
		svc.SetVisitors(kit.Visitors(1000))
		client := svc.Client(mintlify.WithMaxRetries(0))
		params := mintlify.VisitorsParams{}

		var rows []mintlify.Visitor
		for row, err := range client.Analytics.Visitors(t.Context(), params, opts...) {
			if err == nil {
				rows = append(rows, row)
				if len(rows) == 300 {
					busy := mintlifytest.Fault{Status: 503, Body: `{"error":"busy"}`}
					svc.FailNext(mintlify.OpGetVisitors, 2, busy)
				}
				continue
			}

			assert.Zero(t, row)
			require.ErrorIs(t, err, mintlify.ErrServer)
			require.ErrorAs(t, err, new(*mintlify.APIError))
			pageErr := kit.RequireAs[*mintlify.ExportError](t, err)
			assert.Equal(t, len(rows), pageErr.Offset)
			assert.ErrorContains(t, err, fmt.Sprintf("list stopped at offset %d: get visitors: 503", pageErr.Offset))
			assert.Zero(t, params.Offset, "once")
			params.Offset = pageErr.Offset
		}

		assert.NotZero(t, params.Offset)
		rest, err := mintlify.Collect(svc.Client().Analytics.Visitors(t.Context(), params, opts...))
		require.NoError(t, err)
		assert.Equal(t, kit.Visitors(1000), append(rows, rest...))
	})
}

func TestVisitorPagesCanceled(t *testing.T) {
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		svc := mintlifytest.NewService()
		svc.SetVisitors(kit.Visitors(1000))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		stopped := errors.New("stopped by hand")

		n := 0
		params := mintlify.VisitorsParams{PageSize: 100}
		for _, err := range svc.Client().Analytics.VisitorPages(ctx, params, opts...) {
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
				assert.ErrorIs(t, err, stopped)
				assert.Equal(t, n*100, kit.RequireAs[*mintlify.ExportError](t, err).Offset)
				break
			}

			n++
			if n == 3 {
				cancel(stopped)
			}
		}

		assert.GreaterOrEqual(t, n, 3)
		assert.Less(t, n, 10)
	})
}

// slowPages responds with a full page after 20 ms, n pages in all, and counts the requests
// in progress and in all.
type slowPages struct {
	pages           int
	underWay, asked atomic.Int32
	failing         int // offset of the page that fails; 0: none
}

func (s *slowPages) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	s.underWay.Add(1)
	defer s.underWay.Add(-1)

	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}

	if s.failing != 0 && offset == s.failing {
		return kit.Response(400, ""), nil
	}
	paths := make([]string, 250)
	for i := range paths {
		paths[i] = fmt.Sprintf("/%d", offset+i)
	}
	return kit.Response(200, pageOf(offset/250+1 < s.pages, paths...)), nil
}

func TestWithPrefetchSavesTime(t *testing.T) {
	const page = 20 * time.Millisecond
	for _, tc := range []struct {
		prefetch int
		work     time.Duration // of the loop with each page
		want     time.Duration
	}{
		{prefetch: 0, work: page, want: 200 * page},
		{prefetch: 1, work: page, want: 101 * page},
		{prefetch: 4, want: 26 * page}, // the first page alone, and the others four at a time
	} {
		synctest.Test(t, func(t *testing.T) {
			service := &slowPages{pages: 100}
			start := time.Now()
			for _, err := range visitorPages(t, service, mintlify.WithPrefetch(tc.prefetch)) {
				require.NoError(t, err)
				time.Sleep(tc.work)
			}
			assert.Equal(t, tc.want, time.Since(start))
			assert.LessOrEqual(t, service.asked.Load(), int32(100+max(0, tc.prefetch-1)))
			assert.Zero(t, service.underWay.Load())
		})
	}
}

func TestWithPrefetchIsCanceledWithTheLoop(t *testing.T) {
	type pages = iter.Seq2[*mintlify.VisitorPage, error]

	for name, leave := range map[string]func(pages){
		"break": func(seq pages) {
			for range seq {
				break
			}
		},
		"panic": func(seq pages) {
			defer func() { _ = recover() }()
			for range seq {
				panic("in the loop")
			}
		},
		"pull": func(seq pages) {
			next, stop := iter.Pull2(seq)
			next()
			stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
				for _, prefetch := range []int{1, 4} {
					service := &slowPages{pages: 10}
					start := time.Now()
					leave(visitorPages(t, service, mintlify.WithPrefetch(prefetch)))
					assert.Equal(t, 20*time.Millisecond, time.Since(start), "it does not wait for the page")
					assert.Zero(t, service.underWay.Load())
					assert.LessOrEqual(t, service.asked.Load(), int32(1+prefetch))
				}
			})
		})
	}
}

func TestWithPrefetchAnErrorComesAfterThePageBefore(t *testing.T) {
	for _, prefetch := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			service := &slowPages{pages: 10, failing: 500}
			var came []string
			for page, err := range visitorPages(t, service, mintlify.WithPrefetch(prefetch)) {
				if err != nil {
					came = append(came, "error at "+strconv.Itoa(kit.RequireAs[*mintlify.ExportError](t, err).Offset))
					continue
				}
				time.Sleep(time.Second) // the error, and the pages after it, are there long before
				came = append(came, page.Visitors[0].Path)
			}
			assert.Equal(t, []string{"/0", "/250", "error at 500"}, came)
			assert.LessOrEqual(t, service.asked.Load(), int32(2+prefetch))
		})
	}
}

// feedbackPages is a service of n pages of a row each, by cursors c0, c1 and so on.
func feedbackPages(n int, asked *[]string) kit.Transport {
	return func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		*asked = append(*asked, query.Encode())

		page := 0
		fmt.Sscanf(query.Get("cursor"), "c%d", &page)
		next := page + 1
		const body = `{"feedback":[{"id":"f%d"}],"hasMore":%t,"nextCursor":"c%d"}`
		return kit.Response(200, fmt.Sprintf(body, page, next < n, next)), nil
	}
}

func TestExportByCursorSendsTheSameDatesWithEachCursor(t *testing.T) {
	const same = "dateFrom=2026-03-01&dateTo=2026-04-01&limit=100&status=pending"
	params := mintlify.FeedbackParams{
		DateFrom: march, DateTo: april,
		Statuses: []mintlify.FeedbackStatus{"pending"},
	}

	for _, prefetch := range []int{0, 1, 3} {
		var asked []string
		client := kit.NewClient(t, feedbackPages(3, &asked))
		rows, err := mintlify.Collect(client.Analytics.Feedback(t.Context(), params, mintlify.WithPrefetch(prefetch)))
		require.NoError(t, err)
		require.Len(t, rows, 3)
		assert.Equal(t, "f2", rows[2].ID)

		// The cursor comes with the page before, so the SDK requests no page beyond the end.
		assert.Equal(t, []string{same, "cursor=c1&" + same, "cursor=c2&" + same}, asked)
	}
}

func TestExportByCursorResumesAtTheCursorOfItsError(t *testing.T) {
	var asked []string
	service := feedbackPages(5, &asked)
	failing := kit.Transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("cursor") == "c3" && len(asked) == 3 {
			asked = append(asked, "failed")
			return kit.Response(400, ""), nil
		}
		return service(r)
	})

	client := kit.NewClient(t, failing)
	rows, err := mintlify.Collect(client.Analytics.Feedback(t.Context(), mintlify.FeedbackParams{}))
	require.Len(t, rows, 3)
	pageErr := kit.RequireAs[*mintlify.ExportError](t, err)
	assert.Equal(t, "c3", pageErr.Cursor)
	assert.Zero(t, pageErr.Offset)
	assert.ErrorContains(t, err, `list stopped at cursor "c3"`)

	after := mintlify.FeedbackParams{Cursor: pageErr.Cursor}
	rest, err := mintlify.Collect(client.Analytics.Feedback(t.Context(), after))
	require.NoError(t, err)
	require.Len(t, rest, 2)
	assert.Equal(t, "f3", rest[0].ID)
}

func TestCursorIsBounded(t *testing.T) {
	for size, ok := range map[int]bool{64 << 10: true, 64<<10 + 1: false} {
		cursor := `"nextCursor":"` + strings.Repeat("c", size) + `"}`

		searches := kit.RespondWith(200, `{"totalSearches":9,"searches":[],`+cursor)
		_, err := kit.NewClient(t, searches).Analytics.GetSearchPage(t.Context(), mintlify.SearchesParams{})
		assert.Equal(t, ok, err == nil, "%v", err)

		feedback := kit.RespondWith(200, `{"feedback":[],"hasMore":true,`+cursor)
		_, err = kit.NewClient(t, feedback).Analytics.GetFeedbackPage(t.Context(), mintlify.FeedbackParams{})
		assert.Equal(t, ok, err == nil, "%v", err)
	}
}

// Counts move while an export runs: the rows of a page are told apart without them.
func TestPageOrCursorThatComesAgainEndsTheExport(t *testing.T) {
	n := 0
	moving := kit.Transport(func(*http.Request) (*http.Response, error) {
		const body = `{"totals":{},"visitors":[{"path":"/a","human":%d},{"path":"/b"}],"hasMore":true}`
		n++
		return kit.Response(200, fmt.Sprintf(body, n)), nil
	})

	twoRows := mintlify.VisitorsParams{PageSize: 2}
	rows, err := mintlify.Collect(kit.NewClient(t, moving).Analytics.Visitors(t.Context(), twoRows))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "repeats an earlier page")
	assert.Len(t, rows, 2)

	nextCursors := map[string]string{"": "a", "a": "b", "b": "a"}
	cursors := kit.Transport(func(r *http.Request) (*http.Response, error) {
		const body = `{"totalSearches":9,"searches":[{"searchQuery":"%d"}],"nextCursor":%q}`
		n++
		return kit.Response(200, fmt.Sprintf(body, n, nextCursors[r.URL.Query().Get("cursor")])), nil
	})
	_, err = mintlify.Collect(kit.NewClient(t, cursors).Analytics.Searches(t.Context(), mintlify.SearchesParams{}))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "repeats an earlier cursor")
}

// Rows that have no path differ in their counts alone.
func TestRowsWithoutANameAreToldApartByTheirCounts(t *testing.T) {
	const visitors = `{"totals":{},"visitors":[{"human":%d}],"hasMore":%t}`
	const views = `{"totals":{},"views":[{"path":"","ai":%d}],"hasMore":%t}`
	oneRow := mintlify.VisitorsParams{PageSize: 1}

	for _, page := range []string{visitors, views} {
		differing := script(fmt.Sprintf(page, 1, true), fmt.Sprintf(page, 2, false))
		repeated := script(fmt.Sprintf(page, 1, true), fmt.Sprintf(page, 2, true), fmt.Sprintf(page, 1, true))

		var rows int
		var err error
		count := func(rt *kit.Recording) {
			analytics := kit.NewClient(t, rt).Analytics
			if page == visitors {
				rows, err = length(analytics.Visitors(t.Context(), oneRow))
				return
			}
			rows, err = length(analytics.Views(t.Context(), mintlify.ViewsParams(oneRow)))
		}

		count(differing)
		require.NoError(t, err)
		assert.Equal(t, 2, rows)

		count(repeated)
		require.ErrorContains(t, err, "repeats an earlier page")
		assert.Equal(t, 2, rows)
	}

	const searches = `{"totalSearches":9,"searches":[{"hits":%d}],"nextCursor":%s}`
	rt := script(fmt.Sprintf(searches, 1, `"a"`), fmt.Sprintf(searches, 2, "null"))
	rows, err := length(kit.NewClient(t, rt).Analytics.Searches(t.Context(), mintlify.SearchesParams{}))
	require.NoError(t, err)
	assert.Equal(t, 2, rows)
}

func length[T any](rows iter.Seq2[T, error]) (int, error) {
	all, err := mintlify.Collect(rows)
	return len(all), err
}

// A filter can empty any number of pages. Each costs a request of an hour's quota of 100.
func TestEmptyPagesOfAListByCursor(t *testing.T) {
	const row = `{"totalSearches":9,"searches":[{"searchQuery":"a"}],"nextCursor":null}`
	for empty, wantsError := range map[int]bool{4: false, 99: false, 100: true} {
		withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
			var pages []string
			for n := range empty {
				pages = append(pages, fmt.Sprintf(`{"totalSearches":9,"searches":[],"nextCursor":"c%d"}`, n))
			}
			rt := script(append(pages, row)...)
			rows, err := mintlify.Collect(
				kit.NewClient(t, rt).Analytics.Searches(t.Context(), mintlify.SearchesParams{}, opts...))
			if !wantsError {
				require.NoError(t, err)
				assert.Len(t, rows, 1)
				return
			}

			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			assert.ErrorContains(t, err, "100th consecutive empty page")
			assert.Equal(t, "c98", kit.RequireAs[*mintlify.ExportError](t, err).Cursor)
		})
	}

	own := script(`{"totalSearches":9,"searches":[],"nextCursor":"c"}`)
	atCursor := mintlify.SearchesParams{Cursor: "c"}
	_, err := mintlify.Collect(kit.NewClient(t, own).Analytics.Searches(t.Context(), atCursor))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "repeats an earlier cursor")
	assert.Equal(t, 1, own.Count())
}

// All turns of a conversation can have its id and one time.
func TestTurnsOfAConversationInPagesOfOne(t *testing.T) {
	const page = `{"conversations":[{"id":"c","timestamp":"yesterday","query":%q,"response":%q}],"hasMore":%t,"nextCursor":%q}`
	rt := script(
		fmt.Sprintf(page, "how?", "so", true, "1"),
		fmt.Sprintf(page, "how?", "", true, "2"),
		fmt.Sprintf(page, "", "so", false, ""))
	rows, err := mintlify.Collect(
		kit.NewClient(t, rt).Analytics.Conversations(t.Context(), mintlify.ConversationsParams{PageSize: 1}))
	require.NoError(t, err)
	assert.Len(t, rows, 3)

	again := script(fmt.Sprintf(page, "how?", "so", true, "1"), fmt.Sprintf(page, "how?", "so", true, "2"))
	_, err = mintlify.Collect(
		kit.NewClient(t, again).Analytics.Conversations(t.Context(), mintlify.ConversationsParams{PageSize: 1}))
	assert.ErrorContains(t, err, "repeats an earlier page")
}

// Rows shift between the pages of live counts.
func TestSingleRowMayComeAgain(t *testing.T) {
	rt := kit.NewRecording(
		kit.RespondWith(200, `{"totals":{},"visitors":[{"path":"/a"},{"path":"/b"}],"hasMore":true}`),
		kit.RespondWith(200, `{"totals":{},"visitors":[{"path":"/b"},{"path":"/c"}],"hasMore":false}`))
	export := kit.NewClient(t, rt).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{PageSize: 2})
	rows, err := mintlify.Collect(export)
	require.NoError(t, err)
	assert.Len(t, rows, 4)
}

func TestErrorBeyondTheEndOfAnExportIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowPages{pages: 2, failing: 500}
		rows, err := exportVisitors(t, service, mintlify.WithPrefetch(4))
		require.NoError(t, err)
		assert.Len(t, rows, 2*250)
	})
}

func TestWithPrefetchRefusesWhatIsNoNumberOfPages(t *testing.T) {
	for _, pages := range []int{-1, 101} {
		_, err := exportVisitors(t, mintlifytest.NewService(), mintlify.WithPrefetch(pages))
		kit.RequireArgumentError(t, err, "prefetch")
	}
}

func TestOneSequenceRangedOverByManyGoroutines(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(kit.Visitors(600))
	for _, prefetch := range []int{0, 1, 4} {
		prefetching := mintlify.WithPrefetch(prefetch)
		seq := svc.Client().Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, prefetching)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				pages, err := mintlify.Collect(seq)
				assert.NoError(t, err)
				assert.Len(t, pages, 3)
			})
		}
		all.Wait()
	}
}

// limitedTo makes svc respond with at most n rows, even if more were requested.
func limitedTo(n string, svc *mintlifytest.Service) kit.Transport {
	return func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		query.Set("limit", n)
		r.URL.RawQuery = query.Encode()
		return svc.RoundTrip(r)
	}
}

func TestExportWithMoreRowsThanAskedForIsAnError(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(kit.Visitors(600))
	client := svc.Client(kit.Through(limitedTo("100", svc)))
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		rows, err := mintlify.Collect(client.Analytics.Visitors(t.Context(), mintlify.VisitorsParams{PageSize: 50}, opts...))
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorContains(t, err, "100 rows, more than the page size of 50")
		assert.Empty(t, rows)
	})

	known := script(pageOf(true, "/a", "/b"), pageOf(true, "/a", "/b", "/c", "/d"))
	threeRows := mintlify.VisitorsParams{PageSize: 3}
	_, err := mintlify.Collect(kit.NewClient(t, known).Analytics.Visitors(t.Context(), threeRows))
	assert.ErrorContains(t, err, "4 rows, more than the page size of 3", "known ones included")

	last := script(pageOf(true, "/a", "/b"), pageOf(false, "/a", "/b", "/c", "/d"))
	rows, err := mintlify.Collect(kit.NewClient(t, last).Analytics.Visitors(t.Context(), threeRows))
	require.NoError(t, err, "no page follows that could repeat some")
	assert.Len(t, rows, 4)

	page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{PageSize: 50})
	require.NoError(t, err, "a single page repeats nothing")
	assert.Len(t, page.Visitors, 100)
}

// offsetService lists rows by offset. From a row on, it caps its pages, or removes rows after it has
// applied the limit. It is slow, and counts the requests in progress and in all.
type offsetService struct {
	rows    int
	from    int
	cap     int            // rows of a page; 0: no cap
	removes func(int) bool // rows, by their number; nil: none
	fault   func(offset int) *http.Response

	mu             sync.Mutex
	asked          int
	underWay, most int
}

func (s *offsetService) RoundTrip(r *http.Request) (*http.Response, error) {
	s.count(1)
	defer s.count(-1)

	select {
	case <-time.After(20 * time.Millisecond):
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}

	query := r.URL.Query()
	offset, _ := strconv.Atoi(query.Get("offset"))
	limit, _ := strconv.Atoi(cmp.Or(query.Get("limit"), "50"))
	if s.fault != nil {
		if fault := s.fault(offset); fault != nil {
			return fault, nil
		}
	}
	paths, hasMore := s.page(offset, limit)
	return kit.Response(200, pageOf(hasMore, paths...)), nil
}

func (s *offsetService) count(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.asked += max(change, 0)
	s.underWay += change
	s.most = max(s.most, s.underWay)
}

// page returns the paths of a page, and whether there are more.
func (s *offsetService) page(offset, limit int) ([]string, bool) {
	if s.cap != 0 && offset >= s.from {
		limit = min(limit, s.cap)
	}

	end := min(offset+limit, s.rows)
	var paths []string
	for i := offset; i < end; i++ {
		if !s.isRemoved(i) {
			paths = append(paths, fmt.Sprintf("/%d", i))
		}
	}
	return paths, end < s.rows
}

func (s *offsetService) isRemoved(i int) bool {
	return s.removes != nil && i >= s.from && s.removes(i)
}

// all returns the paths that an export has to have.
func (s *offsetService) all() []string {
	uncapped := offsetService{rows: s.rows, from: s.from, removes: s.removes}
	paths, _ := uncapped.page(0, s.rows)
	return paths
}

func pathsOf(rows []mintlify.Visitor) []string {
	var paths []string
	for _, row := range rows {
		paths = append(paths, row.Path)
	}
	return paths
}

// eachSeventh removes single rows, and most keeps hardly one.
func eachSeventh(i int) bool { return i%7 == 0 }
func mostRows(i int) bool    { return i%60 != 0 }

// shortPages are services whose pages are shorter than what they were asked for.
func shortPages() map[string]*offsetService {
	return map[string]*offsetService{
		"capped early":         {rows: 1000, cap: 100},
		"capped late":          {rows: 3000, from: 1500, cap: 100},
		"capped by one":        {rows: 1000, cap: 249},
		"filtered early":       {rows: 1000, removes: eachSeventh},
		"filtered late":        {rows: 3000, from: 1500, removes: eachSeventh},
		"hardly anything left": {rows: 1000, removes: mostRows},
		"a gap of two pages":   {rows: 1500, removes: func(i int) bool { return i >= 300 && i < 800 }},
		"no row in a page":     {rows: 3000, removes: func(i int) bool { return i >= 500 && i < 750 }},
	}
}

func TestExportByOffsetIsWhole(t *testing.T) {
	for name := range shortPages() {
		t.Run(name, func(t *testing.T) {
			needed := 0
			for prefetch := range 9 {
				synctest.Test(t, func(t *testing.T) {
					service := shortPages()[name]
					rows, err := exportVisitors(t, service, mintlify.WithPrefetch(prefetch))
					require.NoError(t, err)
					require.Equal(t, service.all(), pathsOf(rows))

					if prefetch == 0 {
						needed = service.asked
					}
					assert.LessOrEqual(t, service.asked, needed+max(0, prefetch-1), "prefetch %d", prefetch)
					if first, _ := service.page(0, 250); len(first) < 250 {
						assert.Equal(t, 1, service.most, "one page after the other")
					}
				})
			}
		})
	}
}

func TestViewsByOffsetAreWhole(t *testing.T) {
	svc := mintlifytest.NewService()
	views := make([]mintlify.View, 600)
	for i := range views {
		views[i] = mintlify.View{Path: fmt.Sprintf("/%d", i), Human: int64(i)}
	}
	svc.SetViews(views)
	client := svc.Client(kit.Through(limitedTo("100", svc)))

	rows, err := mintlify.Collect(client.Analytics.Views(t.Context(), mintlify.ViewsParams{}))
	require.NoError(t, err)
	assert.Equal(t, views, rows)
}

func TestNextPageStartsWhereThePageEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		pageSize, rows int
		hasMore        bool
		next           int
	}{
		"full":                           {pageSize: 10, rows: 10, hasMore: true, next: 1010},
		"short":                          {pageSize: 10, rows: 9, hasMore: true, next: 1009},
		"empty":                          {pageSize: 10, rows: 0, hasMore: true, next: 1010},
		"more than asked for":            {pageSize: 10, rows: 11, hasMore: true, next: 1010},
		"the last one":                   {pageSize: 10, rows: 9, next: 1009},
		"the last one, and more":         {pageSize: 10, rows: 11, next: 1011},
		"the last one, empty":            {pageSize: 10, rows: 0, next: 1000},
		"no size":                        {rows: 50, hasMore: true, next: 1050},
		"no size, short":                 {rows: 20, hasMore: true, next: 1020},
		"no size, more than the default": {rows: 60, hasMore: true, next: 1060},
		"no size, empty":                 {rows: 0, hasMore: true, next: 1050},
		"no size, the last one":          {rows: 20, next: 1020},
	} {
		t.Run(name, func(t *testing.T) {
			paths := make([]string, tc.rows)
			for i := range paths {
				paths[i] = fmt.Sprintf("/%d", i)
			}
			visitors := pageOf(tc.hasMore, paths...)
			views := strings.Replace(visitors, `"visitors"`, `"views"`, 1)
			analytics := kit.NewClient(t, script(visitors, views)).Analytics

			params := mintlify.VisitorsParams{PageSize: tc.pageSize, Offset: 1000}
			visitorPage, err := analytics.GetVisitorPage(t.Context(), params)
			require.NoError(t, err)
			assert.Equal(t, tc.next, visitorPage.NextOffset)
			assert.Len(t, visitorPage.Visitors, tc.rows)

			viewPage, err := analytics.GetViewPage(t.Context(), mintlify.ViewsParams(params))
			require.NoError(t, err)
			assert.Equal(t, tc.next, viewPage.NextOffset)
			assert.Len(t, viewPage.Views, tc.rows)
		})
	}
}

func TestRowsOfAShortPageAreNotYieldedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		pages   []string
		want    string // the rows of each page
		offsets string
	}{
		"some of them": {
			[]string{pageOf(true, "/a", "/b"), pageOf(true, "/b", "/c"), pageOf(false, "/c", "/d")},
			"[/a /b] [/c] [/d]", "0 2 4",
		},
		"as often as they stand there": {
			[]string{pageOf(true, "/a", "/b", "/a"), pageOf(false, "/a", "/a", "/a", "/b", "/b")},
			"[/a /b /a] [/a /b]", "0 3",
		},
		"the page as received counts": {
			[]string{pageOf(true, "/a", "/b"), pageOf(true, "/a", "/b", "/c"), pageOf(false, "/a", "/b", "/c", "/d")},
			"[/a /b] [/c] [/d]", "0 2 5",
		},
		"all of them": {
			[]string{pageOf(true, "/a", "/b"), pageOf(true, "/b"), pageOf(false, "/c")},
			"[/a /b] [] [/c]", "0 2 252",
		},
		"all of them at the end": {
			[]string{pageOf(true, "/a", "/b"), pageOf(false, "/b", "/a")},
			"[/a /b] []", "0 2",
		},
		"not those of an earlier page": {
			[]string{pageOf(true, "/a", "/b"), pageOf(true, "/c"), pageOf(false, "/a", "/d")},
			"[/a /b] [/c] [/a /d]", "0 2 3",
		},
		"not those of a full page": {
			[]string{fullPage(true), pageOf(false, "/0", "/d")},
			"full [/0 /d]", "0 250",
		},
		"not those after an empty page": {
			[]string{pageOf(true, "/a"), pageOf(true), pageOf(false, "/a", "/b")},
			"[/a] [] [/a /b]", "0 1 251",
		},
		"not one with another count": {
			[]string{pageOf(true, "/a", "/b"), strings.Replace(pageOf(false, "/a", "/b"), `"ai":1`, `"ai":2`, 1)},
			"[/a /b] [/a]", "0 2",
		},
		"not one without a path": {
			[]string{pageOf(true, "/a", ""), pageOf(true, "", "/b"), pageOf(false, "", "/c")},
			"[/a ] [ /b] [ /c]", "0 2 4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, prefetch := range []int{0, 1, 4} {
				rt := script(tc.pages...)
				var came []string
				for page, err := range visitorPages(t, rt, mintlify.WithPrefetch(prefetch)) {
					require.NoError(t, err)
					text := fmt.Sprint(pathsOf(page.Visitors))
					if len(page.Visitors) == 250 {
						text = "full"
					}
					came = append(came, text)
				}
				assert.Equal(t, tc.want, strings.Join(came, " "))
				if prefetch > 1 && strings.HasPrefix(tc.want, "full") {
					continue // some requests are in vain
				}

				var asked []string
				for _, request := range rt.Sent() {
					asked = append(asked, cmp.Or(request.URL.Query().Get("offset"), "0"))
				}
				assert.Equal(t, tc.offsets, strings.Join(asked, " "))
			}
		})
	}
}

// The loop may change a page while the next ones are under way.
func TestAPageIsTheCallers(t *testing.T) {
	for _, prefetch := range []int{0, 1, 3} {
		for name := range shortPages() {
			synctest.Test(t, func(t *testing.T) {
				service := shortPages()[name]
				var rows []mintlify.Visitor
				for page, err := range visitorPages(t, service, mintlify.WithPrefetch(prefetch)) {
					require.NoError(t, err)
					rows = append(rows, page.Visitors...)

					clear(page.Visitors)
					*page = mintlify.VisitorPage{NextOffset: 7}
					time.Sleep(time.Millisecond)
				}
				assert.Equal(t, service.all(), pathsOf(rows), "%s, prefetch %d", name, prefetch)
			})
		}

		var asked []string
		client := kit.NewClient(t, feedbackPages(5, &asked))
		var ids []string
		prefetching := mintlify.WithPrefetch(prefetch)
		for page, err := range client.Analytics.FeedbackPages(t.Context(), mintlify.FeedbackParams{}, prefetching) {
			require.NoError(t, err)
			ids = append(ids, page.Feedback[0].ID)
			*page = mintlify.FeedbackPage{}
		}
		assert.Equal(t, []string{"f0", "f1", "f2", "f3", "f4"}, ids)
	}
}

// Each page of an export fails once, and the export resumes where its error or the last page says.
func TestInterruptedExportOfShortPagesResumes(t *testing.T) {
	for name := range shortPages() {
		for _, byPage := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				service := shortPages()[name]
				failed := map[int]bool{}
				service.fault = func(offset int) *http.Response {
					if failed[offset] {
						return nil
					}
					failed[offset] = true
					return kit.Response(400, "")
				}

				var rows []mintlify.Visitor
				params := mintlify.VisitorsParams{}
				for again := true; again; {
					again = false
					next := params.Offset
					for page, err := range kit.NewClient(t, service).Analytics.VisitorPages(t.Context(), params) {
						if err != nil {
							again = true
							if !byPage {
								next = kit.RequireAs[*mintlify.ExportError](t, err).Offset
							}
							break
						}
						rows = append(rows, page.Visitors...)
						next = page.NextOffset
					}
					params.Offset = next
				}

				if service.cap != 0 {
					assert.Equal(t, service.all(), pathsOf(rows), name)
				}
				assert.ElementsMatch(t, service.all(), distinct(pathsOf(rows)), "%s loses no row", name)
			})
		}
	}
}

func distinct(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

func TestLoopOverGetPageLosesNoRow(t *testing.T) {
	for name := range shortPages() {
		for _, pageSize := range []int{0, 250} {
			synctest.Test(t, func(t *testing.T) {
				service := shortPages()[name]
				analytics := kit.NewClient(t, service).Analytics

				var rows []mintlify.Visitor
				for params := (mintlify.VisitorsParams{PageSize: pageSize}); ; {
					page, err := analytics.GetVisitorPage(t.Context(), params)
					require.NoError(t, err)
					rows = append(rows, page.Visitors...)
					if !page.HasMore {
						break
					}
					params.Offset = page.NextOffset
				}

				if service.cap != 0 {
					assert.Equal(t, service.all(), pathsOf(rows), name)
				}
				assert.ElementsMatch(t, service.all(), distinct(pathsOf(rows)), "%s loses no row", name)
			})
		}
	}
}

func TestTheFirstShortPageOfAnExportIsLoggedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		service *offsetService
		says    string // "": nothing
	}{
		"early": {&offsetService{rows: 1000, cap: 100}, "offset=0 rows=100 pageSize=250"},
		"late":  {&offsetService{rows: 1000, from: 500, cap: 100}, "offset=500 rows=100 pageSize=250"},
		"empty": {shortPages()["no row in a page"], "offset=500 rows=0 pageSize=250"},
		"none":  {&offsetService{rows: 999}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, prefetch := range []int{0, 1, 4} {
				synctest.Test(t, func(t *testing.T) {
					var log strings.Builder
					logger := mintlify.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))
					pages := kit.NewClient(t, tc.service, logger).Analytics.VisitorPages(
						t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(prefetch))

					for range 2 { // each export
						log.Reset()
						_, err := mintlify.Collect(pages)
						require.NoError(t, err)

						if tc.says == "" {
							assert.Empty(t, log.String())
							continue
						}
						assert.Equal(t, 1, strings.Count(log.String(), "short page with hasMore"), log.String())
						assert.Contains(t, log.String(), tc.says)
					}
				})
			}
		})
	}
}

// After the short page at 250, the pages that were requested at 500 and 750 are of no use.
func TestPagesAtOtherOffsetsAreForgotten(t *testing.T) {
	errorsAt := func(offsets ...int) func(int) *http.Response {
		return func(offset int) *http.Response {
			if slices.Contains(offsets, offset) {
				return kit.Response(400, "")
			}
			return nil
		}
	}

	synctest.Test(t, func(t *testing.T) {
		service := &offsetService{rows: 1100, from: 250, cap: 100, fault: errorsAt(500, 1000)}
		var rows []mintlify.Visitor
		for page, err := range visitorPages(t, service, mintlify.WithPrefetch(4)) {
			require.NoError(t, err)
			rows = append(rows, page.Visitors...)
			time.Sleep(time.Second) // the errors are there long before
		}
		assert.Equal(t, service.all(), pathsOf(rows))
	})

	// They are canceled at once, and the pages after them when the loop ends.
	synctest.Test(t, func(t *testing.T) {
		service := &offsetService{rows: 2000, from: 250, cap: 100}
		canceled := false
		slow := kit.Transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("offset") == "500" {
				<-r.Context().Done()
				canceled = true
				return nil, context.Cause(r.Context())
			}
			return service.RoundTrip(r)
		})

		start := time.Now()
		for page, err := range visitorPages(t, slow, mintlify.WithPrefetch(2)) {
			require.NoError(t, err)
			if page.NextOffset == 350 {
				synctest.Wait()
				assert.True(t, canceled)
				assert.Equal(t, 1, service.underWay, "the page at 350")
				break
			}
		}
		assert.Equal(t, 40*time.Millisecond, time.Since(start))
		assert.Zero(t, service.underWay)
	})

	synctest.Test(t, func(t *testing.T) {
		service := &offsetService{rows: 2000, from: 250, cap: 100}
		service.fault = func(offset int) *http.Response {
			if offset == 500 {
				panic("in a hook")
			}
			return nil
		}
		assert.PanicsWithValue(t, "in a hook", func() {
			_, _ = exportVisitors(t, service, mintlify.WithPrefetch(4))
		})
	})
}

// The loop may take long to handle the error: nothing is requested meanwhile.
func TestAnErrorCancelsThePagesAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowPages{pages: 20}
		failing := kit.Transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("offset") == "250" {
				time.Sleep(time.Millisecond) // the other pages are under way
				return kit.Response(400, ""), nil
			}
			return service.RoundTrip(r)
		})

		for _, err := range visitorPages(t, failing, mintlify.WithPrefetch(4)) {
			if err != nil {
				synctest.Wait()
				assert.EqualValues(t, 1+3, service.asked.Load())
				assert.Zero(t, service.underWay.Load())
			}
		}
	})
}

package mintlify_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
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
	return mintlify.Collect(newClient(t, rt).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}, opts...))
}

// visitorPages is the sequence of the pages of visitors from rt.
func visitorPages(
	t *testing.T, rt http.RoundTripper, opts ...mintlify.ExportOption,
) iter.Seq2[*mintlify.VisitorPage, error] {
	t.Helper()
	return newClient(t, rt).Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, opts...)
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
				svc.SetVisitors(visitors(n))
				delayed := transport(func(r *http.Request) (*http.Response, error) {
					time.Sleep(rand.N(50 * time.Millisecond)) // responses overtake each other
					return svc.RoundTrip(r)
				})
				prefetching := mintlify.WithPrefetch(prefetch)
				analytics := svc.Client(through(delayed)).Analytics
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
		svc.SetVisitors(visitors(25))
		params := mintlify.VisitorsParams{PageSize: 10, Offset: 3}
		pages, err := mintlify.Collect(svc.Client().Analytics.VisitorPages(t.Context(), params, opts...))
		require.NoError(t, err)
		assert.Equal(t, []string{"3/10", "13/10", "23/10"}, offsets(svc))

		totals := mintlify.VisitorTotals{Human: 162, AI: 26, Total: 175}
		require.Len(t, pages, 3)
		for i, page := range pages {
			assert.Equal(t, 13+10*i, page.NextOffset)
			assert.Equal(t, i < 2, page.HasMore)
			assert.Equal(t, totals, page.Totals, "of all, not of the page")
		}
	})
}

// script is a recording that responds with page after page.
func script(pages ...string) *recording {
	rt := newRecording()
	for _, page := range pages {
		rt.steps = append(rt.steps, respondWith(200, page))
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

func TestVisitorsPaginatesPastEmptyAndShortPages(t *testing.T) {
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		rt := script(
			pageOf(true, "/a"), pageOf(true), pageOf(true),
			pageOf(true, "/b"), pageOf(true), pageOf(true),
			pageOf(false, "/c"))
		rows, err := exportVisitors(t, rt, opts...)
		require.NoError(t, err)
		assert.Len(t, rows, 3)
		assert.Equal(t, 7, rt.count())
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
		"three empty pages":    {[]string{pageOf(true, "/a"), pageOf(true)}, 1, 750, empty},
		"empty from the start": {[]string{pageOf(true)}, 0, 500, empty},
		"the same page twice":  {[]string{pageOf(true, "/a", "/b")}, 2, 250, repeats},
		"with an empty one between": {
			[]string{pageOf(true, "/a"), pageOf(true), pageOf(true, "/a")}, 1, 500, repeats,
		},
		"two pages by turns": {
			[]string{pageOf(true, "/a"), pageOf(true, "/b"), pageOf(true, "/a")}, 2, 500, repeats,
		},
		"the same page at the end": {
			[]string{pageOf(true, "/a"), pageOf(false, "/a")}, 1, 250, repeats,
		},
	} {
		t.Run(name, func(t *testing.T) {
			withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
				rows, err := exportVisitors(t, script(tc.pages...), opts...)
				require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
				assert.ErrorContains(t, err, tc.reason)
				assert.Equal(t, tc.offset, requireAs[*mintlify.ExportError](t, err).Offset)
				require.ErrorAs(t, err, new(*mintlify.MalformedResponseError))
				assert.Len(t, rows, tc.rows)
				assertReadable(t, err)
			})
		})
	}
}

func TestVisitorsHasAnErrorInItsPlaceOnceAndSaysWhereToResume(t *testing.T) {
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		svc := mintlifytest.NewService()
		svc.SetVisitors(visitors(1000))
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
			pageErr := requireAs[*mintlify.ExportError](t, err)
			assert.Equal(t, len(rows), pageErr.Offset)
			assert.ErrorContains(t, err, fmt.Sprintf("list stopped at offset %d: get visitors: 503", pageErr.Offset))
			assert.Zero(t, params.Offset, "once")
			params.Offset = pageErr.Offset
		}

		assert.NotZero(t, params.Offset)
		rest, err := mintlify.Collect(svc.Client().Analytics.Visitors(t.Context(), params, opts...))
		require.NoError(t, err)
		assert.Equal(t, visitors(1000), append(rows, rest...))
	})
}

func TestVisitorPagesCanceled(t *testing.T) {
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		svc := mintlifytest.NewService()
		svc.SetVisitors(visitors(1000))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		stopped := errors.New("stopped by hand")

		n := 0
		params := mintlify.VisitorsParams{PageSize: 100}
		for _, err := range svc.Client().Analytics.VisitorPages(ctx, params, opts...) {
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
				assert.ErrorIs(t, err, stopped)
				assert.Equal(t, n*100, requireAs[*mintlify.ExportError](t, err).Offset)
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

// slowPages responds with a page after 20 ms, n pages in all, and counts the requests
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
		return response(400, ""), nil
	}
	return response(200, pageOf(offset/250+1 < s.pages, fmt.Sprintf("/%d", offset))), nil
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
					came = append(came, "error at "+strconv.Itoa(requireAs[*mintlify.ExportError](t, err).Offset))
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
func feedbackPages(n int, asked *[]string) transport {
	return func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		*asked = append(*asked, query.Encode())

		page := 0
		fmt.Sscanf(query.Get("cursor"), "c%d", &page)
		next := page + 1
		const body = `{"feedback":[{"id":"f%d"}],"hasMore":%t,"nextCursor":"c%d"}`
		return response(200, fmt.Sprintf(body, page, next < n, next)), nil
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
		client := newClient(t, feedbackPages(3, &asked))
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
	failing := transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("cursor") == "c3" && len(asked) == 3 {
			asked = append(asked, "failed")
			return response(400, ""), nil
		}
		return service(r)
	})

	client := newClient(t, failing)
	rows, err := mintlify.Collect(client.Analytics.Feedback(t.Context(), mintlify.FeedbackParams{}))
	require.Len(t, rows, 3)
	pageErr := requireAs[*mintlify.ExportError](t, err)
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

		searches := respondWith(200, `{"totalSearches":9,"searches":[],`+cursor)
		_, err := newClient(t, searches).Analytics.GetSearchPage(t.Context(), mintlify.SearchesParams{})
		assert.Equal(t, ok, err == nil, "%v", err)

		feedback := respondWith(200, `{"feedback":[],"hasMore":true,`+cursor)
		_, err = newClient(t, feedback).Analytics.GetFeedbackPage(t.Context(), mintlify.FeedbackParams{})
		assert.Equal(t, ok, err == nil, "%v", err)
	}
}

// Counts move while an export runs: the rows of a page are told apart without them.
func TestPageOrCursorThatComesAgainEndsTheExport(t *testing.T) {
	n := 0
	moving := transport(func(*http.Request) (*http.Response, error) {
		const body = `{"totals":{},"visitors":[{"path":"/a","human":%d},{"path":"/b"}],"hasMore":true}`
		n++
		return response(200, fmt.Sprintf(body, n)), nil
	})

	twoRows := mintlify.VisitorsParams{PageSize: 2}
	rows, err := mintlify.Collect(newClient(t, moving).Analytics.Visitors(t.Context(), twoRows))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "repeats an earlier page")
	assert.Len(t, rows, 2)

	nextCursors := map[string]string{"": "a", "a": "b", "b": "a"}
	cursors := transport(func(r *http.Request) (*http.Response, error) {
		const body = `{"totalSearches":9,"searches":[{"searchQuery":"%d"}],"nextCursor":%q}`
		n++
		return response(200, fmt.Sprintf(body, n, nextCursors[r.URL.Query().Get("cursor")])), nil
	})
	_, err = mintlify.Collect(newClient(t, cursors).Analytics.Searches(t.Context(), mintlify.SearchesParams{}))
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "repeats an earlier cursor")
}

// Rows shift between the pages of live counts.
func TestSingleRowMayComeAgain(t *testing.T) {
	rt := newRecording(
		respondWith(200, `{"totals":{},"visitors":[{"path":"/a"},{"path":"/b"}],"hasMore":true}`),
		respondWith(200, `{"totals":{},"visitors":[{"path":"/b"},{"path":"/c"}],"hasMore":false}`))
	rows, err := mintlify.Collect(newClient(t, rt).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{PageSize: 2}))
	require.NoError(t, err)
	assert.Len(t, rows, 4)
}

func TestErrorBeyondTheEndOfAnExportIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowPages{pages: 2, failing: 500}
		rows, err := exportVisitors(t, service, mintlify.WithPrefetch(4))
		require.NoError(t, err)
		assert.Len(t, rows, 2)
	})
}

func TestWithPrefetchRefusesWhatIsNoNumberOfPages(t *testing.T) {
	for _, pages := range []int{-1, 101} {
		_, err := exportVisitors(t, mintlifytest.NewService(), mintlify.WithPrefetch(pages))
		requireArgumentError(t, err, "prefetch")
	}
}

func TestOneSequenceRangedOverByManyGoroutines(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitors(600))
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
func limitedTo(n string, svc *mintlifytest.Service) transport {
	return func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		query.Set("limit", n)
		r.URL.RawQuery = query.Encode()
		return svc.RoundTrip(r)
	}
}

func TestExportWithMoreRowsThanAskedForIsAnError(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitors(600))
	client := svc.Client(through(limitedTo("100", svc)))
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		rows, err := mintlify.Collect(client.Analytics.Visitors(t.Context(), mintlify.VisitorsParams{PageSize: 50}, opts...))
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorContains(t, err, "100 rows, more than the page size of 50")
		assert.Empty(t, rows)
	})

	page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{PageSize: 50})
	require.NoError(t, err, "a single page repeats nothing")
	assert.Len(t, page.Visitors, 100)
}

func TestExportWithCappedPagesGoesOnAndWarnsOnce(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitors(1000))
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	client := svc.Client(through(limitedTo("100", svc)), mintlify.WithLogger(logger))

	rows, err := mintlify.Collect(client.Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}))
	require.NoError(t, err)
	assert.Len(t, rows, 400, "offset += limit, to the letter")
	assert.Equal(t, 1, strings.Count(log.String(), "short page with hasMore"), log.String())
	assert.Contains(t, log.String(), "rows=100 pageSize=250")
}

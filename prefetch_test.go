package mintlify_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestPrefetchOfManyPagesDeliversEachRowOnceInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, prefetch := range []int{1, 2, 4, 8} {
			for n, pages := range map[int]int{0: 1, 1: 1, 250: 1, 251: 2, 1000: 4, 2600: 11} {
				svc := mintlifytest.NewService()
				svc.SetVisitors(visitors(n))
				delayed := transport(func(r *http.Request) (*http.Response, error) {
					time.Sleep(rand.N(50 * time.Millisecond)) // responses overtake each other
					return svc.RoundTrip(r)
				})
				client := svc.Client(mintlify.WithHTTPClient(&http.Client{Transport: delayed}))
				rows, err := collect(client.Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(prefetch)))
				require.NoError(t, err)
				require.Len(t, rows, n)
				for i, row := range rows {
					require.Equal(t, fmt.Sprintf("/page/%d", i), row.Path)
				}
				assert.LessOrEqual(t, len(svc.Requests()), pages+prefetch-1, "requests beyond the end")
			}
		}
	})
}

func TestPrefetchOfFourPagesTakesAQuarterOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowPages{pages: 100}
		start := time.Now()
		for _, err := range newClient(t, service).Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(4)) {
			require.NoError(t, err)
		}
		assert.Equal(t, 26*20*time.Millisecond, time.Since(start), "the first page alone, and the others four at a time")
		assert.LessOrEqual(t, service.asked.Load(), int32(103))
		assert.Zero(t, service.underWay.Load())
	})
}

func TestErrorOfAPrefetchOfManyPagesComesInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowPages{pages: 10, failing: 500}
		var came []string
		for page, err := range newClient(t, service).Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(4)) {
			if err != nil {
				var pageErr *mintlify.PageError
				require.ErrorAs(t, err, &pageErr)
				came = append(came, "error at "+strconv.Itoa(pageErr.Offset))
				continue
			}
			time.Sleep(time.Second) // the error, and the pages after it, are there long before
			came = append(came, page.Visitors[0].Path)
		}
		assert.Equal(t, []string{"/0", "/250", "error at 500"}, came)
	})
}

func TestErrorBeyondTheEndOfAnExportIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowPages{pages: 2, failing: 500}
		paths, err := collect(newClient(t, service).Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(4)))
		require.NoError(t, err)
		assert.Len(t, paths, 2)
	})
}

func TestBreakingOffCancelsAllThatIsPrefetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		service := &slowPages{pages: 10}
		for range newClient(t, service).Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(4)) {
			break
		}
		assert.Zero(t, service.underWay.Load())
		assert.LessOrEqual(t, service.asked.Load(), int32(5))
	})
}

func TestWithPrefetchRefusesWhatIsNoNumberOfPages(t *testing.T) {
	for _, pages := range []int{-1, 101} {
		_, err := collect(mintlifytest.NewService().Client().Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(pages)))
		requireArgumentError(t, err, "prefetch")
	}
}

func TestOneSequenceRangedOverByManyGoroutines(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitors(600))
	for _, prefetch := range []int{0, 1, 4} {
		seq := svc.Client().Analytics.VisitorPages(t.Context(), mintlify.VisitorsParams{}, mintlify.WithPrefetch(prefetch))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				pages, err := collect(seq)
				assert.NoError(t, err)
				assert.Len(t, pages, 3)
			})
		}
		all.Wait()
	}
}

func TestExportWithMoreRowsThanAskedForIsAnError(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitors(600))
	generous := transport(func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		query.Set("limit", "100") // whatever was asked for
		r.URL.RawQuery = query.Encode()
		return svc.RoundTrip(r)
	})
	client := svc.Client(mintlify.WithHTTPClient(&http.Client{Transport: generous}))
	withAndWithoutPrefetch(t, func(t *testing.T, opts ...mintlify.ExportOption) {
		rows, err := collect(client.Analytics.Visitors(t.Context(), mintlify.VisitorsParams{Limit: 50}, opts...))
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorContains(t, err, "100 rows, more than the limit of 50")
		assert.Empty(t, rows)
	})
	page, err := client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{Limit: 50})
	require.NoError(t, err, "a single page repeats nothing")
	assert.Len(t, page.Visitors, 100)
}

func TestExportWithCappedPagesGoesOnAndWarnsOnce(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitors(1000))
	capped := transport(func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		query.Set("limit", "100")
		r.URL.RawQuery = query.Encode()
		return svc.RoundTrip(r)
	})
	var log strings.Builder
	client := svc.Client(mintlify.WithHTTPClient(&http.Client{Transport: capped}), mintlify.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	rows, err := collect(client.Analytics.Visitors(t.Context(), mintlify.VisitorsParams{}))
	require.NoError(t, err)
	assert.Len(t, rows, 400, "offset += limit, to the letter")
	assert.Equal(t, 1, strings.Count(log.String(), "short page with hasMore"), log.String())
	assert.Contains(t, log.String(), "rows=100 limit=250")
}

package sdk

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

type counter struct {
	next  http.RoundTripper
	count atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.count.Add(1)
	return c.next.RoundTrip(r)
}

// docs/performance.md says so.
func TestAnExportTakesFewRequests(t *testing.T) {
	const rows = 10_000
	svc := service.New(rows)
	for pages, most := range map[int]int64{0: 40, 1: 40, 4: 43} {
		newClient := New
		if pages > 0 {
			newClient = NewPrefetching(pages)
		}
		transport := &counter{next: svc}
		got := 0
		require.NoError(t, newClient("http://127.0.0.1:1", transport).Export(t.Context(), 0, func(bench.Row) { got++ }))
		assert.Equal(t, rows, got)
		assert.LessOrEqual(t, transport.count.Load(), most, "with prefetch of %d pages", pages)
	}
}

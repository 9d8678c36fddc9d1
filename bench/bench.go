// Package bench measures the SDK beside what one would use instead of it: see
// docs/performance.md, which bench/run writes. The clients of two columns are made
// by go generate, with the versions in go.mod; nothing that imports them builds before.
package bench

import (
	"context"
	"net/http"
	"runtime"
	"time"
)

// What every column authenticates with, and works on.
const (
	Key     = "mint_bench"
	Project = "proj"
)

const (
	// DefaultLimit is how many rows the service gives where no limit is sent.
	DefaultLimit = 50
	// MaxLimit is the most rows it gives.
	MaxLimit = 250
	// SearchesLimit is the most rows of searches that it gives.
	SearchesLimit = 100
	// ConversationsLimit is how many rows of conversations it gives where no limit is sent.
	ConversationsLimit = 100
)

// Client is what all columns can do. A column decodes into types of its own, and
// hands over what it has decoded by value, which costs no allocation.
type Client interface {
	Get(ctx context.Context, id string) (Job, error)
	Create(ctx context.Context, prompt string) (Job, error)
	Page(ctx context.Context, offset, limit int, visit func(Row)) (hasMore bool, err error)
	Export(ctx context.Context, limit int, visit func(Row)) error // limit 0: the column's own
	Wait(ctx context.Context, id string) error
	Searches(ctx context.Context, limit int, visit func(Search)) error            // the first page
	Conversations(ctx context.Context, limit int, visit func(Conversation)) error // the first page
}

// New makes a client. Without a transport it is the column's own default.
type New func(baseURL string, transport http.RoundTripper) Client

// Row is what a column has read of a row of the export.
type Row struct {
	Path             string
	Human, AI, Total int64
}

// Search is what a column has read of a row of the export of searches.
type Search struct {
	Query, TopClickedPage string
	Hits                  int64
	CTR                   float64
	LastSearchedAt        time.Time
}

// Conversation is what a column has read of a row of the export of conversations.
type Conversation struct {
	ID, Query, Response string
	Timestamp           time.Time
	Sources             int
}

// Job is what a column has read of a job.
type Job struct {
	ID, Status, Repository, PRLink string
	CreatedAt                      time.Time
}

// Paginate is the export that one writes by hand around a call for one page.
func Paginate(ctx context.Context, c Client, limit int, visit func(Row)) error {
	step := limit
	if step == 0 {
		step = DefaultLimit
	}
	for offset := 0; ; offset += step {
		hasMore, err := c.Page(ctx, offset, limit, visit)
		if err != nil || !hasMore {
			return err
		}
	}
}

// Poll is the wait that one writes by hand around a call for one job.
func Poll(ctx context.Context, c Client, id string) error {
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for {
		job, err := c.Get(ctx, id)
		if err != nil || job.Status != "active" {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// MemoryInUse is heap and stacks, in bytes, once the garbage is collected.
func MemoryInUse() int64 {
	runtime.GC()
	runtime.GC() // what was pooled
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}

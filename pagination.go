package mintlify

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"net/http"

	"github.com/mintlify-community/mintlify-go/internal/aside"
)

const maxEmptyPages = 3 // in a row, that say there is more

// position is where a page of an export begins.
type position struct {
	offset int
}

// page is what the loop over an export needs to know of a page.
type page interface {
	rowCount() int
	next() (at position, hasMore bool)
	hash(maphash.Seed) uint64 // of the rows
}

// export is how an export is paginated.
type export[P page] struct {
	operation Operation
	logger    *slog.Logger
	from      position
	limit     int // rows that each page is asked for
	prefetch  bool
	fetch     func(context.Context, position) (P, error)
}

// pages ranges over the export.
func (e export[P]) pages(ctx context.Context) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		ahead := prefetched[P]{fetch: func(at position) (P, error) { return e.fetch(ctx, at) }}
		defer ahead.wait()
		defer cancel()
		guard := pageGuard{operation: e.operation, logger: e.logger, limit: e.limit, seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
		for at := e.from; ; {
			current, err := ahead.take(at)
			if err == nil {
				err = guard.check(ctx, current)
			}
			if err != nil {
				var none P
				yield(none, &PageError{Offset: at.offset, Err: err})
				return
			}
			next, hasMore := current.next()
			if hasMore && e.prefetch {
				ahead.start(next)
			}
			if !yield(current, nil) || !hasMore {
				return
			}
			at = next
		}
	}
}

// prefetched is the page that is on its way while the loop works on the one before.
type prefetched[P page] struct {
	fetch func(position) (P, error)
	run   *aside.Run // nil: none
	page  P
	err   error
}

func (p *prefetched[P]) start(at position) {
	p.run = aside.Go(func() { p.page, p.err = p.fetch(at) })
}

// take returns the page at a position: the prefetched one, if there is one.
func (p *prefetched[P]) take(at position) (P, error) {
	if p.run == nil {
		return p.fetch(at)
	}
	run := p.run
	p.run = nil
	run.Wait()
	return p.page, p.err
}

// wait returns when no request is on its way.
func (p *prefetched[P]) wait() {
	if p.run != nil {
		<-p.run.Done()
	}
}

// pageGuard ends an export whose rows would come twice or never end, and warns of one
// whose rows may be missing. It keeps hashes of the pages so far, not the pages.
type pageGuard struct {
	operation Operation
	logger    *slog.Logger
	limit     int
	seed      maphash.Seed
	seen      map[uint64]bool
	empty     int // pages in a row
	warned    bool
}

func (g *pageGuard) check(ctx context.Context, p page) error {
	rows := p.rowCount()
	_, hasMore := p.next()
	if rows > g.limit {
		return g.malformed(fmt.Sprintf("%d rows, more than the limit of %d: the next page would repeat some", rows, g.limit))
	}
	if hasMore && rows < g.limit && !g.warned {
		g.warned = true
		g.logger.LogAttrs(ctx, slog.LevelWarn, "mintlify: short page with hasMore: rows may be missing from the export if the service caps its pages; ask for a smaller limit",
			slog.String("operation", string(g.operation)), slog.Int("rows", rows), slog.Int("limit", g.limit))
	}
	if rows == 0 {
		g.empty++
		if hasMore && g.empty == maxEmptyPages {
			return g.malformed("third consecutive empty page with hasMore")
		}
		return nil
	}
	hash := p.hash(g.seed)
	if g.seen[hash] {
		return g.malformed("the rows of an earlier page")
	}
	g.seen[hash] = true
	g.empty = 0
	return nil
}

func (g *pageGuard) malformed(reason string) error {
	return &ResponseError{Operation: g.operation, StatusCode: http.StatusOK, Reason: reason}
}

// hashRows is the hash of rows without pointers.
func hashRows[R comparable](seed maphash.Seed, rows []R) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, row := range rows {
		maphash.WriteComparable(&h, row)
	}
	return h.Sum64()
}

// rowsOf ranges over the rows of pages.
func rowsOf[P page, R any](pages iter.Seq2[P, error], rows func(P) []R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for page, err := range pages {
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			for _, row := range rows(page) {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

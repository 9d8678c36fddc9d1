package mintlify

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"net/http"

	"github.com/mintlify-community/mintlify-go/internal/async"
)

const maxEmptyPages = 3 // in a row, that say there is more

// position is where a page of an export begins, by offset or by cursor.
type position struct {
	offset int
	cursor string
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
	limit     int  // rows that each page is asked for
	byCursor  bool // else by offset
	prefetch  int  // pages
	fetch     func(context.Context, position) (P, error)
}

// pages ranges over the export.
func (e export[P]) pages(ctx context.Context) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		ahead := ahead[P]{export: &e, ctx: ctx}
		defer ahead.wait()
		defer cancel()
		if e.prefetch > 1 {
			ahead.fill(e.from)
		}
		guard := newPageGuard(e.operation, e.logger, e.limit, e.byCursor)
		for at := e.from; ; {
			current, err := ahead.take(at)
			if err == nil {
				err = guard.check(ctx, current)
			}
			if err != nil {
				var none P
				yield(none, &PageError{Offset: at.offset, Cursor: at.cursor, Err: err})
				return
			}
			next, hasMore := current.next()
			if hasMore {
				ahead.fill(next)
			}
			if !yield(current, nil) || !hasMore {
				return
			}
			at = next
		}
	}
}

// ahead are the pages that are on their way while the loop works on the one before, in
// order.
type ahead[P page] struct {
	export  *export[P]
	ctx     context.Context
	pending []*pending[P]
}

// pending is a page on its way.
type pending[P page] struct {
	*async.Run
	at   position
	page P
	err  error
	done bool // neither err nor a panic
}

// fill asks for pages from a position on, until as many are pending as may be. By offset,
// all but the first may not exist.
func (a *ahead[P]) fill(at position) {
	for len(a.pending) < a.export.prefetch {
		next := &pending[P]{at: at}
		if n := len(a.pending); n == 0 {
			next.Run = async.Go(func() { a.fetch(next) })
		} else if before := a.pending[n-1]; a.export.byCursor {
			next.Run = async.Go(func() { a.fetchAfter(before, next) })
		} else {
			next.at.offset = before.at.offset + a.export.limit
			next.Run = async.Go(func() { a.fetch(next) })
		}
		a.pending = append(a.pending, next)
	}
}

func (a *ahead[P]) fetch(p *pending[P]) {
	p.page, p.err = a.export.fetch(a.ctx, p.at)
	p.done = p.err == nil
}

// fetchAfter fetches the page after before, once that says where it begins.
func (a *ahead[P]) fetchAfter(before, p *pending[P]) {
	<-before.Done()
	if !before.done {
		return // the loop ends before it gets here
	}
	var hasMore bool
	if p.at, hasMore = before.page.next(); hasMore {
		a.fetch(p)
	}
}

// take returns the page at a position: the first pending one, if there is one.
func (a *ahead[P]) take(at position) (P, error) {
	if len(a.pending) == 0 {
		return a.export.fetch(a.ctx, at)
	}
	first := a.pending[0]
	a.pending[0] = nil // the page is the loop's now
	a.pending = a.pending[1:]
	first.Wait()
	return first.page, first.err
}

// wait returns when no request is on its way. What ended a hook in one of them surfaces
// here, if the loop has not got to it.
func (a *ahead[P]) wait() {
	for _, p := range a.pending {
		<-p.Done()
	}
	for _, p := range a.pending {
		p.Wait()
	}
}

// pageGuard ends an export whose rows would come twice or never end, and warns of one
// whose rows may be missing. It keeps hashes of the pages so far, not the pages.
type pageGuard struct {
	operation Operation
	logger    *slog.Logger
	limit     int
	byCursor  bool
	seed      maphash.Seed
	seen      map[uint64]bool
	empty     int // pages in a row
	warned    bool
}

func newPageGuard(operation Operation, logger *slog.Logger, limit int, byCursor bool) *pageGuard {
	return &pageGuard{operation: operation, logger: logger, limit: limit, byCursor: byCursor, seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
}

func (g *pageGuard) check(ctx context.Context, p page) error {
	rows := p.rowCount()
	_, hasMore := p.next()
	if rows > g.limit && !g.byCursor {
		return g.malformed(fmt.Sprintf("%d rows, more than the limit of %d: the next page would repeat some", rows, g.limit))
	}
	if hasMore && rows < g.limit && !g.byCursor && !g.warned {
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

// hashRows is the hash of what tells rows apart.
func hashRows[R any, K comparable](seed maphash.Seed, rows []R, key func(R) K) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, row := range rows {
		maphash.WriteComparable(&h, key(row))
	}
	return h.Sum64()
}

func itself[R any](row R) R { return row }

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

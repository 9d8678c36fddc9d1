package mintlify

import (
	"context"
	"hash/maphash"
	"iter"
	"net/http"
)

const maxEmptyPages = 3 // in a row, that say there is more

// page is what the walk needs to know of a page of any export.
type page interface {
	next() (offset int, hasMore bool)
	rows() int
	hash(maphash.Seed) uint64 // of the rows
	operation() Operation
}

// walk ranges over an export from offset on. With prefetch it fetches a page while
// the loop works on the one before.
func walk[P page](ctx context.Context, offset int, fetch func(context.Context, int) (P, error), prefetch bool) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		get := func() (P, error) { return fetch(ctx, offset) }
		guard := loopGuard{seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
		for {
			current, err := get()
			if err == nil {
				err = guard.check(current)
			}
			if err != nil {
				var none P
				yield(none, &PageError{Offset: offset, Err: err})
				return
			}
			next, hasMore := current.next()
			if !hasMore {
				yield(current, nil)
				return
			}
			offset = next
			if !prefetch {
				if !yield(current, nil) {
					return
				}
				continue
			}
			var goesOn bool
			get, goesOn = whileFetching(ctx, offset, fetch, func() bool { return yield(current, nil) })
			if !goesOn {
				return
			}
		}
	}
}

// whileFetching calls work while the page at offset is on its way, and returns how
// to get that page, and what work said. If work says no, or does not return, the
// request is cancelled and gone by the end.
func whileFetching[P page](ctx context.Context, offset int, fetch func(context.Context, int) (P, error), work func() bool) (get func() (P, error), goesOn bool) {
	ctx, cancel := context.WithCancel(ctx)
	var fetched P
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		fetched, err = fetch(ctx, offset)
	}()
	defer func() {
		if !goesOn {
			cancel()
			<-done
		}
	}()
	goesOn = work()
	return func() (P, error) {
		<-done
		cancel()
		return fetched, err
	}, goesOn
}

// loopGuard ends an export that the service would let go on for ever. It keeps
// hashes of the pages so far, not the pages.
type loopGuard struct {
	seed  maphash.Seed
	seen  map[uint64]bool
	empty int // pages in a row
}

func (g *loopGuard) check(p page) error {
	if p.rows() == 0 {
		g.empty++
		if _, hasMore := p.next(); hasMore && g.empty == maxEmptyPages {
			return &ResponseError{Operation: p.operation(), StatusCode: http.StatusOK, Reason: "it is the third empty page in a row that says there is more"}
		}
		return nil
	}
	hash := p.hash(g.seed)
	if g.seen[hash] {
		return &ResponseError{Operation: p.operation(), StatusCode: http.StatusOK, Reason: "it repeats the rows of an earlier page"}
	}
	g.seen[hash] = true
	g.empty = 0
	return nil
}

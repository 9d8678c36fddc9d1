package mintlify

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/async"
)

const (
	maxEmptyPages = 3 // in a row, that say there is more
	maxPrefetch   = 8 // pages
)

// ExportOption sets up an export.
type ExportOption func(*exportConfig)

type exportConfig struct {
	prefetch int // pages
}

// WithPrefetch requests up to that many pages ahead of the loop, 0 to 8; they are then in
// memory besides the loop's own. The first page is never requested ahead, nor is any
// page before the first one has said that there is more.
//
// With 1, the next page is requested while the loop works on this one. If both take
// equally long, an export takes half the time. A loop that breaks off may have spent one
// request more. With n > 1, an export by offset requests pages before it knows that they
// exist: it spends at most n-1 requests beyond its end, or n if the loop breaks off. An
// export by cursor requests one page after the other, up to n ahead. 0, the default,
// requests each page when the loop gets to it. More than 8 is an [*ArgumentError].
func WithPrefetch(pages int) ExportOption {
	return func(cfg *exportConfig) { cfg.prefetch = pages }
}

func newExportConfig(opts []ExportOption) (cfg exportConfig, err error) {
	for i, opt := range opts {
		if opt == nil {
			return cfg, &ArgumentError{"opts", fmt.Sprintf("has a nil option at index %d", i)}
		}
		opt(&cfg)
	}
	if cfg.prefetch < 0 || cfg.prefetch > maxPrefetch {
		return cfg, &ArgumentError{"prefetch", fmt.Sprintf("is %d, want 0 to %d pages", cfg.prefetch, maxPrefetch)}
	}
	return cfg, nil
}

// position is where a page starts, by offset or by cursor.
type position struct {
	offset int
	cursor string
}

// page is what the loop needs to know of a page of rows.
type page[R row] interface {
	rows() []R
	next() (at position, hasMore bool)
}

// row is an item of a list.
type row interface {
	identity() identity // tells it from the other rows, in spite of counts that move
}

type identity struct {
	text string
	at   time.Time
}

// listing says how to paginate a list.
type listing struct {
	operation Operation
	url       string
	invalid   error // why the params are refused, if they are
	from      position
	limit     int  // rows that each page is asked for
	byCursor  bool // else by offset
}

// paginate ranges over the pages of a list. fetch gets one of them.
func paginate[P page[R], R row](ctx context.Context, c *Client, list listing, opts []ExportOption, fetch func(context.Context, position) (P, error)) iter.Seq2[P, error] {
	cfg, err := newExportConfig(opts)
	if err = cmp.Or(list.invalid, err); err == nil && ctx == nil {
		err = &ArgumentError{"ctx", "is nil"}
	}
	var none P
	if err != nil {
		return func(yield func(P, error) bool) { yield(none, err) }
	}
	return func(yield func(P, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		prefetcher := prefetcher[P, R]{ctx: ctx, listing: list, pages: cfg.prefetch, fetch: fetch}
		defer prefetcher.wait()
		defer cancel()
		guard := newPageGuard[R](list, c.config)
		for at := list.from; ; {
			current, err := prefetcher.next(at)
			if err == nil {
				err = guard.check(ctx, current)
			}
			if err != nil {
				cancel() // before the loop can take its time over the error
				yield(none, &PageError{Offset: at.offset, Cursor: at.cursor, Err: err})
				return
			}
			next, hasMore := current.next()
			if hasMore {
				prefetcher.start(next)
			}
			if !yield(current, nil) || !hasMore {
				return
			}
			at = next
		}
	}
}

// prefetcher requests pages while the loop works on the one before.
type prefetcher[P page[R], R row] struct {
	listing
	ctx     context.Context
	pages   int // to be pending at most
	fetch   func(context.Context, position) (P, error)
	pending []*pending[P] // in order
}

// pending is a page that was requested ahead.
type pending[P any] struct {
	*async.Run
	at        position
	page      P
	err       error
	succeeded bool // no error, and no panic either
}

// start requests pages from a position on, until as many are pending as may be. By
// offset, all but the first may not exist.
func (f *prefetcher[P, R]) start(at position) {
	for len(f.pending) < f.pages {
		next := &pending[P]{at: at}
		if n := len(f.pending); n == 0 {
			next.Run = async.Go(func() { f.request(next) })
		} else if before := f.pending[n-1]; f.byCursor {
			next.Run = async.Go(func() { f.requestAfter(before, next) })
		} else {
			next.at.offset = before.at.offset + f.limit
			next.Run = async.Go(func() { f.request(next) })
		}
		f.pending = append(f.pending, next)
	}
}

func (f *prefetcher[P, R]) request(p *pending[P]) {
	p.page, p.err = f.fetch(f.ctx, p.at)
	p.succeeded = p.err == nil
}

// requestAfter requests the page after before, once that says where it starts.
func (f *prefetcher[P, R]) requestAfter(before, p *pending[P]) {
	<-before.Done()
	if !before.succeeded {
		return // the loop ends before it gets here
	}
	var hasMore bool
	if p.at, hasMore = before.page.next(); hasMore {
		f.request(p)
	}
}

// next returns the page at a position: the first pending one, if there is one.
func (f *prefetcher[P, R]) next(at position) (P, error) {
	if len(f.pending) == 0 {
		return f.fetch(f.ctx, at)
	}
	first := f.pending[0]
	f.pending[0] = nil // the page is the loop's now
	f.pending = f.pending[1:]
	first.Wait()
	return first.page, first.err
}

// wait returns when no request is in progress. A panic or Goexit in a hook of a request
// that the loop has not got to surfaces here.
func (f *prefetcher[P, R]) wait() {
	for _, p := range f.pending {
		<-p.Done()
	}
	for _, p := range f.pending {
		p.Wait()
	}
}

// pageGuard ends a list whose rows would come twice or never end, and warns of one whose
// rows may be missing. It keeps hashes of the pages so far, not the pages.
type pageGuard[R row] struct {
	listing
	logger  *slog.Logger
	path    string
	seed    maphash.Seed
	seen    map[uint64]bool // pages, by the identities of their rows
	cursors map[uint64]bool
	empty   int // pages in a row
	warned  bool
}

func newPageGuard[R row](list listing, cfg *config) *pageGuard[R] {
	path := strings.TrimPrefix(list.url, cfg.origin.String())
	g := &pageGuard[R]{listing: list, logger: cfg.logger, path: path, seed: maphash.MakeSeed(), seen: map[uint64]bool{}, cursors: map[uint64]bool{}}
	g.cursors[maphash.String(g.seed, list.from.cursor)] = true
	return g
}

func (g *pageGuard[R]) check(ctx context.Context, p page[R]) error {
	rows := p.rows()
	next, hasMore := p.next()
	if len(rows) > g.limit && !g.byCursor {
		return g.malformed(fmt.Sprintf("%d rows, more than the limit of %d: the next page would repeat some", len(rows), g.limit))
	}
	if hasMore && len(rows) < g.limit && !g.byCursor && !g.warned {
		g.warned = true
		g.logger.LogAttrs(ctx, slog.LevelWarn, "mintlify: short page with hasMore: rows may be missing from the export if the service caps its pages; ask for a smaller limit",
			slog.String("operation", string(g.operation)), slog.String("path", g.path), slog.Int("rows", len(rows)), slog.Int("limit", g.limit))
	}
	if len(rows) == 0 {
		g.empty++
		if hasMore && g.empty == maxEmptyPages {
			return g.malformed("third consecutive empty page with hasMore")
		}
		return nil
	}
	g.empty = 0
	if !isNew(g.seen, g.hash(rows)) {
		return g.malformed("repeats an earlier page")
	}
	if g.byCursor && hasMore && !isNew(g.cursors, maphash.String(g.seed, next.cursor)) {
		return g.malformed("repeats an earlier cursor")
	}
	return nil
}

func (g *pageGuard[R]) hash(rows []R) uint64 {
	var h maphash.Hash
	h.SetSeed(g.seed)
	for _, row := range rows {
		maphash.WriteComparable(&h, row.identity())
	}
	return h.Sum64()
}

func isNew(seen map[uint64]bool, hash uint64) bool {
	defer func() { seen[hash] = true }()
	return !seen[hash]
}

func (g *pageGuard[R]) malformed(reason string) error {
	return &ResponseError{Operation: g.operation, StatusCode: http.StatusOK, Path: g.path, Reason: reason}
}

// rowsOf ranges over the rows of pages.
func rowsOf[P page[R], R row](pages iter.Seq2[P, error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for page, err := range pages {
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			for _, row := range page.rows() {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

package mintlify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/async"
	"github.com/mintlify-community/mintlify-go/internal/wire"
)

const (
	maxEmptyPages = 3        // in a row, that say there is more
	maxPrefetch   = 8        // pages
	maxCursor     = 64 << 10 // bytes
)

// Collect returns all rows of an export, or the rows before its error:
//
//	visitors, err := mintlify.Collect(client.Analytics.Visitors(ctx, params))
//
// All rows are in memory at once. Called again, it exports again.
func Collect[T any](rows iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for row, err := range rows {
		if err != nil {
			return all, err
		}
		all = append(all, row)
	}
	return all, nil
}

// ExportOption configures an export.
type ExportOption func(*exportConfig)

type exportConfig struct {
	prefetch int // pages
}

// WithPrefetch requests up to that many pages ahead of the loop, 0 to 8. They are in memory in
// addition to the loop's own page. The SDK requests no page ahead until the first page has come
// and says that there are more.
//
// With 1, the next page is requested while the loop works on this one. If both take
// equally long, an export takes half the time. If the loop breaks, the export may have cost one
// request too many. With n > 1, an export by offset requests pages before it knows that they
// exist: it spends at most n-1 requests beyond its end, or n if the loop breaks. An
// export by cursor requests one page after the other, up to n ahead. 0, the default,
// requests each page when the loop gets to it. More than 8 is an [*ArgumentError].
func WithPrefetch(pages int) ExportOption {
	return func(cfg *exportConfig) { cfg.prefetch = pages }
}

func newExportConfig(opts []ExportOption) (exportConfig, error) {
	var cfg exportConfig
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
	decoder
	rows() []R
	next() (at position, hasMore bool)
}

// row is an item of a list.
type row interface {
	identity() identity // tells it from other rows, without its counts: they change
}

type identity struct {
	text string
	at   time.Time
}

// list describes a list that the service sends in pages. A method of a service makes
// a list from its params, and calls get, pages or rows.
type list[P page[R], R row] struct {
	client  *Client
	request request // of any page: where it starts, and its size, are added to the query
	invalid error   // why the params are refused; nil if they are valid

	from         position
	byCursor     bool // else by offset
	pageSize     int  // rows of a page; 0: the service's default
	maxPageSize  int  // the service's
	iterPageSize int  // rows of a page in the iterators if pageSize is 0; 0: maxPageSize

	newPage func(at position, pageSize int) P // an empty page, to decode into
}

func (l list[P, R]) get(ctx context.Context) (P, error) {
	var none P
	if err := l.check(); err != nil {
		return none, err
	}

	page := l.newPage(l.from, l.pageSize)
	r := l.request
	r.query = l.query()
	r.into = page
	if err := l.client.do(ctx, r); err != nil {
		return none, err
	}
	return page, nil
}

func (l list[P, R]) getAt(ctx context.Context, at position) (P, error) {
	l.from = at
	return l.get(ctx)
}

func (l list[P, R]) check() error {
	if err := checkRows("pageSize", l.pageSize, l.maxPageSize); err != nil {
		return err
	}

	switch {
	case l.from.offset < 0:
		return &ArgumentError{"offset", fmt.Sprintf("is %d, want 0 or more", l.from.offset)}
	case l.from.offset > math.MaxInt-l.maxPageSize:
		return &ArgumentError{"offset", fmt.Sprintf("is %d, which is beyond any export", l.from.offset)}
	}
	return l.invalid
}

// checkRows checks a number of rows that a response may have.
func checkRows(name string, rows, maxRows int) error {
	if rows < 0 || rows > maxRows {
		return &ArgumentError{name, fmt.Sprintf("is %d, want 1 to %d, or 0 for the default", rows, maxRows)}
	}
	return nil
}

func (l list[P, R]) query() url.Values {
	query := url.Values{}
	maps.Copy(query, l.request.query)

	setNumber(query, "limit", l.pageSize)
	setNumber(query, "offset", l.from.offset)

	if l.from.cursor != "" {
		query.Set("cursor", l.from.cursor)
	}
	return query
}

// setNumber adds n to query, unless it is 0.
func setNumber(query url.Values, name string, n int) {
	if n != 0 {
		query.Set(name, strconv.Itoa(n))
	}
}

// rows ranges over the rows of the list from l.from on.
func (l list[P, R]) rows(ctx context.Context, opts []ExportOption) iter.Seq2[R, error] {
	pages := l.pages(ctx, opts)
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

// pages ranges over the pages of the list from l.from on.
func (l list[P, R]) pages(ctx context.Context, opts []ExportOption) iter.Seq2[P, error] {
	prefetch, err := l.checkExport(ctx, opts)
	if err != nil {
		return func(yield func(P, error) bool) {
			var none P
			yield(none, err)
		}
	}

	l.pageSize = cmp.Or(l.pageSize, l.iterPageSize, l.maxPageSize)
	return func(yield func(P, error) bool) { l.export(ctx, prefetch, yield) }
}

// checkExport returns how many pages to prefetch, or why the export cannot begin.
func (l list[P, R]) checkExport(ctx context.Context, opts []ExportOption) (int, error) {
	if err := l.check(); err != nil {
		return 0, err
	}

	cfg, err := newExportConfig(opts)
	if err != nil {
		return 0, err
	}

	if ctx == nil {
		return 0, &ArgumentError{"ctx", "is nil"}
	}
	return cfg.prefetch, nil
}

// export yields one page after the other.
func (l list[P, R]) export(ctx context.Context, prefetch int, yield func(P, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	prefetcher := prefetcher[P, R]{ctx: ctx, list: l, pages: prefetch}
	defer prefetcher.wait()
	defer cancel()

	guard := newPageGuard(l)
	for at := l.from; ; {
		page, err := prefetcher.next(at)
		if err == nil {
			err = guard.check(ctx, page)
		}
		if err != nil {
			cancel() // now: the loop may take long to handle the error
			var none P
			yield(none, &ExportError{Offset: at.offset, Cursor: at.cursor, Err: err})
			return
		}

		next, hasMore := page.next()
		if hasMore {
			prefetcher.start(next)
		}
		if !yield(page, nil) || !hasMore {
			return
		}
		at = next
	}
}

// prefetcher requests pages while the loop works on the one before.
type prefetcher[P page[R], R row] struct {
	ctx     context.Context
	list    list[P, R]
	pages   int           // how many may be pending
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

// start requests pages from a position on, until f.pages are pending. In a list by offset all
// but the first of them may not exist.
func (f *prefetcher[P, R]) start(at position) {
	for len(f.pending) < f.pages {
		f.pending = append(f.pending, f.startNext(at))
	}
}

// startNext requests the page after the last pending one, or the page at a position if none is
// pending.
func (f *prefetcher[P, R]) startNext(at position) *pending[P] {
	if len(f.pending) == 0 {
		return f.startAt(at)
	}

	last := f.pending[len(f.pending)-1]
	if f.list.byCursor {
		return f.startAfter(last)
	}
	return f.startAt(position{offset: last.at.offset + f.list.pageSize})
}

func (f *prefetcher[P, R]) startAt(at position) *pending[P] {
	p := &pending[P]{at: at}
	p.Run = async.Go(func() { f.request(p) })
	return p
}

func (f *prefetcher[P, R]) startAfter(before *pending[P]) *pending[P] {
	p := new(pending[P])
	p.Run = async.Go(func() { f.requestAfter(before, p) })
	return p
}

func (f *prefetcher[P, R]) request(p *pending[P]) {
	p.page, p.err = f.list.getAt(f.ctx, p.at)
	p.succeeded = p.err == nil
}

// requestAfter waits until the page of before says where the next page starts, and requests the
// next page.
func (f *prefetcher[P, R]) requestAfter(before, p *pending[P]) {
	<-before.Done()
	if !before.succeeded {
		return // the loop ends before it gets here
	}

	next, hasMore := before.page.next()
	p.at = next
	if hasMore {
		f.request(p)
	}
}

// next returns the page at a position: the first pending one, if there is one.
func (f *prefetcher[P, R]) next(at position) (P, error) {
	if len(f.pending) == 0 {
		return f.list.getAt(f.ctx, at)
	}

	first := f.pending[0]
	f.pending[0] = nil // the page is the loop's now
	f.pending = f.pending[1:]

	first.Wait()
	return first.page, first.err
}

// wait returns when no request is in progress. A panic or Goexit in a hook surfaces
// here if the loop has not reached the page of that request.
func (f *prefetcher[P, R]) wait() {
	for _, p := range f.pending {
		<-p.Done()
	}
	for _, p := range f.pending {
		p.Wait()
	}
}

// pageGuard ends a list that repeats its rows or never ends, and warns if rows may be missing.
// It keeps hashes of the pages so far, not the pages.
type pageGuard[P page[R], R row] struct {
	list    list[P, R]
	path    string // of the list, for messages
	seed    maphash.Seed
	seen    map[uint64]bool // pages, by the identities of their rows
	cursors map[uint64]bool
	empty   int // pages in a row
	warned  bool
}

func newPageGuard[P page[R], R row](l list[P, R]) *pageGuard[P, R] {
	g := &pageGuard[P, R]{
		list:    l,
		path:    strings.TrimPrefix(l.request.url, l.client.config.origin.String()),
		seed:    maphash.MakeSeed(),
		seen:    map[uint64]bool{},
		cursors: map[uint64]bool{},
	}

	g.isNewCursor(l.from.cursor)
	return g
}

// check returns an error if the page has to end the list.
func (g *pageGuard[P, R]) check(ctx context.Context, p P) error {
	rows := p.rows()
	next, hasMore := p.next()

	if !g.list.byCursor {
		if len(rows) > g.list.pageSize {
			return g.malformed(fmt.Sprintf("%d rows, more than the page size of %d: the next page would repeat some",
				len(rows), g.list.pageSize))
		}
		if hasMore && len(rows) < g.list.pageSize {
			g.warn(ctx, len(rows))
		}
	}

	if len(rows) == 0 {
		g.empty++
		if hasMore && g.empty == maxEmptyPages {
			return g.malformed("third consecutive empty page with hasMore")
		}
		return nil
	}
	g.empty = 0

	if !g.isNewPage(rows) {
		return g.malformed("repeats an earlier page")
	}
	if g.list.byCursor && hasMore && !g.isNewCursor(next.cursor) {
		return g.malformed("repeats an earlier cursor")
	}
	return nil
}

// warn logs, once in an export, that a page is short though it says that there is more.
func (g *pageGuard[P, R]) warn(ctx context.Context, rows int) {
	if g.warned {
		return
	}
	g.warned = true

	g.list.client.config.logger.LogAttrs(ctx, slog.LevelWarn,
		"mintlify: short page with hasMore: rows may be missing from the export if the service caps its pages; "+
			"ask for a smaller page size",
		slog.String("operation", string(g.list.request.operation)),
		slog.String("path", g.path),
		slog.Int("rows", rows),
		slog.Int("pageSize", g.list.pageSize))
}

// isNewPage reports whether no earlier page had the same rows, and remembers this one.
func (g *pageGuard[P, R]) isNewPage(rows []R) bool {
	var h maphash.Hash
	h.SetSeed(g.seed)
	for _, row := range rows {
		maphash.WriteComparable(&h, row.identity())
	}

	return isNew(g.seen, h.Sum64())
}

// isNewCursor reports whether no earlier page was at cursor, and remembers it.
func (g *pageGuard[P, R]) isNewCursor(cursor string) bool {
	return isNew(g.cursors, maphash.String(g.seed, cursor))
}

func isNew(seen map[uint64]bool, hash uint64) bool {
	if seen[hash] {
		return false
	}

	seen[hash] = true
	return true
}

func (g *pageGuard[P, R]) malformed(reason string) error {
	return &MalformedResponseError{
		Operation:  g.list.request.operation,
		StatusCode: http.StatusOK,
		Path:       g.path,
		Reason:     reason,
	}
}

// cursorJSON is how a page of a list by cursor says where the next page starts.
type cursorJSON struct {
	HasMore    *bool      `json:"hasMore"`
	NextCursor nextCursor `json:"nextCursor"`
}

// next reads a page that says hasMore.
//
// The service may send a cursor with its last page. It is dropped, or a loop until there is none
// would never end.
func (c cursorJSON) next() (string, bool, error) {
	switch {
	case c.HasMore == nil:
		return "", false, wire.Missing("hasMore")
	case !*c.HasMore:
		return "", false, nil
	case c.NextCursor.text == "":
		return "", false, wire.Missing("nextCursor, though hasMore is true")
	}
	return c.NextCursor.text, true, c.NextCursor.check()
}

// nextWithoutHasMore reads a page of a list that has no hasMore: the last page is the one
// whose nextCursor is null. A page without a nextCursor may not be the last.
func (c cursorJSON) nextWithoutHasMore() (string, error) {
	if !c.NextCursor.present {
		return "", wire.Missing("nextCursor")
	}
	return c.NextCursor.text, c.NextCursor.check()
}

// nextCursor is text, null or absent.
type nextCursor struct {
	text    string
	present bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *nextCursor) UnmarshalJSON(data []byte) error {
	c.present = true
	return json.Unmarshal(data, &c.text)
}

func (c nextCursor) check() error {
	if len(c.text) > maxCursor {
		return fmt.Errorf("the next cursor is longer than %d KiB", maxCursor>>10)
	}
	return nil
}

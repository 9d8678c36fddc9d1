package mintlify

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mintlify-community/mintlify-go/internal/async"
	"github.com/mintlify-community/mintlify-go/internal/wire"
)

const (
	maxEmptyPages    = 3        // in a row, that say there is more, of a list by offset
	maxEmptyByCursor = 100      // the same of a list by cursor, which a filter may have emptied
	maxPrefetch      = 8        // pages
	maxCursor        = 64 << 10 // bytes
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
type ExportOption func(*exportConfig) error

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
// export by cursor requests one page after the other, up to n ahead. So does an export by offset
// after its first page that is short and says that there are more: pages requested at other offsets
// are canceled, at most n-1, once. 0, the default, requests each page when the loop gets to it.
// More than 8 is an [*ArgumentError].
func WithPrefetch(pages int) ExportOption {
	return func(cfg *exportConfig) error {
		if pages < 0 || pages > maxPrefetch {
			return &ArgumentError{"prefetch", fmt.Sprintf("is %d, want 0 to %d pages", pages, maxPrefetch)}
		}
		cfg.prefetch = pages
		return nil
	}
}

// position is where a page starts, by offset or by cursor.
type position struct {
	offset int
	cursor string

	// seen counts the rows of the page before, if it was short: the page here may repeat them.
	seen map[any]int
}

// page is what the loop needs to know of a page of rows.
type page[R row] interface {
	decoder
	rows() []R
	next() (at position, hasMore bool)
}

// offsetPage is a page of a list by offset.
type offsetPage[R row] interface {
	page[R]
	set(rows []R, nextOffset int)
}

// fetched is a page, and what the export needs to know of it while the caller may change it.
type fetched[P any] struct {
	page     P
	received int // rows, with those that the page repeats
	next     position
	hasMore  bool
	isShort  bool // fewer rows than were asked for, although there are more
}

// row is an item of a list.
type row interface {
	identity() identity // tells it from other rows
}

// identity is what a row has in common with itself in another response. Its counts are no part of
// that, because they change.
type identity struct {
	text string    // the row's path, query or id
	at   int64     // in nanoseconds
	more [2]string // what else tells the row apart
}

// named returns the identity of a row that has a path or a query. A row without one has only its counts.
func named[R row](text string, row R) identity {
	if text == "" {
		return identity{more: [2]string{fmt.Sprint(row)}}
	}
	return identity{text: text}
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

	newPage func() P // to decode into
}

func (l list[P, R]) get(ctx context.Context) (P, error) {
	f, err := l.fetch(ctx, l.from)
	return f.page, err
}

func (l list[P, R]) fetch(ctx context.Context, at position) (fetched[P], error) {
	l.from = at
	if err := l.check(); err != nil {
		return fetched[P]{}, err
	}

	page := l.newPage()
	r := l.request
	r.query = l.query()
	r.into = page
	if err := l.client.do(ctx, r); err != nil {
		return fetched[P]{}, err
	}

	f := fetched[P]{page: page, received: len(page.rows())}
	f.next, f.hasMore = page.next()
	if p, ok := any(page).(offsetPage[R]); ok {
		l.place(&f, p)
	}
	return f, nil
}

// place says where the page after p starts, and takes out of p the rows that were seen.
//
// A service that caps its pages goes on after the rows received. One that removes rows after it has
// applied the limit repeats some there.
func (l list[P, R]) place(f *fetched[P], p offsetPage[R]) {
	rows := p.rows()
	left := unseen(rows, l.from.seen)

	f.isShort = f.hasMore && len(rows) < l.pageSize
	f.next = position{offset: l.from.offset + cmp.Or(l.pageSize, defaultPageSize)}

	switch {
	case !f.hasMore:
		f.next = position{offset: l.from.offset + len(rows)}
	case len(left) == 0:
	case f.isShort:
		f.next = position{offset: l.from.offset + len(rows), seen: countsOf(rows)}
	case l.pageSize == 0: // only the service knows its page size
		f.next.offset = l.from.offset + len(rows)
	}
	p.set(left, f.next.offset)
}

// countsOf says how often each row is there. A row without a path may be equal to another row.
func countsOf[R row](rows []R) map[any]int {
	counts := make(map[any]int, len(rows))
	for _, row := range rows {
		if row.identity().text != "" {
			counts[row]++
		}
	}
	return counts
}

// unseen returns the rows that were not seen, or not as often. It uses seen up: one page is at a
// position.
func unseen[R row](rows []R, seen map[any]int) []R {
	if len(seen) == 0 {
		return rows
	}

	return slices.DeleteFunc(slices.Clone(rows), func(row R) bool {
		seen[row]--
		return seen[row] >= 0
	})
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
	setText(query, "cursor", l.from.cursor)
	return query
}

// setNumber adds n to query, unless it is 0.
func setNumber(query url.Values, name string, n int) {
	if n != 0 {
		query.Set(name, strconv.Itoa(n))
	}
}

// setText adds text to query, unless it is "".
func setText(query url.Values, name, text string) {
	if text != "" {
		query.Set(name, text)
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
	cfg, err := l.newExportConfig(ctx, opts)
	l.pageSize = cmp.Or(l.pageSize, l.iterPageSize, l.maxPageSize)

	return func(yield func(P, error) bool) {
		if err != nil {
			var none P
			yield(none, err)
			return
		}
		l.export(ctx, cfg.prefetch, yield)
	}
}

// newExportConfig returns the configuration of an export, or why the export cannot begin.
func (l list[P, R]) newExportConfig(ctx context.Context, opts []ExportOption) (exportConfig, error) {
	var cfg exportConfig
	if err := l.check(); err != nil {
		return cfg, err
	}

	if ctx == nil {
		return cfg, &ArgumentError{"ctx", "is nil"}
	}

	err := apply(&cfg, opts)
	return cfg, err
}

// export yields one page after the other.
func (l list[P, R]) export(ctx context.Context, prefetch int, yield func(P, error) bool) {
	prefetcher := newPrefetcher(ctx, l, prefetch)
	defer prefetcher.wait()
	defer func() { prefetcher.cancel() }()

	guard := newPageGuard(l)
	for at := l.from; ; {
		f, err := prefetcher.next(at)
		if err == nil {
			err = guard.check(ctx, at, f)
		}
		if err != nil {
			prefetcher.cancel() // now: the loop may take long to handle the error
			var none P
			yield(none, &ExportError{Offset: at.offset, Cursor: at.cursor, Err: err})
			return
		}

		if f.hasMore {
			prefetcher.start(f)
		}
		if !yield(f.page, nil) || !f.hasMore {
			return
		}
		at = f.next
	}
}

// prefetcher requests pages while the loop works on the one before.
type prefetcher[P page[R], R row] struct {
	list      list[P, R]
	pages     int           // how many may be pending
	inOrder   bool          // request no page before the page before it has come
	pending   []*pending[P] // in order
	forgotten []*pending[P] // canceled: no page starts there

	parent context.Context
	ctx    context.Context // of pending
	cancel context.CancelFunc
}

// pending is a page that was requested ahead.
type pending[P any] struct {
	*async.Run
	before    *pending[P] // says where the page starts; nil: at
	at        position
	isGuess   bool // no page has said that one starts there
	fetched   fetched[P]
	err       error
	succeeded bool // no error, and no panic either
}

func newPrefetcher[P page[R], R row](ctx context.Context, l list[P, R], pages int) *prefetcher[P, R] {
	f := &prefetcher[P, R]{list: l, pages: pages, inOrder: l.byCursor, parent: ctx}
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f
}

// start requests pages after one that has come, until f.pages are pending. In a list by offset all
// but the first of them may not exist, as long as no page was short.
func (f *prefetcher[P, R]) start(after fetched[P]) {
	f.inOrder = f.inOrder || after.isShort
	if len(f.pending) > 0 && f.pending[0].isGuess && f.pending[0].at.offset != after.next.offset {
		f.cancel() // no page starts where the pending ones do; from now on they are in order, so it happens once
		f.ctx, f.cancel = context.WithCancel(f.parent)
		f.forgotten = f.pending
		f.pending = nil
	}

	for len(f.pending) < f.pages {
		f.pending = append(f.pending, f.startNext(after.next))
	}
}

// startNext requests the page after the last pending one, or the page at a position if none is
// pending.
func (f *prefetcher[P, R]) startNext(at position) *pending[P] {
	p := &pending[P]{at: at}
	if len(f.pending) > 0 {
		last := f.pending[len(f.pending)-1]
		if f.inOrder {
			p.before = last
		} else {
			p.at = position{offset: last.at.offset + f.list.pageSize}
			p.isGuess = true
		}
	}

	ctx := f.ctx
	p.Run = async.Go(func() { f.request(ctx, p) })
	return p
}

// request requests p. If another page comes before it, that one says whether p exists, and where.
func (f *prefetcher[P, R]) request(ctx context.Context, p *pending[P]) {
	at := p.at
	if p.before != nil {
		<-p.before.Done()
		if !p.before.succeeded || !p.before.fetched.hasMore {
			return // the loop ends before it gets here
		}
		at = p.before.fetched.next
		p.before = nil // its page can be freed
	}

	p.fetched, p.err = f.list.fetch(ctx, at)
	p.succeeded = p.err == nil
}

// next returns the page at a position: the first pending one, if there is one.
func (f *prefetcher[P, R]) next(at position) (fetched[P], error) {
	if len(f.pending) == 0 {
		return f.list.fetch(f.ctx, at)
	}

	first := f.pending[0]
	f.pending[0] = nil // the page is the loop's now
	f.pending = f.pending[1:]

	first.Wait()
	return first.fetched, first.err
}

// wait returns when no request is in progress. A panic or Goexit in a hook surfaces
// here if the loop has not reached the page of that request.
func (f *prefetcher[P, R]) wait() {
	all := slices.Concat(f.forgotten, f.pending)
	for _, p := range all {
		<-p.Done()
	}
	for _, p := range all {
		p.Wait()
	}
}

// pageGuard ends a list that repeats its rows or never ends, and logs its first short page.
// It keeps hashes of the pages so far, not the pages.
type pageGuard[P page[R], R row] struct {
	list   list[P, R]
	path   string // of the list, for messages
	seed   maphash.Seed
	seen   map[uint64]bool // pages, by the identities of their rows, and cursors
	empty  int             // pages in a row
	logged bool            // a short page
}

func newPageGuard[P page[R], R row](l list[P, R]) *pageGuard[P, R] {
	g := &pageGuard[P, R]{
		list: l,
		path: strings.TrimPrefix(l.request.url, l.client.config.origin.String()),
		seed: maphash.MakeSeed(),
		seen: map[uint64]bool{},
	}

	g.isNewCursor(l.from.cursor)
	return g
}

// check returns an error if the page has to end the list.
func (g *pageGuard[P, R]) check(ctx context.Context, at position, f fetched[P]) error {
	if !g.list.byCursor && f.hasMore && f.received > g.list.pageSize {
		return g.malformed(fmt.Sprintf("%d rows, more than the page size of %d: the next page would repeat some",
			f.received, g.list.pageSize))
	}
	if f.isShort {
		g.logShort(ctx, at, f.received)
	}

	rows := f.page.rows()
	if len(rows) > 0 && !g.isNewPage(rows) {
		return g.malformed("repeats an earlier page")
	}
	if g.list.byCursor && f.hasMore && !g.isNewCursor(f.next.cursor) {
		return g.malformed("repeats an earlier cursor")
	}
	return g.checkEmpty(len(rows), f.hasMore)
}

// checkEmpty returns an error once too many pages in a row have had no rows.
func (g *pageGuard[P, R]) checkEmpty(rows int, hasMore bool) error {
	if rows > 0 {
		g.empty = 0
		return nil
	}
	g.empty++

	switch {
	case hasMore && !g.list.byCursor && g.empty == maxEmptyPages:
		return g.malformed("third consecutive empty page with hasMore")
	case hasMore && g.list.byCursor && g.empty == maxEmptyByCursor:
		return g.malformed("100th consecutive empty page with hasMore")
	}
	return nil
}

// logShort logs the first short page of an export: the export takes more requests than its rows
// need, and would lose rows if the service both capped and filtered its pages.
func (g *pageGuard[P, R]) logShort(ctx context.Context, at position, rows int) {
	if g.logged {
		return
	}
	g.logged = true

	g.list.client.config.logger.LogAttrs(ctx, slog.LevelWarn,
		"mintlify: short page with hasMore: the service caps or filters its pages, "+
			"so the next one starts after the rows received",
		slog.String("operation", string(g.list.request.operation)),
		slog.String("path", g.path),
		slog.Int("offset", at.offset),
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

	return g.isNew(h.Sum64())
}

// isNewCursor reports whether no earlier page was at cursor, and remembers it.
func (g *pageGuard[P, R]) isNewCursor(cursor string) bool {
	return g.isNew(maphash.String(g.seed, cursor))
}

func (g *pageGuard[P, R]) isNew(hash uint64) bool {
	isNew := !g.seen[hash]
	g.seen[hash] = true
	return isNew
}

func (g *pageGuard[P, R]) malformed(reason string) error {
	return &MalformedResponseError{
		Operation:  g.list.request.operation,
		StatusCode: http.StatusOK,
		Path:       g.path,
		Reason:     reason,
	}
}

// checkCursor checks the cursor of a page.
//
// The service may send a cursor with its last page. It is dropped, or a loop until there is none
// would never end.
func checkCursor(cursor *string, hasMore bool) error {
	switch {
	case !hasMore:
		*cursor = ""
	case *cursor == "":
		return wire.Missing("nextCursor, though hasMore is true")
	case len(*cursor) > maxCursor:
		return fmt.Errorf("the next cursor is longer than %d KiB", maxCursor>>10)
	}
	return nil
}

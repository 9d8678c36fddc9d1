package main

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

// list is an export: rows that come in pages.
type list struct {
	name      string
	operation mintlify.Operation
	field     string   // of a page, with the rows
	key       []string // the fields that tell one row from another
	time      string   // the field with a row's time; "" if the rows have none
	limit     int      // how many rows of a page the SDK's export asks for
	next      string   // how the next page is asked for: "offset", "cursor", or "" if there is none
}

var (
	visitors = list{name: "visitors", operation: mintlify.OpGetVisitors, field: "visitors", key: []string{"path"},
		limit: 250, next: "offset"}
	views = list{name: "views", operation: mintlify.OpGetViews, field: "views", key: []string{"path"},
		limit: 250, next: "offset"}
	searches = list{name: "searches", operation: mintlify.OpGetSearches, field: "searches",
		key: []string{"searchQuery"}, limit: 100, next: "cursor"}
	feedback = list{name: "feedback", operation: mintlify.OpGetFeedback, field: "feedback", key: []string{"id"},
		time: "createdAt", limit: 100, next: "cursor"}
	counts = list{name: "feedback counts", operation: mintlify.OpGetFeedbackCounts, field: "feedback",
		key: []string{"path"}, limit: 100}
	conversations = list{name: "conversations", operation: mintlify.OpGetConversations, field: "conversations",
		key: []string{"id", "timestamp"}, time: "timestamp", limit: 250, next: "cursor"}
)

func lists() []list { return []list{visitors, views, searches, feedback, counts, conversations} }

// The labels of a list's requests.
func (l list) first() string  { return l.name + " of 30 days" }
func (l list) second() string { return l.name + ", the next page" }
func (l list) day() string    { return l.name + " of a day" }

// query returns the query of the first page, as an export asks for it.
func (l list) query() url.Values { return with(dates(today().AddDays(-30), today()), "limit", l.limit) }

// requests returns the first page, and few others.
func (l list) requests() []*request {
	name := "`" + operations.Get(l.operation).Func + "`: "
	all := []*request{{label: l.first(), operation: l.operation, query: l.query(), judge: l.judgePages,
		expects: name + "pages have the rows that `limit` says, and each row once"}}

	if l.time != "" {
		all = append(all, &request{label: l.day(), operation: l.operation, isJudged: true, after: l.first(),
			prepare: l.someDay, lacks: "rows on 3 days of 30", judge: l.judgeDay,
			expects: name + "a bare day is a day in UTC, and `dateTo` is exclusive"})
	}
	if l.next != "" {
		all = append(all, &request{label: l.second(), operation: l.operation, isJudged: true, after: l.first(),
			prepare: l.nextPage, lacks: "more rows in 30 days"})
	}
	return all
}

// nextPage asks for what a cursor leads to, or by offset for rows that the first page has, too.
func (l list) nextPage(c *check, q *request) {
	first := c.ask(l.first())
	cursor := text(first.object(), "nextCursor")
	size := min(50, len(l.keys(first))/2)
	switch {
	case l.next == "cursor" && cursor != "":
		q.query = with(l.query(), "cursor", cursor)
	case l.next == "offset" && size > 0:
		q.query = with(with(l.query(), "limit", size), "offset", size)
	}
}

// keys returns the key of each row; "" for a row without one.
func (l list) keys(r *response) []string {
	var keys []string
	for _, row := range r.rows(l.field) {
		key := ""
		for _, name := range l.key {
			key += text(row, name)
		}
		keys = append(keys, key)
	}
	return keys
}

// promisesMore reports whether a page says that another one follows.
func promisesMore(r *response) bool {
	more, isTold := r.object()["hasMore"].(bool)
	return more || !isTold && text(r.object(), "nextCursor") != ""
}

// disagrees reports whether a page says by `hasMore` something else than by `nextCursor`.
func disagrees(r *response) bool {
	more, isTold := r.object()["hasMore"].(bool)
	_, hasCursor := r.object()["nextCursor"]
	return isTold && hasCursor && more != (text(r.object(), "nextCursor") != "")
}

// judgePages judges whether an export by these pages would have each row once.
func (l list) judgePages(c *check, first *response) verdict {
	rows := len(l.keys(first))
	wrong := l.wrongPage(first)
	switch {
	case !first.isGood():
		return notTried(first.String())
	case wrong != "":
		return differs("the first page: " + wrong)
	case rows == 0:
		return notTried("0 rows")
	case l.next == "":
		return expected(fmt.Sprintf("%d rows", rows))
	}

	next := c.ask(l.second())
	if why := c.silence(next); why != "" {
		return notTried("the next page: " + why)
	}
	if l.next == "offset" && next.query.Get("offset") == "1" && slices.Equal(l.keys(next), l.keys(first)[:1]) {
		return notTried("2 rows: the first may have moved")
	}
	if wrong := l.wrongNext(first, next); wrong != "" {
		return differs("the next page: " + wrong)
	}
	return expected(fmt.Sprintf("%d rows, then %d", rows, len(l.keys(next))))
}

// wrongPage says what is wrong with a page by itself; "" if nothing is.
func (l list) wrongPage(r *response) string {
	rows := len(l.keys(r))
	known := slices.DeleteFunc(l.keys(r), func(key string) bool { return key == "" })
	limit, _ := strconv.Atoi(r.query.Get("limit"))

	switch {
	case disagrees(r):
		return fmt.Sprintf("`hasMore` is %t, and `nextCursor` says something else", promisesMore(r))
	case rows > limit:
		return fmt.Sprintf("`limit` was %d, and `%s` has %d rows", limit, l.field, rows)
	case rows < limit && promisesMore(r):
		return fmt.Sprintf("`limit` was %d, and `%s` has %d rows and a promise of more", limit, l.field, rows)
	case len(unique(known)) < len(known):
		return "`" + l.field + "` has a row twice"
	}
	return ""
}

// wrongNext says what is wrong with the second page.
func (l list) wrongNext(first, next *response) string {
	if !next.isGood() {
		return next.String()
	}
	if wrong := l.wrongPage(next); wrong != "" {
		return wrong
	}
	if l.next == "offset" {
		return l.wrongOffset(first, next)
	}

	before := l.keys(first)
	after := l.keys(next)
	isKnown := func(key string) bool { return key != "" && slices.Contains(before, key) }
	switch {
	case text(first.object(), "nextCursor") == text(next.object(), "nextCursor"):
		return "`nextCursor` is the same again"
	case slices.ContainsFunc(after, isKnown):
		return "`" + l.field + "` has rows of the page before"
	case len(after) == 0:
		return "`" + l.field + "` has 0 rows, although there was a `nextCursor`"
	}
	return ""
}

// wrongOffset says what is wrong with a page of rows that the first page has, too. Counts are
// live: a row that moved by one place is as expected, but not that all moved alike.
func (l list) wrongOffset(first, next *response) string {
	before := l.keys(first)
	after := l.keys(next)
	offset, _ := strconv.Atoi(next.query.Get("offset"))

	moved := map[int]bool{} // by how many places rows moved
	for i, key := range after {
		if key == "" {
			continue
		}
		at := slices.Index(before, key)
		places := at - offset - i
		if at < 0 || places < -1 || places > 1 {
			return fmt.Sprintf("`%s` is not what follows `offset` %d", l.field, offset)
		}
		moved[places] = true
	}

	allMovedAlike := len(moved) == 1 && !moved[0]
	follow := len(before) > 2*offset || promisesMore(first)
	switch {
	case len(after) < offset:
		return fmt.Sprintf("`limit` was %d, and `%s` has %d rows", offset, l.field, len(after))
	case allMovedAlike && offset > 1:
		return fmt.Sprintf("`%s` begins one place from `offset` %d", l.field, offset)
	case follow != promisesMore(next):
		return fmt.Sprintf("`hasMore` is %t, and more rows follow: %t", !follow, follow)
	}
	return ""
}

// pastTheEnd asks for what follows the first page if that promises no more: a cap may hide rows.
func pastTheEnd(c *check, q *request) {
	first := c.ask(visitors.first())
	offset := len(visitors.keys(first))
	if offset == 0 || promisesMore(first) {
		offset = 10_000_000
	}
	q.query = with(visitors.query(), "offset", offset)
}

// judgeEndOfPages judges a page past the end, which an export with prefetch may ask for.
func judgeEndOfPages(c *check, beyond *response) verdict {
	rows := len(visitors.keys(beyond))
	switch {
	case !beyond.isGood():
		return differs(beyond.String())
	case visitors.judgePages(c, c.ask(visitors.first())).result == unlike:
		return notTried("the pages before differ by themselves")
	case rows == 1 && !promisesMore(beyond):
		return notTried("1 row: it may have come in since")
	case rows > 0 || promisesMore(beyond):
		return differs(fmt.Sprintf("`visitors` has %d rows, and `hasMore` is %t", rows, promisesMore(beyond)))
	}
	return expected("0 rows")
}

// judgeOldViews judges views of a day two years ago.
func judgeOldViews(c *check, old *response) verdict {
	rows := c.ask(views.first()).rows(views.field)
	switch {
	case !old.isGood():
		return differs(old.String())
	case len(rows) == 0:
		return notTried("0 rows")
	case fmt.Sprint(old.rows(views.field)) == fmt.Sprint(rows):
		return differs("the dates are ignored: `views` are those of the last 30 days")
	}
	return expected(fmt.Sprintf("%d rows", len(old.rows(views.field))))
}

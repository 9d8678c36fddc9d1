package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// readVisitors asks about paging by offset.
func (c *check) readVisitors(ctx context.Context, first response) {
	again := c.visitorPage(ctx, "the same again")
	switch {
	case !first.isGood() || !again.isGood():
		c.report.notTried(expectOrder, whyNot(first, again))
	case len(first.rows("visitors")) < 2:
		c.report.notTried(expectOrder, "needs two pages with visitors in the last 30 days")
	default:
		same := slices.Equal(first.column("visitors", "path"), again.column("visitors", "path"))
		c.report.compare(expectOrder, same, fmt.Sprintf("%d rows, %s", len(first.rows("visitors")), sameOrNot(same)))
	}

	beyond := c.pastTheEnd(ctx)
	if why := beyond.trouble(); why != "" {
		c.judgeRefusal(expectPastTheEnd, beyond)
	} else {
		rows := len(beyond.rows("visitors"))
		more := beyond.object()["hasMore"] == true
		came := fmt.Sprintf("%d rows, hasMore is %t", rows, more)
		c.report.compare(expectPastTheEnd, rows == 0 && !more, came)
	}

	c.limitTooHigh(ctx)
}

func sameOrNot(same bool) string {
	if same {
		return "the same"
	}
	return "not the same"
}

func (c *check) pastTheEnd(ctx context.Context) response {
	from, to := range30()
	query := url.Values{
		"dateFrom": {from.String()}, "dateTo": {to.String()}, "limit": {"50"}, "offset": {"10000000"},
	}
	do := c.getting(c.path(mintlify.OpGetVisitors, ""), query)
	return c.trying(ctx, "visitors past the end", mintlify.OpGetVisitors, do)
}

func (c *check) limitTooHigh(ctx context.Context) {
	query := url.Values{"limit": {"251"}}
	do := c.getting(c.path(mintlify.OpGetVisitors, ""), query)
	r := c.probing(ctx, "251 visitors", mintlify.OpGetVisitors, do)
	c.judgeStatus(expectLimit, r, http.StatusBadRequest)
}

// readViews asks which range the service chooses, and how far back it knows.
func (c *check) readViews(ctx context.Context) {
	from, to := range30()
	month := c.reading(ctx, "views of 30 days", mintlify.OpGetViews, c.viewPage(from, to))
	week := c.trying(ctx, "views of 7 days", mintlify.OpGetViews, c.viewPage(to.AddDays(-7), to))

	chosen := c.trying(ctx, "views without dates", mintlify.OpGetViews, c.viewPage(mintlify.Date{}, mintlify.Date{}))
	switch {
	case !chosen.isGood():
		c.judgeRefusal(expectNoDates, chosen)
	case !month.isGood() || !week.isGood():
		c.report.notTried(expectNoDates, whyNot(month, week))
	default:
		c.report.expected(expectNoDates, chosenRange(viewsOf(chosen), viewsOf(week), viewsOf(month)))
	}

	c.judgeSums(month)

	past := to.AddDays(-730)
	old := c.trying(ctx, "views of a day two years ago", mintlify.OpGetViews, c.viewPage(past, past.AddDays(1)))
	if !old.isGood() {
		c.judgeRefusal(expectLongAgo, old)
		return
	}
	c.report.expected(expectLongAgo, fmt.Sprintf("%d rows", len(old.rows("views"))))
}

func (c *check) viewPage(from, to mintlify.Date) func(context.Context) error {
	params := mintlify.ViewsParams{DateFrom: from, DateTo: to, PageSize: 50}
	return calling(c.client.Analytics.GetViewPage, params)
}

// judgeSums says whether the totals of a page of views add up.
func (c *check) judgeSums(r response) {
	totals, _ := r.object()["totals"].(map[string]any)
	if len(totals) == 0 {
		c.report.notTried(expectSums, cmp.Or(r.trouble(), "the page has no totals"))
		return
	}

	sum := number(totals, "human") + number(totals, "ai")
	came := "it is not"
	if number(totals, "total") == sum {
		came = "it is"
	}
	c.report.expected(expectSums, came)
}

// viewsOf returns the total of a page of views.
func viewsOf(r response) float64 {
	totals, _ := r.object()["totals"].(map[string]any)
	return number(totals, "total")
}

// chosenRange compares the total without dates with the totals of 7 and 30 days.
func chosenRange(chosen, week, month float64) string {
	isLike := func(total float64) bool { return math.Abs(chosen-total) <= 0.1*total }
	switch {
	case week == month:
		return "7 and 30 days have the same total, so it cannot be told which"
	case isLike(week):
		return "about that of 7 days"
	case isLike(month):
		return "about that of 30 days"
	case chosen > month:
		return "more than 30 days"
	}
	return "neither 7 nor 30 days"
}

// readSearches asks about paging by cursor.
func (c *check) readSearches(ctx context.Context) {
	from, to := range30()
	params := mintlify.SearchesParams{DateFrom: from, DateTo: to, PageSize: 10}
	first := c.reading(ctx, "searches of 30 days", mintlify.OpGetSearches, c.searchPage(params))
	c.judgeCTR(first)

	cursor := text(first.object(), "nextCursor")
	if cursor == "" {
		why := cmp.Or(first.trouble(), "needs more than 10 search terms in the last 30 days")
		c.notTried(why, expectCursor, expectCursorAlone)
		return
	}

	params.Cursor = cursor
	next := c.trying(ctx, "the next page", mintlify.OpGetSearches, c.searchPage(params))
	if next.isGood() {
		isOther := !slices.Equal(first.column("searches", "searchQuery"), next.column("searches", "searchQuery"))
		c.report.compare(expectCursor, isOther, fmt.Sprintf("%d rows", len(next.rows("searches"))))
	} else {
		c.judgeRefusal(expectCursor, next)
	}
	c.cursorAlone(ctx, cursor, next)
}

func (c *check) searchPage(params mintlify.SearchesParams) func(context.Context) error {
	return calling(c.client.Analytics.GetSearchPage, params)
}

// cursorAlone asks whether a cursor holds its dates.
func (c *check) cursorAlone(ctx context.Context, cursor string, withDates response) {
	query := url.Values{"limit": {"10"}, "cursor": {cursor}}
	path := c.path(mintlify.OpGetSearches, "")
	alone := c.trying(ctx, "the next page, without dates", mintlify.OpGetSearches, c.getting(path, query))

	switch {
	case alone.last() == nil, alone.status() == http.StatusTooManyRequests, !withDates.isGood():
		c.report.notTried(expectCursorAlone, whyNot(alone, withDates))
	case alone.status() == http.StatusBadRequest:
		c.report.expected(expectCursorAlone, "no: 400")
	case !alone.isGood():
		c.report.differs(expectCursorAlone, alone.trouble(), "")
	case slices.Equal(alone.column("searches", "searchQuery"), withDates.column("searches", "searchQuery")):
		c.report.expected(expectCursorAlone, "the same rows: the cursor may hold its dates")
	default:
		c.report.expected(expectCursorAlone, "other rows: the cursor does not hold its dates")
	}
}

func (c *check) judgeCTR(r response) {
	rows := r.rows("searches")
	if len(rows) == 0 {
		c.report.notTried(expectCTR, cmp.Or(r.trouble(), "needs searches in the last 30 days"))
		return
	}

	var largest float64
	least := math.Inf(1)
	for _, row := range rows {
		largest = max(largest, number(row, "ctr"))
		least = min(least, number(row, "ctr"))
	}

	switch {
	case largest > 100 || least < 0:
		c.report.differs(expectCTR, "a value is outside of 0 to 100", "")
	case largest > 1:
		c.report.expected(expectCTR, "the largest is above 1")
	default:
		c.report.expected(expectCTR, "all are 1 or less, so it may be a fraction")
	}
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// dated is an export whose rows have times: feedback or conversations.
type dated struct {
	operation  mintlify.Operation
	list, time string // the names of the list and of a row's time
	// page gets a page.
	page func(from, to mintlify.Date) func(context.Context) error
}

func (c *check) feedback() dated {
	return dated{operation: mintlify.OpGetFeedback, list: "feedback", time: "createdAt", page: c.feedbackPage}
}

func (c *check) conversations() dated {
	return dated{
		operation: mintlify.OpGetConversations,
		list:      "conversations",
		time:      "timestamp",
		page:      c.conversationPage,
	}
}

func (c *check) feedbackPage(from, to mintlify.Date) func(context.Context) error {
	params := mintlify.FeedbackParams{DateFrom: from, DateTo: to, PageSize: 100}
	return calling(c.client.Analytics.GetFeedbackPage, params)
}

func (c *check) conversationPage(from, to mintlify.Date) func(context.Context) error {
	params := mintlify.ConversationsParams{DateFrom: from, DateTo: to, PageSize: 250}
	return calling(c.client.Analytics.GetConversationPage, params)
}

// readDated asks for feedback and conversations, and by them what a range of dates means.
func (c *check) readDated(ctx context.Context) {
	c.feedbackCounts(ctx)
	from, to := range30()
	feedback := c.reading(ctx, "feedback of 30 days", mintlify.OpGetFeedback, c.feedbackPage(from, to))
	conversations := c.reading(ctx, "conversations of 30 days", mintlify.OpGetConversations,
		c.conversationPage(from, to))

	c.judgeMore(feedback, conversations)
	c.judgeSorting(feedback, conversations)
	c.judgeConversations(conversations)
	c.readThread(ctx, conversations)

	switch {
	case len(c.conversations().times(conversations)) > 0:
		c.readRange(ctx, c.conversations(), conversations)
	case len(c.feedback().times(feedback)) > 0:
		c.readRange(ctx, c.feedback(), feedback)
	default:
		why := cmp.Or(whyNot(feedback, conversations), "needs feedback or conversations in the last 30 days")
		c.report.notTried(expectExclusive, why)
		c.report.notTried(expectUTC, why)
	}
}

func (c *check) feedbackCounts(ctx context.Context) {
	from, to := range30()
	params := mintlify.FeedbackCountsParams{DateFrom: from, DateTo: to, Limit: 100}

	do := calling(c.client.Analytics.GetFeedbackCounts, params)
	c.reading(ctx, "feedback counts", mintlify.OpGetFeedbackCounts, do)
}

func (d dated) times(r response) []time.Time {
	var all []time.Time
	for _, row := range r.rows(d.list) {
		at, err := time.Parse(time.RFC3339, text(row, d.time))
		if err == nil {
			all = append(all, at.UTC())
		}
	}
	return all
}

// judgeMore compares hasMore with nextCursor, on the pages that have both.
func (c *check) judgeMore(pages ...response) {
	judged := 0
	for _, page := range pages {
		more, hasMore := page.object()["hasMore"].(bool)
		_, hasCursor := page.object()["nextCursor"]
		if !hasMore || !hasCursor {
			continue
		}

		judged++
		cursor := text(page.object(), "nextCursor") != ""
		if more != cursor {
			c.unread[page.operation] = false // this row says why the SDK does not read the page
			c.report.differs(expectHasMore, fmt.Sprintf("hasMore is %t, and there is a cursor: %t", more, cursor), "")
		}
	}

	if judged > 0 {
		c.report.expected(expectHasMore, fmt.Sprintf("on %d pages", judged))
		return
	}
	c.report.notTried(expectHasMore, cmp.Or(whyNot(pages...), "no page has both"))
}

func (c *check) judgeSorting(feedback, conversations response) {
	ofFeedback := c.feedback().times(feedback)
	ofConversations := c.conversations().times(conversations)
	if len(ofFeedback) < 2 && len(ofConversations) < 2 {
		why := whyNot(feedback, conversations)
		c.report.notTried(expectSorting, cmp.Or(why, "needs two rows in the last 30 days"))
		return
	}

	came := fmt.Sprintf("feedback: %s; conversations: %s", sorting(ofFeedback), sorting(ofConversations))
	c.report.expected(expectSorting, came)
}

// sorting says in which order times are.
func sorting(times []time.Time) string {
	backwards := func(a, b time.Time) int { return b.Compare(a) }
	switch {
	case len(times) < 2:
		return "too few rows"
	case slices.IsSortedFunc(times, backwards):
		return "newest first"
	case slices.IsSortedFunc(times, time.Time.Compare):
		return "oldest first"
	}
	return "neither newest nor oldest first"
}

// judgeConversations looks at the ids of a page's rows, and at its size.
func (c *check) judgeConversations(r response) {
	rows := r.rows("conversations")
	if len(rows) == 0 {
		why := cmp.Or(r.trouble(), "needs a conversation in the last 30 days")
		c.report.notTried(expectTurns, why)
		c.report.notTried(expectPageSize, why)
		return
	}

	ids := map[string]bool{}
	for _, row := range rows {
		ids[text(row, "id")] = true
	}
	c.report.expected(expectTurns, fmt.Sprintf("%d rows have %d ids", len(rows), len(ids)))

	const rowsOfAPage, mebibyte = 250, 1 << 20
	size := len(r.last().bytes()) / len(rows) * rowsOfAPage
	came := fmt.Sprintf("they would be about %.1f MiB", float64(size)/mebibyte)
	c.report.compare(expectPageSize, size < 10*mebibyte, came)
}

func (c *check) readThread(ctx context.Context, conversations response) {
	rows := conversations.rows("conversations")
	if len(rows) == 0 {
		return
	}

	do := calling(c.client.Analytics.GetThread, text(rows[0], "id"))
	c.reading(ctx, "the thread of a conversation", mintlify.OpGetThread, do)
}

// readRange asks for a day and the day before it, whose rows month has.
func (c *check) readRange(ctx context.Context, export dated, month response) {
	day := dayOfRows(export.times(month))
	end := mintlify.DayOf(day)
	r := c.trying(ctx, export.list+" until a day that has rows", export.operation,
		export.page(end.AddDays(-1), end))
	if !r.isGood() {
		c.judgeRefusal(expectExclusive, r)
		c.report.notTried(expectUTC, r.trouble())
		return
	}

	isAfter := func(at time.Time) bool { return at.Before(day) }
	beyond := len(slices.DeleteFunc(export.times(r), isAfter))
	ofDay := countOf(export.times(month), day)

	switch {
	case beyond == 0:
		c.report.expected(expectExclusive, "no row of that day came")
		c.readInstants(ctx, export, end, r)
	case beyond < ofDay:
		c.report.differs(expectUTC, "some rows of the next day in UTC came", "")
		c.report.notTried(expectExclusive, "bare days are not days in UTC")
	default:
		c.report.differs(expectExclusive, "the rows of that day came", "")
		c.report.notTried(expectUTC, "`dateTo` is not exclusive")
	}
}

// readInstants asks for the same range as instants in UTC.
func (c *check) readInstants(ctx context.Context, export dated, end mintlify.Date, days response) {
	from := mintlify.Instant(end.AddDays(-1).Time())
	do := export.page(from, mintlify.Instant(end.Time()))
	r := c.trying(ctx, "the same, by instants in UTC", export.operation, do)
	if !r.isGood() {
		c.judgeRefusal(expectUTC, r)
		return
	}

	rows := len(days.rows(export.list))
	if rows == 0 && len(r.rows(export.list)) == 0 {
		c.report.notTried(expectUTC, "needs rows on two days in a row")
		return
	}

	same := slices.Equal(sorted(export.times(days)), sorted(export.times(r)))
	c.report.compare(expectUTC, same, fmt.Sprintf("%d rows, %s by instants in UTC", rows, sameOrNot(same)))
}

// dayOfRows returns the newest day in UTC that has rows, with rows on the day before it if
// there is such a day.
func dayOfRows(times []time.Time) time.Time {
	times = sorted(times)
	slices.Reverse(times)

	for _, at := range times {
		day := at.Truncate(24 * time.Hour)
		if countOf(times, day.AddDate(0, 0, -1)) > 0 {
			return day
		}
	}
	return times[0].Truncate(24 * time.Hour)
}

// countOf returns how many times are on a day in UTC.
func countOf(times []time.Time, day time.Time) int {
	n := 0
	for _, at := range times {
		if at.Truncate(24 * time.Hour).Equal(day) {
			n++
		}
	}
	return n
}

func sorted(times []time.Time) []time.Time {
	return slices.SortedFunc(slices.Values(times), time.Time.Compare)
}

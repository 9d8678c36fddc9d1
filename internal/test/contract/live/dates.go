package main

import (
	"fmt"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const wholeDay = 24 * time.Hour

func today() mintlify.Date { return mintlify.DayOf(time.Now().UTC()) }

// times returns the times of a page's rows, the oldest first.
func (l list) times(r *response) []time.Time {
	var all []time.Time
	for _, row := range r.rows(l.field) {
		at, err := time.Parse(time.RFC3339, text(row, l.time))
		if err == nil {
			all = append(all, at.UTC())
		}
	}
	return slices.SortedFunc(slices.Values(all), time.Time.Compare)
}

// during returns how many times are in some days from a day on.
func during(times []time.Time, day time.Time, days time.Duration) int {
	n := 0
	for _, at := range times {
		if !at.Before(day) && at.Before(day.Add(days*wholeDay)) {
			n++
		}
	}
	return n
}

// someDay asks for the newest day that has rows, as the next day has, and some day before.
func (l list) someDay(c *check, q *request) {
	times := l.times(c.ask(l.first()))
	if len(times) == 0 {
		return
	}

	oldest := times[0].Truncate(wholeDay)
	newest := times[len(times)-1].Truncate(wholeDay)
	for day := newest.Add(-wholeDay); day.After(oldest); day = day.Add(-wholeDay) {
		if during(times, day, 1) > 0 && during(times, day.Add(wholeDay), 1) > 0 {
			from := mintlify.DayOf(day)
			q.query = with(dates(from, from.AddDays(1)), "limit", l.limit)
			return
		}
	}
}

// judgeDay judges whether the rows of a day are those of the day in UTC. It says only the first
// thing that is wrong, since the others follow from it.
func (l list) judgeDay(c *check, r *response) verdict {
	if !r.isGood() {
		return differs(r.String())
	}

	day, _ := time.Parse(time.DateOnly, r.query.Get("dateFrom"))
	before := day.Add(-wholeDay)
	after := day.Add(wholeDay)
	came := l.times(r)
	known := l.times(c.ask(l.first()))

	outside := len(came) - during(came, before, 3)
	ofNext := during(came, after, 1)
	isWhole := during(came, day, 1) >= during(known, day, 1)

	switch {
	case outside > 0:
		return differs(fmt.Sprintf("`dateFrom` and `dateTo` are ignored: %d rows are more than a day outside", outside))
	case isWhole && ofNext > 0 && ofNext >= during(known, after, 1):
		return differs("`dateTo` is inclusive: all rows of the next day came")
	case ofNext > 0 || during(came, before, 1) > 0:
		return differs("a bare day is not UTC: rows of the day before or after came")
	case len(came) < during(known, day, 1) && !promisesMore(r):
		return differs("a bare day is not UTC: rows of the day are missing")
	}
	return expected(fmt.Sprintf("%d rows, all of that day", len(came)))
}

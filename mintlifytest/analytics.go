package mintlifytest

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// query is the query of an analytics request. wrong collects what the service refuses in it.
type query struct {
	url.Values
	wrong []detail
}

// integer returns a parameter, which must be from least to most; 0 if it is not there.
func (q *query) integer(name string, least, most int) int {
	if !q.Has(name) {
		return 0
	}

	n, err := strconv.Atoi(q.Get(name))
	if err == nil && least <= n && n <= most {
		return n
	}

	upTo := fmt.Sprintf("from %d to %d", least, most)
	if most == math.MaxInt {
		upTo = fmt.Sprintf("of %d or more", least)
	}
	q.wrong = append(q.wrong, detail{fmt.Sprintf("%s must be an integer %s", name, upTo)})
	return 0
}

// limit returns the number of rows that a page may have: the limit of the request, which must
// not exceed most, or usual if the request has none.
func (q *query) limit(most, usual int) int {
	return cmp.Or(q.integer("limit", 1, most), usual)
}

// dates returns the range of dates; a zero Date for each end that is not there.
func (q *query) dates() (from, to mintlify.Date) {
	from = q.date("dateFrom")
	to = q.date("dateTo")
	return from, to
}

// date returns a parameter that is a day, or an instant in UTC with a Z, which every parser
// takes; the zero Date if it is not there.
func (q *query) date(name string) mintlify.Date {
	if !q.Has(name) {
		return mintlify.Date{}
	}

	text := q.Get(name)
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return mintlify.Day(day.Date())
	}
	if instant, err := time.Parse("2006-01-02T15:04:05Z", text); err == nil {
		return mintlify.Instant(instant)
	}

	q.wrong = append(q.wrong, detail{name + " must be an ISO 8601 or YYYY-MM-DD date"})
	return mintlify.Date{}
}

// enum returns the values of a parameter, each of which must be known, with commas between
// them; nil if it is not there. There may be up to most values, or any number if
// most is -1.
func (q *query) enum(name string, most int, known ...string) []string {
	if !q.Has(name) {
		return nil
	}

	values := strings.SplitN(q.Get(name), ",", most)
	for _, value := range values {
		if !slices.Contains(known, value) {
			q.wrong = append(q.wrong, detail{fmt.Sprintf("%s must be one of %s", name, strings.Join(known, ", "))})
			return nil
		}
	}
	return values
}

const cursorPrefix = "cursor_"

// cursor returns the row that the page starts at; 0 without a cursor.
func (q *query) cursor() int {
	if !q.Has("cursor") {
		return 0
	}

	number, ok := strings.CutPrefix(q.Get("cursor"), cursorPrefix)
	if row, err := strconv.Atoi(number); ok && err == nil && row > 0 {
		return row
	}

	q.wrong = append(q.wrong, detail{"cursor is not one of this export"})
	return 0
}

// pageByCursor returns the page of rows that q asks for, in the field name, each after convert.
func pageByCursor[R any](
	s *Service, q *query, most, usual int, name string, rows []R, convert func(R) any,
) (map[string]any, *failure) {
	limit := q.limit(most, usual)
	first := q.cursor()
	if failed := s.admit(q); failed != nil {
		return nil, failed
	}

	rows, hasMore := pageOf(rows, first, limit)
	page := map[string]any{"nextCursor": nil, "hasMore": hasMore}
	page[name] = sliceOf(rows, convert)
	if hasMore {
		page["nextCursor"] = cursorPrefix + strconv.Itoa(first+limit)
	}
	return page, nil
}

// admit refuses a request with a bad query, or beyond the quota.
func (s *Service) admit(q *query) *failure {
	if len(q.wrong) > 0 {
		return &failure{status: http.StatusBadRequest, Error: "Invalid query parameters", Details: q.wrong}
	}
	return s.count(analyticsQuota())
}

// pageOf returns the rows of a page, and whether there are more. A page without rows is an
// empty list, which the service writes as [] and not as null.
func pageOf[R any](rows []R, offset, limit int) ([]R, bool) {
	rest := rows[min(offset, len(rows)):]
	if len(rest) == 0 {
		return []R{}, false
	}
	return rest[:min(limit, len(rest))], limit < len(rest)
}

// sliceOf returns each value after convert. It is never nil, since the service
// writes an empty list as [].
func sliceOf[From, To any](values []From, convert func(From) To) []To {
	converted := make([]To, len(values))
	for i, value := range values {
		converted[i] = convert(value)
	}
	return converted
}

// clonePointer returns a pointer to a clone of what p points to; nil for nil.
func clonePointer[T any](p *T, clone func(T) T) *T {
	if p == nil {
		return nil
	}
	cloned := clone(*p)
	return &cloned
}

// isWithin reports whether t is in a range of dates, to exclusive. The zero time is in all.
func isWithin(t time.Time, from, to mintlify.Date) bool {
	if t.IsZero() {
		return true
	}
	isBeforeEnd := to.IsZero() || t.Before(to.Time())
	return !t.Before(from.Time()) && isBeforeEnd
}

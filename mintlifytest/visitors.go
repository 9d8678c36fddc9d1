package mintlifytest

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Of the analytics operations.
const (
	defaultLimit = 50
	maxLimit     = 250
)

// SetVisitors sets the rows of the analytics export, for every project and range
// of dates. Its totals are the sums of theirs.
func (s *Service) SetVisitors(rows []mintlify.Visitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visitors, s.totals = slices.Clone(rows), mintlify.VisitorTotals{}
	for _, row := range rows {
		s.totals.Human += row.Human
		s.totals.AI += row.AI
		s.totals.Total += row.Total
	}
}

func (s *Service) getVisitors(c *call) (any, *failure) {
	limit, offset, bad := paging(c.query)
	for _, name := range []string{"dateFrom", "dateTo"} {
		if c.query.Has(name) && !isDate(c.query.Get(name)) {
			bad = append(bad, detail{name + " must be an ISO 8601 or YYYY-MM-DD date"})
		}
	}
	if len(bad) > 0 {
		return nil, &failure{status: http.StatusBadRequest, Error: "Invalid query parameters", Details: bad}
	}
	if failed := s.count(analyticsQuota()); failed != nil {
		return nil, failed
	}
	offset = min(offset, len(s.visitors))
	end := min(offset+limit, len(s.visitors))
	rows := make([]map[string]any, 0, end-offset)
	for _, row := range s.visitors[offset:end] {
		rows = append(rows, map[string]any{"path": row.Path, "human": row.Human, "ai": row.AI, "total": row.Total})
	}
	return map[string]any{
		"totals":   map[string]any{"human": s.totals.Human, "ai": s.totals.AI, "total": s.totals.Total},
		"visitors": rows,
		"hasMore":  end < len(s.visitors),
	}, nil
}

func paging(query url.Values) (limit, offset int, bad []detail) {
	limit = defaultLimit
	var err error
	if query.Has("limit") {
		if limit, err = strconv.Atoi(query.Get("limit")); err != nil || limit < 1 || limit > maxLimit {
			bad = append(bad, detail{"limit must be an integer from 1 to 250"})
		}
	}
	if query.Has("offset") {
		if offset, err = strconv.Atoi(query.Get("offset")); err != nil || offset < 0 {
			bad = append(bad, detail{"offset must be an integer, 0 or greater"})
		}
	}
	return limit, offset, bad
}

// isDate takes a day, or an instant in UTC with a Z, as every parser does.
func isDate(text string) bool {
	_, dayErr := time.Parse(time.DateOnly, text)
	_, instantErr := time.Parse("2006-01-02T15:04:05Z", text)
	return dayErr == nil || instantErr == nil
}

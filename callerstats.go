package mintlify

import (
	"context"
	"encoding/json"
)

// CallerStatsParams says of which time to count the assistant's callers. The zero value is a
// range of dates of the service's choosing.
type CallerStatsParams struct {
	DateFrom Date // the first; zero: not sent, and which range the service then takes is not documented
	DateTo   Date // exclusive: results are before it; zero: not sent
}

// CallerStats counts from where the assistant was asked. Whether it counts questions or those
// who ask them is not documented. It marshals to JSON under the service's own field names, and
// reads back to an equal value.
type CallerStats struct {
	Web   int64 `json:"web"`   // on the documentation's pages
	API   int64 `json:"api"`   // by the assistant's API
	Other int64 `json:"other"` // elsewhere
	Total int64 `json:"total"` // as the service counts it: not computed here
}

// GetCallerStats returns from where the assistant was asked, for one request:
// GET /v1/analytics/{projectId}/assistant/caller-stats. It changes nothing and is safe to
// call again, but counts against the quota of 100 analytics requests per organization and
// hour.
//
// Errors: [*ArgumentError] for a DateFrom that is not before DateTo; [*APIError],
// [*ResponseError], or the network's or context's error.
func (s *AnalyticsService) GetCallerStats(ctx context.Context, params CallerStatsParams) (*CallerStats, error) {
	if err := checkDates(params.DateFrom, params.DateTo); err != nil {
		return nil, err
	}
	stats := new(CallerStats)
	if err := s.get(ctx, OpGetCallerStats, "/assistant/caller-stats", datesQuery(params.DateFrom, params.DateTo), stats); err != nil {
		return nil, err
	}
	return stats, nil
}

func (s *CallerStats) decode(data []byte) error {
	var counts struct {
		Web   *count `json:"web"`
		API   *count `json:"api"`
		Other *count `json:"other"`
		Total *count `json:"total"`
	}
	if err := json.Unmarshal(data, &counts); err != nil {
		return notJSON("caller stats", err)
	}
	if counts.Web == nil && counts.API == nil && counts.Other == nil && counts.Total == nil {
		return missing("counts")
	}
	*s = CallerStats{counts.Web.int64(), counts.API.int64(), counts.Other.int64(), counts.Total.int64()}
	return nil
}

package mintlify

import "encoding/json"

const maxCountsLimit = 250 // rows of a page

// pathCounts is a row of visitors or of views.
type pathCounts interface {
	~struct {
		Path  string `json:"path"`
		Human int64  `json:"human"`
		AI    int64  `json:"ai"`
		Total int64  `json:"total"`
	}
}

// totals are those of visitors or of views.
type totals struct {
	Human int64 `json:"human"`
	AI    int64 `json:"ai"`
	Total int64 `json:"total"`
}

// countsJSON is a page as the service sends it: one of the lists is there.
type countsJSON[T, L any] struct {
	Totals   *T    `json:"totals"`
	Visitors L     `json:"visitors"`
	Views    L     `json:"views"`
	HasMore  *bool `json:"hasMore"`
}

func (p *countsJSON[T, L]) list(name string) *L {
	if name == "views" {
		return &p.Views
	}
	return &p.Visitors
}

// roundedCounts are totals or a row whose numbers need not be whole.
type roundedCounts struct {
	Path  string `json:"path"`
	Human count  `json:"human"`
	AI    count  `json:"ai"`
	Total count  `json:"total"`
}

// decodeCounts reads a page whose rows are in the list of that name.
func decodeCounts[R pathCounts](data []byte, name string) (sum totals, rows []R, hasMore bool, err error) {
	var fast countsJSON[totals, []R]
	if decodeRows(data, &fast, fast.list(name)) && fast.Totals != nil && fast.HasMore != nil {
		return *fast.Totals, *fast.list(name), *fast.HasMore, nil
	}
	var page countsJSON[roundedCounts, list[roundedCounts]]
	if err := json.Unmarshal(data, &page); err != nil {
		return sum, nil, false, notJSON("a page of "+name, err)
	}
	switch {
	case page.Totals == nil:
		return sum, nil, false, missing("totals")
	case *page.list(name) == nil:
		return sum, nil, false, missing(name)
	case page.HasMore == nil:
		return sum, nil, false, missing("hasMore")
	}
	sum = totals{int64(page.Totals.Human), int64(page.Totals.AI), int64(page.Totals.Total)}
	rows = make([]R, len(*page.list(name)))
	for i, row := range *page.list(name) {
		rows[i] = R{Path: row.Path, Human: int64(row.Human), AI: int64(row.AI), Total: int64(row.Total)}
	}
	return sum, rows, *page.HasMore, nil
}

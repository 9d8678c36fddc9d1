package docstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// ShortPages is a transport to a service whose pages of visitors and views have fewer rows than it
// is asked for, although there are more.
type ShortPages struct {
	http.RoundTripper

	// Cap is the most rows of a page. If it is 0, pages are not capped.
	Cap int

	// Removes has a path whose rows the service removes after it has applied the limit. nil is none.
	Removes func(path string) bool
}

// RoundTrip implements [http.RoundTripper].
func (s *ShortPages) RoundTrip(request *http.Request) (*http.Response, error) {
	_, list, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v1/analytics/"), "/")
	if list != "visitors" && list != "views" {
		return s.RoundTripper.RoundTrip(request)
	}

	if s.Cap > 0 {
		query := request.URL.Query()
		query.Set("limit", fmt.Sprint(s.Cap))
		request.URL.RawQuery = query.Encode()
	}

	response, err := s.RoundTripper.RoundTrip(request)
	if err != nil || s.Removes == nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	return response, s.remove(response, list)
}

// remove takes rows out of a page.
func (s *ShortPages) remove(response *http.Response, list string) error {
	var page map[string]any
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		return err
	}

	left := []any{}
	for _, row := range page[list].([]any) {
		path := row.(map[string]any)["path"].(string)
		if !s.Removes(path) {
			left = append(left, row)
		}
	}
	page[list] = left

	body, err := json.Marshal(page)
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Del("Content-Length")
	return err
}

// Left returns the rows of a site that the service does not remove.
func (s *ShortPages) Left(site Visitors) Visitors {
	return func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		rows, totals := site(project, params)
		left := []mintlify.Visitor{}
		for _, row := range rows {
			if s.Removes == nil || !s.Removes(row.Path) {
				left = append(left, row)
			}
		}
		return left, totals
	}
}

// Package demo makes up a documentation site: weekends, slow growth of humans and fast
// growth of AIs, pages that AIs like, and pages that come into fashion and go out of it.
// The same window always has the same numbers.
package demo

import (
	"net/http"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Service is a fake of the service with made-up numbers. It is a transport.
type Service struct {
	site *site
	now  time.Time

	mu   sync.Mutex // held from setting a window's rows until their response is written
	fake *mintlifytest.Service
}

// NewService returns a fake of the service with a site of that many pages, up to now.
func NewService(pages int, now time.Time) *Service {
	s := &Service{site: newSite(pages), now: now, fake: mintlifytest.NewService()}
	s.fake.SetVisitorsFunc(s.site.visitors)
	s.fake.SetFeedback(s.site.feedback(now))
	s.fake.SetConversations(s.site.conversations(now))
	return s
}

// RoundTrip responds to a request. Searches and views differ by project and window, and
// the fake has one list of each.
func (s *Service) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	project, list, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v1/analytics/"), "/")
	query := request.URL.Query()

	from, errFrom := mintlify.ParseDate(query.Get("dateFrom"))
	to, errTo := mintlify.ParseDate(query.Get("dateTo"))

	if errFrom == nil && errTo == nil {
		w := window{project, from.Time(), to.Time()}
		switch list {
		case "searches":
			s.fake.SetSearches(s.site.searches(w, s.now))
		case "assistant/caller-stats":
			s.fake.SetCallerStats(s.site.callers(w))
		case "views":
			s.fake.SetViews(s.site.views(w))
		}
	}
	return s.fake.RoundTrip(request)
}

// Visitors returns the visitors of a site of that many pages, for SetVisitorsFunc.
func Visitors(
	pages int,
) func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
	return newSite(pages).visitors
}

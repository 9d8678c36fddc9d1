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

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	// Project is the project of the made-up data.
	Project = "demo"

	// Budget does not end: the made-up data cost nothing.
	Budget = 1_000_000
)

// Service is a fake of the service with made-up numbers. It is a transport.
type Service struct {
	site site
	now  time.Time

	mu   sync.Mutex // held from setting a window's searches until their response is written
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

// RoundTrip responds to a request. Searches differ by project and window, and the fake has one list.
func (s *Service) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	path := strings.TrimPrefix(request.URL.Path, "/v1/analytics/")
	if project, isSearches := strings.CutSuffix(path, "/searches"); isSearches {
		query := request.URL.Query()
		w := store.Window{Project: project}
		w.From, _ = mintlify.ParseDate(query.Get("dateFrom")) // the fake refuses what is not a date
		w.To, _ = mintlify.ParseDate(query.Get("dateTo"))
		s.fake.SetSearches(s.site.searches(w, s.now))
	}
	return s.fake.RoundTrip(request)
}

// Visitors returns the visitors of a site of that many pages, for SetVisitorsFunc.
func Visitors(pages int) func(string, mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
	return newSite(pages).visitors
}

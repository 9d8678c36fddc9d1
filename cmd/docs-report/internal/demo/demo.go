// Package demo makes up a documentation site: weekends, slow growth of humans and fast
// growth of AIs, pages that AIs like, and pages that come into fashion and go out of it.
// The same window always has the same visitors.
package demo

import (
	_ "embed" // the site
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

//go:embed site.json
var data []byte

type site struct {
	Paths           []string
	LikedByAIs      map[string]float64 // by the beginning of a path
	Terms, Comments []string
	Questions       [][2]string // category and question

	pages []page
}

type page struct {
	path      string
	human, ai float64 // how many of the site's visitors read it
	phase     float64 // of its fashion
}

// Visitors returns the visitors of a site of that many pages, for SetVisitorsFunc.
func Visitors(pages int) func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
	return newSite(pages).visitors
}

func newSite(n int) *site {
	s := &site{}
	_ = json.Unmarshal(data, s) // it is part of the program
	for i := range n {
		path := fmt.Sprintf("/knowledge/article-%04d", i)
		if i < len(s.Paths) {
			path = s.Paths[i]
		}
		liked := 0.8
		for prefix, factor := range s.LikedByAIs {
			if strings.HasPrefix(path, prefix) {
				liked = factor
			}
		}
		popularity := 0.7 * math.Pow(float64(i)+3, -0.85)
		s.pages = append(s.pages, page{path, popularity, popularity * liked, noise(path, "phase") * 2 * math.Pi})
	}
	return s
}

func (s *site) visitors(project string, params mintlify.VisitorsParams) (rows []mintlify.Visitor, totals mintlify.VisitorTotals) {
	from, to := params.DateFrom.Time(), params.DateTo.Time()
	var humans, ais float64
	for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
		h, a := siteDay(project, day)
		humans, ais = humans+h, ais+a
	}
	again := math.Pow(to.Sub(from).Hours()/24, -0.15) // who comes on two days is one visitor
	count := func(human, ai float64) mintlify.VisitorTotals {
		h, a := int64(human*again), int64(ai*again)
		return mintlify.VisitorTotals{Human: h, AI: a, Total: h + a - min(h, a)/50}
	}
	middle := float64(from.Unix()+to.Unix()) / 2 / (24 * 60 * 60)
	for _, p := range s.pages {
		fashion := math.Exp(0.5*math.Sin(middle/(19+11*p.phase)+p.phase)) * (0.9 + 0.2*noise(project, p.path, params.DateFrom.String(), params.DateTo.String()))
		t := count(humans*p.human*fashion, ais*p.ai*math.Sqrt(fashion))
		rows = append(rows, mintlify.Visitor{Path: p.path, Human: t.Human, AI: t.AI, Total: t.Total})
	}
	if len(rows) > 0 {
		totals = count(humans, ais)
	}
	return rows, totals
}

// siteDay returns a day's visitors of a project.
func siteDay(project string, day time.Time) (humans, ais float64) {
	years := min(max(day.Sub(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)).Hours()/24/365, -2), 2)
	size, date := 0.7+0.8*noise(project), day.Format(time.DateOnly)
	humans = 1500 * size * math.Pow(1.25, years) * (0.93 + 0.14*noise(project, date, "human"))
	ais = 190 * size * math.Pow(4, years) * (0.9 + 0.2*noise(project, date, "ai"))
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		humans, ais = 0.42*humans, 0.8*ais
	}
	return humans, ais
}

// noise returns a number from 0 to 1 that is always the same for the same words.
func noise(words ...string) float64 {
	h := fnv.New64a()
	for _, word := range words {
		h.Write([]byte(word + "\n"))
	}
	return rand.New(rand.NewPCG(h.Sum64(), 0)).Float64()
}

// NewService returns a fake of the service with made-up numbers of a site of that many
// pages, up to now.
func NewService(pages int, now time.Time) *mintlifytest.Service {
	site, svc := newSite(pages), mintlifytest.NewService()
	svc.SetVisitorsFunc(site.visitors)
	var views []mintlify.View
	for i, page := range site.pages {
		human := int64(52_000 / (i + 5))
		views = append(views, mintlify.View{Path: page.path, Human: human, AI: human / 3, Total: human + human/3})
	}
	svc.SetViews(views)
	var searches []mintlify.SearchTerm
	for i, term := range site.Terms {
		row := mintlify.SearchTerm{Query: term, Hits: int64(900/(i+3)) + 4, LastSearchedAt: ago(now, 7*i)}
		if noise(term) > 0.45 {
			row.CTR, row.TopClickedPage = 20+60*noise(term, "ctr"), pick(site.Paths, term)
		}
		searches = append(searches, row)
	}
	svc.SetSearches(searches)

	const years, apart = 2 * 365 * 24, 5 // hours between two readers who say something
	var feedback []mintlify.Feedback
	var conversations []mintlify.Conversation
	for hour := apart; hour < years; hour += apart {
		key := fmt.Sprint(hour)
		path, question := pick(site.Paths[:int(3+30*noise(key))], key), pick(site.Questions, key)
		helpful := noise(key, "helpful") < 0.35+0.6*noise(path)
		comment := mintlify.Feedback{ID: key, Path: path, CreatedAt: ago(now, hour), Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending, Helpful: &helpful}
		if !helpful && hour%4 == 0 {
			comment.Comment = pick(site.Comments, key)
		}
		feedback = append(feedback, comment)
		turn := mintlify.Conversation{ID: key, Timestamp: ago(now, hour), QueryCategory: question[0], Query: question[1], Response: "See the guides.",
			ResolutionStatus: mintlify.ResolutionAnswered, PageURL: "https://docs.example.com" + path}
		if noise(key, "answered") < 0.4*noise(question[1]) {
			turn.Response, turn.ResolutionStatus = "I could not find that in the documentation.", mintlify.ResolutionUnanswered
		}
		conversations = append(conversations, turn)
	}
	svc.SetFeedback(feedback)
	svc.SetConversations(conversations)
	return svc
}

func pick[T any](from []T, key string) T { return from[int(noise(key, "pick")*float64(len(from)))] }

func ago(now time.Time, hours int) time.Time {
	return now.Add(-time.Duration(hours) * time.Hour).Truncate(time.Second).UTC()
}

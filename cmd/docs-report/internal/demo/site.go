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

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

//go:embed site.json
var data []byte

type site struct {
	Paths           []string           // those with the most readers first
	LikedByAIs      map[string]float64 // keyed by the beginning of a path
	Terms, Comments []string
	Questions       [][2]string // category and question
}

func newSite(pages int) site {
	var s site
	_ = json.Unmarshal(data, &s) // site.json is part of the program
	for i := len(s.Paths); i < pages; i++ {
		s.Paths = append(s.Paths, fmt.Sprintf("/knowledge/article-%04d", i))
	}
	s.Paths = s.Paths[:pages]
	return s
}

const (
	forMachines = 5    // is how much AIs like files that are written for them
	most        = 0.85 // of the site's visitors read a page
)

// liked returns how much more than humans AIs like a page.
func (s site) liked(path string) float64 {
	for prefix, factor := range s.LikedByAIs {
		if strings.HasPrefix(path, prefix) {
			return factor
		}
	}
	return 0.8
}

func (s site) visitors(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
	w := store.Window{Project: project, From: params.DateFrom, To: params.DateTo}
	humans, ais := visits(w)

	var rows []mintlify.Visitor
	for i, path := range s.Paths {
		read := 0.7 * math.Pow(float64(i)+3, -0.85) * fashion(w, path)
		liked := s.liked(path)
		readByAIs := min(read*liked, most-0.1*noise(path))
		if liked >= forMachines {
			read *= 0.03
		}

		t := unique(w, humans*min(read, most), ais*readByAIs)
		rows = append(rows, mintlify.Visitor{Path: path, Human: t.Human, AI: t.AI, Total: t.Total})
	}
	if len(rows) == 0 {
		return nil, mintlify.VisitorTotals{}
	}
	return rows, unique(w, humans, ais)
}

// visits returns the sums of the days' visitors.
func visits(w store.Window) (humans, ais float64) {
	size := 0.7 + 0.8*noise(w.Project)
	for _, day := range store.Windows(w.Project, store.Day, w.From, w.To) {
		at := day.From.Time()
		years := at.Sub(mintlify.Day(2026, time.January, 1).Time()).Hours() / 24 / 365
		years = min(max(years, -2), 2)

		h := 1500 * size * math.Pow(1.25, years) * (0.93 + 0.14*noise(w.Project, day.From.String(), "human"))
		a := 190 * size * math.Pow(4, years) * (0.9 + 0.2*noise(w.Project, day.From.String(), "ai"))

		if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
			h *= 0.42
			a *= 0.8
		}
		humans += h
		ais += a
	}
	return humans, ais
}

// unique counts a visitor who comes on two days only once.
func unique(w store.Window, humans, ais float64) mintlify.VisitorTotals {
	again := math.Pow(float64(w.Days()), -0.15)
	h := int64(humans * again)
	a := int64(ais * again)
	return mintlify.VisitorTotals{Human: h, AI: a, Total: h + a - min(h, a)/50}
}

// fashion returns how much more than usual a page or a term is wanted.
func fashion(w store.Window, what string) float64 {
	const secondsOfDay = 24 * 60 * 60
	middle := float64(w.From.Time().Unix()+w.To.Time().Unix()) / 2 / secondsOfDay
	phase := 2 * math.Pi * noise(what, "phase")
	return math.Exp(0.5*math.Sin(middle/(19+11*phase)+phase)) * (0.9 + 0.2*noise(w.String(), what))
}

// searches were all made within the window, and before now.
func (s site) searches(w store.Window, now time.Time) []mintlify.SearchTerm {
	const typedTerms = 6
	end := w.To.Time()
	if now.Before(end) {
		end = now
	}

	var all []mintlify.SearchTerm
	for i, term := range s.Terms {
		hits := int64(float64(w.Days()) * (32/float64(i+3) + 0.15) * fashion(w, term))
		if hits == 0 {
			continue
		}

		ago := time.Duration(noise(w.String(), term, "ago") * float64(end.Sub(w.From.Time())) / float64(hits))
		row := mintlify.SearchTerm{Query: term, Hits: hits, LastSearchedAt: end.Add(-ago - time.Minute).UTC()}
		if noise(term) > 0.45 {
			row.CTR = 20 + 60*noise(term, "ctr")
			row.TopClickedPage = pick(s.Paths[:min(12, len(s.Paths))], term)
		}
		all = append(all, row)

		if i < typedTerms { // the service counts what readers type on the way
			typed := mintlify.SearchTerm{Query: term[:2+i%3], Hits: 1 + hits/3, LastSearchedAt: row.LastSearchedAt}
			all = append(all, typed)
		}
	}
	return all
}

const years = 2 * 365 * 24 // hours, of what readers say

func (s site) feedback(now time.Time) []mintlify.Feedback {
	var all []mintlify.Feedback
	for hour := 2; hour < years; hour += 2 {
		id := fmt.Sprint("feedback-", hour)
		path := s.readAt(id)
		helpful := noise(id, "helpful") < 0.35+0.6*noise(path)

		row := mintlify.Feedback{
			ID:        id,
			Path:      path,
			CreatedAt: ago(now, hour),
			Source:    mintlify.FeedbackContextual,
			Status:    mintlify.FeedbackPending,
			Helpful:   &helpful,
		}

		if !helpful && noise(id, "comments") < 0.3 {
			row.Comment = pick(s.Comments, id)

			if noise(id, "settled") < 0.3 {
				row.Status = mintlify.FeedbackResolved
			}
			if noise(id, "agent") < 0.2 { // agents give no thumbs
				row.Source = mintlify.FeedbackFromAgent
				row.Helpful = nil
			}
		}
		all = append(all, row)
	}
	return all
}

func (s site) conversations(now time.Time) []mintlify.Conversation {
	var all []mintlify.Conversation
	for hour := 3; hour < years; hour += 3 {
		id := fmt.Sprint("conversation-", hour)
		question := pick(s.Questions, id)

		row := mintlify.Conversation{
			ID:               id,
			Timestamp:        ago(now, hour),
			QueryCategory:    question[0],
			Query:            question[1],
			Response:         "See the guides.",
			ResolutionStatus: mintlify.ResolutionAnswered,
			PageURL:          "https://docs.example.com" + s.readAt(id),
		}

		if noise(id, "answered") < 0.4*noise(question[1]) {
			row.Response = "I could not find that in the documentation."
			row.ResolutionStatus = mintlify.ResolutionUnanswered
		}
		all = append(all, row)
	}
	return all
}

// readAt picks the page on which a reader writes something. It picks pages with many readers more often.
func (s site) readAt(id string) string {
	const saidOn = 33
	for i := 0; ; i++ {
		n := noise(id, fmt.Sprint(i))
		path := s.Paths[int(n*n*float64(min(saidOn, len(s.Paths))))]
		if s.liked(path) < forMachines { // nobody writes on files for machines
			return path
		}
	}
}

func pick[T any](from []T, key string) T { return from[int(noise(key, "pick")*float64(len(from)))] }

func ago(now time.Time, hours int) time.Time {
	return now.Add(-time.Duration(hours) * time.Hour).Truncate(time.Second).UTC()
}

// noise returns a number from 0 to 1 that is always the same for the same words.
func noise(words ...string) float64 {
	h := fnv.New64a()
	for _, word := range words {
		h.Write([]byte(word + "\n"))
	}
	return rand.New(rand.NewPCG(h.Sum64(), 0)).Float64()
}

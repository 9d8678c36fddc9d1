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
)

//go:embed site.json
var data []byte

type site struct {
	Paths           []string
	LikedByAIs      map[string]float64 // keyed by the beginning of a path
	Terms, Comments []string
	Questions       [][2]string // category and question

	pages []page
}

type page struct {
	path      string
	human, ai float64 // the shares of the site's visitors that read it
	phase     float64 // of the page's fashion
}

func newSite(n int) *site {
	s := &site{}
	_ = json.Unmarshal(data, s) // site.json is part of the program
	for i := range n {
		path := fmt.Sprintf("/knowledge/article-%04d", i)
		if i < len(s.Paths) {
			path = s.Paths[i]
		}

		popularity := 0.7 * math.Pow(float64(i)+3, -0.85)

		liked := s.liked(path)
		human := popularity
		if liked >= forMachines {
			human *= 0.03
		}

		s.pages = append(s.pages, page{
			path:  path,
			human: human,
			ai:    popularity * liked,
			phase: noise(path, "phase") * 2 * math.Pi,
		})
	}
	return s
}

// forMachines is how much AIs like files that are written for them.
const forMachines = 5

// liked returns how much more than humans AIs like a page.
func (s *site) liked(path string) float64 {
	for prefix, factor := range s.LikedByAIs {
		if strings.HasPrefix(path, prefix) {
			return factor
		}
	}
	return 0.8
}

// window is what a request asks for.
type window struct {
	project  string
	from, to time.Time
}

func (w window) days() float64 { return w.to.Sub(w.from).Hours() / 24 }

// middle returns the middle of the window in days since 1970.
func (w window) middle() float64 { return float64(w.from.Unix()+w.to.Unix()) / 2 / (24 * 60 * 60) }

func (w window) String() string {
	return w.project + " " + w.from.Format(time.DateOnly) + " " + w.to.Format(time.DateOnly)
}

func (s *site) visitors(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
	w := window{project, params.DateFrom.Time(), params.DateTo.Time()}
	humans, ais := w.visits()

	var rows []mintlify.Visitor
	for _, p := range s.pages {
		fashion := p.fashion(w)
		t := w.unique(humans*min(p.human*fashion, most), ais*min(p.ai*math.Sqrt(fashion), most-0.1*noise(p.path)))
		rows = append(rows, mintlify.Visitor{Path: p.path, Human: t.Human, AI: t.AI, Total: t.Total})
	}

	if len(rows) == 0 {
		return nil, mintlify.VisitorTotals{}
	}
	return rows, w.unique(humans, ais)
}

// most returns how many of the site's visitors a page can have at most.
const most = 0.85

// fashion returns how much more than usual a page is read.
func (p page) fashion(w window) float64 {
	wave := math.Exp(0.5 * math.Sin(w.middle()/(19+11*p.phase)+p.phase))
	return wave * (0.9 + 0.2*noise(w.String(), p.path))
}

// visits returns the sums of the days' visitors.
func (w window) visits() (humans, ais float64) {
	for day := w.from; day.Before(w.to); day = day.AddDate(0, 0, 1) {
		h, a := siteDay(w.project, day)
		humans += h
		ais += a
	}
	return humans, ais
}

// unique counts a visitor who comes on two days only once.
func (w window) unique(humans, ais float64) mintlify.VisitorTotals {
	again := math.Pow(w.days(), -0.15)
	h := int64(humans * again)
	a := int64(ais * again)
	return mintlify.VisitorTotals{Human: h, AI: a, Total: h + a - min(h, a)/50}
}

func siteDay(project string, day time.Time) (humans, ais float64) {
	newYear := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	years := min(max(day.Sub(newYear).Hours()/24/365, -2), 2)
	size := 0.7 + 0.8*noise(project)
	date := day.Format(time.DateOnly)

	humans = 1500 * size * math.Pow(1.25, years) * (0.93 + 0.14*noise(project, date, "human"))
	ais = 190 * size * math.Pow(4, years) * (0.9 + 0.2*noise(project, date, "ai"))
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		humans *= 0.42
		ais *= 0.8
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

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
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const comeAgain = 0.15 // how much fewer the visitors of n days are than n times those of a day

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

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

// Visitors returns the visitors of a site of that many pages, for the fake's
// SetVisitorsFunc. Without dates they are those of a day.
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
	if !from.Before(to) {
		from, to = epoch, epoch.AddDate(0, 0, 1)
	}
	humans, ais := make([]float64, len(s.pages)), make([]float64, len(s.pages)) // by page, the sums of days
	var siteHumans, siteAIs float64
	for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
		h, a := siteDay(project, day)
		siteHumans, siteAIs = siteHumans+h, siteAIs+a
		number := float64(day.Unix()) / (24 * 60 * 60)
		for i, p := range s.pages {
			fashion := math.Exp(0.55 * math.Sin(number/(19+11*p.phase)+p.phase))
			humans[i] += h * p.human * fashion
			ais[i] += a * p.ai * math.Sqrt(fashion)
		}
	}
	again := math.Pow(to.Sub(from).Hours()/24, -comeAgain)
	count := func(human, ai float64) mintlify.VisitorTotals {
		h, a := int64(human*again), int64(ai*again)
		return mintlify.VisitorTotals{Human: h, AI: a, Total: h + a - min(h, a)/50}
	}
	for i, p := range s.pages {
		jitter := 0.9 + 0.2*noise(project, p.path, params.DateFrom.String(), params.DateTo.String())
		t := count(humans[i]*jitter, ais[i]*jitter)
		rows = append(rows, mintlify.Visitor{Path: p.path, Human: t.Human, AI: t.AI, Total: t.Total})
	}
	if len(rows) > 0 {
		totals = count(siteHumans, siteAIs)
	}
	return rows, totals
}

// siteDay returns a day's visitors of a project.
func siteDay(project string, day time.Time) (humans, ais float64) {
	years := min(max(day.Sub(epoch).Hours()/24/365, -2), 2)
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
	x := h.Sum64() // its high bits are poor for words this short
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

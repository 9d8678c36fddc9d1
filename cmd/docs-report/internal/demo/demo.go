// Package demo makes up the visitors of a documentation site: seasons and weekends,
// slow growth of humans and fast growth of AIs, pages that AIs like, and pages that
// come into fashion and go out of it. The same window always has the same visitors.
package demo

import (
	"hash/fnv"
	"math"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	humansADay    = 1500.0 // of the site, at the start of epoch
	aisADay       = 190.0
	humanGrowth   = 1.25 // a year
	aiGrowth      = 4.0
	pagesAHuman   = 2.4 // read in a visit
	pagesAnAI     = 3.1
	comeAgainPage = 0.12 // how much fewer the visitors of n days are than n times those of a day
	comeAgainSite = 0.18
)

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Visitors returns the visitors of a site of that many pages, for the fake's
// SetVisitorsFunc. Without dates they are those of a day.
func Visitors(pages int) func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
	site := newSite(pages)
	return func(project string, params mintlify.VisitorsParams) ([]mintlify.Visitor, mintlify.VisitorTotals) {
		from, to := params.DateFrom.Time(), params.DateTo.Time()
		if !from.Before(to) {
			from, to = epoch, epoch.AddDate(0, 0, 1)
		}
		return site.visitors(project, from, to)
	}
}

type page struct {
	path      string
	human, ai float64 // shares of what the site's visitors read
	phase     float64 // of its fashion
}

type site []page

func newSite(n int) site {
	s := make(site, n)
	var humans, ais float64
	for i, path := range paths(n) {
		popularity := math.Pow(float64(i)+3, -0.85)
		s[i] = page{path, popularity, popularity * affinity(path), noise(path, "phase") * 2 * math.Pi}
		humans += s[i].human
		ais += s[i].ai
	}
	for i := range s {
		s[i].human /= humans
		s[i].ai /= ais
	}
	return s
}

func (s site) visitors(project string, from, to time.Time) ([]mintlify.Visitor, mintlify.VisitorTotals) {
	humans, ais := make([]float64, len(s)), make([]float64, len(s)) // by page, the sums of days
	var siteHumans, siteAIs float64
	for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
		h, a := siteDay(project, day)
		siteHumans, siteAIs = siteHumans+h, siteAIs+a
		number := float64(day.Unix()) / (24 * 60 * 60)
		for i, p := range s {
			fashion := math.Exp(0.55 * math.Sin(number/(19+11*p.phase)+p.phase))
			humans[i] += h * p.human * pagesAHuman * fashion
			ais[i] += a * p.ai * pagesAnAI * math.Sqrt(fashion)
		}
	}
	days := to.Sub(from).Hours() / 24
	rows := make([]mintlify.Visitor, len(s))
	for i, p := range s {
		jitter := 0.9 + 0.2*noise(project, p.path, from.Format(time.DateOnly), to.Format(time.DateOnly))
		h, a := unique(humans[i]*jitter, days, comeAgainPage), unique(ais[i]*jitter, days, comeAgainPage)
		rows[i] = mintlify.Visitor{Path: p.path, Human: h, AI: a, Total: h + a - min(h, a)/50}
	}
	if len(s) == 0 {
		return rows, mintlify.VisitorTotals{}
	}
	h, a := unique(siteHumans, days, comeAgainSite), unique(siteAIs, days, comeAgainSite)
	return rows, mintlify.VisitorTotals{Human: h, AI: a, Total: h + a - min(h, a)/50}
}

// siteDay returns a day's visitors of a project.
func siteDay(project string, day time.Time) (humans, ais float64) {
	years := min(max(day.Sub(epoch).Hours()/24/365, -2), 2)
	size := 0.7 + 0.8*noise(project)
	season := 1 + 0.1*math.Sin(2*math.Pi*float64(day.YearDay()-245)/365)
	if d := day.YearDay(); d <= 3 || d >= 357 { // the holidays
		season *= 0.6
	}
	weekHumans, weekAIs := 1.0, 1.0
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		weekHumans, weekAIs = 0.42, 0.8
	}
	date := day.Format(time.DateOnly)
	humans = humansADay * size * math.Pow(humanGrowth, years) * season * weekHumans * (0.93 + 0.14*noise(project, date, "human"))
	ais = aisADay * size * math.Pow(aiGrowth, years) * weekAIs * (0.9 + 0.2*noise(project, date, "ai"))
	return humans, ais
}

// unique returns the visitors of n days of which so many came in all.
func unique(visits, days, comeAgain float64) int64 {
	return int64(math.Round(visits * math.Pow(days, -comeAgain)))
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

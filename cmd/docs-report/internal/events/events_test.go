package events_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

var (
	monday = mintlify.Day(2027, time.March, 1)
	period = store.Window{From: monday.AddDays(56), To: monday.AddDays(84)}
	both   = store.Window{From: monday.AddDays(28), To: monday.AddDays(84)}
)

// madeUp is a site with chance in it: twelve weeks of days, to which a test does something.
type madeUp struct {
	chance *rand.Rand
	names  []string
	pages  map[string][][2]int64 // by day: humans and AIs
	extra  [][2]int64            // visitors of no page
	votes  map[string][]int64
}

// newMadeUp returns a calm site of so many pages and humans a day: weekends are quiet, some pages are read rarely,
// and each count is by chance.
func newMadeUp(seed uint64, pages int, humans float64) *madeUp {
	m := &madeUp{
		chance: rand.New(rand.NewPCG(seed, 66)),
		pages:  map[string][][2]int64{},
		extra:  make([][2]int64, 84),
		votes:  map[string][]int64{},
	}

	weights := 0.0
	for i := range pages {
		weights += 1 / float64(i+3)
	}
	for i := range pages {
		name := fmt.Sprintf("/docs/section-%d/page-%d", i%5, i)
		m.names = append(m.names, name)
		share := 1 / float64(i+3) / weights
		for day := range 84 {
			mean := humans * share * m.rhythm(day)
			m.pages[name] = append(m.pages[name], [2]int64{m.count(mean), m.count(mean / 3)})
		}
		for range 8 {
			m.votes[name] = append(m.votes[name], m.count(7*humans*share/100))
		}
	}
	return m
}

// rhythm is how much a day has of a weekday, with weather that all pages share.
func (m *madeUp) rhythm(day int) float64 {
	weather := rand.New(rand.NewPCG(uint64(day), m.chance.Uint64()%3)).Float64()
	if day%7 > 4 {
		return 0.4 * (0.9 + 0.2*weather)
	}
	return 0.9 + 0.2*weather
}

// count returns a number around a mean, a little wider than a Poisson's.
func (m *madeUp) count(mean float64) int64 {
	mean *= math.Exp(0.15 * m.chance.NormFloat64())
	if mean > 50 {
		return int64(max(0, math.Round(mean+math.Sqrt(mean)*m.chance.NormFloat64())))
	}

	n := int64(0)
	for left := m.chance.ExpFloat64(); left < mean; left += m.chance.ExpFloat64() {
		n++
	}
	return n
}

func (m *madeUp) points() []store.Point {
	var all []store.Point
	for day := range 84 {
		counts := mintlify.VisitorTotals{Human: m.extra[day][0], AI: m.extra[day][1]}
		for _, name := range m.names {
			counts.Human += m.pages[name][day][0]
			counts.AI += m.pages[name][day][1]
		}
		all = append(all, store.Point{
			Window: store.Window{From: monday.AddDays(day), To: monday.AddDays(day + 1)},
			Counts: counts,
		})
	}
	return all
}

func (m *madeUp) site() *events.Site {
	points := m.points()
	site := events.NewSite(points, func(store.Point) bool { return true })
	for day, point := range points {
		var rows []mintlify.Visitor
		for name, page := range m.pages {
			if page[day] != [2]int64{} {
				rows = append(rows, mintlify.Visitor{Path: name, Human: page[day][0], AI: page[day][1]})
			}
		}
		site.AddDay(point.From, append(rows, rows...)) // a page may come twice
	}
	return site
}

func (m *madeUp) waves(cut ...int) []events.Wave {
	votes := events.Votes{ByPage: m.votes, IsCut: make([]bool, 8)}
	for _, week := range cut {
		votes.IsCut[week] = true
	}
	return m.site().Waves(store.Windows("", store.Week, both.From, both.To), []events.Votes{votes})
}

// told returns all events of a site in words.
func (m *madeUp) told() string {
	var all []string
	site := m.site()
	for _, move := range site.Moves() {
		all = append(all, fmt.Sprintf("%s moved to %s on %v", move.From, move.To, move.Day))
	}
	for _, spike := range site.Spikes(events.Find(m.points())).Told(both) {
		all = append(all, fmt.Sprintf("%d more of kind %d on %q and %d others on %v",
			spike.More/100*100, spike.Kind, spike.Page, spike.Others, spike.Days))
	}
	for _, silence := range site.Silences() {
		all = append(all, fmt.Sprintf("nobody of kind %d from %v to %v", silence.Kind, silence.From, silence.To))
	}
	for _, wave := range m.waves() {
		all = append(all, fmt.Sprintf("a wave on %q from %v to %v", wave.Page, wave.From, wave.To))
	}
	return strings.Join(all, "\n")
}

// move gives pages new names from a day on.
func (m *madeUp) move(day int, rename func(string) string) {
	for _, name := range m.names {
		to := rename(name)
		if to == name {
			continue
		}
		now := make([][2]int64, 84)
		copy(now[day:], m.pages[name][day:])
		clear(m.pages[name][day:])
		m.pages[to] = now
	}
	for name := range m.pages {
		if rename(name) == name && !strings.HasPrefix(name, "/docs/section") {
			m.names = append(m.names, name)
		}
	}
}

// Twenty calm sites of all sizes tell nothing.
func TestCalmSitesTellNothing(t *testing.T) {
	for seed := range uint64(20) {
		for _, humans := range []float64{20, 200, 3000} {
			m := newMadeUp(seed, 40+int(seed)*10, humans)
			assert.Empty(t, m.told(), "seed %d, %g humans a day", seed, humans)
		}
	}
}

// A folder that moves is found as soon as three working days show it, and no other page with it.
func TestAFolderThatMoved(t *testing.T) {
	for seed := range uint64(5) {
		for _, day := range []int{60, 70, 80} {
			m := newMadeUp(seed, 60, 800)
			m.move(day, func(name string) string { return strings.Replace(name, "/docs/section-1/", "/learn/First/", 1) })

			found := m.site().Moves()
			require.GreaterOrEqual(t, len(found), 10, "seed %d, day %d: of 12", seed, day)
			for _, move := range found {
				assert.Equal(t, strings.Replace(move.From, "/docs/section-1/", "/learn/First/", 1), move.To)
				assert.Equal(t, monday.AddDays(day), move.Day)
			}
		}
	}

	m := newMadeUp(1, 60, 800)
	m.move(82, func(name string) string { return strings.Replace(name, "/docs/section-1/", "/learn/", 1) })
	m.move(82, func(name string) string { return name })
	for name, page := range m.pages {
		if last, hasMoved := strings.CutPrefix(name, "/learn/"); hasMoved {
			m.pages["/docs/section-1/"+last][83] = page[83]
		}
	}
	assert.Empty(t, m.site().Moves(), "the old names are still read")
}

// A page moves alone if one name begins when the other ends, under the same last element in any case.
func TestAPageThatMovedAlone(t *testing.T) {
	m := newMadeUp(3, 60, 2000)
	old := m.names[2]
	m.move(65, func(name string) string {
		if name == old {
			return "/start/PAGE-2"
		}
		return name
	})
	assert.Equal(t, []events.Move{{From: old, To: "/start/PAGE-2", Day: monday.AddDays(65)}}, m.site().Moves())

	for day := 65; day < 84; day++ {
		m.pages["/start/PAGE-2"][day][0] *= 9
	}
	assert.Empty(t, m.site().Moves(), "with nine times the readers")
}

// A move ends when its old name is read again, on three days of a week.
func TestAMoveThatEnds(t *testing.T) {
	m := newMadeUp(3, 60, 2000)
	move := events.Move{From: m.names[0], To: "/new", Day: monday.AddDays(40)}
	for day := 40; day < 84; day++ {
		m.pages[m.names[0]][day] = [2]int64{}
	}
	assert.False(t, m.site().HasReturned(move))

	for i, day := range []int{50, 55, 58, 61} {
		m.pages[m.names[0]][day] = [2]int64{400, 0}
		assert.Equal(t, i == 3, m.site().HasReturned(move), "the last three are within seven days")
	}
}

// A day of bots on one page is the page's; what it has more is out of the site's changes, too.
func TestASpikeOfAPage(t *testing.T) {
	for seed := range uint64(5) {
		m := newMadeUp(seed, 60, 200)
		name := m.names[20]
		m.pages[name][66][0] += 400
		m.pages[m.names[30]][66][0] += 200

		spikes := m.site().Spikes(events.Find(m.points()))
		told := spikes.Told(period)
		require.Len(t, told, 1)
		assert.Equal(t, name, told[0].Page)
		assert.Equal(t, 1, told[0].Others)
		assert.Equal(t, []mintlify.Date{monday.AddDays(66)}, told[0].Days)
		assert.InDelta(t, 400, told[0].More, 10)
		assert.InDelta(t, 400, spikes.OfPage(name, events.Humans, period, 2000), 10)
		assert.Zero(t, spikes.OfPage(name, events.AIs, period, 2000))
		assert.Zero(t, spikes.OfPage(m.names[0], events.Humans, period, 2000))

		require.Len(t, spikes.OfSite, 1)
		assert.InDelta(t, 600, spikes.OfSite[0].More, 120, "of the site")
	}
}

// A day on which the site stands out is the site's, also on its pages; a run of more than a week is a gain.
func TestASpikeOfTheSite(t *testing.T) {
	m := newMadeUp(2, 60, 200)
	m.extra[66][1] = 4000
	m.pages[m.names[0]][66][1] += 900
	spikes := m.site().Spikes(events.Find(m.points()))
	told := spikes.Told(period)
	require.Len(t, told, 1)
	assert.Empty(t, told[0].Page)
	assert.Equal(t, events.AIs, told[0].Kind)
	assert.InDelta(t, 900, spikes.OfPage(m.names[0], events.AIs, period, 2000), 30)
	assert.Empty(t, spikes.Told(store.Window{From: both.From, To: period.From}))

	m = newMadeUp(2, 60, 200)
	for day := 66; day < 75; day++ {
		m.pages[m.names[20]][day][0] += 600
	}
	assert.Empty(t, m.site().Spikes(events.Find(m.points())).Told(period), "nine days")

	m = newMadeUp(2, 60, 200)
	m.pages[m.names[20]][66][1] += 200
	spikes = m.site().Spikes(events.Find(m.points()))
	assert.Empty(t, spikes.Told(period), "AIs on a single page")
	assert.Positive(t, spikes.OfPage(m.names[20], events.AIs, period, 2000), "are out of its changes")
}

// Days without a visitor of a kind are silent if usual days would have had twenty, also at the end.
func TestSilence(t *testing.T) {
	for seed := range uint64(5) {
		m := newMadeUp(seed, 60, 100)
		for day := 65; day < 70; day++ {
			m.forget(day, 0)
		}
		site := m.site()
		silences := site.Silences()
		require.Len(t, silences, 1)
		assert.Equal(t, store.Window{From: monday.AddDays(65), To: monday.AddDays(70)}, silences[0].Window)
		assert.Equal(t, events.Humans, silences[0].Kind)
		assert.InDelta(t, 70, silences[0].Usual, 40)

		units, silent := site.Units(events.Humans, period, silences)
		assert.InDelta(t, 28-3*7/5.8-2*7*0.4/5.8, units, 0.6)
		assert.Equal(t, 5, silent)
		units, silent = site.Units(events.AIs, period, silences)
		assert.Equal(t, 28.0, units)
		assert.Zero(t, silent)
	}

	m := newMadeUp(1, 60, 100)
	m.forget(82, 0)
	m.forget(83, 0)
	points := m.points()
	isFinal := func(p store.Point) bool { return p.From.Time().Before(monday.AddDays(82).Time()) }
	assert.Empty(t, events.NewSite(points, isFinal).Silences(), "days that are not final")
	m.forget(81, 0)
	assert.Len(t, events.NewSite(m.points(), isFinal).Silences(), 1, "unless the day before is silent")

	m = newMadeUp(1, 10, 2)
	for day := 65; day < 68; day++ {
		m.forget(day, 0)
	}
	assert.Empty(t, m.site().Silences(), "three days of two visitors")
}

// forget removes the visitors of a kind from a day.
func (m *madeUp) forget(day, kind int) {
	m.extra[day][kind] = 0
	for _, name := range m.names {
		m.pages[name][day][kind] = 0
	}
}

// A wave is found on its page, in the week in which it begins, however small the page's votes were.
func TestAWave(t *testing.T) {
	for seed := range uint64(5) {
		for _, week := range []int{4, 6, 7} {
			m := newMadeUp(seed, 60, 800)
			m.votes[m.names[7]][week] += 40
			waves := m.waves()
			require.Len(t, waves, 1, "seed %d", seed)
			assert.Equal(t, m.names[7], waves[0].Page)
			assert.Equal(t, both.From.AddDays(7*week), waves[0].From)
			assert.Equal(t, week, waves[0].Weeks)
			assert.GreaterOrEqual(t, waves[0].Votes, int64(40))
		}
	}

	m := newMadeUp(2, 60, 800)
	for _, name := range m.names {
		m.votes[name][6] += 2
	}
	waves := m.waves()
	require.Len(t, waves, 1)
	assert.Empty(t, waves[0].Page, "all pages: the site")

	m = newMadeUp(2, 60, 800)
	m.votes[m.names[7]][6] += 40
	assert.Empty(t, m.waves(5), "a list that is cut in a week before the newest is left out")
	assert.Empty(t, m.waves(6))

	m.votes[m.names[7]][6] -= 40
	m.votes[m.names[7]][7] += 40
	assert.Len(t, m.waves(7), 1, "of the newest week, what is loaded counts")
}

// A page that launches with its readers has more votes than before, and no wave.
func TestVotesThatComeWithReadersAreNotAWave(t *testing.T) {
	m := newMadeUp(2, 60, 800)
	name := m.names[7]
	m.votes[name] = []int64{0, 0, 0, 0, 12, 13, 12, 14}
	clear(m.pages[name][:56])
	assert.Empty(t, m.waves())
}

// Names of one page are added up, and a page of a day that comes twice counts once.
func TestNamesAreAddedUp(t *testing.T) {
	m := newMadeUp(1, 60, 800)
	m.pages[m.names[4]][66][0] += 5000
	site := m.site()
	site.Rename(func(string) string { return "/one" })
	spikes := site.Spikes(events.Find(m.points()))
	assert.InDelta(t, 5000, spikes.OfPage("/one", events.Humans, period, 100_000), 200)
	assert.True(t, site.HasPages(both))
	assert.False(t, events.NewSite(m.points(), func(store.Point) bool { return true }).HasPages(both))
}

// A spike of the site names the page that has it. What other pages have more on that day is chance, and stays.
func TestASpikeOfTheSiteNamesItsPage(t *testing.T) {
	m := newMadeUp(3, 40, 1000)
	m.pages[m.names[5]][75][events.Humans] += 6000
	spikes := m.site().Spikes(events.Find(m.points()))
	told := spikes.Told(period)
	require.Len(t, told, 1)
	assert.Equal(t, m.names[5], told[0].Mostly)
	assert.InDelta(t, 6000, told[0].OfMostly, 100)
	assert.Zero(t, spikes.OfPage(m.names[0], events.Humans, period, 100_000))
}

// A page that ended has nobody since a day; one that is read rarely has not ended.
func TestAPageThatEnded(t *testing.T) {
	m := newMadeUp(3, 40, 1000)
	clear(m.pages[m.names[5]][64:])
	site := m.site()
	for _, name := range m.names {
		since, hasEnded := site.Ended(name)
		assert.Equal(t, name == m.names[5], hasEnded, name)
		if hasEnded {
			assert.Equal(t, monday.AddDays(64), since)
		}
	}
}

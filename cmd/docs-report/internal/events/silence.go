package events

import (
	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const leastOfSilence = 20 // visitors that usual days would have had

// Silence is a run of days on which nobody of a kind came, who usually comes.
type Silence struct {
	store.Window
	Kind  Kind
	Usual int64 // visitors a day
}

// Silences returns the runs of days without a visitor of a kind, after the first one.
func (s *Site) Silences() []Silence {
	var all []Silence
	for _, k := range Kinds {
		l := s.total[k]
		isSilent := make([]bool, len(l))
		for i := l.firstVisitor(); i < len(l); i++ {
			isSilent[i] = l[i] == 0 && (s.isFinal[i] || isSilent[i-1]) // the first visitor's day is not silent
		}

		for _, run := range runs(isSilent) {
			usual := 0.0
			for i := run.from; i < run.to; i++ {
				usual += l.usualWeekday(i, run)
			}
			if usual >= leastOfSilence {
				all = append(all, Silence{
					Window: store.Window{From: s.first.AddDays(run.from), To: s.first.AddDays(run.to)},
					Kind:   k,
					Usual:  int64(usual) / int64(run.days()),
				})
			}
		}
	}
	return all
}

// usualWeekday returns the median of a day's weekday in the days around it, without those of a run.
func (l line) usualWeekday(day int, without run) float64 {
	var near []int32
	for i := day - around; i <= day+around; i += 7 {
		if i >= 0 && i < len(l) && l[i] != unknown && (i < without.from || i >= without.to) {
			near = append(near, l[i])
		}
	}
	return median(near)
}

// Units returns how many days of a window have visitors of a kind: its days without the silent ones, each weighed by
// what its weekday usually has. It also counts the silent days.
func (s *Site) Units(k Kind, w store.Window, silences []Silence) (float64, int) {
	units := float64(w.Days())
	silent := 0
	for _, silence := range silences {
		if silence.Kind != k {
			continue
		}

		days := run{s.at(silence.From), s.at(silence.To)}
		week := 0.0
		for i := range 7 {
			week += s.total[k].usualWeekday(days.from+i, days)
		}
		for day := silence.From; day != silence.To; day = day.AddDays(1) {
			if w.Has(day.Time()) {
				silent++
				units -= 7 * s.total[k].usualWeekday(s.at(day), days) / week
			}
		}
	}
	return max(0, units), silent
}

// FirstVisitor returns the day of the first visitor, and who came since. It reports false if nobody did.
func (s *Site) FirstVisitor() (mintlify.Date, mintlify.VisitorTotals, bool) {
	first := min(s.total[Humans].firstVisitor(), s.total[AIs].firstVisitor())
	var since mintlify.VisitorTotals
	for i := first; i < s.days(); i++ {
		since.Human += max(0, int64(s.total[Humans][i]))
		since.AI += max(0, int64(s.total[AIs][i]))
	}
	return s.first.AddDays(first), since, first < s.days()
}

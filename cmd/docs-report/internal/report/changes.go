package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// change compares a number with the one before. The zero value is a change that is not known.
type change struct {
	Text      string  // is the change as people read it
	Number    float64 // is the change that Text writes: in percent, in points, or a count
	Gain      int64   // is how many visitors more
	Verdict   string  // is "worse", "better", "about the same", or "" for a change that is neither
	Direction string  // is the color: good, bad or flat
}

// Says returns the verdict, unless the text says it.
func (c change) Says() string {
	if c.Number == 0 {
		return ""
	}
	return c.Verdict
}

// IsSame reports whether a change is about the same.
func (c change) IsSame() bool { return c.Verdict == same }

// isTold reports whether a change is known, and more than about the same.
func (c change) isTold() bool { return c.Text != "" && c.Verdict != same }

// Short returns the change, or only that it is about the same.
func (c change) Short() string {
	if c.Verdict == same {
		return same
	}
	return c.Text
}

// words writes a change, and says if it may be chance.
func (c change) words() string {
	if c.Says() == same {
		return c.Text + " (" + same + ")"
	}
	return c.Text
}

const (
	good = "good"
	bad  = "bad"
	flat = "flat"

	same   = "about the same"
	better = "better"
	worse  = "worse"
)

// meaning says how more and less of a number are colored, and what they are called.
type meaning struct{ more, less, ifMore, ifLess string }

var (
	isNeither = meaning{more: flat, less: flat}
	isGood    = meaning{more: good, less: bad}
	isTrouble = meaning{more: bad, less: good, ifMore: worse, ifLess: better}
)

func (c change) judged(v verdict, m meaning) change {
	switch v {
	case aboutTheSame:
		c.Direction = flat
		c.Verdict = same
	case more:
		c.Direction = m.more
		c.Verdict = m.ifMore
	case less:
		c.Direction = m.less
		c.Verdict = m.ifLess
	}
	return c
}

// ratio compares two numbers as people do.
func ratio(now, before float64) change {
	percent := 100 * (now/before - 1)

	switch {
	case now == before:
		return change{Text: "±0%"}
	case before <= 0:
		return change{Text: "new", Number: math.Inf(1)}
	case percent >= 900:
		return change{Text: "×" + number(int64(now/before)), Number: percent}
	case math.Abs(percent) < 9.95: // a small change must not look like no change
		return change{Text: signed(percent, 1) + "%", Number: percent}
	}
	return change{Text: signed(percent, 0) + "%", Number: percent}
}

// signed writes a number with its sign. The minus is as wide as a plus.
func signed(x float64, decimals int) string {
	return strings.Replace(fmt.Sprintf("%+.*f", decimals, x), "-", "−", 1)
}

func signedCount(n int64) string {
	if n > 0 {
		return "+" + number(n)
	}
	return strings.Replace(number(n), "-", "−", 1)
}

// redefinitions are the days on which the service changed what counts as human and as AI. In June
// it redefined an agent's HTML views, in July its Markdown views.
var redefinitions = []mintlify.Date{mintlify.Day(2026, time.July, 31), mintlify.Day(2026, time.June, 12)}

// breakWithin says that the service changed what counts as human and as AI within a comparison, and on which days,
// or returns "".
func breakWithin(from, to mintlify.Date) string {
	var days []string
	for _, day := range slices.Backward(redefinitions) {
		if isInside(day, from, to) {
			days = append(days, day.Time().Format(longDay))
		}
	}
	if len(days) == 0 {
		return ""
	}
	return "human and AI redefined on " + strings.Join(days, " and on ")
}

// isInside reports whether a day is after the first day and before the end.
func isInside(day, from, to mintlify.Date) bool {
	return day.Time().After(from.Time()) && day.Time().Before(to.Time())
}

// syncOf returns the command that loads a window's visitors and lists.
func syncOf(w store.Window) string { return syncWeeks(w) + fmt.Sprintf(" -from %v", w.From) }

// syncLists returns the command that loads the lists of the newest weeks, or of a month.
func syncLists(w store.Window) string {
	if w.Span() == store.Month {
		return syncOf(w)
	}
	return syncWeeks(w)
}

func syncWeeks(w store.Window) string {
	const defaultWeeks = 4
	weeks := w.Days() / 7
	if w.Span() == store.Weeks(weeks) && weeks != defaultWeeks {
		return fmt.Sprintf("docs-report sync -weeks %d", weeks)
	}
	return "docs-report sync"
}

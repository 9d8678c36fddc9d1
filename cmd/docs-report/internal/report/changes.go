package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// change compares a number with the one before. The zero value is a change that is not known.
type change struct {
	Text      string  // is the change as people read it
	Number    float64 // is the change that Text writes: in percent, in points, or a count
	Verdict   string  // is "worse", "better", "about the same", or "" for a change that is neither
	Direction string  // is the color: good, bad or flat
	Gain      int64   // is how many visitors more

	verdict verdict
}

// Says returns the verdict, unless the text says it.
func (c change) Says() string {
	if c.Number == 0 {
		return ""
	}
	return c.Verdict
}

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

func (c change) colored(ifMore, ifLess string) change {
	switch c.verdict {
	case more:
		c.Direction = ifMore
	case less:
		c.Direction = ifLess
	}
	return c
}

// judged says of a change of trouble whether it is better or worse.
func (c change) judged() change {
	switch c.verdict {
	case aboutTheSame:
		c.Verdict = same
	case more:
		c.Verdict = worse
		c.Direction = bad
	case less:
		c.Verdict = better
		c.Direction = good
	}
	return c
}

// ratio compares two numbers as people do.
func ratio(now, before float64) change {
	switch {
	case now == before:
		return change{Text: "±0%", Direction: flat}
	case before <= 0:
		return change{Text: "new", Number: math.Inf(1), Direction: flat}
	}

	percent := 100 * (now/before - 1)
	c := change{Number: percent, Direction: flat}
	if percent >= 900 {
		c.Text = "×" + number(int64(now/before))
		return c
	}

	decimals := 0
	if math.Abs(percent) < 9.95 { // a small change must not look like no change
		decimals = 1
	}
	c.Text = signed(percent, decimals) + "%"
	return c
}

// pointsOf returns the change of a share, in percentage points. Neither direction is good or bad.
func pointsOf(now, before part) change {
	c := change{Text: "±0 points", Direction: flat}
	if difference := 100 * (now.share() - before.share()); math.Abs(difference) >= 0.05 {
		c.Number = difference
		c.Text = signed(difference, 1) + " points"
	}
	return c
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

// breakWithin says that the service changed what counts as human and as AI within a comparison,
// or returns "".
func breakWithin(from, to mintlify.Date) string {
	for _, day := range redefinitions {
		if isInside(day, from, to) {
			return "human and AI redefined on " + day.Time().Format(longDay)
		}
	}
	return ""
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

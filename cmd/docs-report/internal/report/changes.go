package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// change compares a count with the one before, in text and in direction. The zero value
// is a change that is not known.
type change struct {
	Text      string
	Direction string // up, down or flat
}

// changeOf has no direction if what is counted was redefined in between.
func (in Input) changeOf(now, before int64) change {
	if !in.Before.Known {
		return change{}
	}
	c := changeOf(now, before)
	if breakWithin(in.Before.From, in.Period.To) != "" {
		c.Direction = "flat"
	}
	return c
}

func changeOf(now, before int64) change {
	switch {
	case now == before:
		return change{"±0%", "flat"}
	case before <= 0:
		return change{"new", "up"}
	}

	percent := 100 * (float64(now)/float64(before) - 1)
	if percent >= 900 {
		return change{"×" + number(now/before), "up"}
	}
	decimals := 0
	if math.Abs(percent) < 9.95 { // a small change is not told as none
		decimals = 1
	}
	text := signed(percent, decimals) + "%"
	if percent < 0 {
		return change{text, "down"}
	}
	return change{text, "up"}
}

// pointsOf is the change of a share, in percentage points: neither direction is the good one.
func pointsOf(now, before float64) change {
	if difference := 100 * (now - before); math.Abs(difference) >= 0.05 {
		return change{signed(difference, 1) + " points", "flat"}
	}
	return change{"±0 points", "flat"}
}

// signed writes a number with its sign, a minus of the width of a plus.
func signed(x float64, decimals int) string {
	return strings.Replace(fmt.Sprintf("%+.*f", decimals, x), "-", "−", 1)
}

// signedCount is a difference of counts.
func signedCount(n int64) string {
	if n > 0 {
		return "+" + number(n)
	}
	return strings.Replace(number(n), "-", "−", 1)
}

// breakWithin says beside a number that the service changed what counts as human and as AI
// within a comparison; "" if it did not. In June an agent's HTML views, in July Markdown's.
func breakWithin(from, to mintlify.Date) string {
	for _, day := range []mintlify.Date{mintlify.Day(2026, time.July, 31), mintlify.Day(2026, time.June, 12)} {
		if day.Time().After(from.Time()) && day.Time().Before(to.Time()) {
			return "human and AI redefined on " + day.Time().Format(longDay)
		}
	}
	return ""
}

// missing says that the period before is not in the database, and which command loads it;
// "" if it is there.
func (in Input) missing() string {
	if in.Before.Known {
		return ""
	}
	return fmt.Sprintf("%s is not in the database, so that nothing is compared. To load it: %s",
		span(in.Before.Window), syncOf(in.Before.Window))
}

// syncOf is the command that loads a window.
func syncOf(w store.Window) string {
	const defaultWeeks = 4
	command := "docs-report sync"
	if weeks := w.Days() / 7; w.Span() == store.Weeks(weeks) && weeks != 1 && weeks != defaultWeeks {
		command += fmt.Sprintf(" -weeks %d", weeks)
	}
	return fmt.Sprintf("%s -from %v", command, w.From)
}

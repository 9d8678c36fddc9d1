package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// change compares a count with the one before, in text and in direction.
type change struct {
	Text      string
	Direction string // up, down or flat
}

// changeOf has no direction if what is counted was redefined in between.
func (in Input) changeOf(now, before int64) change {
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

// points is the change of a share, in percentage points: neither direction is the good one.
func points(now, before float64) change {
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

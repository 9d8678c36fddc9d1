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
	Direction string // good, bad or flat
}

// changeOf returns a change that is neither good nor bad, such as more or fewer AIs.
func (in Input) changeOf(now, before int64) change {
	if !in.Before.Known {
		return change{}
	}
	return change{Text: ratio(now, before), Direction: "flat"}
}

// changeOfHumans is good if they are more, unless what is counted was redefined in between.
func (in Input) changeOfHumans(now, before int64) change {
	c := in.changeOf(now, before)

	isRedefined := breakWithin(in.Before.From, in.Period.To) != ""
	switch {
	case c.Text == "" || isRedefined || now == before:
	case now > before:
		c.Direction = "good"
	default:
		c.Direction = "bad"
	}
	return c
}

// changeOfTrouble returns the change of a count of trouble: more is bad.
func changeOfTrouble(now, before int64) change {
	switch {
	case now > before:
		return change{signedCount(now - before), "bad"}
	case now < before:
		return change{signedCount(now - before), "good"}
	}
	return change{"±0", "flat"}
}

// ratio compares two counts as people do.
func ratio(now, before int64) string {
	switch {
	case now == before:
		return "±0%"
	case before <= 0:
		return "new"
	}

	percent := 100 * (float64(now)/float64(before) - 1)
	if percent >= 900 {
		return "×" + number(now/before)
	}

	decimals := 0
	if math.Abs(percent) < 9.95 { // a small change must not look like no change
		decimals = 1
	}
	return signed(percent, decimals) + "%"
}

// pointsOf returns the change of a share, in percentage points. Neither direction is good or bad.
func pointsOf(now, before float64) change {
	if difference := 100 * (now - before); math.Abs(difference) >= 0.05 {
		return change{signed(difference, 1) + " points", "flat"}
	}
	return change{"±0 points", "flat"}
}

// troublePoints returns the change of a share of trouble: less is better.
func troublePoints(now, before float64) change {
	c := pointsOf(now, before)
	switch {
	case c.sign() > 0:
		return change{c.Text + ", worse", "bad"}
	case c.sign() < 0:
		return change{c.Text + ", better", "good"}
	}
	return c
}

// sign returns the sign of the change's number: -1, 0 or 1.
func (c change) sign() int {
	switch {
	case strings.HasPrefix(c.Text, "+"):
		return 1
	case strings.HasPrefix(c.Text, "−"):
		return -1
	}
	return 0
}

// signed writes a number with its sign. The minus is as wide as a plus.
func signed(x float64, decimals int) string {
	return strings.Replace(fmt.Sprintf("%+.*f", decimals, x), "-", "−", 1)
}

// signedCount writes a difference of counts with its sign.
func signedCount(n int64) string {
	if n > 0 {
		return "+" + number(n)
	}
	return strings.Replace(number(n), "-", "−", 1)
}

// breakWithin says that the service changed what counts as human and as AI within a comparison,
// or returns "". In June it redefined an agent's HTML views, in July its Markdown views.
func breakWithin(from, to mintlify.Date) string {
	for _, day := range []mintlify.Date{mintlify.Day(2026, time.July, 31), mintlify.Day(2026, time.June, 12)} {
		if day.Time().After(from.Time()) && day.Time().Before(to.Time()) {
			return "human and AI redefined on " + day.Time().Format(longDay)
		}
	}
	return ""
}

// missing says that the period before is not in the database, and which command loads it. If the
// database has the period, missing returns "".
func (in Input) missing() string {
	if in.Before.Known {
		return ""
	}
	return fmt.Sprintf("%s is not in the database, so there is no comparison. To load it: %s",
		span(in.Before.Window), syncOf(in.Before.Window))
}

// syncOf returns the command that loads a window.
func syncOf(w store.Window) string {
	const defaultWeeks = 4
	command := "docs-report sync"
	if weeks := w.Days() / 7; w.Span() == store.Weeks(weeks) && weeks != 1 && weeks != defaultWeeks {
		command += fmt.Sprintf(" -weeks %d", weeks)
	}
	return fmt.Sprintf("%s -from %v", command, w.From)
}

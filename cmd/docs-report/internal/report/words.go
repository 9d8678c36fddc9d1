package report

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	shortDay = "2 Jan"
	longDay  = "2 January 2006"
	percent  = "\u00a0%" // after a space that does not break
)

// number is a count as people read it.
func number(n int64) string { return humanize.Comma(n) }

// span names the days from from to before to.
func span(from, to mintlify.Date) string {
	first, last := from.Time(), to.AddDays(-1).Time()
	switch {
	case first.Equal(last):
		return first.Format(longDay)
	case first.Year() != last.Year():
		return first.Format(longDay) + " to " + last.Format(longDay)
	}
	return first.Format("2 January") + " to " + last.Format(longDay)
}

func days(p Period) int { return int(p.To.Time().Sub(p.From.Time()).Hours() / 24) }

// share returns how much of humans and AIs together the AIs are, 0 to 1. It is not of
// the total, which counts a visitor of both kinds once.
func share(human, ai int64) float64 {
	both := float64(human) + float64(ai)
	if both <= 0 {
		return 0
	}
	return float64(ai) / both
}

func shareText(human, ai int64) string {
	if human <= 0 && ai <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*share(human, ai)) + percent
}

// change is how a count stands to that of before, in text and in direction.
type change struct {
	Text      string
	Direction string // up, down or flat
}

func changeOf(now, before int64) change {
	switch {
	case now == before:
		return change{"±0" + percent, "flat"}
	case before <= 0:
		return change{"new", "up"}
	case float64(now) >= 10*float64(before):
		return change{"×" + number(now/before), "up"}
	}
	ratio := 100 * (float64(now)/float64(before) - 1)
	return change{signed(ratio, percentDecimals(ratio)) + percent, direction(ratio)}
}

// points is the change of a share, in percentage points.
func points(now, before float64) change {
	difference := 100 * (now - before)
	if math.Abs(difference) < 0.05 {
		return change{"±0 points", "flat"}
	}
	return change{signed(difference, 1) + " points", direction(difference)}
}

// percentDecimals keeps a small change from being told as none.
func percentDecimals(ratio float64) int {
	if math.Abs(ratio) < 9.95 {
		return 1
	}
	return 0
}

func direction(difference float64) string {
	if difference < 0 {
		return "down"
	}
	return "up"
}

// signed writes a number with its sign, a minus of the width of a plus.
func signed(x float64, decimals int) string {
	return strings.Replace(fmt.Sprintf("%+.*f", decimals, x), "-", "−", 1)
}

// headline is one of the numbers at the top.
type headline struct {
	Label, Value, Before string
	Change               change
	Neutral              bool // neither direction is the good one
	Class                string
	Spark                string // the points of a small line
}

func headlines(in Input) []headline {
	now, before := in.Period.Totals, in.Before.Totals
	of := func(label, class string, now, before int64, count func(mintlify.VisitorTotals) float64) headline {
		return headline{Label: label, Class: class, Value: number(now), Before: number(before), Change: changeOf(now, before), Spark: spark(in.Trend, count)}
	}
	aiShare := func(t mintlify.VisitorTotals) float64 { return share(t.Human, t.AI) }
	return []headline{
		of("All visitors", "all", now.Total, before.Total, func(t mintlify.VisitorTotals) float64 { return float64(t.Total) }),
		of("Humans", "human", now.Human, before.Human, func(t mintlify.VisitorTotals) float64 { return float64(t.Human) }),
		of("AIs", "ai", now.AI, before.AI, func(t mintlify.VisitorTotals) float64 { return float64(t.AI) }),
		{Label: "Share of AI", Class: "share", Value: shareText(now.Human, now.AI), Before: shareText(before.Human, before.AI),
			Change: points(aiShare(now), aiShare(before)), Neutral: true, Spark: spark(in.Trend, aiShare)},
	}
}

// sentences says the page in words.
func sentences(in Input, gainers, losers []comparison) []string {
	now, before := in.Period.Totals, in.Before.Totals
	period := fmt.Sprintf("%d days", days(in.Period))
	if days(in.Period) == 1 {
		period = "day"
	}
	if now == (mintlify.VisitorTotals{}) {
		return []string{fmt.Sprintf("The service counts no visitors on %s.", span(in.Period.From, in.Period.To))}
	}
	first := fmt.Sprintf("%s visitors read the documentation in these %s", number(now.Total), period)
	if days(in.Period) == 1 {
		first = fmt.Sprintf("%s visitors read the documentation on this day", number(now.Total))
	}
	if before == (mintlify.VisitorTotals{}) {
		return []string{
			fmt.Sprintf("%s; there are no counts of the %s before to compare with.", first, period),
			fmt.Sprintf("%s were humans and %s were AIs.", number(now.Human), number(now.AI)),
		}
	}
	all := []string{
		fmt.Sprintf("%s, %s the %s before.", first, moreThan(now.Total, before.Total), period),
		fmt.Sprintf("AI visitors %s; human visitors %s.", grew(now.AI, before.AI), grew(now.Human, before.Human)),
	}
	if len(gainers) > 0 && len(losers) > 0 {
		all = append(all, fmt.Sprintf("%s gained the most visitors (%s), %s lost the most (%s).",
			shortened(gainers[0].path), difference(gainers[0]), shortened(losers[0].path), difference(losers[0])))
	}
	return all
}

// moreThan compares, for "… than in": 5 % more than in.
func moreThan(now, before int64) string {
	switch c := changeOf(now, before); {
	case c.Direction == "flat":
		return "exactly as many as in"
	case c.Text == "new":
		return "after none in"
	case strings.HasPrefix(c.Text, "×"):
		return strings.TrimPrefix(c.Text, "×") + " times as many as in"
	case c.Direction == "down":
		return strings.TrimPrefix(c.Text, "−") + " fewer than in"
	default:
		return strings.TrimPrefix(c.Text, "+") + " more than in"
	}
}

func grew(now, before int64) string {
	switch c := changeOf(now, before); {
	case c.Direction == "flat":
		return "stayed at " + number(now)
	case c.Text == "new":
		return fmt.Sprintf("grew from none to %s", number(now))
	case strings.HasPrefix(c.Text, "×"):
		return fmt.Sprintf("grew to %s, %s times as many", number(now), strings.TrimPrefix(c.Text, "×"))
	case c.Direction == "down":
		return fmt.Sprintf("fell by %s to %s", strings.TrimPrefix(c.Text, "−"), number(now))
	default:
		return fmt.Sprintf("grew by %s to %s", strings.TrimPrefix(c.Text, "+"), number(now))
	}
}

// printable shows what a reader would not see, or would see elsewhere: control
// characters, and those that turn the direction of text around.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// shortened is a path within a sentence.
func shortened(path string) string {
	const most = 60
	if runes := []rune(path); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return path
}

func isWeekend(t time.Time) bool { return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday }

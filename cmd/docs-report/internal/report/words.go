package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

const (
	shortDay = "2 Jan"
	longDay  = "2 January 2006"
)

// number is a count as people read it.
func number(n int64) string { return humanize.Comma(n) }

// span names the days of a window.
func span(w store.Window) string {
	first, last := w.From.Time(), w.To.AddDays(-1).Time()
	switch {
	case w.Span() == store.Month:
		return first.Format("January 2006")
	case first.Equal(last):
		return first.Format(longDay)
	case first.Year() != last.Year():
		return first.Format(longDay) + " to " + last.Format(longDay)
	}
	return first.Format("2 January") + " to " + last.Format(longDay)
}

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
	return fmt.Sprintf("%.1f", 100*share(human, ai)) + "%"
}

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
	c := change{Direction: "up"}
	ratio := 100 * (float64(now)/float64(before) - 1)
	switch {
	case now == before:
		return change{"±0%", "flat"}
	case before <= 0:
		return change{"new", "up"}
	case ratio >= 900:
		return change{"×" + number(now/before), "up"}
	case ratio < 0:
		c.Direction = "down"
	}
	decimals := 0
	if math.Abs(ratio) < 9.95 { // a small change is not told as none
		decimals = 1
	}
	c.Text = signed(ratio, decimals) + "%"
	return c
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

// headline is one of the numbers at the top.
type headline struct {
	Label, Class, Value, Before string
	Change                      change
}

func headlines(in Input) []headline {
	now, before := in.Period.Totals, in.Before.Totals
	of := func(label, class string, now, before int64) headline {
		return headline{label, class, number(now), number(before), in.changeOf(now, before)}
	}
	return []headline{
		of("All visitors", "all", now.Total, before.Total), of("Humans", "human", now.Human, before.Human), of("AIs", "ai", now.AI, before.AI),
		{"Share of AI", "share", shareText(now.Human, now.AI), shareText(before.Human, before.AI), points(share(now.Human, now.AI), share(before.Human, before.AI))},
	}
}

// textOf shows what somebody wrote on one line, of a length that a list can hold.
func textOf(text string) string { return cmp.Or(redact.OneLine(text, 300), "(empty)") }

func isWeekend(e store.Export) bool {
	day := e.From.Time().Weekday()
	return e.Span() == store.Day && (day == time.Saturday || day == time.Sunday)
}

// Digest returns the page in at most twelve lines.
func Digest(in Input) []string {
	v := newView(in)
	demo := ""
	if in.Demo {
		demo = " (demo: made-up numbers)"
	}
	lines := []string{fmt.Sprintf("%s: %s%s", v.Name, v.Dates, demo)}
	var numbers []string
	for _, h := range v.Headlines {
		text := h.Label + " " + h.Value
		if in.Before.Known {
			text += " (" + h.Change.Text + ")"
		}
		numbers = append(numbers, text)
	}
	if v.Break != "" {
		numbers = append(numbers, v.Break+": these changes do not compare")
	}
	lines = append(lines, strings.Join(numbers, " · "))
	moved := slices.Concat(v.Gainers, v.Losers)
	slices.SortStableFunc(moved, func(a, b comparison) int { return cmp.Compare(max(b.Gain(), -b.Gain()), max(a.Gain(), -a.Gain())) })
	for _, m := range moved[:min(3, len(moved))] {
		lines = append(lines, fmt.Sprintf("%s %s (to %s, %s)", signedCount(m.Gain()), m.Path, number(m.Now.Total), m.Change.Text))
	}
	return append(lines, "Searched without result: "+v.Lists[0].Top(), "Asked without answer: "+v.Lists[1].Top(), "Most complaints: "+v.Lists[2].Top())
}

// Slack returns text as a message for a webhook of Slack.
func Slack(text string) string {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	message, _ := json.Marshal(map[string]string{"text": text}) // of strings it cannot fail
	return string(message)
}

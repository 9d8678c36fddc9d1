package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// sentence is what a docs lead can tell the boss. It names no page.
func (v view) sentence() string {
	return sentences(v.whoCame(), v.whatChanged())
}

func (v view) whoCame() string {
	now := v.Period.Totals
	before := v.Input.Before.Totals
	if now.Human <= 0 && now.AI <= 0 {
		return "The service counts no visitors in these dates."
	}

	share := fmt.Sprintf("AIs are %.0f%% of the visitors", 100*share(now.Human, now.AI))
	if !v.Input.Before.Known || v.Break != "" {
		text := fmt.Sprintf("%s and %s; %s.",
			plural(now.Human, "human", "humans"), plural(now.AI, "AI", "AIs"), share)
		if v.Break != "" && v.Input.Before.Known {
			text += " These cannot be compared with the period before: " + v.Break + "."
		}
		return text
	}

	if before.Human > 0 || before.AI > 0 {
		share += " (" + shareBefore(now, before) + ")"
	}

	text := v.cameOf("Humans", now.Human, before.Human, v.outlierOf(0))
	if now.AI == 0 && before.AI == 0 {
		return text + ", no AIs."
	}
	return fmt.Sprintf("%s, %s; %s.", text, v.cameOf("AIs", now.AI, before.AI, v.outlierOf(1)), share)
}

func shareBefore(now, before mintlify.VisitorTotals) string {
	percentNow := math.Round(100 * share(now.Human, now.AI))
	percentBefore := math.Round(100 * share(before.Human, before.AI))
	if percentNow == percentBefore {
		return "as before"
	}
	return fmt.Sprintf("%.0f%% before", percentBefore)
}

// cameOf says how many more or fewer of a kind came. outlier is a day that may be the reason.
func (v view) cameOf(kind string, now, before int64, outlier string) string {
	change := changeOfCount(now, before)
	switch {
	case now == 0 && before == 0:
		return "No " + strings.ToLower(kind)
	case before <= 0:
		return fmt.Sprintf("%s %s (none before)", kind, number(now))
	}

	text := kind + " " + change.Text
	switch {
	case outlier != "":
		text += " (" + outlier + ")"
	case change.Verdict == same:
		text += " (" + same + ")"
	}
	return text
}

// outlierOf names the one day, or counts the days, that are far beyond the others.
func (v view) outlierOf(panel int) string {
	if v.Chart.Chart == nil {
		return ""
	}

	p := v.Chart.Chart.Panels[panel]
	if len(p.outliers) == 0 {
		return ""
	}
	if len(p.outliers) > 1 {
		return fmt.Sprintf("%d %ss stand out", len(p.outliers), v.Chart.Unit)
	}
	b := v.Chart.Rows[p.outliers[0]]
	return fmt.Sprintf("one %s stands out: %s on %s", v.Chart.Unit,
		number(int64(*p.now[p.outliers[0]])), bucketDays(b.Window))
}

// whatChanged says which of the troubles got worse or better.
func (v view) whatChanged() string {
	troubles := []headline{v.Headlines.Disliked, v.Headlines.InVain, v.Headlines.Unanswered}
	troubles = slices.DeleteFunc(troubles, func(h headline) bool { return h.Change.Text == "" })
	slices.SortStableFunc(troubles, func(a, b headline) int { return b.worseness() - a.worseness() })

	var said, unchanged []string
	for _, h := range troubles {
		if h.Change.Verdict == same {
			unchanged = append(unchanged, strings.ToLower(h.Label[:1])+h.Label[1:])
			continue
		}
		said = append(said, fmt.Sprintf("%s got %s: %.0f%% from %.0f%%.",
			h.Label, h.Change.Verdict, 100*h.now.share(), 100*h.before.share()))
	}

	if len(unchanged) > 0 {
		text := strings.Join(unchanged, ", ")
		said = append(said, strings.ToUpper(text[:1])+text[1:]+": "+same+".")
	}
	return strings.Join(said, " ")
}

func (h headline) worseness() int {
	switch h.Change.Verdict {
	case worse:
		return 2
	case better:
		return 1
	}
	return 0
}

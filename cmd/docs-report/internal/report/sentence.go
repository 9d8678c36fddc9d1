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
	now := v.Period.usual
	before := v.Input.Before.usual
	if v.Period.Totals.Human <= 0 && v.Period.Totals.AI <= 0 {
		return "The service counts no visitors in these dates."
	}

	share := fmt.Sprintf("AIs are %.0f%% of the visitors", 100*ofAIs(now.Human, now.AI).share())
	if v.Missing != "" {
		return fmt.Sprintf("%s and %s; %s.",
			v.counted(plural(v.Period.Totals.Human, "human", "humans"), v.Headlines.Humans),
			v.counted(plural(v.Period.Totals.AI, "AI", "AIs"), v.Headlines.AIs), share)
	}

	if before.Human > 0 || before.AI > 0 {
		share += " (" + v.shareBefore(now, before) + ")"
	}

	humans := cameOf(v.Headlines.Humans, now.Human, before.Human)
	if now.AI == 0 && before.AI == 0 {
		return humans + ", no AIs."
	}
	ais := cameOf(v.Headlines.AIs, now.AI, before.AI)
	return fmt.Sprintf("%s, %s; %s.", humans, ais, share)
}

func (v view) counted(text string, h headline) string {
	if h.Note == "" {
		return text
	}
	return text + " (" + h.Note + ")"
}

func (v view) shareBefore(now, before mintlify.VisitorTotals) string {
	percentNow := math.Round(100 * ofAIs(now.Human, now.AI).share())
	percentBefore := math.Round(100 * ofAIs(before.Human, before.AI).share())
	text := fmt.Sprintf("%.0f%% before", percentBefore)
	switch {
	case percentNow == percentBefore:
		return "as before"
	case v.Headlines.Share.Change.Verdict == same:
		return text + ", " + same
	}
	return text
}

// cameOf says how many more or fewer of a kind came, and which days the comparison leaves out.
func cameOf(kind headline, now, before int64) string {
	switch {
	case now == 0 && before == 0:
		return "No " + strings.ToLower(kind.Label)
	case before <= 0:
		return fmt.Sprintf("%s %s (none before)", kind.Label, number(now))
	}

	text := kind.Label + " " + kind.Change.words()
	if kind.more != "" {
		text += " without " + kind.more
	}
	if kind.moreBefore != "" {
		text += " and without " + kind.moreBefore + " before"
	}
	return text
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

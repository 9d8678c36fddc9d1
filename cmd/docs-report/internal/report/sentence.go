package report

import (
	"fmt"
	"slices"
	"strings"
)

func (v view) whoCame() string {
	totals := v.Period.Totals
	now := v.Period.usual
	before := v.Input.Before.usual
	if totals.Human <= 0 && totals.AI <= 0 {
		return "The service counts no visitors in these dates."
	}

	share := fmt.Sprintf("AIs are %s of the visitors", percentOf(ofAIs(now)))
	if v.Missing() != "" {
		return fmt.Sprintf("%s and %s; %s.",
			v.Headlines.Humans.noted(plural(totals.Human, "human", "humans")),
			v.Headlines.AIs.noted(plural(totals.AI, "AI", "AIs")), share)
	}
	if before.Human > 0 || before.AI > 0 {
		share += " (" + v.shareBefore(percentOf(ofAIs(now)), percentOf(ofAIs(before))) + ")"
	}

	humans := cameOf(v.Headlines.Humans, now.Human, before.Human)
	if now.AI == 0 && before.AI == 0 {
		return humans + ", no AIs."
	}
	return fmt.Sprintf("%s, %s; %s.", humans, cameOf(v.Headlines.AIs, now.AI, before.AI), share)
}

// percentOf writes a share without decimals.
func percentOf(p part) string { return fmt.Sprintf("%.0f%%", 100*p.share()) }

func (h headline) noted(text string) string {
	if h.Note == "" {
		return text
	}
	return text + " (" + h.Note + ")"
}

func (v view) shareBefore(now, before string) string {
	switch {
	case now == before:
		return "as before"
	case v.Headlines.Share.Change.Verdict == same:
		return before + " before, " + same
	}
	return before + " before"
}

// cameOf says how many more or fewer of a kind came.
func cameOf(kind headline, now, before int64) string {
	switch {
	case now == 0 && before == 0:
		return "No " + strings.ToLower(kind.Label)
	case before <= 0:
		return fmt.Sprintf("%s %s (none before)", kind.Label, number(now))
	}

	return kind.Label + " " + kind.Change.words()
}

// whatChanged says which of the troubles got worse or better.
func (v view) whatChanged() string {
	worseness := func(h headline) int { return slices.Index([]string{same, better, worse}, h.Change.Verdict) }
	troubles := []headline{v.Headlines.Disliked, v.Headlines.InVain, v.Headlines.Unanswered}
	slices.SortStableFunc(troubles, func(a, b headline) int { return worseness(b) - worseness(a) })

	var said, unchanged []string
	for _, h := range troubles {
		switch h.Change.Verdict {
		case "": // is not known
		case same:
			unchanged = append(unchanged, h.Label)
		default:
			said = append(said, fmt.Sprintf("%s got %s: %s from %s.",
				h.Label, h.Change.Verdict, percentOf(h.now), percentOf(h.before)))
		}
	}

	if len(unchanged) > 0 {
		text := strings.Join(unchanged, ", ")
		said = append(said, text[:1]+strings.ToLower(text[1:])+": "+same+".")
	}
	return strings.Join(said, " ")
}

package report

import (
	"fmt"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// headlines are the numbers at the top: who came, and what they did not find.
type headlines struct {
	Humans, AIs, Share           headline
	InVain, Unanswered, Disliked headline
}

// headline is one of the numbers at the top.
type headline struct {
	Label  string
	Value  string
	Before string
	Change change
	Note   string

	now, before part // are the shares of a rate that is compared
}

func newHeadlines(in Input) headlines {
	now := in.Period
	before := in.Before

	h := headlines{
		Humans: in.headline(humans),
		AIs:    in.headline(ais),
		Share: headline{
			Label:  "Share of AI",
			Value:  ofAIs(now.usual).text(),
			Before: ofAIs(before.usual).text(),
			Change: in.compared.shareOfAIs(now.usual, before.usual),
		},

		InVain: in.rate("Searches for terms nobody clicked", now.searched.rate, before.searched.rate),
		Unanswered: in.rate("Questions without an answer",
			questionRate(now.Conversations), questionRate(before.Conversations)),
		Disliked: in.rate("Thumbs down", thumbsRate(now.ByPage), thumbsRate(before.ByPage)),
	}
	return h
}

// headline counts visitors of a kind. It says how much of a count is more than usual, now and before.
func (in Input) headline(k kind) headline {
	now := k.Of(in.Period.Totals)
	before := k.Of(in.Before.Totals)

	h := headline{
		Label:  k.Title,
		Value:  number(now),
		Before: number(before),
		Change: in.compared.visitors(k, only(in.Period.usual), only(in.Before.usual)),
	}

	if more := in.note(in.Period.Window, now, k.Kind); more != "" {
		h.Note = "of which " + more
	}
	if more := in.note(in.Before.Window, before, k.Kind); more != "" {
		h.Before += ", of which " + more
	}
	if silences := in.silencesOf(k, in.Period.Window, in.Before.Window); len(silences) > 0 {
		h.Note = strings.TrimPrefix(h.Note+"; no "+daysWithout(k, silences), "; ")
	}
	return h
}

func (h headlines) Visitors() []headline { return []headline{h.Humans, h.AIs, h.Share} }
func (h headlines) Troubles() []headline { return []headline{h.InVain, h.Unanswered, h.Disliked} }

// rate is how much of all is trouble, in a list.
type rate struct {
	part
	store.Export
	note string // says what is left out
}

// rate compares two rates: less is better. It does not compare a rate that is only from a part of the
// rows.
func (in Input) rate(label string, now, before rate) headline {
	h := headline{Label: label, Value: "–"}
	switch {
	case !isKnown(now.Export):
		h.Note = "not in the database"
		return h
	case now.all == 0:
		h.Note = "none in these dates"
		return h
	}

	h.Value = now.text()
	h.Note = now.of() + now.loaded()
	if now.note != "" {
		h.Note += ", " + now.note
	}

	if isKnown(before.Export) && !now.Truncated && !before.Truncated {
		h.Before = before.text()
		h.Change = in.compared.shares(now.part, before.part, mostOfRates, isTrouble)
		h.now = now.part
		h.before = before.part
	}
	return h
}

// loaded says that the service has more rows.
func (r rate) loaded() string {
	if !r.Truncated {
		return ""
	}
	return ", of the rows that are loaded"
}

// text writes a share with a decimal, or "–" if it is a share of nothing.
func (p part) text() string {
	if p.all <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*p.share())
}

func questionRate(list List[mintlify.Conversation]) rate {
	return rate{part: answersTo(list.Rows...), Export: list.Export}
}

func thumbsRate(list List[mintlify.FeedbackCount]) rate {
	r := rate{Export: list.Export}
	for _, page := range list.Rows {
		r.some += page.ThumbsDown
		r.all += page.ThumbsUp + page.ThumbsDown
	}
	return r
}

func (v view) whoCame() string {
	totals := v.Period.Totals
	now := v.Period.usual
	before := v.Input.Before.usual
	share := fmt.Sprintf("AIs are %s of the visitors", percentOf(ofAIs(now)))

	switch {
	case totals.Human <= 0 && totals.AI <= 0:
		return "The service counts no visitors in these dates."
	case v.Missing() != "":
		return fmt.Sprintf("%s and %s; %s.",
			v.Headlines.Humans.noted(plural(totals.Human, "human", "humans")),
			v.Headlines.AIs.noted(plural(totals.AI, "AI", "AIs")), share)
	case now.AI == 0 && before.AI == 0:
		return cameOf(v.Headlines.Humans, now.Human, before.Human) + ", no AIs."
	case v.Headlines.Share.Change.Text != "": // else the share before may not be compared
		share += " (" + v.shareBefore(percentOf(ofAIs(now)), percentOf(ofAIs(before))) + ")"
	}
	return fmt.Sprintf("%s, %s; %s.", cameOf(v.Headlines.Humans, now.Human, before.Human),
		cameOf(v.Headlines.AIs, now.AI, before.AI), share)
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

package report

import (
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// headlines are the numbers at the top: who came, and what they did not find.
type headlines struct {
	All, Humans, AIs, Share      headline
	InVain, Unanswered, Disliked headline
}

// headline is one of the numbers at the top.
type headline struct {
	Label  string
	Value  string
	Before string
	Change change
	Note   string

	now, before      part   // are the shares of a rate that is compared
	more, moreBefore string // say how much of a count is more than usual
}

func newHeadlines(in Input, searched searches) headlines {
	now := in.Period
	before := in.Before
	h := headlines{
		All:    in.headline("All visitors", now.Totals.Total, before.Totals.Total, oddAll),
		Humans: in.headline("Humans", now.Totals.Human, before.Totals.Human, oddHumans),
		AIs:    in.headline("AIs", now.Totals.AI, before.Totals.AI, oddAIs),
		Share: headline{
			Label:  "Share of AI",
			Value:  shareText(now.usual.Human, now.usual.AI),
			Before: shareText(before.usual.Human, before.usual.AI),
			Change: in.compared.shareOfAIs(now.usual, before.usual),
		},

		InVain: in.rate("Searches for terms nobody clicked",
			searched.now.rate, searched.before.rate, mostInClumps),
		Unanswered: in.rate("Questions without an answer",
			questionRate(now.Conversations), questionRate(before.Conversations), mostByChance),
		Disliked: in.rate("Thumbs down",
			thumbsRate(now.ByPage), thumbsRate(before.ByPage), mostByChance),
	}

	h.All.Change = in.compared.visitors(now.usual.Total, before.usual.Total)
	h.Humans.Change = in.compared.humans(now.usual.Human, before.usual.Human)
	h.AIs.Change = in.compared.visitors(now.usual.AI, before.usual.AI)
	if h.All.more != "" {
		h.Share.Note = "without " + h.All.more
	}
	return h
}

// headline has a count. It says how much of it is more than usual, now and before.
func (in Input) headline(label string, now, before int64, count func(oddDay) int64) headline {
	h := headline{Label: label, Value: number(now), Before: number(before)}
	h.more = in.note(in.Period.Window, now, count)
	h.moreBefore = in.note(in.Before.Window, before, count)

	if h.more != "" {
		h.Note = "of which " + h.more
	}
	if h.more != "" && in.Missing == "" {
		h.Note += "; the change is without them"
	}
	if h.moreBefore != "" {
		h.Before += ", of which " + h.moreBefore
	}
	return h
}

// Visitors returns the headlines about who came.
func (h headlines) Visitors() []headline { return []headline{h.All, h.Humans, h.AIs, h.Share} }

// Troubles returns the headlines about what readers did not find.
func (h headlines) Troubles() []headline { return []headline{h.InVain, h.Unanswered, h.Disliked} }

// rate is how much of all is trouble.
type rate struct {
	part
	isKnown   bool
	isPartial bool   // the service has more rows
	note      string // says what is left out
}

// rate compares two rates: less is better. It does not compare a rate that is only from a part of the
// rows.
func (in Input) rate(label string, now, before rate, errors float64) headline {
	h := headline{Label: label, Value: "–"}
	switch {
	case !now.isKnown:
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

	if before.isKnown && !now.isPartial && !before.isPartial {
		h.Before = before.text()
		h.Change = in.compared.troubleShare(now.part, before.part, errors)
		h.now = now.part
		h.before = before.part
	}
	return h
}

// loaded says that the service has more rows.
func (r rate) loaded() string {
	if !r.isPartial {
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
	return rate{
		part:      countQuestions(list.Rows).sum,
		isKnown:   list.isKnown(),
		isPartial: list.Truncated,
	}
}

func thumbsRate(list List[mintlify.FeedbackCount]) rate {
	r := rate{isKnown: list.isKnown(), isPartial: list.Truncated}
	for _, page := range list.Rows {
		r.some += page.ThumbsDown
		r.all += page.ThumbsUp + page.ThumbsDown
	}
	return r
}

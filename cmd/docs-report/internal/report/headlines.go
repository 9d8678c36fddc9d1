package report

import mintlify "github.com/mintlify-community/mintlify-go"

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

	now, before part // are the shares of a rate that is compared
}

func newHeadlines(in Input, searched searches) headlines {
	now := in.Period.Totals
	before := in.Before.Totals
	return headlines{
		All:    in.headline("All visitors", now.Total, before.Total, in.changeOf),
		Humans: in.headline("Humans", now.Human, before.Human, in.changeOfHumans),
		AIs:    in.headline("AIs", now.AI, before.AI, in.changeOf),
		Share:  in.shareOfAI(),

		InVain: rateHeadline("Searches for terms nobody clicked", searched.now.rate, searched.before.rate),
		Unanswered: rateHeadline("Questions without an answer",
			questionRate(in.Period.Conversations), questionRate(in.Before.Conversations)),
		Disliked: rateHeadline("Thumbs down",
			thumbsRate(in.Period.ByPage), thumbsRate(in.Before.ByPage)),
	}
}

func (in Input) headline(label string, now, before int64, changeOf func(now, before int64) change) headline {
	h := headline{Label: label, Value: number(now)}
	if in.Before.Known {
		h.Before = number(before)
		h.Change = changeOf(now, before)
		h.Note = breakWithin(in.Before.From, in.Period.To)
	}
	return h
}

func (in Input) shareOfAI() headline {
	now := in.Period.Totals
	before := in.Before.Totals
	h := headline{Label: "Share of AI", Value: shareText(now.Human, now.AI)}
	if in.Before.Known {
		h.Before = shareText(before.Human, before.AI)
		h.Change = pointsOf(share(now.Human, now.AI), share(before.Human, before.AI))
		h.Note = breakWithin(in.Before.From, in.Period.To)
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

// rateHeadline compares two rates: less is better. It does not compare a rate that is only from
// a part of the rows.
func rateHeadline(label string, now, before rate) headline {
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
	h.Note = number(now.some) + " of " + number(now.all)
	if now.isPartial {
		h.Note += ", of the rows that are loaded"
	}
	if now.note != "" {
		h.Note += ", " + now.note
	}

	if !before.isKnown || before.all == 0 || now.isPartial || before.isPartial {
		return h
	}

	h.Before = before.text()
	h.Change = changeOfTroubleShare(now.part, before.part)
	h.now = now.part
	h.before = before.part
	return h
}

// text writes a share with a decimal, or "–" if it is a share of nothing.
func (p part) text() string { return shareText(p.all-p.some, p.some) }

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

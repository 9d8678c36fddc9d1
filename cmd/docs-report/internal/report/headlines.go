package report

// headlines are the numbers at the top.
type headlines struct {
	All, Humans, AIs, Share headline
}

// headline is one of the numbers at the top.
type headline struct {
	Label, Class, Value, Before string
	Change                      change
}

func newHeadlines(in Input) headlines {
	now := in.Period.Totals
	before := in.Before.Totals
	count := func(label, class string, now, before int64) headline {
		return headline{label, class, number(now), number(before), in.changeOf(now, before)}
	}
	points := change{}
	if in.Before.Known {
		points = pointsOf(share(now.Human, now.AI), share(before.Human, before.AI))
	}

	return headlines{
		All:    count("All visitors", "all", now.Total, before.Total),
		Humans: count("Humans", "human", now.Human, before.Human),
		AIs:    count("AIs", "ai", now.AI, before.AI),
		Share: headline{
			Label:  "Share of AI",
			Class:  "share",
			Value:  shareText(now.Human, now.AI),
			Before: shareText(before.Human, before.AI),
			Change: points,
		},
	}
}

// Each returns the headlines in their order.
func (h headlines) Each() []headline { return []headline{h.All, h.Humans, h.AIs, h.Share} }

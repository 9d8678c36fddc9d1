package report

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

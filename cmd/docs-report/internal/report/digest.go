package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

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

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const mostMovers = 3

// Digest returns the page in at most twelve lines.
func Digest(in Input) []string {
	v := newView(in)
	demo := ""
	if in.Demo {
		demo = " (demo: made-up numbers)"
	}
	lines := []string{fmt.Sprintf("%s: %s%s", v.Project, v.Dates, demo)}
	var numbers []string
	for _, h := range v.Headlines {
		text := h.Label + " " + h.Value
		if v.Known {
			text += " (" + h.Change.Text + ")"
		}
		numbers = append(numbers, text)
	}
	if v.Break != "" {
		numbers = append(numbers, v.Break+": these changes do not compare")
	}
	lines = append(lines, strings.Join(numbers, " · "))
	gainers, losers := movers(in.compare())
	moved := slices.Concat(gainers, losers)
	slices.SortStableFunc(moved, func(a, b comparison) int { return cmp.Compare(max(b.gain(), -b.gain()), max(a.gain(), -a.gain())) })
	for _, m := range in.texts(moved[:min(mostMovers, len(moved))]) {
		lines = append(lines, fmt.Sprintf("%s %s (to %s, %s)", m.Difference, m.Path, m.Now, m.Change.Text))
	}
	return append(lines, "Searched without result: "+v.Lists[0].Top(), "Asked without answer: "+v.Lists[1].Top(), "Most complaints: "+v.Lists[2].Top())
}

// Slack returns text as a message for a webhook of Slack.
func Slack(text string) string {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	message, _ := json.Marshal(map[string]string{"text": text}) // of strings it cannot fail
	return string(message)
}

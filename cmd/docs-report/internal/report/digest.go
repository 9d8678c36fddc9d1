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
	for _, h := range v.Headlines {
		text := fmt.Sprintf("%s %s", h.Label, h.Value)
		if in.Before.Known {
			text += fmt.Sprintf(" (%s)", h.Change.Text)
		}
		if len(lines) == 1 {
			lines = append(lines, text)
			continue
		}
		lines[1] += " · " + text
	}
	if v.Break != "" {
		lines[1] += " · " + v.Break + ": these changes do not compare"
	}
	gainers, losers := movers(in.compare())
	moved := slices.Concat(gainers, losers)
	slices.SortStableFunc(moved, func(a, b comparison) int { return cmp.Compare(max(b.gain(), -b.gain()), max(a.gain(), -a.gain())) })
	for _, m := range in.texts(moved[:min(mostMovers, len(moved))]) {
		lines = append(lines, fmt.Sprintf("%s %s (to %s, %s)", m.Difference, shortened(m.Path), m.Now, m.Change.Text))
	}
	searches, questions, complaints := v.Lists[0], v.Lists[1], v.Lists[2]
	lines = append(lines, "Searched without result: "+searches.top(searches.Lists[0].Empty))
	lines = append(lines, "Asked without answer: "+questions.top(questions.Lists[0].Empty))
	return append(lines, "Most complaints: "+complaints.top(complaints.Lists[0].Empty))
}

// Slack returns lines as a message for a webhook of Slack.
func Slack(lines []string) ([]byte, error) {
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.Join(lines, "\n"))
	return json.Marshal(map[string]string{"text": text})
}

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
	title := v.Name + ": " + v.Dates
	if in.Demo {
		title += " (demo: made-up numbers)"
	}

	lines := []string{title, v.numbers()}
	if v.Missing != "" {
		lines = append(lines, v.Missing)
	}
	lines = append(lines, v.moves()...)
	return append(lines,
		"Searched without result: "+v.Searches.Top(),
		"Asked without answer: "+v.Questions.Top(),
		"Most complaints: "+v.Complaints.Top())
}

// numbers is the headlines on one line.
func (v view) numbers() string {
	var all []string
	for _, h := range v.Headlines.Each() {
		text := h.Label + " " + h.Value
		if v.Before.Known {
			text += " (" + h.Change.Text + ")"
		}
		all = append(all, text)
	}
	if v.Break != "" {
		all = append(all, v.Break+": these changes do not compare")
	}
	return strings.Join(all, " · ")
}

// moves are the three pages that gained or lost the most, a line each.
func (v view) moves() []string {
	size := func(c comparison) int64 { return max(c.Gain(), -c.Gain()) }
	moved := slices.Concat(v.Movers.Gained, v.Movers.Lost)
	slices.SortStableFunc(moved, func(a, b comparison) int { return cmp.Compare(size(b), size(a)) })

	var lines []string
	for _, m := range moved[:min(3, len(moved))] {
		change := signedCount(m.Gain())
		lines = append(lines, fmt.Sprintf("%s %s (to %s, %s)", change, m.Path, number(m.Now.Total), m.Change.Text))
	}
	return lines
}

// Slack returns text as a message for a webhook of Slack.
func Slack(text string) string {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	message, _ := json.Marshal(map[string]string{"text": text}) // of strings it cannot fail
	return string(message)
}

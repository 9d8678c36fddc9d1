package report

import (
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

	lines := []string{title, v.numbers(), v.troubles(), "Fix first: " + v.Fixes.Top()}
	if v.Missing != "" {
		lines = append(lines, v.Missing)
	}

	lines = append(lines, v.moves()...)
	return append(lines,
		"Searched without result: "+v.Searches.Top(),
		"Asked without answer: "+v.Questions.Top(),
		"Most complaints: "+v.Complaints.Top())
}

// numbers returns the headlines on one line.
func (v view) numbers() string {
	var all []string
	for _, h := range v.Headlines.Visitors() {
		all = append(all, h.line())
	}

	if v.Break != "" {
		all = append(all, v.Break+": these changes cannot be compared")
	}
	return strings.Join(all, " · ")
}

// troubles says on one line what readers did not find.
func (v view) troubles() string {
	var all []string
	for _, h := range v.Headlines.Troubles() {
		all = append(all, h.line())
	}
	return strings.Join(all, " · ")
}

func (h headline) line() string {
	text := h.Label + " " + h.Value
	if h.Change.Text != "" {
		text += " (" + h.Change.Text + ")"
	}
	return text
}

// moves names the pages that gained and lost the most, on a line for each kind of visitors.
func (v view) moves() []string {
	var lines []string
	for _, of := range []struct {
		who string
		moved
	}{{"Humans", v.Movers.Humans}, {"AIs", v.Movers.AIs}} {
		var parts []string
		for _, m := range slices.Concat(firstOf(of.Gained), firstOf(of.Lost)) {
			parts = append(parts, m.line())
		}

		if len(parts) > 0 {
			lines = append(lines, of.who+": "+strings.Join(parts, " · "))
		}
	}
	return lines
}

func (m mover) line() string {
	return fmt.Sprintf("%s %s (to %s, %s)", signedCount(m.Gain), m.Path, number(m.Now), m.Change.Text)
}

func firstOf(all []mover) []mover { return all[:min(1, len(all))] }

// Slack returns text as a message for a webhook of Slack.
func Slack(text string) string {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	message, _ := json.Marshal(map[string]string{"text": text}) // strings always marshal
	return string(message)
}

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

const mostLines = 12 // of a digest

// Digest returns the page in at most twelve lines. The digest of several projects has a line for
// each, the worst first.
func Digest(inputs []Input) []string {
	if len(inputs) == 1 {
		return newView(inputs[0]).digest()
	}

	views := worstFirst(inputs)
	var lines []string
	for i, v := range views {
		if i == mostLines-1 && len(views) > mostLines {
			rest := len(views) - i
			return append(lines, fmt.Sprintf("%d more projects: docs-report report -o FOLDER shows them.", rest))
		}

		worst := ""
		if told := v.Happened.Lines(); len(told) > 0 {
			worst = told[0]
		}
		lines = append(lines, v.title()+" · "+sentences(v.Sentence, worst, "Fix first: "+v.Fixes.Top()))
	}
	return lines
}

func worstFirst(inputs []Input) []view {
	var views []view
	for _, in := range inputs {
		views = append(views, newView(in))
	}
	slices.SortStableFunc(views, func(a, b view) int {
		return cmp.Or(
			cmp.Compare(a.Happened.urgency, b.Happened.urgency),
			cmp.Compare(len(b.Worse()), len(a.Worse())),
			cmp.Compare(b.topScore(), a.topScore()))
	})
	return views
}

func (v view) Worse() []headline {
	isFine := func(h headline) bool { return h.Change.Direction != bad }
	return slices.DeleteFunc(append([]headline{v.Headlines.Humans}, v.Headlines.Troubles()...), isFine)
}

func (v view) topScore() float64 {
	if len(v.Fixes.Rows) == 0 {
		return 0
	}
	return v.Fixes.score(v.Fixes.Rows[0])
}

// title names the project and its dates, after what the reader has to know about them.
func (v view) title() string {
	title := v.Name + ": " + v.Dates
	if v.Old {
		title = "Old. " + title
	}
	if v.Demo {
		title += " (demo: made-up numbers)"
	}

	notes := []string{v.LateWeeks, v.Missing()}
	if !v.Final {
		notes = append(notes, "Not final")
	}
	for _, note := range notes {
		if note != "" {
			title += " · " + note
		}
	}
	return title
}

func (v view) digest() []string {
	all := []string{
		v.title(),
		v.Sentence,
		strings.Join(lines(v.Headlines.Visitors()), " · "),
		strings.Join(lines(v.Headlines.Troubles()), " · "),
		"Fix first: " + v.Fixes.Top(),
		"What happened: " + cmp.Or(strings.Join(v.Happened.Lines(), " · "), v.Happened.Note, nothingHappened),
	}

	all = append(all, v.Movers.lines()...)
	if summary := v.Unread.Summary; summary != "" {
		if rows := v.Unread.Folded; len(rows) > 0 {
			summary = strings.TrimSuffix(summary, ".") + ", such as " + rows[0].Text
		}
		all = append(all, "Nobody visited: "+summary)
	}

	return append(all,
		"Searched without result: "+v.Searches.Top(),
		"Asked without answer: "+v.Questions.Top(),
		"Most complaints: "+v.mostComplaints())
}

func lines(headlines []headline) []string {
	var all []string
	for _, h := range headlines {
		all = append(all, h.line())
	}
	return all
}

func (h headline) line() string {
	if h.Note != "" && h.Value == "–" {
		return h.Label + ": " + h.Note
	}

	text := h.Label + " " + h.Value
	if h.Change.Text != "" {
		text += " (" + strings.TrimSuffix(h.Change.Text+", "+h.Change.Says(), ", ") + ")"
	}
	if h.Note != "" {
		text += ", " + h.Note
	}
	return text
}

// lines names the pages that gained and lost the most, on a line for each kind of visitors.
func (m movers) lines() []string {
	var all []string
	if len(m.Gained)+len(m.Lost) > 0 {
		all = append(all, "Humans: "+strings.Join(slices.Concat(firstOf(m.Gained), firstOf(m.Lost)), " · "))
	}
	if len(m.GainedAIs) > 0 {
		all = append(all, "AIs: "+firstOf(m.GainedAIs)[0])
	}
	return all
}

func firstOf(rows []mover) []string {
	var all []string
	for _, row := range rows[:min(1, len(rows))] {
		now := strings.TrimSuffix(number(row.Now)+", "+row.Note, ", ")
		all = append(all, fmt.Sprintf("%s %s (now %s, %s)",
			signedCount(row.Change.Gain), row.Path, now, row.Change.Text))
	}
	return all
}

// Slack returns text as a message for a webhook of Slack.
func Slack(text string) string {
	message, _ := json.Marshal(map[string]string{"text": merges.EscapeForChat(text)}) // strings always marshal
	return string(message)
}

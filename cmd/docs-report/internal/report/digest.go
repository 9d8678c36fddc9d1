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
		lines = append(lines, v.digestLine())
	}
	return lines
}

// worstFirst returns the views of several projects.
func worstFirst(inputs []Input) []view {
	var views []view
	for _, in := range inputs {
		views = append(views, newView(in))
	}
	slices.SortStableFunc(views, func(a, b view) int {
		return cmp.Or(cmp.Compare(len(b.Worse()), len(a.Worse())), cmp.Compare(b.topScore(), a.topScore()))
	})
	return views
}

// Worse returns what got worse.
func (v view) Worse() []headline {
	isFine := func(h headline) bool { return h.Change.Direction != bad }
	return slices.DeleteFunc(append([]headline{v.Headlines.Humans}, v.Headlines.Troubles()...), isFine)
}

func (v view) topScore() float64 {
	if len(v.Fixes.Rows) == 0 {
		return 0
	}
	return v.Fixes.Rows[0].score
}

func (v view) digestLine() string {
	return v.title() + " · " + v.Sentence + " Fix first: " + v.Fixes.Top()
}

// title names the project and its dates, after what the reader has to know about them.
func (v view) title() string {
	title := v.Name + ": " + v.Dates
	if !v.Final {
		title = "Not final. " + title
	}
	if v.Old {
		title = "Old. " + title
	}

	if v.Demo {
		title += " (demo: made-up numbers)"
	}

	if v.LateWeek != "" {
		title += " · " + v.LateWeek
	}

	if v.Missing != "" {
		title += " · " + v.Missing
	}
	if v.Suspected.Text != "" {
		title += " · " + v.Suspected.Text + " To add their numbers up: " + v.Suspected.Flags
	}
	return title
}

func (v view) digest() []string {
	lines := []string{
		v.title(),
		v.Sentence,
		v.numbers(),
		v.troubles(),
		"Fix first: " + v.Fixes.Top(),
		"Growth: " + cmp.Or(v.Growth.Summary, v.Growth.Empty),
	}

	lines = append(lines, v.moves()...)
	if v.Unread != nil {
		lines = append(lines, "Nobody visited: "+v.Unread.Top())
	}

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

	for _, mark := range v.Marked {
		all = append(all, mark.Text+" ("+mark.Day+"): "+mark.Effect)
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
	return fmt.Sprintf("%s %s (to %s, %s)", signedCount(m.Change.Gain), m.Path, number(m.Now), m.Change.Text)
}

func firstOf(all []mover) []mover { return all[:min(1, len(all))] }

// Top counts the pages that nobody visited, and names the first.
func (u *unread) Top() string {
	if len(u.Rows) == 0 {
		return u.Summary
	}
	return strings.TrimSuffix(u.Summary, ".") + ", such as " + u.Rows[0].Text
}

// Slack returns text as a message for a webhook of Slack.
func Slack(text string) string {
	message, _ := json.Marshal(map[string]string{"text": merges.EscapeForChat(text)}) // strings always marshal
	return string(message)
}

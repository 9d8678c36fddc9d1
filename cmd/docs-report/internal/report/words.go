package report

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const (
	shortDay = "2 Jan"
	longDay  = "2 January 2006"
)

func number(n int64) string { return humanize.Comma(n) }

func span(w store.Window) string {
	first := w.From.Time()
	last := w.To.AddDays(-1).Time()
	switch {
	case w.Span() == store.Month:
		return first.Format("January 2006")
	case first.Equal(last):
		return first.Format(longDay)
	case first.Year() != last.Year():
		return first.Format(longDay) + " to " + last.Format(longDay)
	}
	return first.Format("2 January") + " to " + last.Format(longDay)
}

// ofAIs returns how many of humans and AIs together are AIs. They may be more than the total, which counts
// a visitor of both kinds only once.
func ofAIs(counts mintlify.VisitorTotals) part { return part{counts.AI, counts.Human + counts.AI} }

func shareOfAIs(counts mintlify.VisitorTotals) string { return ofAIs(counts).text() }

// textOf shows what somebody wrote on one line, of a length that a list can hold.
func textOf(text string) string { return cmp.Or(safetext.OneLine(text, 300), "(empty)") }

func isWeekend(w store.Window) bool {
	day := w.From.Time().Weekday()
	return w.Span() == store.Day && (day == time.Saturday || day == time.Sunday)
}

func plural(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + several
}

// breaks lets a line break after the slashes and hyphens of a path.
func breaks(text string) template.HTML {
	escaped := template.HTMLEscapeString(text)
	const begins = " /" // the slash stays with what follows
	broken := strings.NewReplacer(begins, begins, "/", "/<wbr>", "-", "-<wbr>").Replace(" " + escaped)
	return template.HTML(broken[1:])
}

// firstFew joins the first three texts, and counts the rest.
func firstFew(texts []string) string {
	const most = 3
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return strings.Join(texts[:most], ", ") + fmt.Sprintf(" and %d more", len(texts)-most)
}

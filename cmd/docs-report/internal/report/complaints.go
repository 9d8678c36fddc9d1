package report

import (
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// complaints are thumbs down, and what readers wrote.
func (in Input) complaints() section {
	list := in.Period.ByPage
	counts := map[string]int64{}
	for _, page := range in.Before.ByPage.Rows {
		counts[page.Path] += page.ThumbsDown
	}
	before := in.earlier(list.Export, in.Before.ByPage.Export, counts)

	var rows []finding
	for _, page := range list.Rows {
		if page.ThumbsDown > 0 {
			row := in.thumbsDown(page)
			row.Change = before.changeOf(page.Path, page.ThumbsDown)
			rows = append(rows, row)
		}
	}

	s := section{ID: "complaints", Title: "What readers complain about"}
	if r := thumbsRate(list); r.all > 0 {
		s.Summary = fmt.Sprintf("%s of %s down (%s)", number(r.some), pointing(r.all), r.text())
		if r.isPartial {
			s.Summary += ", of the rows that are loaded"
		}
		s.Summary += "."
	}

	best := newFindings("Pages by thumbs down", list.Export, rows, "No page has a thumb down.")
	best.Note = sentences(best.Note, in.note(before.list))
	s.Lists = []findings{best}

	comments, settled := in.comments()
	if len(comments) > 0 || settled != "" {
		words := newFindings("In their words", in.Period.Comments.Export, comments, "")
		words.Note = sentences(words.Note, settled)
		s.Lists = append(s.Lists, words)
	}
	return s
}

func pointing(thumbs int64) string {
	if thumbs == 1 {
		return "1 thumb points"
	}
	return number(thumbs) + " thumbs point"
}

func (in Input) thumbsDown(page mintlify.FeedbackCount) finding {
	return finding{
		Text:  textOf(page.Path),
		URL:   in.link(page.Path),
		Much:  plural(page.ThumbsDown, "thumb down", "thumbs down"),
		Quiet: shareText(page.ThumbsUp, page.ThumbsDown) + " of " + number(page.ThumbsUp+page.ThumbsDown),
		Width: float64(page.ThumbsDown),
	}
}

// comments returns the complaints that are open, and says how many are settled.
func (in Input) comments() (open []finding, settled string) {
	count := int64(0)
	for _, row := range in.Period.Comments.Rows {
		switch {
		case !isCriticism(row):
		case isSettled(row):
			count++
		default:
			place := "on " + textOf(row.Path) + ", " + saidAt(row)
			open = append(open, finding{Text: textOf(row.Comment), Quiet: place})
		}
	}

	if count > 0 {
		settled = settledNote(count, in.Period.Comments.At)
	}
	return open, settled
}

func settledNote(count int64, at time.Time) string {
	return fmt.Sprintf("Left out: %s resolved or dismissed, as of %s.",
		plural(count, "complaint that is", "complaints that are"), at.UTC().Format(longDay))
}

// saidAt says when a complaint was written, and whether by an agent.
func saidAt(row mintlify.Feedback) string {
	text := "undated"
	if !row.CreatedAt.IsZero() {
		text = row.CreatedAt.UTC().Format(longDay)
	}
	if row.Source == mintlify.FeedbackFromAgent {
		text += ", by an agent"
	}
	return text
}

// isComplaint reports whether somebody wrote something that is not praise, and nobody has settled
// it.
func isComplaint(row mintlify.Feedback) bool { return isCriticism(row) && !isSettled(row) }

func isCriticism(row mintlify.Feedback) bool {
	isPraise := row.Helpful != nil && *row.Helpful
	return row.Comment != "" && !isPraise
}

func isSettled(row mintlify.Feedback) bool {
	return row.Status == mintlify.FeedbackResolved || row.Status == mintlify.FeedbackDismissed
}

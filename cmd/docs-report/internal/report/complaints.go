package report

import (
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// complaints are thumbs down.
func (in Input) complaints() section {
	list := in.Period.ByPage
	before := earlier{list: in.Before.ByPage.Export, counts: map[string]int64{}}
	for _, page := range in.Before.ByPage.Rows {
		before.counts[page.Path] += page.ThumbsDown
	}

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
		s.Summary = fmt.Sprintf("%s of %s thumbs point down (%s).",
			number(r.trouble), number(r.all), shareText(r.all-r.trouble, r.trouble))
	}
	s.Best = newFindings("Pages by thumbs down", list.Export, rows, "No page has a thumb down.")
	s.Best.Note = sentences(s.Best.Note, in.note(before.list))

	if comments := in.comments(); len(comments) > 0 {
		words := newFindings("In their words", in.Period.Comments.Export, comments, "")
		s.Second = &words
	}
	return s
}

func (in Input) thumbsDown(page mintlify.PageFeedback) finding {
	return finding{
		Text:  textOf(page.Path),
		URL:   in.link(page.Path),
		Much:  number(page.ThumbsDown) + " thumbs down",
		Quiet: shareText(page.ThumbsUp, page.ThumbsDown) + " of " + number(page.ThumbsUp+page.ThumbsDown),
		Width: float64(page.ThumbsDown),
		Class: "bad",
	}
}

func (in Input) comments() []finding {
	var all []finding
	for _, row := range in.Period.Comments.Rows {
		if isComplaint(row) {
			place := "on " + textOf(row.Path) + ", " + row.CreatedAt.Format(longDay)
			all = append(all, finding{Text: textOf(row.Comment), Quiet: place})
		}
	}
	return all
}

// isComplaint reports whether somebody wrote something that is not praise.
func isComplaint(row mintlify.Feedback) bool {
	isPraise := row.Helpful != nil && *row.Helpful
	return row.Comment != "" && !isPraise
}

package report

import (
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// complaints are thumbs down.
func (in Input) complaints() section {
	var rows []finding
	var up, down int64
	for _, page := range in.ByPage.Rows {
		up += page.ThumbsUp
		down += page.ThumbsDown
		if page.ThumbsDown > 0 {
			rows = append(rows, in.thumbsDown(page))
		}
	}

	s := section{ID: "complaints", Title: "What they complain about"}
	if up+down > 0 {
		s.Summary = fmt.Sprintf("%s of %s thumbs point down (%s).", number(down), number(up+down), shareText(up, down))
	}
	s.Lists = []findings{newFindings("Pages by thumbs down", in.ByPage.Export, rows, "No page has a thumb down.")}
	if comments := in.comments(); len(comments) > 0 {
		s.Lists = append(s.Lists, newFindings("In their words", in.Comments.Export, comments, ""))
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
	for _, row := range in.Comments.Rows {
		isPraise := row.Helpful != nil && *row.Helpful
		if row.Comment == "" || isPraise {
			continue
		}
		place := "on " + textOf(row.Path) + ", " + row.CreatedAt.Format(longDay)
		all = append(all, finding{Text: textOf(row.Comment), Quiet: place})
	}
	return all
}

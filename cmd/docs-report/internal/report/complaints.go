package report

import "fmt"

// complaints are thumbs down.
func (in Input) complaints() section {
	s := section{ID: "complaints", Title: "What they complain about"}
	var rows []finding
	var up, down int64
	for _, page := range in.ByPage.Rows {
		up, down = up+page.ThumbsUp, down+page.ThumbsDown
		if page.ThumbsDown > 0 {
			rows = append(rows, finding{Text: textOf(page.Path), URL: in.link(page.Path), Much: number(page.ThumbsDown) + " thumbs down", Class: "bad",
				Quiet: shareText(page.ThumbsUp, page.ThumbsDown) + " of " + number(page.ThumbsUp+page.ThumbsDown), Width: float64(page.ThumbsDown)})
		}
	}
	if up+down > 0 {
		s.Summary = fmt.Sprintf("%s of %s thumbs point down (%s).", number(down), number(up+down), shareText(up, down))
	}
	s.Lists = []findings{newFindings("Pages by thumbs down", in.ByPage.Export, rows, "No page has a thumb down.")}
	var comments []finding
	for _, row := range in.Comments.Rows {
		if row.Comment != "" && (row.Helpful == nil || !*row.Helpful) {
			comments = append(comments, finding{Text: textOf(row.Comment), Quiet: "on " + textOf(row.Path) + ", " + row.CreatedAt.Format(longDay)})
		}
	}
	if len(comments) > 0 {
		s.Lists = append(s.Lists, newFindings("In their words", in.Comments.Export, comments, ""))
	}
	return s
}

package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// fixes are the pages to fix first.
type fixes struct {
	Rows        []fix
	Empty, Note string
}

// fix is a page with thumbs down and why it is worth fixing.
type fix struct {
	comparison
	Reasons string
	score   float64
}

// fixFirst ranks pages by their readers times the share of thumbs down.
func (in Input) fixFirst(pages []comparison) fixes {
	list := in.Period.ByPage
	f := fixes{Empty: emptiness(list.Export), Note: partOf(list.Export)}
	said := in.saidByPage()
	for _, c := range pages {
		if page := said[pagePath(c.raw)]; page.down > 0 && c.Now.Total > 0 {
			f.Rows = append(f.Rows, fix{
				comparison: c,
				Reasons:    page.reasons(c),
				score:      float64(c.Now.Total) * share(page.up, page.down),
			})
		}
	}

	slices.SortStableFunc(f.Rows, func(a, b fix) int { return cmp.Compare(b.score, a.score) })
	f.Rows = f.Rows[:min(listLength, len(f.Rows))]
	if f.Empty == "" && len(f.Rows) == 0 {
		f.Empty = "No page that was read has a thumb down."
	}
	return f
}

// Top names the page to fix first, or says why there is none.
func (f fixes) Top() string {
	if len(f.Rows) == 0 {
		return f.Empty
	}
	return fmt.Sprintf("%s (%s)", f.Rows[0].Path, f.Rows[0].Reasons)
}

// said is what readers say about a page.
type said struct {
	up, down             int64
	comments, unanswered int64
}

func (in Input) saidByPage() map[string]said {
	all := map[string]said{}
	for _, row := range in.Period.ByPage.Rows {
		page := all[pagePath(row.Path)]
		page.up += row.ThumbsUp
		page.down += row.ThumbsDown
		all[pagePath(row.Path)] = page
	}

	for _, row := range in.Period.Comments.Rows {
		if isComplaint(row) {
			page := all[pagePath(row.Path)]
			page.comments++
			all[pagePath(row.Path)] = page
		}
	}

	for path, count := range countQuestions(in.Period.Conversations.Rows).byPage {
		page := all[path]
		page.unanswered += count.unanswered
		all[path] = page
	}
	return all
}

// reasons says in one line why a page is worth fixing.
func (s said) reasons(c comparison) string {
	all := []string{
		fmt.Sprintf("%s readers (%s humans)", number(c.Now.Total), number(c.Now.Human)),
		fmt.Sprintf("%s of %s thumbs down", number(s.down), number(s.up+s.down)),
	}

	if s.comments > 0 {
		all = append(all, plural(s.comments, "comment", "comments"))
	}
	if s.unanswered > 0 {
		all = append(all, plural(s.unanswered, "unanswered question", "unanswered questions"))
	}

	if c.Change.sign() != 0 {
		all = append(all, c.Change.Text+" readers")
	}
	return strings.Join(all, ", ")
}

func plural(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + several
}

// pagePath returns the path that a path or URL names, as the visitors' export has it, or "" if
// there is none.
func pagePath(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	if path := strings.TrimRight(u.Path, "/"); path != "" || u.Path == "" {
		return path
	}
	return "/"
}

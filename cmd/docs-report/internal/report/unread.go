package report

import "fmt"

type unread struct {
	Summary string
	Rows    []finding
	More    int // are left out
}

const mostUnread = 200

func (in Input) unread() *unread {
	if len(in.Sitemap) == 0 {
		return nil
	}

	humans := map[string]int64{}

	for _, row := range in.Period.Rows {
		humans[pagePath(row.Path)] += row.Human
	}

	u := &unread{}
	names := map[string]bool{} // of a sitemap that has a page's old name, too
	isKnown := false
	count := 0

	for _, path := range in.Sitemap {
		name := in.Moved.page(path)
		if names[name] {
			continue
		}

		names[name] = true

		n, isVisited := humans[name]
		isKnown = isKnown || isVisited
		if n > 0 {
			continue
		}

		count++
		if len(u.Rows) < mostUnread {
			u.Rows = append(u.Rows, finding{Text: textOf(name), URL: in.link(name)})
		}
	}

	u.More = count - len(u.Rows)
	all := plural(int64(len(names)), "page", "pages")
	switch {
	case !isKnown && len(in.Period.Rows) > 0:
		u.Summary = "None of the sitemap's " + all + " is among the visited pages: is it the sitemap of this site?"
		u.Rows = nil
		u.More = 0
	case count == 0:
		u.Summary = fmt.Sprintf("Humans visited each of the sitemap's %s.", all)
	default:
		u.Summary = fmt.Sprintf("%s of the sitemap's %s.", number(int64(count)), all)
	}
	return u
}

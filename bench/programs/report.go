package programs

import (
	"context"
	"fmt"
	"path/filepath"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// visitorsReport counts the requests of a report over four weeks, of sites of several
// sizes, and of the same report once more.
func visitorsReport(ctx context.Context, root, dir string) (rows []Row, err error) {
	program, err := build(ctx, dir, filepath.Join(root, "examples", "visitors"), "./cmd/visitors-report")
	if err != nil {
		return nil, err
	}
	for _, pages := range []int{250, 1000} {
		w := watch()
		var visitors []mintlify.Visitor
		for i := range pages {
			visitors = append(visitors, mintlify.Visitor{Path: fmt.Sprint("/docs/page-", i), Human: 7, AI: 3, Total: 10})
		}
		w.SetVisitors(visitors)
		report := func() (int, error) {
			before := len(w.Requests())
			err := w.run(ctx, dir, program, "-db", fmt.Sprintf("%d.db", pages), "-o", filepath.Join(dir, "report.html"), "-budget", "1000")
			return len(w.Requests()) - before, err
		}
		for _, when := range []string{"visitors-report over 4 weeks, a site of %d pages", "the same report once more"} {
			requests, err := report()
			if err != nil {
				w.Close()
				return nil, err
			}
			what := when
			if when != "the same report once more" {
				what = fmt.Sprintf(when, pages)
			}
			rows = append(rows, Row{what, fmt.Sprintf("%d requests", requests)})
		}
		w.Close()
	}
	return rows, nil
}

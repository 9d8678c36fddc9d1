package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// showVisitors shows the totals of the last 30 full days and the pages visited
// most. The service's order is not documented: all pages are read, 250 rows a request.
func showVisitors(ctx context.Context, out io.Writer, client *mintlify.Client) error {
	today := mintlify.DayOf(time.Now().UTC())
	params := mintlify.VisitorsParams{DateFrom: today.AddDays(-30), DateTo: today} // exclusive

	var totals mintlify.VisitorTotals
	var rows []mintlify.Visitor
	for page, err := range client.Analytics.VisitorPages(ctx, params, mintlify.WithPrefetch(1)) {
		if err != nil {
			return err
		}
		totals = page.Totals
		rows = append(rows, page.Visitors...)
	}
	slices.SortStableFunc(rows, func(a, b mintlify.Visitor) int { return cmp.Compare(b.Total, a.Total) })

	fmt.Fprintf(out, "\nUnique visitors from %s to before %s:\n", params.DateFrom, params.DateTo)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "human\tAI\ttotal\t  page")
	fmt.Fprintf(table, "%d\t%d\t%d\t  all %d pages\n", totals.Human, totals.AI, totals.Total, len(rows))
	for _, row := range rows[:min(10, len(rows))] {
		fmt.Fprintf(table, "%d\t%d\t%d\t  %s\n", row.Human, row.AI, row.Total, row.Path)
	}
	return table.Flush()
}

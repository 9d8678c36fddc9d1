package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// report counts, by repository, what became of its merges and what that costs.
func (p *program) report(ctx context.Context, s queue.Queue) error {
	since := cmp.Or(p.since, 30*database.Day)
	reports, err := s.Report(ctx, time.Now().Add(-since), p.repository)
	if err != nil {
		return err
	}

	if len(reports) == 0 && p.repository != "" {
		if err := s.CheckRepository(ctx, p.repository); err != nil {
			return err
		}
	}

	if p.asJSON {
		return writeJSON(p.stdout, reports)
	}
	if len(reports) == 0 {
		fmt.Fprintf(p.stdout, "nothing was added within %v\n", since)
		return nil
	}
	return writeReports(p.stdout, reports)
}

func writeReports(w io.Writer, reports []database.RepositoryReport) error {
	total := database.RepositoryReport{Repository: "all"}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REPOSITORY\tMERGES\tJOBS\tMESSAGES\tFAILED\tUNKNOWN\tLEFT OUT\tREFUSED\tABOUT CREDITS")

	for _, r := range reports {
		total.Merges += r.Merges
		total.Jobs += r.Jobs
		total.Messages += r.Messages
		total.Failed += r.Failed
		total.Unknown += r.Unknown
		total.LeftOut += r.LeftOut
		total.Refused += r.Refused
		total.Credits += r.Credits
		writeReport(table, r)
	}

	if len(reports) > 1 {
		writeReport(table, total)
	}
	return table.Flush()
}

func writeReport(table *tabwriter.Writer, r database.RepositoryReport) {
	name := cmp.Or(safetext.OneLine(r.Repository, 150), "(none)")
	credits := fmt.Sprint(r.Credits)
	if r.Unknown > 0 { // the agent may have worked for these, too
		credits += fmt.Sprintf(" (up to %d)", r.Credits+database.CreditsEach*r.Unknown)
	}
	fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n",
		name, r.Merges, r.Jobs, r.Messages, r.Failed, r.Unknown, r.LeftOut, r.Refused, credits)
}

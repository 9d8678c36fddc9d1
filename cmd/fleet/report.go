package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// reportCommand counts, by repository, what became of its merges and what that costs.
type reportCommand struct {
	*program
	since      time.Duration
	repository string
	asJSON     bool
}

func (c *reportCommand) define(f *flag.FlagSet) {
	c.since = 30 * database.Day
	f.Func("since", "what was added within this time, 30d unless set", setSince(&c.since))
	f.StringVar(&c.repository, "repo", "", ofRepository)
	f.BoolVar(&c.asJSON, "json", false, "as JSON")
}

func (c *reportCommand) check(line commandLine) error { return checkRepository(line, &c.repository) }

func (c *reportCommand) run(ctx context.Context, s queue.Queue) error {
	reports, err := s.Report(ctx, time.Now().Add(-c.since), c.repository)
	if err != nil {
		return err
	}

	if len(reports) == 0 && c.repository != "" {
		if err := s.CheckRepository(ctx, c.repository); err != nil {
			return err
		}
	}

	if c.asJSON {
		return writeJSON(c.stdout, reports)
	}
	return c.write(reports)
}

func (c *reportCommand) write(reports []database.RepositoryReport) error {
	if len(reports) == 0 {
		fmt.Fprintf(c.stdout, "nothing was added within %v\n", c.since)
		return nil
	}

	total := database.RepositoryReport{Repository: "all"}
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REPOSITORY\tMERGES\tJOBS\tMESSAGES\tFAILED\tUNKNOWN\tLEFT OUT\tCREDITS")

	for _, r := range reports {
		total.Merges += r.Merges
		total.Jobs += r.Jobs
		total.Messages += r.Messages
		total.Failed += r.Failed
		total.Unknown += r.Unknown
		total.LeftOut += r.LeftOut
		total.Credits += r.Credits
		writeReport(table, r)
	}

	if len(reports) > 1 {
		writeReport(table, total)
	}
	return table.Flush()
}

func writeReport(table *tabwriter.Writer, r database.RepositoryReport) {
	name := redact.OneLine(r.Repository, 150)
	if name == "" {
		name = "(none)"
	}

	credits := fmt.Sprint(r.Credits)
	if r.Unknown > 0 { // the agent may have worked for these, too
		credits += fmt.Sprintf(" (up to %d)", r.Credits+database.CreditsEach*r.Unknown)
	}
	fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n",
		name, r.Merges, r.Jobs, r.Messages, r.Failed, r.Unknown, r.LeftOut, credits)
}

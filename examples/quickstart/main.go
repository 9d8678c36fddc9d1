// Quickstart runs one job from prompt to pull request: it creates the job, shows
// the wait, sends a follow-up, waits again, and prints the pull request's URL. Then
// it shows who visits the documentation: the totals of the last 30 full days and
// the ten pages visited most.
//
// With MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID set it talks to the service;
// without a key, to a fake of the service inside itself.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/terminal"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func main() {
	prompt := flag.String("prompt", "Correct the spelling on the introduction page.", "what the agent should do")
	followUp := flag.String("follow-up", "Mention the corrections in the changelog.", "what it should do then")
	limit := flag.Duration("limit", time.Hour, "how long to wait in all")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, *limit)
	err := run(ctx, os.Stdout, *prompt, *followUp)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, mintlify.ErrOutcomeUnknown) {
			fmt.Fprintln(os.Stderr, "Look in the dashboard for the job before running this again.")
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, out *os.File, prompt, followUp string) error {
	client, err := connect(out)
	if err != nil {
		return err
	}
	if err := runJob(ctx, out, client, prompt, followUp); err != nil {
		return err
	}
	return showVisitors(ctx, out, client)
}

func runJob(ctx context.Context, out *os.File, client *mintlify.Client, prompt, followUp string) error {
	job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Created job %s: %s\n", job.ID, prompt)
	if job, err = wait(ctx, out, client, job.ID); err != nil {
		return err
	}

	if _, err = client.Jobs.Message(ctx, job.ID, mintlify.MessageParams{Prompt: followUp}); err != nil {
		return err
	}
	fmt.Fprintf(out, "Sent a follow-up: %s\n", followUp)
	// The service processes a message asynchronously: until then the job may still
	// read as completed.
	if job, err = wait(ctx, out, client, job.ID, mintlify.WithSettleTime(30*time.Second)); err != nil {
		return err
	}

	if job.PRLink == "" {
		fmt.Fprintln(out, "Done: no file was changed, so there is no pull request.")
	} else {
		fmt.Fprintln(out, "Done. Pull request:", job.PRLink)
	}
	return nil
}

// connect returns a client of the service or, where there is no key, of a fake.
func connect(out io.Writer) (*mintlify.Client, error) {
	if os.Getenv("MINTLIFY_API_KEY") != "" {
		return mintlify.NewClientFromEnv()
	}
	fmt.Fprintln(out, "MINTLIFY_API_KEY is not set: using a fake of the service inside this program (mintlifytest).")
	svc := mintlifytest.NewService()
	svc.ScriptJob(
		mintlifytest.Step{Status: mintlify.JobActive},
		mintlifytest.Step{Status: mintlify.JobActive},
		mintlifytest.Step{Fault: &mintlifytest.Fault{Status: 502, Body: "Bad Gateway"}}, // which does not end the wait
		mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/1"},
		mintlifytest.Step{Status: mintlify.JobActive},
		mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/1"},
	)
	svc.SetVisitors(demoVisitors())
	return svc.Client(mintlify.WithWaitDefaults(mintlify.WithPollInterval(400*time.Millisecond, time.Second))), nil
}

// wait waits for the end of the job and shows each poll.
func wait(ctx context.Context, out *os.File, client *mintlify.Client, id string, opts ...mintlify.WaitOption) (*mintlify.Job, error) {
	line := terminal.NewLine(out)
	defer line.End()
	return client.Jobs.WaitUntilDone(ctx, id, append(opts, mintlify.WithOnPoll(func(p mintlify.Poll) {
		status := "unknown"
		if p.Job != nil {
			status = string(p.Job.Status)
		}
		text := fmt.Sprintf("  %-9s  waited %s", status, p.Waited.Round(100*time.Millisecond))
		if p.Next > 0 {
			text += fmt.Sprintf(", next poll in %s", p.Next.Round(100*time.Millisecond))
		}
		if p.Err != nil {
			text += fmt.Sprintf(" (poll failed: %v)", p.Err)
		}
		line.Show(text)
	}))...)
}

// showVisitors shows the totals of the last 30 full days and the pages visited
// most. The service's order is not documented: all pages are read, 250 a request.
func showVisitors(ctx context.Context, out io.Writer, client *mintlify.Client) error {
	today := time.Now().UTC()
	params := mintlify.VisitorsParams{
		DateFrom: mintlify.Day(today.Year(), today.Month(), today.Day()-30),
		DateTo:   mintlify.Day(today.Year(), today.Month(), today.Day()), // exclusive
	}
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

// demoVisitors are rows for the fake, in no order.
func demoVisitors() []mintlify.Visitor {
	rows := make([]mintlify.Visitor, 600)
	for i := range rows {
		human, ai := int64(i*7919%1009), int64(i*104729%503)
		rows[i] = mintlify.Visitor{Path: fmt.Sprintf("/guides/page-%d", i+1), Human: human, AI: ai, Total: human + ai}
	}
	return rows
}

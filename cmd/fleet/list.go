package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

// list prints the prompts that the flags choose.
func (p *program) list(ctx context.Context, s queue.Queue) error {
	rows, err := s.Choose(ctx, p.choice())
	if err != nil {
		return err
	}

	if len(rows) == 0 && p.repository != "" {
		if err := s.CheckRepository(ctx, p.repository); err != nil {
			return err
		}
	}

	whys, err := whysOf(ctx, s, rows)
	if err != nil {
		return err
	}
	if p.asJSON {
		return p.listJSON(rows, whys)
	}
	for _, r := range rows {
		fmt.Fprintf(p.stdout, "%s\t%s\t%s\t%s\t%s\t%s\n", database.NameOf(r.State), r.Key, r.ProjectID,
			r.UpdatedAt.Format(time.RFC3339), safetext.OneLine(r.PRLink, 300), safetext.OneLine(whys[r.Key], 300))
	}
	return nil
}

// whysOf returns by key why prompts wait, or what is wrong with them. It takes a fixed number of statements.
func whysOf(ctx context.Context, s queue.Queue, rows []database.Row) (map[string]string, error) {
	whys := map[string]string{}
	isQueued := func(r database.Row) bool { return r.State == once.Pending }
	if !slices.ContainsFunc(rows, isQueued) {
		for _, r := range rows {
			whys[r.Key] = r.Problem
		}
		return whys, nil
	}

	now, err := statusOf(ctx, s)
	if err != nil {
		return nil, err
	}
	ofProject := map[string]string{}
	for _, p := range now.Projects {
		ofProject[p.Project] = p.Why
	}
	ofKey, err := s.WhyNot(ctx)
	if err != nil {
		return nil, err
	}

	for _, r := range rows {
		switch {
		case !isQueued(r):
			whys[r.Key] = r.Problem
		case r.IsStranded:
			whys[r.Key] = "it follows " + r.After + ", which has no job"
		default:
			whys[r.Key] = cmp.Or(ofKey[r.Key], ofProject[r.ProjectID])
		}
	}
	return whys, nil
}

// listed is a prompt in the array that `fleet list -json` prints.
type listed struct {
	Key      string    `json:"key"`
	State    string    `json:"state"`
	Project  string    `json:"project"`
	Priority int       `json:"priority"`
	Pulls    []string  `json:"pulls"`
	After    string    `json:"after,omitempty"`
	JobID    string    `json:"jobId,omitempty"`
	PRLink   string    `json:"prLink,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Why      string    `json:"why,omitempty"` // it waits, or what is wrong with it
	Added    time.Time `json:"added"`
	Updated  time.Time `json:"updated"`
}

func (p *program) listJSON(rows []database.Row, whys map[string]string) error {
	all := make([]listed, len(rows))
	for i, r := range rows {
		all[i] = listed{
			Key:      r.Key,
			State:    database.NameOf(r.State),
			Project:  r.ProjectID,
			Priority: r.Priority,

			Pulls:   strings.Fields(r.Pulls),
			After:   r.After,
			JobID:   safetext.OneLine(r.JobID, 200),
			PRLink:  safetext.OneLine(r.PRLink, 500),
			Problem: safetext.OneLine(r.Problem, 1000),
			Why:     safetext.OneLine(whys[r.Key], 1000),
			Added:   r.AddedAt,
			Updated: r.UpdatedAt,
		}
	}

	return writeJSON(p.stdout, all)
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

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

// show prints everything about a prompt, and about those of its thread.
func (p *program) show(ctx context.Context, s queue.Queue) error {
	keys, err := s.Find(ctx, p.operand)
	if err != nil {
		return err
	}
	leftOut, err := s.FindLeftOut(ctx, p.operand)
	if err != nil {
		return err
	}

	for _, l := range leftOut {
		fmt.Fprintf(p.stdout, "left out  %s  %s\n", l.At.Format(time.RFC3339), safetext.OneLine(l.String(), 1000))
	}
	kept, err := p.showKept(ctx, s, append(keys, database.FoldCase(p.operand)))
	switch {
	case err != nil:
		return err
	case len(keys) == 0 && len(leftOut)+kept == 0:
		return database.NotFound(p.operand)
	case len(keys) == 0:
		return nil
	}

	thread, err := s.ThreadOf(ctx, keys[0])
	if err != nil {
		return err
	}

	isOther := func(key string) bool {
		return !slices.ContainsFunc(thread, func(r database.Row) bool { return r.Key == key })
	}
	if slices.ContainsFunc(keys, isOther) {
		return database.SeveralFit(p.operand, keys)
	}

	for i, r := range thread {
		if i > 0 || len(leftOut)+kept > 0 {
			fmt.Fprintln(p.stdout)
		}
		if err := p.showOne(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}

// showKept prints the comments for prompts, or on a pull request, that are not decided about, and why. It returns how
// many there are.
func (p *program) showKept(ctx context.Context, s queue.Queue, names []string) (int, error) {
	kept, err := github.Docs{Queue: s}.KeptReviews(ctx, "", "")
	shown := 0
	for _, r := range kept {
		if !slices.Contains(names, r.Key) && !slices.Contains(names, r.Pull) {
			continue
		}

		shown++
		waits := "the pull request of its job is known"
		if r.Unasked != "" {
			waits = "GitHub says whether its author may write; fleet asks again by itself: " + r.Unasked
		}
		fmt.Fprintf(p.stdout, "comment %d by %s on %s waits until %s\n", r.ID, safetext.OneLine(r.Author, 80),
			safetext.OneLine(r.Pull, 200), safetext.OneLine(waits, 700))
	}
	return shown, err
}

func (p *program) showOne(ctx context.Context, s queue.Queue, r database.Row) error {
	waits := ""
	if r.State == once.Sending {
		waits = "its sender hears from the service by " + utc(r.Deadline) + ", or it is in doubt from then on"
	}
	if r.State == once.Pending && !r.IsStranded { // advise says what a stranded one waits for
		why, until, err := s.WhyQueued(ctx, r)
		if err != nil {
			return err
		}

		waits = why
		if !until.IsZero() {
			waits += "; waits until " + utc(until)
		}
	}

	p.showFields(r, waits)
	if !r.Forgotten.IsZero() {
		return nil
	}

	fmt.Fprintln(p.stdout, "\nprompt")
	for line := range strings.Lines(r.Prompt) {
		fmt.Fprintf(p.stdout, "  %s\n", safetext.OneLine(line, database.MaxPrompt))
	}
	fmt.Fprintln(p.stdout, "\nhistory")
	return p.showHistory(ctx, s, r.Key)
}

func (p *program) showFields(r database.Row, waits string) {
	forgotten := ""
	if !r.Forgotten.IsZero() {
		forgotten = "its texts, at " + r.Forgotten.Format(time.RFC3339)
	}

	fields := []struct{ name, value string }{
		{"key", r.Key},
		{"state", database.NameOf(r.State)},
		{"project", r.ProjectID},
		{"priority", fmt.Sprint(r.Priority)},
		{"pulls", r.Pulls},
		{"follows", r.After},
		{"added", r.AddedAt.Format(time.RFC3339)},
		{"job", r.JobID},
		{"pr", r.PRLink},
		{"problem", r.Problem},
		{"untold", r.Refusal},
		{"forgotten", forgotten},
		{"waits", waits},
		{"advice", advise(r)},
	}

	for _, f := range fields {
		if f.value != "" {
			fmt.Fprintf(p.stdout, "%-9s %s\n", f.name, safetext.OneLine(f.value, 2000))
		}
	}
}

func (p *program) showHistory(ctx context.Context, s queue.Queue, key string) error {
	return sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var at time.Time
		var state, job, problem, who string
		if err := rows.Scan(database.Millis(&at), &state, &job, &problem, &who); err != nil {
			return err
		}

		change := strings.Join(strings.Fields(database.NameOf(once.State(state))+" by "+who+" "+job+" "+problem), " ")
		fmt.Fprintf(p.stdout, "  %s  %s\n", at.Format(time.RFC3339), safetext.OneLine(change, 500))
		return nil
	}, "SELECT at, state, job, problem, who FROM fleet_history WHERE key = $1 ORDER BY at, version", key)
}

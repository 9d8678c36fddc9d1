package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// statusCommand says what needs a person, and why what is queued waits.
type statusCommand struct {
	*program
	asJSON bool
	checks bool // exit 1 if a person is needed
}

func (c *statusCommand) define(f *flag.FlagSet) {
	f.BoolVar(&c.asJSON, "json", false, "as JSON")
	f.BoolVar(&c.checks, "check", false, "exit 1 if a person is needed")
}

func (c *statusCommand) check(commandLine) error { return nil }

func (c *statusCommand) run(ctx context.Context, s queue.Queue) error {
	now, err := statusOf(ctx, s)
	if err != nil {
		return err
	}
	if err := now.write(c.stdout, c.asJSON); err != nil {
		return err
	}

	if why := now.whyPerson(); c.checks && why != "" {
		return errors.New("a person is needed: " + why)
	}
	return nil
}

// status is what `fleet status` prints.
type status struct {
	Working     bool                     `json:"working"`             // a worker was there within the last seconds
	EmptyAbout  time.Time                `json:"emptyAbout,omitzero"` // when the last is sent, if nobody is needed
	Counts      map[string]int           `json:"counts"`
	NeedsPerson []attention              `json:"needsPerson"` // what is most urgent first
	Old         int64                    `json:"old"`         // failed and refused ones, older than 7 days
	Projects    []*queue.ProjectStatus   `json:"projects"`    // "" has the pause of all
	Paused      []queue.PausedRepository `json:"paused"`      // repositories that a person has paused
	Comments    int64                    `json:"comments"`    // kept until the pull request of their job is known
}

func statusOf(ctx context.Context, s queue.Queue) (status, error) {
	projects, err := s.ProjectsStatus(ctx)
	if err != nil {
		return status{}, err
	}
	needs, err := needsPerson(ctx, s)
	if err != nil {
		return status{}, err
	}
	old, err := oldOnes(ctx, s)
	if err != nil {
		return status{}, err
	}

	paused, err := queue.PausedRepositories(ctx, s.DB)
	if err != nil {
		return status{}, err
	}
	working, err := s.IsWorking(ctx)
	if err != nil {
		return status{}, err
	}

	comments, err := sqldb.Number(ctx, s.DB, "SELECT count(*) FROM fleet_comments")
	if err != nil {
		return status{}, err
	}

	result := status{
		Working:     working,
		Counts:      database.ZeroCounts(),
		NeedsPerson: needs,
		Old:         old,
		Projects:    projects,
		Paused:      paused,
		Comments:    comments,
	}
	result.addProjects()
	return result, nil
}

// addProjects sums up the projects. There is no estimate of when the queue is empty while a project waits for a
// person to mend something.
func (s *status) addProjects() {
	isBlocked := false
	for _, p := range s.Projects {
		if p.Why == queue.IsNext && !s.Working {
			p.Why = queue.WithoutWorker
		}
		if p.EmptyAbout.After(s.EmptyAbout) {
			s.EmptyAbout = p.EmptyAbout
		}

		isBlocked = isBlocked || p.WaitsForPerson
		for state, n := range p.Counts {
			s.Counts[state] += n
		}
	}
	if isBlocked {
		s.EmptyAbout = time.Time{}
	}
}

// whyPerson says why a person is needed, "" if nobody is.
func (s status) whyPerson() string {
	var why []string
	if len(s.NeedsPerson) > 0 {
		first := s.NeedsPerson[0]
		why = append(why, fmt.Sprintf("%d to look at, the first is %s, %s", len(s.NeedsPerson), first.Key, first.State))
	}

	for _, p := range s.Projects {
		if p.WaitsForPerson {
			why = append(why, fmt.Sprintf("project %s waits, %s", cmp.Or(p.Project, "all"), p.Why))
		}
	}
	if s.Counts["queued"] > 0 && !s.Working {
		why = append(why, queue.WithoutWorker)
	}
	return strings.Join(why, "; ")
}

func (s status) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return writeJSON(w, s)
	}

	s.writeNeeds(w)
	if s.Counts["queued"] > 0 && !s.Working {
		fmt.Fprint(w, "No worker is running: nothing is sent until fleet work or fleet serve is.\n\n")
	}

	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	s.writeProjects(table)
	for _, state := range database.States {
		fmt.Fprintf(table, "%s\t%d\n", database.NameOf(state), s.Counts[database.NameOf(state)])
	}
	if err := table.Flush(); err != nil {
		return err
	}

	s.writeRest(w)
	return nil
}

// writeNeeds writes what needs a person.
func (s status) writeNeeds(w io.Writer) {
	for _, a := range s.NeedsPerson {
		others := ""
		if a.Count > 1 {
			others = fmt.Sprintf(", and %d others with the same problem", a.Count-1)
		}

		fmt.Fprintf(w, "%s  %s%s  project %s\n  %s\n  %s\n\n", a.State, a.Key, others, a.Project, a.Problem, a.Advice)
	}
	if len(s.NeedsPerson) == maxAttention {
		fmt.Fprintf(w, "These are the first %d.\n\n", maxAttention)
	}
	if s.Old > 0 {
		fmt.Fprintf(w, "%d failed and refused ones are older than 7 days: fleet list shows them.\n\n", s.Old)
	}
}

// writeRest writes what waits beside the queues, and when they will be empty.
func (s status) writeRest(w io.Writer) {
	for _, p := range s.Paused {
		fmt.Fprintf(w, "\nRepository %s is %s.\n", p.Repository, redact.OneLine(p.Reason, 300))
	}
	if s.Comments > 0 {
		fmt.Fprintf(w, "\n%d comments wait until the pull request of their job is known.\n", s.Comments)
	}

	if s.Working && !s.EmptyAbout.IsZero() {
		fmt.Fprintf(w, "\nThe queue will be empty about %s UTC, but for what waits for a person or a job.\n",
			s.EmptyAbout.Round(time.Minute).Format("2006-01-02 15:04"))
	}
}

// writeProjects writes a line for each project with a prompt that waits, or something to wait for.
func (s status) writeProjects(w io.Writer) {
	header := "PROJECT\tQUEUED\tSINCE\tQUOTA LEFT\tFREE AT\tWAITS UNTIL\tWHY\n"
	for _, p := range s.Projects {
		if p.Counts["queued"] == 0 && p.PausedUntil.IsZero() && p.NextFree.IsZero() {
			continue
		}

		fmt.Fprint(w, header)
		header = ""
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\t%s\n", cmp.Or(p.Project, "all"), p.Counts["queued"],
			when(p.Oldest), p.QuotaLeft, when(p.NextFree), when(p.Until()), redact.OneLine(p.Why, 300))
	}
	if header == "" {
		fmt.Fprintln(w)
	}
}

func when(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case t.Equal(queue.Forever):
		return "resumed"
	}
	return utc(t)
}

// utc prints a time as a person reads it, wherever that person is.
func utc(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// status says what needs a person, and why what is queued waits.
func (p *program) status(ctx context.Context, s queue.Queue) error {
	now, err := statusOf(ctx, s)
	if err != nil {
		return err
	}
	if err := now.write(p.stdout, p.asJSON); err != nil {
		return err
	}

	if p.checks && len(now.NeedsPerson) > 0 {
		first := now.NeedsPerson[0]
		return fmt.Errorf("a person is needed (%d in all), first for %s: %s",
			len(now.NeedsPerson), first.title(), first.Advice)
	}
	return nil
}

// status is what `fleet status` prints.
type status struct {
	Working     bool                     `json:"working"`             // a worker was there within two minutes
	EmptyAbout  time.Time                `json:"emptyAbout,omitzero"` // when the last is sent, if that is known
	Counts      map[string]int           `json:"counts"`
	NeedsPerson []need                   `json:"needsPerson"` // what is most urgent first
	Old         int64                    `json:"old"`         // failed and refused ones, older than 7 days
	Projects    []*queue.ProjectStatus   `json:"projects"`    // "" has the pause of all
	Paused      []queue.PausedRepository `json:"paused"`      // repositories that a person has paused
	Limits      []database.Limit         `json:"limits"`      // -max-per-day
	Comments    int64                    `json:"comments"`    // kept until they can be decided about
	Unasked     int64                    `json:"unasked"`     // those for which GitHub does not say who may write
	WhyUnasked  string                   `json:"whyUnasked,omitempty"`
}

func statusOf(ctx context.Context, s queue.Queue) (status, error) {
	now := status{Counts: database.ZeroCounts()}
	var err error
	if now.Working, err = s.IsWorking(ctx); err != nil {
		return now, err
	}

	if now.Projects, err = s.ProjectsStatus(ctx); err != nil {
		return now, err
	}
	if now.NeedsPerson, err = needsOf(ctx, s, now); err != nil {
		return now, err
	}

	now.Old, err = sqldb.Number(ctx, s.DB, `SELECT count(*) FROM fleet_prompts
WHERE state IN ('failed', 'refused') AND updated < $1`, time.Now().Add(-oldAfter).UnixNano())
	if err != nil {
		return now, err
	}

	if now.Paused, err = queue.PausedRepositories(ctx, s.DB); err != nil {
		return now, err
	}
	if now.Limits, err = s.LimitsToday(ctx); err != nil {
		return now, err
	}

	now.addProjects()
	err = s.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE unasked <> ''), coalesce(max(unasked), '') "+
		"FROM fleet_comments").Scan(&now.Comments, &now.Unasked, &now.WhyUnasked)
	return now, err
}

// addProjects sums up the projects. There is no estimate of when the queue is empty unless each has one.
func (s *status) addProjects() {
	isKnown := s.Working
	s.sayWhatAllStops()
	for _, p := range s.Projects {
		if strings.HasPrefix(p.Why, queue.IsNext) && !s.Working {
			p.Why = queue.WithoutWorker
			p.WaitsFor = queue.ByAPerson
		}
		if p.EmptyAbout.After(s.EmptyAbout) {
			s.EmptyAbout = p.EmptyAbout
		}

		isKnown = isKnown && (p.Counts["queued"] == 0 || !p.EmptyAbout.IsZero())
		for state, n := range p.Counts {
			s.Counts[state] += n
		}
	}
	if !isKnown {
		s.EmptyAbout = time.Time{}
	}
}

// sayWhatAllStops adds to why all wait how much that stops.
func (s *status) sayWhatAllStops() {
	prompts := 0
	projects := 0
	for _, p := range s.Projects {
		if n := p.Counts["queued"]; n > 0 {
			prompts += n
			projects++
		}
	}

	for _, p := range s.Projects {
		if p.Project == "" && p.Why != "" {
			p.Why += fmt.Sprintf("; it stops %s, of %s", count(prompts, "queued prompt"), count(projects, "project"))
		}
	}
}

func (s status) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return writeJSON(w, s)
	}

	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	s.writeNeeds(table)
	s.writeProjects(table)
	for _, state := range database.States {
		fmt.Fprintf(table, "%s\t%d\n", database.NameOf(state), s.Counts[database.NameOf(state)])
	}

	s.writeRest(table)
	return table.Flush()
}

func (n need) title() string {
	title := n.Kind
	if n.Project != "" {
		title += "  project " + safetext.OneLine(n.Project, 100)
	}

	if len(n.Keys) > 0 {
		title += "  " + n.Keys[0]
	}
	if n.Others > 0 {
		title += ", and " + count(n.Others, "other") + " with the same problem"
	}

	if !n.Since.IsZero() {
		title += "  since " + utc(n.Since)
	}
	return title
}

func (s status) writeNeeds(w io.Writer) {
	for _, n := range s.NeedsPerson {
		fmt.Fprintln(w, n.title())
		for _, text := range []string{n.Problem, n.Advice} {
			if text != "" {
				fmt.Fprintln(w, "  "+text)
			}
		}
		fmt.Fprintln(w)
	}
	if s.Old > 0 {
		fmt.Fprintf(w, "%d failed and refused ones are older than 7 days: fleet list shows them.\n\n", s.Old)
	}
}

// writeRest writes what waits beside the queues, and when they will be empty.
func (s status) writeRest(w io.Writer) {
	for _, p := range s.Paused {
		fmt.Fprintf(w, "\nRepository %s is %s.\n", p.Repository, safetext.OneLine(p.Reason, 300))
	}
	for _, l := range s.Limits {
		limit := strings.TrimPrefix(fmt.Sprintf("%s=%d", l.Repository, l.Most), "=")
		until := "for tomorrow (UTC)"
		if l.Waiting > l.Most {
			until = fmt.Sprintf("and go from tomorrow (UTC) on, %d a day", l.Most)
		}
		fmt.Fprintf(w, "\n%d wait %s: -max-per-day %s\n", l.Waiting, until, limit)
	}
	if n := s.Comments - s.Unasked; n > 0 {
		fmt.Fprintf(w, "\nUntil the pull request of its job is known waits %s.\n", count(int(n), "comment"))
	}
	if s.Unasked > 0 {
		fmt.Fprintf(w, "\nUntil GitHub says whether its author may write waits %s; fleet asks again by itself: %s\n",
			count(int(s.Unasked), "comment"), safetext.OneLine(s.WhyUnasked, 500))
	}

	if !s.EmptyAbout.IsZero() {
		fmt.Fprintf(w, "\nThe queue will be empty about %s UTC.\n",
			s.EmptyAbout.Round(time.Minute).Format("2006-01-02 15:04"))
	}
}

// writeProjects writes a line for each project with a prompt that waits, or something to wait for.
func (s status) writeProjects(w io.Writer) {
	header := "PROJECT\tQUEUED\tSINCE\tQUOTA LEFT\tFREE AT\tWAITS UNTIL\tWHY\n"
	for _, p := range s.Projects {
		if p.Counts["queued"] == 0 && p.Why == "" && p.NextFree.IsZero() {
			continue
		}

		fmt.Fprint(w, header)
		header = ""
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\t%s\n", cmp.Or(p.Project, "all"), p.Counts["queued"],
			when(p.Oldest), p.QuotaLeft, when(p.NextFree), waitsUntil(p), safetext.OneLine(p.Why, 600))
	}
	if header == "" {
		fmt.Fprintln(w)
	}
}

// count is a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// waitsUntil says until when a project waits: a time, if the clock alone ends it.
func waitsUntil(p *queue.ProjectStatus) string {
	if p.WaitsUntil.IsZero() {
		return cmp.Or(p.WaitsFor, "not known")
	}
	return utc(p.WaitsUntil)
}

func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return utc(t)
}

// utc prints a time as a person reads it, wherever that person is.
func utc(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

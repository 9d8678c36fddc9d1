package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// states has package once's states in the order in which fleet prints them.
var states = []once.State{once.Pending, once.Sending, once.Running, once.Done,
	once.Failed, once.Refused, once.Unknown, once.Canceled}

// nameOf is how outputs name a state: what is pending is queued.
func nameOf(s once.State) string {
	if s == once.Pending {
		return "queued"
	}
	return string(s)
}

// stateOf returns the state that a flag names, "" for "".
func stateOf(name string) (once.State, error) {
	for _, s := range append(states, "") {
		if nameOf(s) == name {
			return s, nil
		}
	}
	return "", usageError("no state is named %q", redact.OneLine(name, 40))
}

// projectStatus is what there is to say of a project.
type projectStatus struct {
	Project     string         `json:"project"`
	Counts      map[string]int `json:"counts"`
	Oldest      time.Time      `json:"oldest,omitzero"`      // of those that are queued
	PausedUntil time.Time      `json:"pausedUntil,omitzero"` // the year 9999 until somebody resumes it
	Why         string         `json:"why,omitempty"`
	QuotaLeft   int            `json:"quotaLeft"`
	NextFree    time.Time      `json:"nextFree,omitzero"` // when the quota has a place again; zero if it has one
	Overdue     int            `json:"overdue"`           // jobs that do not end
}

var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) // until then a person's pause lasts

func zeroCounts() map[string]int {
	counts := map[string]int{}
	for _, state := range states {
		counts[nameOf(state)] = 0
	}
	return counts
}

// projectsStatus returns the status of all projects, by name, and "" with the pause of all.
func (s store) projectsStatus(ctx context.Context) (all []*projectStatus, err error) {
	byName := map[string]*projectStatus{}
	of := func(name string) *projectStatus {
		if byName[name] == nil {
			byName[name] = &projectStatus{Project: name, Counts: zeroCounts(), QuotaLeft: s.Quota}
		}
		return byName[name]
	}
	now := time.Now()
	err = scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project, state string
		var n, overdue int
		var oldest int64
		err := rows.Scan(&project, &state, &n, &overdue, &oldest)
		p := of(project)
		p.Counts[nameOf(once.State(state))] = n
		switch once.State(state) {
		case once.Pending:
			p.Oldest = time.UnixMilli(oldest).UTC()
		case once.Running:
			p.Overdue = overdue
		}
		return err
	}, `SELECT p.project, o.state, count(*), count(CASE WHEN o.updated < $1 THEN 1 END), min(p.added)
FROM mintlify_once o JOIN fleet_prompts p ON p.key = o.key GROUP BY p.project, o.state`, now.Add(-day).UnixMicro())
	if err != nil {
		return nil, err
	}
	pauses, err := pausesOf(ctx, s.DB)
	for _, pause := range pauses {
		if p := of(pause.Project); pause.Until.After(now) && pause.Until.After(p.PausedUntil) {
			p.PausedUntil, p.Why = pause.Until.UTC(), pause.Source+": "+pause.Reason
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		p, free := byName[name], time.Duration(0)
		if err == nil {
			p.QuotaLeft, free, err = s.quota(ctx, s.DB, name, now)
		}
		if free > 0 {
			p.NextFree = now.Add(free).UTC()
		}
		all = append(all, p)
	}
	return all, err
}

// attention is a prompt that needs a person.
type attention struct {
	Key     string    `json:"key"`
	State   string    `json:"state"`
	Project string    `json:"project"`
	JobID   string    `json:"jobId,omitempty"`
	Problem string    `json:"problem,omitempty"`
	Updated time.Time `json:"updated"`
	Advice  string    `json:"advice"`
}

const maxAttention = 100

// status is what `fleet status` prints.
type status struct {
	Counts      map[string]int   `json:"counts"`
	NeedsPerson []attention      `json:"needsPerson"` // the newest
	Projects    []*projectStatus `json:"projects"`    // "" has the pause of all
}

func (s store) status(ctx context.Context) (status, error) {
	projects, err := s.projectsStatus(ctx)
	if err != nil {
		return status{}, err
	}
	result := status{Counts: zeroCounts(), NeedsPerson: []attention{}, Projects: append([]*projectStatus{}, projects...)}
	for _, p := range projects {
		for state, n := range p.Counts {
			result.Counts[state] += n
		}
	}
	rows, err := s.rows(ctx, `(o.state IN ('unknown', 'failed', 'refused')
OR o.state = 'running' AND (o.updated < $1 OR o.record LIKE '%"problem":"%'))
ORDER BY o.updated DESC LIMIT $2`, time.Now().Add(-day).UnixMicro(), maxAttention)
	for _, r := range rows {
		result.NeedsPerson = append(result.NeedsPerson,
			attention{r.Key, nameOf(r.State), r.Project, r.JobID, redact.OneLine(r.Problem, 1000), r.Updated, advise(r)})
	}
	return result, err
}

// advise says what a person can do, "" if the prompt needs none.
func advise(r row) string {
	again, job := "fleet retry -key "+r.Key+" -again", "fleet retry -key "+r.Key+" -job "
	switch {
	case r.State == once.Unknown:
		return fmt.Sprintf("Sent before %s. Look for %q in the pull requests of the documentation, and in the dashboard "+
			"under Settings, Organization, Usage. If there is a job: %sID. If there is only a pull request: "+
			"fleet close -key %s -pr URL. If there is none: %s.",
			r.Deadline.UTC().Format(time.DateTime), once.Marker(r.Key), job, r.Key, again)
	case r.State == once.Failed && r.JobID != "":
		return fmt.Sprintf("To send it again: %s. To wait for its job again: %s%s.", again, job, redact.OneLine(r.JobID, 200))
	case r.State == once.Failed, r.State == once.Refused:
		return fmt.Sprintf("To send it again: %s.", again)
	case r.isOverdue():
		return fmt.Sprintf("Job %s runs since %s. Look at it in the dashboard. To end it here: fleet close -key %s. "+
			"To follow another: %sID.", redact.OneLine(r.JobID, 200), r.Updated.Format(time.DateTime), r.Key, job)
	case r.State == once.Running && r.Problem != "":
		return fmt.Sprintf("It goes on by itself once the problem is mended. If the job id is wrong: %sID.", job)
	}
	return ""
}

func (s status) write(w io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(s)
	}
	for _, a := range s.NeedsPerson {
		fmt.Fprintf(w, "%s  %s  project %s\n  %s\n  %s\n\n", a.State, a.Key, a.Project, a.Problem, a.Advice)
	}
	if len(s.NeedsPerson) == maxAttention {
		fmt.Fprintf(w, "These are the newest %d.\n\n", maxAttention)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROJECT\tQUEUED\tSINCE\tQUOTA LEFT\tFREE AT\tPAUSED UNTIL\tWHY")
	for _, p := range s.Projects {
		if p.Counts["queued"] > 0 || !p.PausedUntil.IsZero() || !p.NextFree.IsZero() {
			fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%s\t%s\t%s\n", cmp.Or(p.Project, "all"), p.Counts["queued"],
				when(p.Oldest), p.QuotaLeft, when(p.NextFree), when(p.PausedUntil), redact.OneLine(p.Why, 300))
		}
	}
	fmt.Fprintln(table)
	for _, state := range states {
		fmt.Fprintf(table, "%s\t%d\n", nameOf(state), s.Counts[nameOf(state)])
	}
	return table.Flush()
}

func when(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case t.Equal(forever):
		return "resumed"
	}
	return t.Format(time.DateTime)
}

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

// projectStatus is what status says about a project.
type projectStatus struct {
	Project     string         `json:"project"`
	Counts      map[string]int `json:"counts"`
	Oldest      time.Time      `json:"oldest,omitzero"`      // when the first was added that is still queued
	PausedUntil time.Time      `json:"pausedUntil,omitzero"` // the year 9999 until somebody resumes it
	WaitsUntil  time.Time      `json:"waitsUntil,omitzero"`  // when the next prompt may be sent; zero if none is queued
	Why         string         `json:"why,omitempty"`        // it is paused, or its next prompt waits
	QuotaLeft   int            `json:"quotaLeft"`
	EmptyAbout  time.Time      `json:"emptyAbout,omitzero"` // when the last is sent; zero if a person has to resume it
	NextFree    time.Time      `json:"nextFree,omitzero"`   // when the quota has a place again; zero if it has one
	Overdue     int            `json:"overdue"`             // jobs that do not end
}

// projectSet has the status of projects by their name.
type projectSet map[string]*projectStatus

func (set projectSet) of(name string) *projectStatus {
	if set[name] == nil {
		set[name] = &projectStatus{Project: name, Counts: zeroCounts()}
	}
	return set[name]
}

// projectsStatus returns the status of all projects, by name, and "" with the pause of all.
func (s store) projectsStatus(ctx context.Context) ([]*projectStatus, error) {
	now := time.Now()
	set := projectSet{}
	if err := s.countInto(ctx, set, now); err != nil {
		return nil, err
	}

	pauses, err := pausesOf(ctx, s.DB)
	if err != nil {
		return nil, err
	}
	for _, pause := range pauses {
		set.of(pause.Project).notePause(pause, now)
	}

	posts, err := s.postsInProgress(ctx, now)
	if err != nil {
		return nil, err
	}
	ready, err := s.readyPrompts(ctx)
	if err != nil {
		return nil, err
	}

	all := []*projectStatus{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		q, err := s.quota(ctx, s.DB, name, now)
		if err != nil {
			return nil, err
		}

		set[name].noteQuota(q, now)
		set[name].noteHold(q, situation{
			at:     now,
			queue:  ready[name],
			pauses: pauses,
			free:   q.free,
			mine:   posts[name],
			total:  posts[""],
		})
		all = append(all, set[name])
	}
	return all, nil
}

// postsInProgress counts POSTs by project, and under "" the POSTs of all projects.
func (s store) postsInProgress(ctx context.Context, now time.Time) (map[string]int, error) {
	posts := map[string]int{}
	err := scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project string
		var n int
		if err := rows.Scan(&project, &n); err != nil {
			return err
		}
		posts[project] = n
		posts[""] += n
		return nil
	}, "SELECT project, count(*) FROM fleet_posts WHERE ends > $1 GROUP BY project", now.UnixMilli())
	return posts, err
}

// readyPrompts returns one of the prompts of each project that may be sent.
func (s store) readyPrompts(ctx context.Context) (map[string][]string, error) {
	ready := map[string][]string{}
	err := scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project, key string
		if err := rows.Scan(&project, &key); err != nil {
			return err
		}
		ready[project] = []string{key}
		return nil
	}, `SELECT p.project, min(p.key) FROM mintlify_once o CROSS JOIN fleet_prompts p
WHERE o.state = 'pending' AND p.key = o.key AND `+isReady+` GROUP BY p.project`)
	return ready, err
}

// countInto counts the prompts of all projects by state.
func (s store) countInto(ctx context.Context, set projectSet, now time.Time) error {
	return scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project, state string
		var n, overdue int
		var oldest int64
		if err := rows.Scan(&project, &state, &n, &overdue, &oldest); err != nil {
			return err
		}

		p := set.of(project)
		p.Counts[nameOf(once.State(state))] = n
		switch once.State(state) {
		case once.Pending:
			p.Oldest = time.UnixMilli(oldest).UTC()
		case once.Running:
			p.Overdue = overdue
		}
		return nil
	}, `SELECT p.project, o.state, count(*), count(CASE WHEN o.updated < $1 THEN 1 END), min(p.added)
FROM mintlify_once o JOIN fleet_prompts p ON p.key = o.key GROUP BY p.project, o.state`, now.Add(-day).UnixMicro())
}

// notePause keeps the pause that ends last.
func (p *projectStatus) notePause(pause pauseRow, now time.Time) {
	if pause.Until.After(now) && pause.Until.After(p.PausedUntil) {
		p.PausedUntil = pause.Until.UTC()
		p.Why = pause.Source + ": " + pause.Reason
	}
}

func (p *projectStatus) noteQuota(q quota, now time.Time) {
	p.QuotaLeft = q.left
	if q.free > 0 {
		p.NextFree = now.Add(q.free).UTC()
	}
}

// noteHold says why the next prompt is not sent yet. It uses the rules that decide about turns.
func (p *projectStatus) noteHold(q quota, s situation) {
	if p.Counts["queued"] == 0 {
		return
	}
	if len(s.queue) == 0 {
		p.Why = "its prompts follow others, whose jobs have not ended"
		return
	}

	s.project = p.Project
	h := s.hold()
	p.Why = cmp.Or(h.why, isNext)
	p.WaitsUntil = s.at.UTC()
	if h.why != "" {
		p.WaitsUntil = h.until.UTC()
	}
	if !p.WaitsUntil.Equal(forever) {
		p.EmptyAbout = q.lastOf(p.Counts["queued"], p.WaitsUntil).UTC()
	}
}

// isNext says why a prompt is still queued that may be sent.
const isNext = "it is next, within seconds"

// status is what `fleet status` prints.
type status struct {
	Working     bool             `json:"working"`             // a worker was there within the last seconds
	EmptyAbout  time.Time        `json:"emptyAbout,omitzero"` // when the last is sent that needs no person
	Counts      map[string]int   `json:"counts"`
	NeedsPerson []attention      `json:"needsPerson"` // the newest
	Projects    []*projectStatus `json:"projects"`    // "" has the pause of all
	Comments    int64            `json:"comments"`    // kept until the pull request of their job is known
}

// status is the command.
func (p *program) status(ctx context.Context, s store) error {
	now, err := s.status(ctx)
	if err != nil {
		return err
	}
	return now.write(p.stdout, p.asJSON)
}

func (s store) status(ctx context.Context) (status, error) {
	projects, err := s.projectsStatus(ctx)
	if err != nil {
		return status{}, err
	}
	needs, err := s.needsPerson(ctx)
	if err != nil {
		return status{}, err
	}

	working, err := s.isWorking(ctx)
	if err != nil {
		return status{}, err
	}

	comments, err := number(ctx, s.DB, "SELECT count(*) FROM fleet_comments")
	if err != nil {
		return status{}, err
	}

	result := status{
		Working:     working,
		Counts:      zeroCounts(),
		NeedsPerson: needs,
		Projects:    projects,
		Comments:    comments,
	}
	for _, p := range projects {
		if p.Why == isNext && !working {
			p.Why = "no worker is running"
		}

		if p.EmptyAbout.After(result.EmptyAbout) {
			result.EmptyAbout = p.EmptyAbout
		}
		for state, n := range p.Counts {
			result.Counts[state] += n
		}
	}
	return result, nil
}

// isWorking reports whether there are workers: River has one of them lead, for seconds at a time.
func (s store) isWorking(ctx context.Context) (bool, error) {
	leaders, err := number(ctx, s.DB, "SELECT count(*) FROM river_leader WHERE expires_at > $1", riverTime(time.Now()))
	return leaders > 0, err
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

	if s.Counts["queued"] > 0 && !s.Working {
		fmt.Fprint(w, "No worker is running: nothing is sent until fleet work or fleet serve is.\n\n")
	}

	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	s.writeProjects(table)
	for _, state := range states {
		fmt.Fprintf(table, "%s\t%d\n", nameOf(state), s.Counts[nameOf(state)])
	}
	if err := table.Flush(); err != nil {
		return err
	}

	if s.Comments > 0 {
		fmt.Fprintf(w, "\n%d comments wait until the pull request of their job is known.\n", s.Comments)
	}
	if !s.EmptyAbout.IsZero() {
		fmt.Fprintf(w, "\nThe queue will be empty about %s UTC, but for what waits for a person or a job.\n",
			s.EmptyAbout.Round(time.Minute).Format("2006-01-02 15:04"))
	}
	return nil
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
			when(p.Oldest), p.QuotaLeft, when(p.NextFree), when(p.until()), redact.OneLine(p.Why, 300))
	}
	if header == "" {
		fmt.Fprintln(w)
	}
}

// until returns when the project's next prompt may be sent, or if it has none, when its pause ends.
func (p *projectStatus) until() time.Time {
	if !p.WaitsUntil.IsZero() {
		return p.WaitsUntil
	}
	return p.PausedUntil
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

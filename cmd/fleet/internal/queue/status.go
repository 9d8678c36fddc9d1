package queue

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// ProjectStatus is what status says about a project.
type ProjectStatus struct {
	Project     string         `json:"project"`
	Counts      map[string]int `json:"counts"`
	Oldest      time.Time      `json:"oldest,omitzero"`      // when the first was added that is still queued
	PausedUntil time.Time      `json:"pausedUntil,omitzero"` // the year 9999 until somebody resumes it
	WaitsUntil  time.Time      `json:"waitsUntil,omitzero"`  // when the next prompt may be sent; zero if none is queued
	Why         string         `json:"why,omitempty"`        // it is paused, or its next prompt waits
	QuotaLeft   int            `json:"quotaLeft"`
	EmptyAbout  time.Time      `json:"emptyAbout,omitzero"` // when the last is sent; zero if a person is needed first
	NextFree    time.Time      `json:"nextFree,omitzero"`   // when the quota has a place again; zero if it has one
	Overdue     int            `json:"overdue"`             // jobs that do not end
	Limited     int            `json:"limited"`             // queued ones that wait for the limit of a day

	// OldestFree is when the first was added that neither a pause of its repository nor the limit of a day holds
	// back. It is zero if there is none.
	OldestFree time.Time `json:"-"`

	// WaitsForPerson is whether prompts are queued until a person has mended the key, the project or the credits.
	WaitsForPerson bool `json:"waitsForPerson"`
}

type projectSet map[string]*ProjectStatus

func (set projectSet) of(name string) *ProjectStatus {
	if set[name] == nil {
		set[name] = &ProjectStatus{Project: name, Counts: database.ZeroCounts()}
	}
	return set[name]
}

// ProjectsStatus returns the status of all projects with a prompt or a pause, by name, and "" with the pause of all.
func (s Queue) ProjectsStatus(ctx context.Context) ([]*ProjectStatus, error) {
	now := time.Now()
	set := projectSet{}
	if err := s.countInto(ctx, set, now); err != nil {
		return nil, err
	}

	rows, err := s.Projects(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := s.readQueues(ctx, database.Choice{})
	if err != nil {
		return nil, err
	}
	places, err := s.readSent(ctx, now)
	if err != nil {
		return nil, err
	}

	for _, row := range rows {
		if set[row.Name] == nil && row.Stopped.IsZero() && !row.IsPaused() {
			continue
		}

		p := set.of(row.Name)
		quota := s.quotaAfter(places[row.Name], now)
		p.QuotaLeft = quota.Left
		p.NextFree = quota.free
		p.noteHold(quota, situation{own: row, all: rows[0], free: quota.free, queued: queues[row.Name]})
	}

	all := []*ProjectStatus{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		all = append(all, set[name])
	}
	return all, nil
}

// countInto counts the prompts of all projects by state.
func (s Queue) countInto(ctx context.Context, set projectSet, now time.Time) error {
	return sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project, state string
		var n, overdue int
		var oldest int64
		if err := rows.Scan(&project, &state, &n, &overdue, &oldest); err != nil {
			return err
		}

		p := set.of(project)
		p.Counts[database.NameOf(once.State(state))] = n
		switch once.State(state) {
		case once.Pending:
			p.Oldest = time.Unix(0, oldest).UTC()
		case once.Running:
			p.Overdue = overdue
		}

		return nil
	}, `SELECT project, state, count(*), count(CASE WHEN updated < $1 THEN 1 END), min(added)
FROM fleet_prompts GROUP BY project, state`, now.Add(-database.Day).UnixNano())
}

// noteHold says why the next prompt is not sent yet. It uses the rules that decide about turns.
func (p *ProjectStatus) noteHold(q Quota, s situation) {
	if h := s.own.hold(); h.why != "" {
		p.PausedUntil = h.until
		p.Why = h.why
	}
	if p.Counts["queued"] == 0 {
		return
	}

	p.Limited = s.limited
	p.OldestFree = s.oldest
	p.WaitsForPerson = s.own.IsPaused() && s.own.NeedsPerson() || s.all.IsPaused() && s.all.NeedsPerson()

	h := s.hold()
	p.Why = cmp.Or(h.why, IsNext)
	p.WaitsUntil = s.own.Now
	if h.why != "" {
		p.WaitsUntil = h.until
	}

	if !p.WaitsUntil.Equal(Forever) && !p.WaitsForPerson {
		p.EmptyAbout = q.LastOf(p.Counts["queued"], p.WaitsUntil).UTC()
	}
}

// WhyQueued says why a queued prompt is not sent yet, and until when, by the rules that decide about turns.
func (s Queue) WhyQueued(ctx context.Context, r database.Row) (string, time.Time, error) {
	seen, err := s.look(ctx, r.ProjectID)
	if err != nil {
		return "", time.Time{}, err
	}
	queues, err := s.readQueues(ctx, database.Choice{Project: r.ProjectID, Key: r.Key})
	if err != nil {
		return "", time.Time{}, err
	}

	own := seen
	own.head = ""
	own.queued = queues[r.ProjectID]
	switch h := own.hold(); h.why {
	case "":
	case whyFollow:
		return "the job that it is a message to has not ended, or an earlier message has not", time.Time{}, nil
	case whyLater:
		return "the job that it is a message to is at work again", h.until, nil
	default:
		return h.why, h.until, nil
	}

	if seen.head != "" && seen.head != r.Key {
		return "it is the turn of " + seen.head, time.Time{}, nil
	}

	isWorking, err := s.IsWorking(ctx)
	if err == nil && !isWorking {
		return WithoutWorker, time.Time{}, nil
	}
	return IsNext, time.Time{}, err
}

// WithoutWorker says why nothing is sent at all.
const WithoutWorker = "no worker is running"

// IsNext says why a prompt is still queued that may be sent.
const IsNext = "it is next, within seconds"

// IsWorking reports whether there are workers: River has one of them lead, for seconds at a time.
func (s Queue) IsWorking(ctx context.Context) (bool, error) {
	leaders, err := sqldb.Number(ctx, s.DB, "SELECT count(*) FROM river_leader WHERE expires_at > $1",
		RiverTime(time.Now()))
	return leaders > 0, err
}

// Until returns when the project's next prompt may be sent, or if it has none, when its pause ends.
func (p *ProjectStatus) Until() time.Time {
	if !p.WaitsUntil.IsZero() {
		return p.WaitsUntil
	}
	return p.PausedUntil
}

// PausedRepository is a repository of which nothing is sent.
type PausedRepository struct {
	Repository string `json:"repository"`
	Reason     string `json:"reason"`
}

// PausedRepositories returns the repositories that a person has paused.
func PausedRepositories(ctx context.Context, db once.DB) ([]PausedRepository, error) {
	return sqldb.All(ctx, db, func(rows *sql.Rows) (PausedRepository, error) {
		var p PausedRepository
		err := rows.Scan(&p.Repository, &p.Reason)
		return p, err
	}, "SELECT repository, stopped_by FROM fleet_repositories WHERE stopped > 0 ORDER BY repository")
}

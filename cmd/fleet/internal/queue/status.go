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

// ProjectsStatus returns the status of all projects, by name, and "" with the pause of all.
func (s Queue) ProjectsStatus(ctx context.Context) ([]*ProjectStatus, error) {
	now := time.Now()
	set := projectSet{}
	if err := s.countInto(ctx, set, now); err != nil {
		return nil, err
	}

	pauses, err := Pauses(ctx, s.DB)
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
	queues, err := readQueues(ctx, s.DB, database.Choice{}, now)
	if err != nil {
		return nil, err
	}
	sent, err := s.readSent(ctx, s.DB, database.Choice{}, now)
	if err != nil {
		return nil, err
	}

	all := []*ProjectStatus{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		current := situation{
			at:      now,
			project: name,
			pauses:  pauses,
			mine:    posts[name],
			total:   posts[""],
		}
		if queues[name] != nil {
			current.queued = *queues[name]
		}

		quota := s.quotaAfter(sent[name], now)
		current.free = quota.free
		set[name].noteQuota(quota, now)
		set[name].noteHold(quota, current)
		all = append(all, set[name])
	}
	return all, nil
}

// postsInProgress counts POSTs by project, and under "" the POSTs of all projects.
func (s Queue) postsInProgress(ctx context.Context, now time.Time) (map[string]int, error) {
	posts := map[string]int{}
	err := sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
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

// notePause keeps the pause that ends last.
func (p *ProjectStatus) notePause(pause Pause, now time.Time) {
	if pause.Until.After(now) && pause.Until.After(p.PausedUntil) {
		p.PausedUntil = pause.Until.UTC()
		p.Why = pause.Source + ": " + pause.Reason
	}
}

func (p *ProjectStatus) noteQuota(q Quota, now time.Time) {
	p.QuotaLeft = q.Left
	if q.free > 0 {
		p.NextFree = now.Add(q.free).UTC()
	}
}

// noteHold says why the next prompt is not sent yet. It uses the rules that decide about turns.
func (p *ProjectStatus) noteHold(q Quota, s situation) {
	if p.Counts["queued"] == 0 {
		return
	}

	p.Limited = s.limited
	if s.oldest > 0 {
		p.OldestFree = time.Unix(0, s.oldest).UTC()
	}
	p.WaitsForPerson = slices.ContainsFunc(s.pauses, func(pause Pause) bool {
		return pause.NeedsPerson() && pause.concerns(p.Project) && pause.Until.After(s.at)
	})

	h := s.hold()
	p.Why = cmp.Or(h.why, IsNext)
	p.WaitsUntil = s.at.UTC()
	if h.why != "" {
		p.WaitsUntil = h.until.UTC()
	}

	if !p.WaitsUntil.Equal(Forever) && !p.WaitsForPerson {
		p.EmptyAbout = q.LastOf(p.Counts["queued"], p.WaitsUntil).UTC()
	}
}

// WhyQueued says why a queued prompt is not sent yet, and until when, by the rules that decide about turns.
func (s Queue) WhyQueued(ctx context.Context, r database.Row) (string, time.Time, error) {
	own, err := s.readSituation(ctx, s.DB, r.ProjectID, r.Key)
	if err != nil {
		return "", time.Time{}, err
	}

	switch h := own.hold(); h.why {
	case "":
	case whyFollow:
		return "the job that it is a message to has not ended, or an earlier message has not", time.Time{}, nil
	case whyLater:
		return "the job that it is a message to is at work again", h.until, nil
	default:
		return h.why, h.until, nil
	}

	all, err := s.readSituation(ctx, s.DB, r.ProjectID, "")
	if err != nil {
		return "", time.Time{}, err
	}
	if all.head != "" && all.head != r.Key {
		return "it is the turn of " + all.head, time.Time{}, nil
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
	}, "SELECT repository, reason FROM fleet_paused_repositories ORDER BY repository")
}

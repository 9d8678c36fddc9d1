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
	Project    string         `json:"project"`
	Counts     map[string]int `json:"counts"`
	Oldest     time.Time      `json:"oldest,omitzero"` // when the first was added that is still queued
	Paused     bool           `json:"paused"`
	WaitsUntil time.Time      `json:"waitsUntil,omitzero"` // zero unless the clock alone ends the wait
	Why        string         `json:"why,omitempty"`       // it is paused, or its next prompt waits
	QuotaLeft  int            `json:"quotaLeft"`
	EmptyAbout time.Time      `json:"emptyAbout,omitzero"` // when the last is sent; zero if that is not known
	NextFree   time.Time      `json:"nextFree,omitzero"`   // when the quota has a place again; zero if it has one
	Limited    int            `json:"limited"`             // queued ones that wait for the limit of a day

	// OldestFree is when the first was added that neither a pause of its repository nor the limit of a day holds
	// back. It is zero if there is none.
	OldestFree time.Time `json:"-"`

	Queue    Project `json:"-"`
	Ready    int     `json:"-"` // prompts that wait for nothing of their own
	Problems int     `json:"-"` // running jobs with a problem that a person has to mend
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
	if err := s.countInto(ctx, set); err != nil {
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
		isQuiet := row.Stopped.IsZero() && !row.IsPaused() && !s.stillFails(row)
		if set[row.Name] == nil && isQuiet {
			continue
		}

		p := set.of(row.Name)
		p.Queue = row
		quota := s.quotaAfter(places[row.Name], now)
		p.QuotaLeft = quota.Left
		p.NextFree = quota.free
		p.noteHold(quota, situation{own: row, all: rows[0], free: quota.free, queued: queues[row.Name]})
		if p.Counts["queued"] > 0 || row.Name == "" {
			p.Why = s.withFailures(p.Why, row, rows[0])
		}
	}

	all := []*ProjectStatus{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		all = append(all, set[name])
	}
	return all, nil
}

func (s Queue) countInto(ctx context.Context, set projectSet) error {
	return sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project, state string
		var n, problems int
		var oldest time.Time
		if err := rows.Scan(&project, &state, &n, &problems, database.Nanos(&oldest)); err != nil {
			return err
		}

		p := set.of(project)
		p.Counts[database.NameOf(once.State(state))] = n
		switch once.State(state) {
		case once.Pending:
			p.Oldest = oldest
		case once.Running:
			p.Problems = problems
		}

		return nil
	}, `SELECT project, state, count(*), count(CASE WHEN problem <> '' THEN 1 END), min(added)
FROM fleet_prompts GROUP BY project, state`)
}

// noteHold says why the next prompt is not sent yet. It uses the rules that decide about turns. When the queue will be
// empty nobody knows in an outage, or while a prompt waits for a person or for a job, or has a limit of the day.
func (p *ProjectStatus) noteHold(q Quota, s situation) {
	h := s.own.hold()
	p.Paused = h.why != ""
	if p.Counts["queued"] > 0 {
		h = s.hold()
	}

	p.Why = h.why
	p.WaitsUntil = h.until
	p.Limited = s.limited
	p.OldestFree = s.oldest
	p.Ready = s.ready
	if p.Counts["queued"] == 0 {
		return
	}

	p.Why = cmp.Or(h.why, IsNext)
	isKnown := h.why == "" || !h.until.IsZero() || s.own.turnUntil.After(s.own.Now)
	isFailing := s.own.isFailing() || s.all.isFailing()
	if isKnown && !isFailing && s.ready == s.count && s.bounded == 0 {
		p.EmptyAbout = q.LastOf(s.count, cmp.Or(h.until, s.own.Now)).UTC()
	}
}

// isFailing reports whether the service has failed and not worked since, or a person has to mend something.
func (p Project) isFailing() bool { return p.Cause == CauseOutage || p.NeedsPerson() }

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
		return "the job that it is a message to is at work again", time.Time{}, nil
	default:
		return s.withFailures(h.why, seen.own, seen.all), h.until, nil
	}

	if seen.head != "" && seen.head != r.Key {
		return s.withFailures("it is the turn of "+seen.head, seen.own, seen.all), time.Time{}, nil
	}

	isWorking, err := s.IsWorking(ctx)
	if err == nil && !isWorking {
		return WithoutWorker, time.Time{}, nil
	}
	return s.withFailures(IsNext, seen.own, seen.all), time.Time{}, err
}

// WithoutWorker says why nothing is sent at all.
const WithoutWorker = "no worker is running"

// IsNext says why a prompt is still queued that may be sent.
const IsNext = "it is next, within seconds"

// IsWorking reports whether a worker was there within two minutes: a deployment takes less.
func (s Queue) IsWorking(ctx context.Context) (bool, error) {
	n, err := sqldb.Number(ctx, s.DB, "SELECT count(*) FROM fleet_schema WHERE worked > "+s.Clock+" - 120000")
	return n > 0, err
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

// Quota is how many prompts of a project may be sent, and when.
type Quota struct {
	Left   int           // may be sent now
	free   time.Time     // when one may, if none may now
	Places []time.Time   // when each place of the quota can be taken, the earliest first
	Window time.Duration // how long a place stays taken
}

// readSent returns, by project, until when the prompts that were sent within the window have their places in the quota,
// the latest first. A prompt counts from its deadline: the service got it before that. What a person has sent again
// within the window counts once.
func (s Queue) readSent(ctx context.Context, now time.Time) (map[string][]time.Time, error) {
	places := map[string][]time.Time{}
	err := sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project string
		var deadline time.Time
		err := rows.Scan(&project, database.Nanos(&deadline))
		places[project] = append(places[project], deadline.Add(s.Window))
		return err
	}, `SELECT p.project, p.deadline FROM fleet_projects q CROSS JOIN fleet_prompts p
WHERE p.project = q.project AND p.deadline > $1 AND `+database.WasSent+` ORDER BY p.project, p.deadline DESC`,
		now.Add(-s.Window).UnixNano())
	return places, err
}

func (s Queue) quotaAfter(taken []time.Time, now time.Time) Quota {
	q := Quota{Window: s.Window}
	q.Places = slices.Clone(taken[:min(len(taken), s.Quota)])
	q.Left = s.Quota - len(q.Places)
	if q.Left == 0 {
		q.free = q.Places[len(q.Places)-1]
	}

	for range q.Left {
		q.Places = append(q.Places, now)
	}
	slices.Reverse(q.Places)
	return q
}

// SendingTime is about how long the prompts of a project take that are sent one after the other.
const SendingTime = 3 * time.Second

// LastOf returns about when the last of n prompts is sent if the first may be at start.
func (q Quota) LastOf(n int, start time.Time) time.Time {
	if n == 0 || len(q.Places) == 0 {
		return time.Time{}
	}

	place := q.Places[(n-1)%len(q.Places)]
	if place.Before(start) {
		place = start
	}
	last := place.Add(time.Duration((n-1)/len(q.Places)) * q.Window)
	if sent := start.Add(time.Duration(n) * SendingTime); sent.After(last) {
		return sent
	}
	return last
}

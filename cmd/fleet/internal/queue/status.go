package queue

import (
	"cmp"
	"context"
	"database/sql"
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
	queued

	Queue    Project `json:"-"`
	WaitsFor string  `json:"-"` // soon, a person, or not known, if that is not a time
	Problems int     `json:"-"` // running jobs with a problem that a person has to mend
}

// ProjectsStatus returns the status of all projects with a prompt or a pause, by name, and "" with the pause of all.
func (s Queue) ProjectsStatus(ctx context.Context) ([]*ProjectStatus, error) {
	now := time.Now()
	rows, err := s.Projects(ctx)
	if err != nil {
		return nil, err
	}

	counted, err := s.countStates(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := s.readQueues(ctx, s.DB, database.Choice{})
	if err != nil {
		return nil, err
	}
	sent, err := s.readSent(ctx, now)
	if err != nil {
		return nil, err
	}

	all := []*ProjectStatus{}
	for _, row := range rows {
		isQuiet := row.Stopped.IsZero() && !row.IsPaused() && !s.stillFails(row)
		if counted[row.Name] == nil && isQuiet {
			continue
		}

		p := cmp.Or(counted[row.Name], newStatus(row.Name))
		p.Queue = row
		places := p.noteQuota(sent[row.Name], s.Quota, now)
		p.noteHold(situation{own: row, all: rows[0], free: p.NextFree, queued: queues[row.Name]}, places, s.Window)
		if p.Counts["queued"] > 0 || row.Name == "" {
			p.Why = s.withFailures(p.Why, row, rows[0])
		}
		all = append(all, p)
	}
	return all, nil
}

func newStatus(project string) *ProjectStatus {
	return &ProjectStatus{Project: project, Counts: database.ZeroCounts()}
}

func (s Queue) countStates(ctx context.Context) (map[string]*ProjectStatus, error) {
	counted := map[string]*ProjectStatus{}
	err := sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project string
		var state once.State
		var n, problems int
		var oldest time.Time
		err := rows.Scan(&project, &state, &n, &problems, database.Nanos(&oldest))

		p := cmp.Or(counted[project], newStatus(project))
		p.Counts[database.NameOf(state)] = n
		p.Problems += problems
		p.Oldest = cmp.Or(p.Oldest, oldest)
		counted[project] = p
		return err
	}, `SELECT project, state, count(*), count(*) FILTER (WHERE state = 'running' AND problem <> ''),
	min(added) FILTER (WHERE state = 'pending') FROM fleet_prompts GROUP BY project, state`)
	return counted, err
}

// noteQuota returns when each place of the quota can be taken, the earliest first: those that are taken until a time,
// and the others now.
func (p *ProjectStatus) noteQuota(taken []time.Time, quota int, now time.Time) []time.Time {
	taken = taken[max(0, len(taken)-quota):]
	p.QuotaLeft = quota - len(taken)
	if p.QuotaLeft == 0 {
		p.NextFree = taken[0]
	}
	return append(slices.Repeat([]time.Time{now}, p.QuotaLeft), taken...)
}

// noteHold says why the next prompt is not sent yet. It uses the rules that decide about turns. When the queue will be
// empty nobody knows in an outage, or while a prompt waits for a person or for a job, or has a limit of the day.
func (p *ProjectStatus) noteHold(s situation, places []time.Time, window time.Duration) {
	h := s.own.hold()
	p.Paused = h.why != ""
	if p.Counts["queued"] > 0 {
		h = s.hold()
	}

	p.Why = h.why
	p.WaitsUntil = h.until
	p.WaitsFor = h.waitsFor()
	p.queued = s.queued
	if p.Counts["queued"] == 0 {
		return
	}

	p.Why = cmp.Or(h.why, IsNext)
	isKnown := h.why == "" || !h.until.IsZero() || s.own.turnUntil.After(s.own.Now)
	isFailing := s.own.isFailing() || s.all.isFailing()
	if isKnown && !isFailing && s.count > 0 && s.Ready == s.count && s.bounded == 0 {
		p.EmptyAbout = lastOf(s.count, places, window, later(cmp.Or(h.until, s.own.Now), s.own.turnUntil)).UTC()
	}
}

// waitsFor says what ends a hold, if that is not a time.
func (h hold) waitsFor() string {
	switch {
	case h.why == "" || h.soon:
		return "soon"
	case h.person:
		return ByAPerson
	}
	return "not known"
}

// ByAPerson says that a person ends a wait.
const ByAPerson = "a person"

// WhyNot says why queued prompts wait for more than their projects do, by key: in one statement, for a list of many.
func (s Queue) WhyNot(ctx context.Context) (map[string]string, error) {
	whys := map[string]string{}
	now := time.Now()
	query := `SELECT key, why FROM (SELECT p.key, CASE WHEN ` + database.IsStopped + ` THEN $2
	WHEN ` + database.IsLimitedSince("$1") + ` THEN $3 WHEN p.not_before > $5 THEN $4 ELSE '' END AS why
	FROM fleet_prompts p WHERE p.state = 'pending') waiting WHERE why <> ''`
	err := sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var key, why string
		err := rows.Scan(&key, &why)
		whys[key] = why
		return err
	}, query, database.DayOf(now).UnixNano(), whyHeld, whyLimit, whyJob, now.UnixNano())
	return whys, err
}

// whyJob is why a message waits.
const whyJob = "the job that it is a message to has not ended, or an earlier message has not"

// isFailing reports whether the service has failed and not worked since, or a person has to mend something.
func (p Project) isFailing() bool { return p.Cause == CauseOutage || p.NeedsPerson() }

// WhyQueued says why a queued prompt is not sent yet, and until when, by the rules that decide about turns.
func (s Queue) WhyQueued(ctx context.Context, r database.Row) (string, time.Time, error) {
	seen, err := s.look(ctx, s.DB, r.ProjectID)
	if err != nil {
		return "", time.Time{}, err
	}
	queues, err := s.readQueues(ctx, s.DB, database.Choice{Project: r.ProjectID, Key: r.Key})
	if err != nil {
		return "", time.Time{}, err
	}

	own := seen
	own.head = ""
	own.queued = queues[r.ProjectID]
	h := own.hold()

	switch {
	case h.why == whyFollow:
		isOver, err := sqldb.Number(ctx, s.DB, "SELECT count(*) FROM fleet_prompts p WHERE key = $1 AND "+
			database.JobIsOver, r.Key)
		if isOver > 0 {
			return "the job that it is a message to is at work again", h.until, err
		}
		return whyJob, h.until, err
	case h.why != "":
	case seen.head != "" && seen.head != r.Key:
		h.why = "it is the turn of " + seen.head
	default:
		isWorking, err := s.IsWorking(ctx)
		if err != nil || !isWorking {
			return WithoutWorker, h.until, err
		}
		h.why = IsNext
	}
	return s.withFailures(h.why, seen.own, seen.all), h.until, nil
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

// LastWorked returns when a worker was there last, the zero time if none ever was.
func (s Queue) LastWorked(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := s.QueryRowContext(ctx, "SELECT worked FROM fleet_schema").Scan(database.Millis(&at))
	return at, err
}

// PausedRepository is a repository of which nothing is sent.
type PausedRepository struct {
	Repository string `json:"repository"`
	Reason     string `json:"reason"`
}

// PausedRepositories returns the repositories that a person has paused.
func PausedRepositories(ctx context.Context, db once.DB) ([]PausedRepository, error) {
	return database.All(ctx, db, func(p *PausedRepository) []any { return []any{&p.Repository, &p.Reason} },
		"SELECT repository, stopped_by FROM fleet_repositories WHERE stopped > 0 ORDER BY repository")
}

// readSent returns, by project, until when the prompts that were sent within the window have their places in the quota,
// the latest last. A prompt counts from its deadline: the service got it before that. What a person has sent again
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
WHERE p.project = q.project AND p.deadline > $1 AND `+database.WasSent+` ORDER BY p.project, p.deadline`,
		now.Add(-s.Window).UnixNano())
	return places, err
}

// sendingTime is about how long the prompts of a project take that are sent one after the other.
const sendingTime = 3 * time.Second

// lastOf returns about when the last of n prompts is sent if the first may be at start. The places of the quota, the
// earliest first, stay taken for a window.
func lastOf(n int, places []time.Time, window time.Duration, start time.Time) time.Time {
	place := later(places[(n-1)%len(places)], start)
	last := place.Add(time.Duration((n-1)/len(places)) * window)
	return later(last, start.Add(time.Duration(n)*sendingTime))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

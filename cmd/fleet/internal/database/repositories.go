package database

import (
	"context"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// StopRepository sends nothing of a repository until a person resumes it.
func (s Store) StopRepository(ctx context.Context, repository, by string) error {
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_repositories (repository, stopped, stopped_by)
VALUES ($1, `+s.Clock+`, $2) ON CONFLICT (repository) DO UPDATE SET stopped = `+s.Clock+`, stopped_by = $2`,
		repository, by)
	return err
}

// SetDocs stores the repositories that serve leaves out: the documentation's. The last start's count.
func (s Store) SetDocs(ctx context.Context, repositories []string) error {
	_, err := s.ExecContext(ctx, "UPDATE fleet_schema SET docs = $1", strings.Join(repositories, " "))
	return err
}

// Docs returns the repositories that serve leaves out.
func (s Store) Docs(ctx context.Context) ([]string, error) {
	var names string
	err := s.QueryRowContext(ctx, "SELECT docs FROM fleet_schema").Scan(&names)
	return strings.Fields(names), err
}

// WasSent is the condition that the service may have got a prompt after the time that its deadline tells.
const WasSent = "deadline > 0 AND state NOT IN ('pending', 'canceled')"

// limitOf is the row of fleet_repositories with the limit of the prompt p, if there is one.
const limitOf = `CASE WHEN EXISTS (SELECT 1 FROM fleet_repositories o
	WHERE o.repository = p.repository AND o.most >= 0) THEN p.repository ELSE '' END`

// HasLimit is the condition that the prompt p has a limit of the day. Neither messages have one, nor what a person
// sends again.
var HasLimit = hasLimit("")

// IsLimitedSince is the condition that only its limit holds back the prompt p, on a day that began at the time of a
// placeholder, in Unix nanoseconds.
func IsLimitedSince(day string) string {
	return hasLimit(` AND l.most <= (SELECT count(*) FROM fleet_prompts
		WHERE repository = p.repository AND deadline >= ` + day + ` AND thread = '' AND ` + WasSent + `)`)
}

func hasLimit(that string) string {
	return `(p.thread = '' AND p.retried = 0 AND p.repository <> '' AND EXISTS (SELECT 1 FROM fleet_repositories l
	WHERE l.repository = ` + limitOf + ` AND l.most >= 0` + that + `))`
}

// Limit is a limit of the day.
type Limit struct {
	Repository string `json:"repository"` // "" is all that have no limit of their own
	Most       int    `json:"most"`
	Waiting    int    `json:"waiting"` // prompts that wait for tomorrow
}

// DayOf returns when the day of a time began.
func DayOf(t time.Time) time.Time { return t.UTC().Truncate(Day) }

// LimitsToday returns the limits in force.
func (s Store) LimitsToday(ctx context.Context) ([]Limit, error) {
	return All(ctx, s.DB, func(l *Limit) []any { return []any{&l.Repository, &l.Most, &l.Waiting} },
		`SELECT r.repository, r.most, count(w.repository) FROM fleet_repositories r LEFT JOIN (
	SELECT `+limitOf+` AS repository FROM fleet_prompts p WHERE p.state = 'pending' AND `+IsLimitedSince("$1")+`
) w ON w.repository = r.repository WHERE r.most >= 0 GROUP BY r.repository, r.most ORDER BY r.repository`,
		DayOf(time.Now()).UnixNano())
}

// IsStopped is the condition that a person has stopped the repository of the prompt p.
const IsStopped = `EXISTS (SELECT 1 FROM fleet_repositories x WHERE x.repository = p.repository AND x.stopped > 0)`

// NoteRetry notes that a person has a prompt sent again: the limit of a day does not hold it back.
func NoteRetry(ctx context.Context, db once.DB, key string) error {
	_, err := db.ExecContext(ctx, "UPDATE fleet_prompts SET retried = 1, closed = '' WHERE key = $1", key)
	return err
}

// RepositoryReport counts what became of the merges of a repository.
type RepositoryReport struct {
	Repository string `json:"repository"`
	Merges     int    `json:"merges"`   // all prompts but messages
	Jobs       int    `json:"jobs"`     // new ones that the service has, of earlier tries, too
	Messages   int    `json:"messages"` // those that the service got
	Failed     int    `json:"failed"`
	Unknown    int    `json:"unknown"` // sends: nobody knows whether the agent was told
	LeftOut    int    `json:"leftOut"` // merges of the last 30 days
	Refused    int    `json:"refused"` // webhooks whose bodies name it, which nothing proves
	Credits    int    `json:"credits"` // about what the jobs and messages have cost

	CreditsAreEstimated bool `json:"creditsAreEstimated"`
}

// CreditsEach is an estimate for a job or a message: the published average of runs from the editor or Slack. For
// the API no number is published.
const CreditsEach = 112

var reportQuery = `SELECT repository, sum(merges), sum(jobs), sum(messages), sum(failed), sum(unknown), sum(left_out),
	sum(refused), sum(jobs + messages) * $4, 1 = 1
FROM (
	SELECT p.repository,
		CASE WHEN p.thread = '' THEN 1 ELSE 0 END AS merges,
		CASE WHEN p.thread = '' AND ` + hasJob + ` THEN 1 ELSE 0 END + CASE WHEN p.thread = '' THEN ` + earlierJobs + `
			ELSE 0 END AS jobs,
		CASE WHEN p.thread <> '' AND ` + hasJob + ` THEN 1 ELSE 0 END AS messages,
		CASE WHEN p.state = 'failed' OR p.closed = 'failed' THEN 1 ELSE 0 END + ` +
	sentAgainAfter("failed") + ` AS failed,
		CASE WHEN p.state = 'unknown' THEN 1 ELSE 0 END + ` + sentAgainAfter("unknown") + ` AS unknown,
		0 AS left_out, 0 AS refused
	FROM fleet_prompts p WHERE p.added >= $3
	UNION ALL
	SELECT repository, 0, 0, 0, 0, 0, count(DISTINCT sha), 0 FROM fleet_left_out
	WHERE kind = 'merge' AND at >= $1 GROUP BY repository
	UNION ALL
	SELECT repository, 0, 0, 0, 0, 0, 0, n FROM fleet_refused WHERE day >= $1 - 86400000
) counted WHERE repository = $2 OR $2 = '' GROUP BY repository ORDER BY repository`

// Report counts by repository what was added since a time.
func (s Store) Report(ctx context.Context, since time.Time, repository string) ([]RepositoryReport, error) {
	return All(ctx, s.DB, func(r *RepositoryReport) []any {
		return []any{&r.Repository, &r.Merges, &r.Jobs, &r.Messages, &r.Failed, &r.Unknown, &r.LeftOut, &r.Refused,
			&r.Credits, &r.CreditsAreEstimated}
	}, reportQuery, since.UnixMilli(), repository, since.UnixNano(), CreditsEach)
}

// hasJob is the condition that the service has acted on the prompt p.
const hasJob = `p.state <> 'unknown' AND (p.job <> '' OR p.state = 'done' AND p.pr_link <> '')`

// earlierJobs is how many jobs the prompt p had before the one that it has now, as far as its history tells.
const earlierJobs = `(SELECT count(DISTINCT h.job) FROM fleet_history h
	WHERE h.key = p.key AND h.job <> '' AND h.job <> p.job)`

// sentAgainAfter is how often a person has had the prompt p sent again after a state, as far as its history tells.
func sentAgainAfter(state string) string {
	return `(SELECT count(DISTINCT h.version) FROM fleet_history h WHERE h.key = p.key AND h.state = '` + state + `'
	AND (SELECT n.state FROM fleet_history n WHERE n.key = h.key AND n.version > h.version
		ORDER BY n.version LIMIT 1) = 'pending')`
}

// CountRefused counts a webhook that was refused, by the repository that its body names, "" if it names none. Anybody
// can name one, so that a day has not more than some.
func (s Store) CountRefused(ctx context.Context, repository string, status int) error {
	const mostNamed = 1000
	day := DayOf(time.Now())
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_refused (day, repository, status, n)
SELECT $1, CASE WHEN count(*) < $4 THEN $2 ELSE '' END, $3, 1 FROM fleet_refused WHERE day = $1
ON CONFLICT (day, repository, status) DO UPDATE SET n = fleet_refused.n + 1`,
		Millis(&day), repository, status, mostNamed)
	return err
}

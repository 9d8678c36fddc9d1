package database

import (
	"context"
	"database/sql"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// RepositoryReport counts what became of the merges of a repository.
type RepositoryReport struct {
	Repository string `json:"repository"`

	// Merges counts all prompts but messages.
	Merges int `json:"merges"`

	// Jobs and Messages count what reached the service: new jobs, and messages to jobs.
	Jobs     int `json:"jobs"`
	Messages int `json:"messages"`

	Failed int `json:"failed"`

	// Unknown counts the prompts of which nobody knows whether the agent was told.
	Unknown int `json:"unknown"`

	// LeftOut counts the merges of the last 30 days that were left out.
	LeftOut int `json:"leftOut"`

	// Credits is what the jobs and messages have cost.
	Credits int `json:"credits"`
}

// CreditsEach is an estimate for a job or a message: the published average of runs from the editor or Slack. For
// the API no number is published.
const CreditsEach = 112

const reportQuery = `SELECT repository, sum(merges), sum(jobs), sum(messages), sum(failed), sum(unknown), sum(left_out)
FROM (
	SELECT p.repository,
		CASE WHEN p.thread = '' THEN 1 ELSE 0 END AS merges,
		CASE WHEN p.thread = '' AND ` + hasJob + ` THEN 1 ELSE 0 END AS jobs,
		CASE WHEN p.thread <> '' AND ` + hasJob + ` THEN 1 ELSE 0 END AS messages,
		CASE WHEN p.state = 'failed' OR p.closed = 'failed' THEN 1 ELSE 0 END AS failed,
		CASE WHEN p.state = 'unknown' THEN 1 ELSE 0 END AS unknown, 0 AS left_out
	FROM fleet_prompts p WHERE p.added >= $3
	UNION ALL
	SELECT repository, 0, 0, 0, 0, 0, count(DISTINCT sha) FROM fleet_left_out
	WHERE kind = 'merge' AND at >= $1 GROUP BY repository
) counted WHERE repository = $2 OR $2 = '' GROUP BY repository ORDER BY repository`

// Report counts by repository what was added since a time.
func (s Store) Report(ctx context.Context, since time.Time, repository string) ([]RepositoryReport, error) {
	return sqldb.All(ctx, s.DB, func(rows *sql.Rows) (RepositoryReport, error) {
		var r RepositoryReport
		err := rows.Scan(&r.Repository, &r.Merges, &r.Jobs, &r.Messages, &r.Failed, &r.Unknown, &r.LeftOut)
		r.Credits = CreditsEach * (r.Jobs + r.Messages)
		return r, err
	}, reportQuery, since.UnixMilli(), repository, since.UnixNano())
}

// hasJob is the condition that the service has acted on the prompt p.
const hasJob = `p.state <> 'unknown' AND (p.job <> '' OR p.state = 'done' AND p.pr_link <> '')`

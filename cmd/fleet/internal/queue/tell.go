package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	// TellTime is how long telling one result may take.
	TellTime  = 10 * time.Second
	tellEvery = time.Minute      // results within it are gathered
	tellAgain = 80 * time.Second // after a failure
	tellMost  = 20               // in a message

	// tellJob is how long a job may take that tells.
	tellJob = TellTime*tellMost + 2*database.StoreTime
)

// Teller tells people how prompts ended, and returns the rows that it told.
type Teller func(ctx context.Context, rows []database.Row) (told []database.Row, err error)

// Sentence returns the result in words, with the service's words quoted at its end.
func Sentence(r database.Row) string {
	text := string(r.State)
	switch {
	case r.State == once.Running:
		text = "the agent has been at work for more than a day. Somebody has to look: `fleet status` says how"
	case r.State == once.Unknown:
		text = "it is unknown whether the agent was told. Somebody has to look: `fleet status` says how"
	case r.State == once.Done && r.PRLink == "":
		text = "done, without a pull request (nothing changed, or the project publishes without a review)"
	case r.State == once.Done:
		text = "done, " + safetext.OneLine(r.PRLink, 500)
	}

	if r.Problem != "" && r.State != once.Done {
		text += ": `" + strings.ReplaceAll(safetext.OneLine(r.Problem, 500), "`", "'") + "`"
	}
	return "Docs for " + r.Key + ": " + text
}

// teller is River's worker of the job that tells.
type teller struct {
	river.WorkerDefaults[TellArgs]
	*Worker
}

// Work implements [river.Worker].
func (t *teller) Work(ctx context.Context, job *river.Job[TellArgs]) error { return t.Tell(ctx, job) }

// Timeout implements [river.Worker].
func (*teller) Timeout(*river.Job[TellArgs]) time.Duration { return tellJob }

// Tell tells results that are 7 days old at most, and of jobs that have been running for more than a day, at least
// once. River's unique jobs keep it alone: the first result goes at once, and those that end while the job then waits
// go together.
func (w *Worker) Tell(ctx context.Context, _ *river.Job[TellArgs]) error {
	if w.results == nil {
		return nil
	}
	rows, err := w.Untold(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}

	now := time.Now().UnixNano()
	for _, r := range rows { // they wait for those whose result came before now, should they fail
		_, err := w.ExecContext(ctx, "UPDATE fleet_prompts SET tried = $2 WHERE key = $1", r.Key, now)
		if err != nil {
			return err
		}
	}

	telling, cancel := context.WithTimeout(ctx, TellTime*time.Duration(len(rows)))
	defer cancel()
	told, tellErr := w.results(telling, rows)
	if err := w.noteTold(ctx, told); err != nil {
		return err
	}
	if err := w.noteRefusals(ctx, rows, tellErr); err != nil {
		return err
	}

	if tellErr != nil {
		w.Logger.Warn("results could not be told; they are told again for 7 days",
			"results", len(rows)-len(told), "error", tellErr)
		return river.JobSnooze(tellAgain)
	}
	return river.JobSnooze(tellEvery)
}

// Refusals are why results cannot be told unless a person mends something, by key.
type Refusals map[string]string

// Error implements error.
func (r Refusals) Error() string { return fmt.Sprintf("%d results are refused", len(r)) }

// noteRefusals notes at once which of the rows are refused, and why: a person need not wait until it is known that
// trying again does not help.
func (w *Worker) noteRefusals(ctx context.Context, rows []database.Row, err error) error {
	refusals, _ := errors.AsType[Refusals](err)
	for _, r := range rows {
		if refusals[r.Key] == r.Refusal {
			continue
		}
		_, err := w.ExecContext(ctx, "UPDATE fleet_prompts SET refusal = $2 WHERE key = $1", r.Key, refusals[r.Key])
		if err != nil {
			return err
		}
	}
	return nil
}

// noteTold notes what was told, even if the process is to stop. With the version nobody stores what was told before.
func (w *Worker) noteTold(ctx context.Context, told []database.Row) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), database.StoreTime)
	defer cancel()

	for _, r := range told {
		_, err := w.ExecContext(ctx, `UPDATE fleet_prompts SET told = $2, version = version + 1
WHERE key = $1 AND state = $2`, r.Key, string(r.State))
		if err != nil {
			return err
		}
	}
	return nil
}

// isUntold is the condition that nobody got the result of a prompt yet, which is not older than 7 days, $1, or that
// nobody knows of a job that runs since before a day, $2.
const isUntold = database.IsUntold + `
	AND (state IN ('done', 'failed', 'refused', 'unknown') AND updated > $1 OR state = 'running' AND updated < $2)`

func untoldArgs() []any {
	now := time.Now()
	return []any{now.Add(-7 * database.Day).UnixNano(), now.Add(-database.Day).UnixNano()}
}

// Untold returns rows whose result nobody got yet: first the one that ended, or was tried, the longest ago.
func (s Queue) Untold(ctx context.Context) ([]database.Row, error) {
	return s.Rows(ctx, isUntold+`
ORDER BY CASE WHEN tried > updated THEN tried ELSE updated END, updated LIMIT $3`, append(untoldArgs(), tellMost)...)
}

// CountUntold counts the results that nobody got yet.
func CountUntold(ctx context.Context, db once.DB) (int64, error) {
	return sqldb.Number(ctx, db, "SELECT count(*) FROM fleet_prompts WHERE "+isUntold, untoldArgs()...)
}

// ToldInVain is the condition on prompts that ended less than 7 days ago, at $2, and whose result could not be told:
// for more than an hour, at $1, or because GitHub refuses it.
const ToldInVain = database.IsUntold + `
	AND state IN ('done', 'failed', 'refused', 'unknown') AND tried > updated AND (updated < $1 OR refusal <> '')
	AND updated > $2`

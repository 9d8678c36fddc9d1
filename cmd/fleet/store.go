package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// store is the table of prompts: each way from one state to another is one of its
// methods, and one transaction. River only says when to look at a row.
type store struct {
	database
}

// errNoRow is a key that the table does not have.
var errNoRow = errors.New("no such key")

// errMoved is a row that another process has taken on in the meantime.
var errMoved = errors.New("the prompt is no longer where it was")

// add stores prompts, each with a River job in the same transaction. A key that is
// there already adds nothing, though it may tell a pull request not known before.
func (s store) add(ctx context.Context, prompts ...prompt) (added int, err error) {
	for _, p := range prompts {
		if err := p.check(); err != nil {
			return 0, err
		}
	}
	// In one order everywhere, or two processes could wait for each other.
	prompts = slices.SortedFunc(slices.Values(prompts), func(a, b prompt) int { return strings.Compare(a.Key, b.Key) })
	err = s.transact(ctx, "", func(tx *tx) error {
		var keys []string
		for _, p := range prompts {
			inserted, err := tx.exec(ctx, `
INSERT INTO fleet_prompts (key, project, prompt, pull, state, changed_at) VALUES ($1, $2, $3, $4, 'queued', {now})
ON CONFLICT (key) DO NOTHING`, p.Key, p.Project, p.Prompt, p.Pull)
			if err == nil && inserted == 0 && p.Pull != "" {
				_, err = tx.exec(ctx, `UPDATE fleet_prompts SET pull = $2 WHERE key = $1 AND pull = ''`, p.Key, p.Pull)
			}
			if err != nil {
				return fmt.Errorf("store %s: %w", p.Key, err)
			}
			if inserted > 0 {
				keys = append(keys, p.Key)
			}
		}
		added = len(keys)
		return tx.schedule(ctx, keys)
	})
	return added, err
}

// schedule gives each key a new River job, which replaces the one that it had.
func (t *tx) schedule(ctx context.Context, keys []string) error {
	ids, err := t.insert(ctx, keys)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if _, err := t.exec(ctx, `UPDATE fleet_prompts SET river_job = $2, open = 1 WHERE key = $1`, key, ids[i]); err != nil {
			return err
		}
	}
	return nil
}

const columns = `key, project, pull, state, sends, sent_at, job_id, pr_link, problem, changed_at, {now} - changed_at, open, river_job`

func scanRow(scan scanner) (row, error) {
	var r row
	var sentAt, changedAt, age, open int64
	err := scan(&r.Key, &r.Project, &r.Pull, &r.State, &r.Sends, &sentAt, &r.JobID, &r.PRLink, &r.Problem, &changedAt, &age, &open, &r.riverJob)
	if sentAt != 0 {
		r.SentAt = time.UnixMilli(sentAt).UTC()
	}
	r.Changed = time.UnixMilli(changedAt).UTC()
	r.age = time.Duration(age) * time.Millisecond
	r.open = open != 0
	return r, err
}

func rowOf(ctx context.Context, q querier, key string) (row, error) {
	rows, err := rowsOf(ctx, q, "WHERE key = $1", key)
	if err == nil && len(rows) == 0 {
		err = errNoRow
	}
	if err != nil {
		return row{}, fmt.Errorf("read %s: %w", key, err)
	}
	return rows[0], nil
}

func rowsOf(ctx context.Context, q querier, where string, args ...any) (rows []row, err error) {
	err = q.query(ctx, func(scan scanner) error {
		r, err := scanRow(scan)
		rows = append(rows, r)
		return err
	}, "SELECT "+columns+" FROM fleet_prompts "+where, args...)
	return rows, err
}

// quota is how many prompts may be sent in a window, per project and over all
// processes.
type quota struct {
	sends  int
	window time.Duration
}

// intend puts on record that r is about to be sent, and returns it with the prompt.
// Where the project's quota is used up it returns instead how long until a place is
// free. grace is how long the send may stay without a response.
func (s store) intend(ctx context.Context, r row, q quota, grace time.Duration) (intent row, prompt string, full time.Duration, err error) {
	intent = r
	err = s.transact(ctx, "project "+r.Project, func(tx *tx) error {
		if full, err = q.full(ctx, tx, r.Project); err != nil || full > 0 {
			return err
		}
		found := false
		err := tx.query(ctx, func(scan scanner) error {
			found, intent.State = true, sending
			var sentAt int64
			err := scan(&intent.Sends, &sentAt, &prompt)
			intent.SentAt = time.UnixMilli(sentAt).UTC()
			return err
		}, `
UPDATE fleet_prompts SET state = 'sending', sends = sends + 1, sent_at = {now}, expires_at = {now} + $3, changed_at = {now}, problem = ''
WHERE key = $1 AND sends = $2 AND state = 'queued' RETURNING sends, sent_at, prompt`, r.Key, r.Sends, grace.Milliseconds())
		if err == nil && !found {
			err = errMoved
		}
		return err
	})
	return intent, prompt, full, err
}

// full returns how long it is until the project has a place free, 0 if it has one.
func (q quota) full(ctx context.Context, tx *tx, project string) (full time.Duration, err error) {
	err = tx.query(ctx, func(scan scanner) error {
		var milliseconds int64
		err := scan(&milliseconds)
		full = time.Duration(max(milliseconds, 1)) * time.Millisecond
		return err
	}, `
SELECT sent_at + $2 - {now} FROM fleet_prompts WHERE project = $1 AND sent_at > {now} - $2
ORDER BY sent_at DESC LIMIT 1 OFFSET $3`, project, q.window.Milliseconds(), q.sends-1)
	return full, err
}

// revise says what the response to r, an intent, was: r in the state that follows. That
// holds for a send that was given up in the meantime, too, and for one that a person
// has queued again if the service has accepted it after all. It is errMoved where
// another intent has come after.
func (s store) revise(ctx context.Context, r row) error {
	from := []state{sending}
	if r.State == waiting {
		from = append(from, queued)
	}
	return s.transact(ctx, "", func(tx *tx) error {
		err := tx.move(ctx, r, from...)
		if !errors.Is(err, errMoved) {
			return err
		}
		if err := tx.move(ctx, r, unknown); err != nil {
			return err
		}
		return tx.schedule(ctx, []string{r.Key})
	})
}

// settle takes r on from a state to the one it says.
func (s store) settle(ctx context.Context, r row, from state) error {
	return s.transact(ctx, "", func(tx *tx) error { return tx.move(ctx, r, from) })
}

// note notes a problem of r as it stands.
func (s store) note(ctx context.Context, r row, problem string) error {
	_, err := s.exec(ctx, `UPDATE fleet_prompts SET problem = $4 WHERE key = $1 AND sends = $2 AND state = $3`, r.Key, r.Sends, string(r.State), problem)
	return err
}

// close notes that nothing is left to do for r, as long as it is in this state.
func (s store) close(ctx context.Context, r row) error {
	_, err := s.exec(ctx, `UPDATE fleet_prompts SET open = 0 WHERE key = $1 AND sends = $2 AND state = $3`, r.Key, r.Sends, string(r.State))
	return err
}

// move takes r to the state it says, if it is in one of from and has had no other
// intent since.
func (t *tx) move(ctx context.Context, r row, from ...state) error {
	places := make([]string, len(from))
	values := []any{r.Key, r.Sends, string(r.State), milliseconds(r.SentAt), r.JobID, r.PRLink, r.Problem}
	for i, state := range from {
		values = append(values, string(state))
		places[i] = fmt.Sprintf("$%d", len(values))
	}
	changed, err := t.exec(ctx, `
UPDATE fleet_prompts SET state = $3, sent_at = $4, job_id = $5, pr_link = $6, problem = $7, changed_at = {now}
WHERE key = $1 AND sends = $2 AND state IN (`+strings.Join(places, ", ")+`)`, values...)
	if err == nil && changed == 0 {
		err = errMoved
	}
	return err
}

// sweep gives up the sends whose sender has not come back in time, and gives a new
// River job to each row that has work left and no River job to do it: one that River
// has discarded or cleaned up, or whose worker has died. stuck is how long a River job
// can take at most.
func (s store) sweep(ctx context.Context, stuck time.Duration) (givenUp, lost []string, err error) {
	collect := func(keys *[]string) func(scanner) error {
		return func(scan scanner) error {
			var key string
			err := scan(&key)
			*keys = append(*keys, key)
			return err
		}
	}
	err = s.transact(ctx, "sweep", func(tx *tx) error {
		err := tx.query(ctx, collect(&givenUp), `
UPDATE fleet_prompts SET state = 'unknown', changed_at = {now}, problem = 'the sender stopped before it heard from the service'
WHERE open = 1 AND state = 'sending' AND expires_at < {now} RETURNING key`)
		if err == nil {
			err = tx.schedule(ctx, givenUp)
		}
		if err == nil {
			err = tx.query(ctx, collect(&lost), `
SELECT p.key FROM fleet_prompts p WHERE p.open = 1 AND NOT EXISTS (
	SELECT 1 FROM river_job j WHERE j.id = p.river_job AND (
		j.state IN ('available', 'pending', 'retryable', 'scheduled') OR j.state = 'running' AND {attempted} > {now} - $1))
LIMIT 1000`, stuck.Milliseconds())
		}
		if err == nil {
			err = tx.schedule(ctx, lost)
		}
		return err
	})
	return givenUp, lost, err
}

// retry does what a person has decided of a prompt that is unknown or failed: send it
// again or, with a job's id, wait for that job.
func (s store) retry(ctx context.Context, key, jobID string) error {
	return s.transact(ctx, "", func(tx *tx) error {
		r, err := rowOf(ctx, tx, key)
		if err != nil {
			return err
		}
		was := r.State
		r.State, r.JobID, r.PRLink, r.Problem = queued, jobID, "", ""
		if jobID != "" {
			r.State = waiting
		}
		if err := tx.move(ctx, r, unknown, failed); errors.Is(err, errMoved) {
			return fmt.Errorf("%s is %s: only what is unknown or failed can be tried again", key, was)
		} else if err != nil {
			return err
		}
		return tx.schedule(ctx, []string{key})
	})
}

// maxAttention is how many prompts are listed for a person.
const maxAttention = 100

// attention returns what needs a person, newest first.
func (s store) attention(ctx context.Context) ([]row, error) {
	return rowsOf(ctx, s, `WHERE state IN ('unknown', 'failed') OR state IN ('queued', 'waiting') AND problem != ''
ORDER BY changed_at DESC, key LIMIT $1`, maxAttention)
}

// counts returns how many prompts are in each state.
func (s store) counts(ctx context.Context) (map[state]int, error) {
	counts := map[state]int{queued: 0, sending: 0, waiting: 0, done: 0, failed: 0, unknown: 0}
	return counts, s.query(ctx, func(scan scanner) error {
		var state state
		var n int
		err := scan(&state, &n)
		counts[state] = n
		return err
	}, `SELECT state, count(*) FROM fleet_prompts GROUP BY state`)
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	maxPrompt = 64 << 10        // bytes
	storeTime = 5 * time.Second // at most, for what is stored after a POST
	day       = 24 * time.Hour  // after it a person should look at a job that still runs
)

// prompt is what the agent is to do, once per key.
type prompt struct {
	Key      string   `json:"key"`                // owner/repo@sha for a merge
	Project  string   `json:"project"`            // the service's project id
	Prompt   string   `json:"prompt"`             // the instruction for the agent
	Pull     string   `json:"pull,omitempty"`     // the merged pull requests, owner/repo#7, which get a comment
	Priority int      `json:"priority,omitempty"` // 1 is the most urgent, 4 the least; 2 unless set
	commits  []string // keys of the other commits of a push
	line     int      // of the input
}

// check says what is wrong with p before anything is stored.
func (p *prompt) check() error {
	if p.Priority == 0 {
		p.Priority = 2
	}
	runner, err := once.New(nil, once.NewMemory())
	if err == nil { // package once has the rules of a key and a prompt
		_, _, err = runner.Add(context.Background(), once.Task{Key: p.Key, Prompt: p.Prompt})
	}
	if err == nil {
		_, err = mintlify.NewClient("any-key", p.Project)
	}
	switch {
	case err != nil:
	case len(p.Prompt) > maxPrompt:
		err = fmt.Errorf("the prompt is %d bytes, want at most %d", len(p.Prompt), maxPrompt)
	case p.Priority < 1 || p.Priority > 4:
		err = fmt.Errorf("the priority is %d, want 1 to 4", p.Priority)
	}
	for _, pull := range strings.Fields(p.Pull) {
		if _, _, _, pullErr := parsePull(pull); err == nil {
			err = pullErr
		}
	}
	if err != nil {
		return fmt.Errorf("key %s: %w", redact.OneLine(p.Key, 300), err)
	}
	return nil
}

// owner/repo as GitHub allows it is also safe in a URL and in a key.
const repositoryForm = `([\w-]{1,39})/([\w.-]{0,99}[\w-][\w.-]{0,99})`

var (
	repository = regexp.MustCompile("^" + repositoryForm + "$")
	pullForm   = regexp.MustCompile("^" + repositoryForm + `#([1-9]\d{0,8})$`)
)

func parsePull(text string) (owner, repo string, number int, err error) {
	parts := pullForm.FindStringSubmatch(text)
	if parts == nil {
		return "", "", 0, fmt.Errorf("the pull request %.80q does not have the form owner/repo#7", text)
	}
	number, err = strconv.Atoi(parts[3])
	return parts[1], parts[2], number, err
}

// promptArgs is all that River keeps of a prompt.
type promptArgs struct {
	Key string `json:"key"`
}

func (promptArgs) Kind() string { return "fleet_prompt" }

// tellArgs tells results.
type tellArgs struct{}

func (tellArgs) Kind() string { return "fleet_tell" }

// store is the database with what the commands and the workers do to it.
type store struct {
	*database
	settings
	logger *slog.Logger
	calm   *slog.Logger // says once a minute that the database fails
}

func (s store) records() *once.SQL { return once.NewSQL(s.DB) }

// runner returns a runner on the records. It keeps a history, of which a crash may lose a line.
func (s store) runner(client *mintlify.Client, db once.DB) *once.Runner {
	record := func(r once.Record) {
		ctx, cancel := context.WithTimeout(context.Background(), storeTime)
		defer cancel()
		_, err := db.ExecContext(ctx, `INSERT INTO fleet_history (key, version, at, state, job, problem)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key, version) DO NOTHING`,
			r.Key, r.Version, r.Updated.UnixMilli(), string(r.State), r.JobID, r.Problem)
		if err != nil {
			s.calm.Warn("the history lacks a line", "key", r.Key, "version", r.Version, "error", err)
		}
	}
	runner, err := once.New(client, once.NewSQL(db),
		once.WithSendTime(s.SendTime), once.WithLogger(s.logger), once.WithOnChange(record))
	if err != nil {
		panic(err) // the flags allow no such send time
	}
	return runner
}

// add stores prompts that have been checked, and gives each a River job. A key that is there already adds nothing,
// though it may tell a pull request that was not known before.
func (s store) add(ctx context.Context, prompts ...prompt) (added int, err error) {
	var fresh []prompt
	err = s.transact(ctx, func(tx *sql.Tx) error {
		runner := s.runner(nil, tx)
		for _, p := range prompts {
			inserted, err := addRow(ctx, tx, p)
			if err == nil {
				_, _, err = runner.Add(ctx, once.Task{Key: p.Key, Prompt: p.Prompt, Project: p.Project})
			}
			if err != nil {
				return fmt.Errorf("store %s: %w", p.Key, err)
			}
			if inserted {
				fresh = append(fresh, p)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	s.insertJobs(ctx, fresh...)
	return len(fresh), nil
}

func addRow(ctx context.Context, tx *sql.Tx, p prompt) (inserted bool, err error) {
	result, err := tx.ExecContext(ctx, `INSERT INTO fleet_prompts (key, project, pulls, priority, added)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key) DO NOTHING`, p.Key, p.Project, p.Pull, p.Priority, time.Now().UnixMilli())
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	if n == 0 {
		for _, pull := range strings.Fields(p.Pull) {
			if err == nil {
				_, err = tx.ExecContext(ctx, `UPDATE fleet_prompts SET pulls = trim(pulls || ' ' || $2)
WHERE key = $1 AND replace(' ' || pulls || ' ', ' ' || $2 || ' ', '') = ' ' || pulls || ' '`, p.Key, pull)
			}
		}
	}
	for _, commit := range p.commits {
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO fleet_commits (commit_key, key) VALUES ($1, $2)
ON CONFLICT (commit_key) DO NOTHING`, commit, p.Key)
		}
	}
	return n > 0, err
}

// insertJobs gives prompts a River job each, unless they have one with work left. What fails
// here the next pass of a worker does.
func (s store) insertJobs(ctx context.Context, prompts ...prompt) {
	params := make([]river.InsertManyParams, len(prompts))
	for i, p := range prompts {
		params[i] = jobOf(promptArgs{p.Key}, p.Priority)
	}
	s.insert(ctx, params...)
}

// jobOf returns a job that is unique by its args. Attempts do not limit it: a rescue costs
// one for good.
func jobOf(args river.JobArgs, priority int) river.InsertManyParams {
	open := []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending,
		rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}
	return river.InsertManyParams{Args: args, InsertOpts: &river.InsertOpts{
		MaxAttempts: 10_000, Priority: priority, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: open}}}
}

func (s store) insert(ctx context.Context, params ...river.InsertManyParams) {
	if len(params) == 0 || ctx.Err() != nil {
		return
	}
	if _, err := s.queue.InsertMany(ctx, params); err != nil && ctx.Err() == nil {
		s.calm.Warn("no job was inserted: a worker's next pass will", "error", err)
	}
}

// row is a record with what fleet knows of it.
type row struct {
	once.Record
	Pulls    string
	Priority int
	Added    time.Time
}

// isOverdue reports whether a person should look at a job that does not end. Package once
// stores a running record only if something changes.
func (r row) isOverdue() bool { return r.State == once.Running && time.Since(r.Updated) > day }

// rows returns the rows that a condition chooses. CROSS keeps SQLite from a scan of all prompts.
func (s store) rows(ctx context.Context, where string, args ...any) (rows []row, err error) {
	err = scan(ctx, s.DB, func(found *sql.Rows) error {
		var r row
		var added int64
		var record []byte
		if err := found.Scan(&record, &r.Project, &r.Pulls, &r.Priority, &added); err != nil {
			return err
		}
		r.Added = time.UnixMilli(added).UTC()
		err := json.Unmarshal(record, &r.Record)
		rows = append(rows, r)
		return err
	}, `SELECT o.record, p.project, p.pulls, p.priority, p.added
FROM mintlify_once o CROSS JOIN fleet_prompts p WHERE p.key = o.key AND `+where, args...)
	return rows, err
}

// row returns the row of a key, and an error if there is none.
func (s store) row(ctx context.Context, key string) (row, error) {
	rows, err := s.rows(ctx, "o.key = $1", key)
	if err == nil && len(rows) == 0 {
		err = usageError("no prompt has the key %s", redact.OneLine(key, 300))
	}
	return append(rows, row{})[0], err
}

// choose returns the rows in a state and of a project, or any if that is "".
func (s store) choose(ctx context.Context, name, project string) ([]row, error) {
	state, err := stateOf(name)
	if err != nil {
		return nil, err
	}
	return s.rows(ctx, `(o.state = $1 OR $1 = '') AND (p.project = $2 OR $2 = '')
ORDER BY p.project, p.priority, p.added, p.key`, string(state), project)
}

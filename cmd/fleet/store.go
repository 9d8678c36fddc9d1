package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	maxPrompt = 64 << 10        // bytes
	overdue   = 24 * time.Hour  // after which a person should look at a job that still runs
	forever   = int64(1) << 62  // a pause that a person has to end
	needs     = 5 * time.Second // at most, for what is stored after a POST
)

// prompt is what the agent is to do, once per key.
type prompt struct {
	Key      string   `json:"key"`                // owner/repo@sha for a merge
	Project  string   `json:"project"`            // the service's project id
	Prompt   string   `json:"prompt"`             // the instruction for the agent
	Pull     string   `json:"pull,omitempty"`     // the merged pull requests, owner/repo#7, for a comment with the result
	Priority int      `json:"priority,omitempty"` // 1 is the most urgent, 4 the least; 2 unless set
	commits  []string // keys of the other commits of a push
}

// check says what is wrong with p before anything is stored.
func (p *prompt) check() error {
	if p.Priority == 0 {
		p.Priority = 2
	}
	runner, err := once.New(nil, once.NewMemory())
	if err == nil { // the rules of a key and a prompt are those of package once
		_, _, err = runner.Add(context.Background(), once.Task{Key: p.Key, Prompt: p.Prompt})
	}
	if err == nil {
		_, err = mintlify.NewClient("any-key", p.Project)
	}
	switch {
	case err != nil:
	case len(p.Prompt) > maxPrompt:
		err = fmt.Errorf("the prompt is %d bytes, want at most %d", len(p.Prompt), maxPrompt)
	case !utf8.ValidString(p.Prompt) || strings.ContainsRune(p.Prompt, 0):
		err = errors.New("the prompt is not text in UTF-8")
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

// repository is owner/repo as GitHub allows it, which is also safe in a URL and in a key.
var repository = regexp.MustCompile(`^[\w.-]{1,39}/[\w.-]{1,100}$`)

func isRepository(name string) bool {
	return repository.MatchString(name) && !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.Trim(part, ".") == "" })
}

func parsePull(text string) (owner, repo string, number int, err error) {
	name, digits, _ := strings.Cut(text, "#")
	owner, repo, _ = strings.Cut(name, "/")
	number, err = strconv.Atoi(digits)
	if err != nil || number < 1 || strconv.Itoa(number) != digits || !isRepository(name) {
		return "", "", 0, fmt.Errorf("the pull request %.80q is not of the form owner/repo#7", text)
	}
	return owner, repo, number, nil
}

// promptArgs is all that River keeps of a prompt.
type promptArgs struct {
	Key string `json:"key"`
}

func (promptArgs) Kind() string { return "fleet_prompt" }

// tellArgs tells results.
type tellArgs struct{}

func (tellArgs) Kind() string { return "fleet_tell" }

// jobOptions allow one job per args that has work left. Attempts are no limit: a rescue
// costs one for good.
func jobOptions(priority int) *river.InsertOpts {
	return &river.InsertOpts{MaxAttempts: 10_000, Priority: priority, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}}}
}

// store is the database with what the commands and the workers do to it.
type store struct {
	*database
	logger *slog.Logger
	calm   *slog.Logger // says once a minute that the database fails
}

// runner returns a runner on the records. It keeps a history, of which a crash may lose a line.
func (s store) runner(client *mintlify.Client, db once.DB, sendTime time.Duration) *once.Runner {
	runner, err := once.New(client, once.NewSQL(db), once.WithSendTime(sendTime), once.WithLogger(s.logger), once.WithOnChange(func(r once.Record) {
		ctx, cancel := context.WithTimeout(context.Background(), needs)
		defer cancel()
		_, err := db.ExecContext(ctx, "INSERT INTO fleet_history (key, version, at, state, job, problem) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key, version) DO NOTHING",
			r.Key, r.Version, r.Updated.UnixMilli(), string(r.State), r.JobID, r.Problem)
		if err == nil && r.State == once.Running {
			_, err = db.ExecContext(ctx, "UPDATE fleet_prompts SET running_job = $2, running_at = $3 WHERE key = $1 AND running_job <> $2", r.Key, r.JobID, r.Updated.UnixMilli())
		}
		if err != nil {
			s.calm.Warn("the history lacks a line", "key", r.Key, "version", r.Version, "error", err)
		}
	}))
	if err != nil {
		panic(err) // the flags allow no such send time
	}
	return runner
}

// person returns the runner of a command that decides without sending.
func (s store) person(client *mintlify.Client) *once.Runner {
	return s.runner(client, s.DB, time.Minute)
}

func (s store) records() *once.SQL { return once.NewSQL(s.DB) }

// add stores prompts. A key that is there already adds nothing, though it may tell a pull
// request that was not known before.
func (s store) add(ctx context.Context, prompts ...prompt) (added int, err error) {
	for i := range prompts {
		if err := prompts[i].check(); err != nil {
			return 0, err
		}
	}
	// In one order everywhere, or two processes could wait for each other.
	prompts = slices.SortedFunc(slices.Values(prompts), func(a, b prompt) int { return strings.Compare(a.Key, b.Key) })
	var fresh []prompt
	err = s.transact(ctx, false, func(tx *sql.Tx) error {
		fresh = nil
		runner := s.runner(nil, tx, time.Minute)
		for _, p := range prompts {
			inserted, err := s.addRow(ctx, tx, p)
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
	if err == nil {
		s.insertJobs(ctx, fresh)
	}
	return len(fresh), err
}

func (s store) addRow(ctx context.Context, tx *sql.Tx, p prompt) (inserted bool, err error) {
	result, err := tx.ExecContext(ctx, "INSERT INTO fleet_prompts (key, project, pulls, priority, added) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key) DO NOTHING",
		p.Key, p.Project, p.Pull, p.Priority, time.Now().UnixMilli())
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 && p.Pull != "" {
		err = addPulls(ctx, tx, p)
	}
	for _, commit := range p.commits {
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO fleet_commits (commit_key, key) VALUES ($1, $2) ON CONFLICT (commit_key) DO NOTHING", commit, p.Key)
		}
	}
	return n > 0, err
}

func addPulls(ctx context.Context, tx *sql.Tx, p prompt) error {
	var known string
	if err := tx.QueryRowContext(ctx, "SELECT pulls FROM fleet_prompts WHERE key = $1", p.Key).Scan(&known); err != nil {
		return err
	}
	pulls := strings.Fields(known)
	for _, pull := range strings.Fields(p.Pull) {
		if !slices.Contains(pulls, pull) {
			pulls = append(pulls, pull)
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE fleet_prompts SET pulls = $2 WHERE key = $1", p.Key, strings.Join(pulls, " "))
	return err
}

// insertJobs gives prompts a River job each, unless they have one. What fails here the
// next pass of a worker does.
func (s store) insertJobs(ctx context.Context, prompts []prompt) {
	params := make([]river.InsertManyParams, len(prompts))
	for i, p := range prompts {
		params[i] = river.InsertManyParams{Args: promptArgs{p.Key}, InsertOpts: jobOptions(p.Priority)}
	}
	s.insert(ctx, params...)
}

func (s store) insert(ctx context.Context, params ...river.InsertManyParams) {
	if len(params) == 0 {
		return
	}
	if _, err := s.queue.InsertMany(ctx, params); err != nil && ctx.Err() == nil {
		s.calm.Warn("no job was inserted: a worker's next pass will", "error", err)
	}
}

// row is a record with what fleet knows of it.
type row struct {
	once.Record
	Pulls     string
	Priority  int
	Added     time.Time
	RunningAt time.Time // zero unless it is running
}

// isOverdue reports whether a person should look at a job that does not end.
func (r row) isOverdue() bool {
	return r.State == once.Running && !r.RunningAt.IsZero() && time.Since(r.RunningAt) > overdue
}

// rows returns the rows that a condition chooses, without their prompts.
func (s store) rows(ctx context.Context, where string, args ...any) (rows []row, err error) {
	found, err := s.QueryContext(ctx, `SELECT o.record, p.project, p.pulls, p.priority, p.added, p.running_at
FROM mintlify_once o CROSS JOIN fleet_prompts p WHERE p.key = o.key AND `+where, args...) // CROSS keeps SQLite from a scan of all prompts
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // Err tells
	for found.Next() {
		var r row
		var added, running int64
		var record []byte
		if err := found.Scan(&record, &r.Project, &r.Pulls, &r.Priority, &added, &running); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(record, &r.Record); err != nil {
			return nil, err
		}
		r.Added = time.UnixMilli(added).UTC()
		if r.State == once.Running && running > 0 {
			r.RunningAt = time.UnixMilli(running).UTC()
		}
		rows = append(rows, r)
	}
	return rows, found.Err()
}

// row returns the row of a key, and an error if there is none.
func (s store) row(ctx context.Context, key string) (row, error) {
	rows, err := s.rows(ctx, "o.key = $1", key)
	if err == nil && len(rows) == 0 {
		err = usageError("no prompt has the key %s", redact.OneLine(key, 300))
	}
	return append(rows, row{})[0], err
}

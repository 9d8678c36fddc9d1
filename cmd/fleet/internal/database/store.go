package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	// StoreTime is the most that storing may take after a POST.
	StoreTime = 5 * time.Second
	// Day is how long a job may run without a change before a person should look at it.
	Day = 24 * time.Hour
)

// Store is the prompts in the database, and what the commands and the workers do to them.
type Store struct {
	*DB
	SendTime time.Duration
	Logger   *slog.Logger
	Calm     *slog.Logger // logs a line a minute at most, for what fails again and again
	Who      string       // makes the changes: a machine, or NAME@HOST of a person's command
}

// Runner returns a runner on the records. It keeps a history, of which a crash may lose a line. It stores nothing
// once a newer fleet has changed the tables.
func (s Store) Runner(client *mintlify.Client) *once.Runner {
	return s.RunnerOf(client, s.Records())
}

// RunnerIn returns a runner on the records in a transaction. It sends nothing.
func (s Store) RunnerIn(tx *sql.Tx) *once.Runner { return s.RunnerOf(nil, s.RecordsIn(tx)) }

// RunnerOf returns a runner on records, such as those of a turn.
func (s Store) RunnerOf(client *mintlify.Client, records Records) *once.Runner {
	runner, err := once.New(client, records, once.WithSendTime(s.SendTime), once.WithLogger(s.Logger),
		once.WithOnChange(func(r once.Record) { s.remember(records.conn(), r) }))
	if err != nil {
		panic(err) // the flags allow no such send time
	}
	return runner
}

func (s Store) remember(db once.DB, r once.Record) {
	ctx, cancel := context.WithTimeout(context.Background(), StoreTime)
	defer cancel()

	_, err := db.ExecContext(ctx, `INSERT INTO fleet_history (id, key, version, at, state, job, problem, who)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		rand.Text(), r.Key, r.Version, r.UpdatedAt.UnixMilli(), string(r.State), Clean(r.JobID),
		Clean(r.Problem), s.Who)
	if err != nil {
		s.Calm.Warn("the history lacks a line", "key", r.Key, "version", r.Version, "error", err)
	}
}

// Enqueue stores prompts that have been checked, and wakes their projects. It returns the records of those that were
// known already. Such a one adds nothing but a pull request that was not known before.
func (s Store) Enqueue(ctx context.Context, prompts ...Prompt) (known []once.Record, err error) {
	err = s.Transact(ctx, func(tx *sql.Tx) error {
		known, err = s.EnqueueIn(ctx, tx, prompts...)
		return err
	})
	return known, err
}

// EnqueueIn does what Enqueue does in a transaction.
func (s Store) EnqueueIn(ctx context.Context, tx *sql.Tx, prompts ...Prompt) (known []once.Record, err error) {
	projects, err := s.projectsOf(ctx, tx, prompts)
	if err != nil {
		return nil, err
	}
	if err := s.LockProjects(ctx, tx, projects...); err != nil {
		return nil, err
	}

	for _, p := range prompts {
		record, isNew, err := s.addOne(ctx, tx, p)
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", p.Key, err)
		}
		if !isNew {
			known = append(known, record)
		}
	}

	if len(known) == len(prompts) {
		return known, nil
	}
	return known, s.WakeSends(ctx, tx, projects...)
}

// projectsOf returns the projects to which prompts go, each once. A message goes to the project of its job.
func (s Store) projectsOf(ctx context.Context, tx *sql.Tx, prompts []Prompt) ([]string, error) {
	var projects []string
	for _, p := range prompts {
		project := p.Project
		if p.After != "" {
			after, err := s.RecordsIn(tx).Get(ctx, p.After)
			if err != nil {
				return nil, err
			}
			project = after.ProjectID
		}

		if project != "" {
			projects = append(projects, project)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(projects))), nil
}

// addOne returns the record of p, and whether it is new.
func (s Store) addOne(ctx context.Context, tx *sql.Tx, p Prompt) (once.Record, bool, error) {
	record, err := s.RecordsIn(tx).Get(ctx, p.Key)
	isForgotten := record.Version > 0 && record.Prompt == ""
	if err != nil || isForgotten {
		return record, false, err
	}

	isNew := false
	if record.Version == 0 {
		if err := checkCommits(ctx, tx, p); err != nil {
			return record, false, err
		}
		record, isNew, err = s.addNew(ctx, tx, p)
	}
	if err != nil {
		return record, false, err
	}
	return record, isNew, addLinks(ctx, tx, p)
}

// ErrTaken is the error of Enqueue if another prompt has a commit of this one. Events of one merge that come at the
// same moment each look before the other has stored anything.
var ErrTaken = errors.New("another prompt has one of its commits")

// checkCommits returns ErrTaken if another prompt has a commit of p. The lock of p's project is held.
func checkCommits(ctx context.Context, tx *sql.Tx, p Prompt) error {
	if p.After != "" {
		return nil
	}

	const query = "SELECT key FROM fleet_commits WHERE commit_key = $1 AND joined = 0"
	for _, commit := range append(slices.Clone(p.Commits), p.Key) {
		keys, err := sqldb.Strings(ctx, tx, query, commit)
		if err != nil {
			return err
		}
		if len(keys) > 0 && keys[0] != p.Key {
			return ErrTaken
		}
	}
	return nil
}

// addNew adds p, unless another has just added it. A message goes to the project of its job.
func (s Store) addNew(ctx context.Context, tx *sql.Tx, p Prompt) (once.Record, bool, error) {
	if err := s.checkAfter(ctx, tx, p); err != nil {
		return once.Record{}, false, err
	}

	task := once.Task{Key: p.Key, Prompt: p.Prompt, ProjectID: p.Project, After: p.After}
	record, isNew, err := s.RunnerIn(tx).Add(ctx, task)
	if err != nil || !isNew {
		return record, false, err
	}

	// A message waits as long as those of its thread that wait already.
	_, err = tx.ExecContext(ctx, `UPDATE fleet_prompts SET repository = $2, priority = $3, queued = $4, author = $5,
	not_before = coalesce((SELECT max(x.not_before) FROM fleet_prompts x
		WHERE x.thread = $6 AND x.thread <> '' AND x.state = 'pending'), 0)
WHERE key = $1`, p.Key, p.Repository(), p.Priority, record.AddedAt.UnixNano(), p.Author, record.Thread)
	return record, true, err
}

// checkAfter refuses a message to the job of a prompt that is not there, or in another project.
func (s Store) checkAfter(ctx context.Context, tx *sql.Tx, p Prompt) error {
	if p.After == "" {
		return nil
	}
	after, err := s.RecordsIn(tx).Get(ctx, p.After)
	if err != nil {
		return err
	}

	if after.Version == 0 {
		return usage.Errorf("no prompt has the key %s, which it is to follow", safetext.OneLine(p.After, 300))
	}
	if p.Project != "" && p.Project != after.ProjectID {
		return usage.Errorf("it follows %s, whose job is in project %s", p.After, after.ProjectID)
	}
	return nil
}

var shaOfKey = regexp.MustCompile(`@([0-9a-f]{7,64})`)

// addLinks makes p known by its pull requests, by its commits, of a push with several by each, and by its authors.
func addLinks(ctx context.Context, tx *sql.Tx, p Prompt) error {
	for _, pull := range strings.Fields(p.Pull) {
		_, err := tx.ExecContext(ctx, `INSERT INTO fleet_pulls (key, pull, place)
SELECT $1, $2, count(*) FROM fleet_pulls WHERE key = $1 ON CONFLICT (key, pull) DO NOTHING`, p.Key, pull)
		if err != nil {
			return err
		}
	}

	if p.After == "" {
		if err := addCommits(ctx, tx, p.Key, append(p.Commits, p.Key), 0); err != nil {
			return err
		}
	}

	for _, author := range p.Authors {
		_, err := tx.ExecContext(ctx, `INSERT INTO fleet_authors (author, key)
SELECT $1, $2 WHERE $1 <> '' ON CONFLICT DO NOTHING`, author, p.Key)
		if err != nil {
			return err
		}
	}
	return nil
}

// addCommits makes a prompt known by the keys of commits. A prompt that tells of a commit takes it from one that it has
// only joined.
func addCommits(ctx context.Context, db once.DB, key string, commits []string, joined int) error {
	for _, commit := range commits {
		sha := shaOfKey.FindStringSubmatch(commit)
		if sha == nil {
			continue
		}
		_, err := db.ExecContext(ctx, `INSERT INTO fleet_commits (commit_key, sha, key, joined) VALUES ($1, $2, $3, $4)
ON CONFLICT (commit_key) DO UPDATE SET key = excluded.key, joined = excluded.joined
	WHERE fleet_commits.joined > excluded.joined`, commit, sha[1], key, joined)
		if err != nil {
			return err
		}
	}
	return nil
}

// JoinCommits makes a prompt known by the keys of commits that it does not tell of.
func (s Store) JoinCommits(ctx context.Context, key string, commits []string) error {
	return addCommits(ctx, s.DB, key, commits, 1)
}

// PutNext stores the next version of a record that package once has no call to make. The history
// says what has changed.
func (s Store) PutNext(ctx context.Context, records Records, record once.Record, change string) error {
	record.Version++
	record.UpdatedAt = time.Now().UTC().Round(0)
	if err := records.Put(ctx, record); err != nil {
		return err
	}

	record.Problem = change
	s.remember(records.conn(), record)
	return nil
}

// ExtendPrompt adds text to a prompt, unless it is sent already.
func (s Store) ExtendPrompt(ctx context.Context, key, text string) error {
	r, err := s.Records().Get(ctx, key)
	if err != nil {
		return err
	}
	if r.State != once.Pending || strings.Contains(r.Prompt, text) || len(r.Prompt)+len(text) > MaxPrompt {
		return nil
	}

	r.Prompt += text
	err = s.PutNext(ctx, s.Records(), r, "title and description added")
	if errors.Is(err, once.ErrConflict) {
		return nil // it is being sent
	}
	return err
}

// NoteClosed notes the state in which a person has closed a prompt. What became of it is no news then.
func NoteClosed(ctx context.Context, tx *sql.Tx, r Row) error {
	_, err := tx.ExecContext(ctx, `UPDATE fleet_prompts SET closed = $2, told = 'done', version = version + 1
WHERE key = $1`, r.Key, string(r.State))
	return err
}

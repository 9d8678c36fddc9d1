package database

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

// Row is a record with what fleet knows of it.
type Row struct {
	once.Record
	Pulls      string // owner/repo#7, with a space between several
	Repository string
	Priority   int
	Looked     time.Time // when somebody last looked on GitHub for its pull request; zero if nobody did
	Tried      time.Time // when somebody last tried to tell its result; zero if nobody did
	Refusal    string    // why GitHub refuses to be told its result
	Forgotten  time.Time // when its texts were forgotten; zero if they were not

	// IsStranded is whether it follows a prompt that has no job, and gets none unless a person decides.
	IsStranded bool
}

// IsOverdue reports whether a person should look at a job that does not end. Package once
// stores a running record only if something changes.
func (r Row) IsOverdue() bool { return r.State == once.Running && time.Since(r.UpdatedAt) > Day }

// IsToldInVain reports whether somebody has tried to tell its result, and failed.
func (r Row) IsToldInVain() bool { return r.Reported != r.State && r.Tried.After(r.UpdatedAt) }

// Rows returns the rows that a condition on the prompt p chooses.
func (s Store) Rows(ctx context.Context, where string, args ...any) ([]Row, error) {
	return ReadRows(ctx, s.DB, where, args...)
}

// ReadRows returns the rows that a condition chooses, also in a transaction.
func ReadRows(ctx context.Context, db once.DB, where string, args ...any) ([]Row, error) {
	return All(ctx, db, (*Row).fields, `SELECT `+recordColumns+`,
	repository, priority, looked, tried, refusal, forgotten,
	coalesce((SELECT string_agg(l.pull, ' ' ORDER BY l.place) FROM fleet_pulls l WHERE l.key = p.key), ''),
	state = 'pending' AND `+IsStranded+`
FROM fleet_prompts p WHERE `+where, args...)
}

func (r *Row) fields() []any {
	return append(fieldsOf(&r.Record), &r.Repository, &r.Priority, Nanos(&r.Looked), Nanos(&r.Tried),
		&r.Refusal, Nanos(&r.Forgotten), &r.Pulls, &r.IsStranded)
}

// Row returns the row of the prompt that a person names: a key, or what [Store.Find] knows. It returns an error unless
// exactly one fits.
func (s Store) Row(ctx context.Context, name string) (Row, error) {
	keys, err := s.Find(ctx, name)
	switch {
	case err != nil:
		return Row{}, err
	case len(keys) == 0:
		return Row{}, NotFound(name)
	case len(keys) > 1:
		return Row{}, SeveralFit(name, keys)
	}
	return First(s.Rows(ctx, "key = $1", keys[0]))
}

// SeveralFit is the error for a name that several prompts have.
func SeveralFit(name string, keys []string) error {
	return usage.Errorf("nothing is changed: %s names several prompts: %s",
		safetext.OneLine(name, 300), safetext.OneLine(strings.Join(keys, ", "), 2000))
}

// NotFound is the error for a name that no prompt has.
func NotFound(name string) error {
	return usage.Errorf("no prompt has the key, the commit or the pull request %s: want a key, 7 digits or more of "+
		"a SHA, also behind owner/repo@, or owner/repo#7", safetext.OneLine(name, 300))
}

// Choice chooses the prompts for a command. The zero value chooses all.
type Choice struct {
	State      once.State
	Project    string
	Key        string
	Repository string        // owner/repo of the key, else of the first pull request
	Since      time.Duration // since their last change; 0: any
}

const isOfAnyState = "state IN ('pending', 'sending', 'running', 'done', 'failed', 'refused', 'unknown', 'canceled')"

// Filter returns the condition of a choice.
func (c Choice) Filter() Filter {
	var filter Filter
	if c.State == "" && c.Project != "" { // whose index begins with the state
		filter.parts = append(filter.parts, isOfAnyState)
	}

	filter.Add("state = %s", string(c.State))
	filter.Add("project = %s", c.Project)
	filter.Add("key = %s", c.Key)
	filter.Add("repository = %s", c.Repository)
	if c.Since > 0 {
		filter.Add("updated >= %s", time.Now().Add(-c.Since).UnixNano())
	}
	return filter
}

// Choose returns the rows of a choice.
func (s Store) Choose(ctx context.Context, c Choice) ([]Row, error) {
	filter := c.Filter()
	return s.Rows(ctx, filter.Where()+" ORDER BY project, priority, queued, key", filter.Args...)
}

// CheckRepository returns an error if fleet has never seen a repository.
func (s Store) CheckRepository(ctx context.Context, name string) error {
	found, err := sqldb.Strings(ctx, s.DB, `SELECT repository FROM (
	SELECT repository FROM fleet_prompts WHERE repository = $1 UNION ALL
	SELECT repository FROM fleet_left_out WHERE repository = $1) seen LIMIT 1`, name)
	if err == nil && len(found) == 0 {
		return fmt.Errorf("fleet has never seen a merge of %s", name)
	}
	return err
}

// Filter is a condition of several parts. No part is for a value that is not given: a database could use no index.
type Filter struct {
	parts []string
	Args  []any
}

// Add adds a part, with %s for its argument. It adds none for the argument "".
func (f *Filter) Add(part string, arg any) {
	if arg != "" {
		f.parts = append(f.parts, fmt.Sprintf(part, f.Arg(arg)))
	}
}

// Arg adds an argument, and returns its placeholder.
func (f *Filter) Arg(arg any) string {
	f.Args = append(f.Args, arg)
	return fmt.Sprintf("$%d", len(f.Args))
}

// Where returns the condition.
func (f *Filter) Where() string { return strings.Join(append([]string{"1 = 1"}, f.parts...), " AND ") }

var (
	shaForm    = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	commitForm = regexp.MustCompile(`^(?:\S+@)?([0-9a-f]{7,64})$`)
)

// Find returns the keys of the prompts that text names: a key, the beginning of a commit's SHA, also behind
// owner/repo@, or a pull request as owner/repo#7. There may be none.
func (s Store) Find(ctx context.Context, text string) ([]string, error) {
	text = FoldCase(text)
	keys, err := sqldb.Strings(ctx, s.DB, "SELECT key FROM fleet_prompts WHERE key = $1", text)
	if err != nil || len(keys) > 0 {
		return keys, err
	}

	commit := commitForm.FindStringSubmatch(text)
	switch {
	case pullForm.MatchString(text):
		keys, err = sqldb.Strings(ctx, s.DB, `SELECT p.key FROM fleet_pulls l JOIN fleet_prompts p ON p.key = l.key
WHERE l.pull = $1 ORDER BY p.added, p.key LIMIT 20`, text)
	case commit != nil:
		sha := commit[1]
		repository := strings.TrimSuffix(text, sha)

		keys, err = sqldb.Strings(ctx, s.DB, `SELECT DISTINCT key FROM fleet_commits
WHERE sha >= $1 AND sha < $2 AND substr(commit_key, 1, $3) = $4 ORDER BY key LIMIT 20`,
			sha, sha+"g", len(repository), repository) // g comes after all digits
	}
	return keys, err
}

// States has package once's states in the order in which fleet prints them.
var States = []once.State{
	once.Pending,
	once.Sending,
	once.Running,
	once.Done,
	once.Failed,
	once.Refused,
	once.Unknown,
	once.Canceled,
}

// NameOf returns a state's name in outputs: pending is called queued.
func NameOf(s once.State) string {
	if s == once.Pending {
		return "queued"
	}
	return string(s)
}

// StateOf returns the state that a flag names.
func StateOf(name string) (once.State, error) {
	i := slices.IndexFunc(States, func(s once.State) bool { return NameOf(s) == name })
	if i < 0 {
		return "", usage.Errorf("no state is named %q", safetext.OneLine(name, 40))
	}
	return States[i], nil
}

// ZeroCounts returns a count of 0 for each state.
func ZeroCounts() map[string]int {
	counts := map[string]int{}
	for _, state := range States {
		counts[NameOf(state)] = 0
	}
	return counts
}

// jobHasEnded is the condition that the record r has the id of a job, which has ended.
const jobHasEnded = `r.state IN ('done', 'failed') AND r.job <> ''`

// JobIsOver is the condition that the job which gets the message p has ended, as far as is on record.
const JobIsOver = `EXISTS (SELECT 1 FROM fleet_prompts r WHERE r.key = p.thread AND ` + jobHasEnded + `)
	AND NOT EXISTS (SELECT 1 FROM fleet_prompts x
		WHERE x.thread = p.thread AND x.thread <> '' AND x.state IN ('sending', 'running'))`

// IsStranded is the condition that the pending prompt p is a message to a job that there is not, and will not be
// unless a person decides.
const IsStranded = `EXISTS (SELECT 1 FROM fleet_prompts r WHERE r.key = p.thread
AND r.state IN ('done', 'failed', 'unknown', 'refused', 'canceled') AND NOT (` + jobHasEnded + `))`

// ThreadOf returns the prompt that a key's job was made for, and then the messages to that job in their order.
func (s Store) ThreadOf(ctx context.Context, key string) ([]Row, error) {
	r, err := s.Row(ctx, key)
	if err != nil {
		return nil, err
	}

	return s.Rows(ctx, inThread+" ORDER BY p.thread, p.added, p.key", cmp.Or(r.Thread, r.Key))
}

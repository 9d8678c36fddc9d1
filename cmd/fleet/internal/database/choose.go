package database

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

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

package database

import (
	"context"
	"regexp"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

var shaForm = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// Find returns the keys of the prompts that text names: a key, the beginning of a commit's SHA, or
// a pull request as owner/repo#7. There may be none.
func (s Store) Find(ctx context.Context, text string) ([]string, error) {
	text = FoldCase(text)
	keys, err := s.keys(ctx, "SELECT key FROM fleet_prompts WHERE key = $1", text)
	if err != nil || len(keys) > 0 {
		return keys, err
	}

	switch {
	case pullForm.MatchString(text):
		keys, err = s.keys(ctx, `SELECT p.key FROM fleet_pulls l JOIN fleet_prompts p ON p.key = l.key
WHERE l.pull = $1 ORDER BY p.added, p.key LIMIT 20`, text)
	case shaForm.MatchString(text):
		keys, err = s.keys(ctx, `SELECT key FROM fleet_prompts WHERE thread = '' AND key LIKE $1
UNION SELECT key FROM fleet_commits WHERE commit_key LIKE $1 ORDER BY key LIMIT 20`, "%@"+text+"%")
	}
	return keys, err
}

func (s Store) keys(ctx context.Context, query, text string) ([]string, error) {
	return sqldb.Strings(ctx, s.DB, query, text)
}

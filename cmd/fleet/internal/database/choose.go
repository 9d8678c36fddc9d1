package database

import (
	"context"
	"regexp"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// Choice chooses the prompts for a command. The zero value chooses all.
type Choice struct {
	State      once.State
	Project    string
	Repository string        // owner/repo of the key, else of the first pull request
	Since      time.Duration // since their last change; 0: any
	OnlyKept   bool          // leaves out those whose texts were forgotten
}

// Choose returns the rows of a choice.
func (s Store) Choose(ctx context.Context, c Choice) ([]Row, error) {
	var changed int64
	if c.Since > 0 {
		changed = time.Now().Add(-c.Since).UnixMicro()
	}
	return s.Rows(ctx, `(o.state = $1 OR $1 = '') AND (p.project = $2 OR $2 = '') AND o.updated >= $3
AND (p.repository = $4 OR $4 = '')
AND (p.forgotten = 0 OR NOT $5)
ORDER BY p.project, p.priority, p.queued, p.key`, string(c.State), c.Project, changed, c.Repository, c.OnlyKept)
}

var shaForm = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// Find returns the keys of the prompts that text names: a key, the beginning of a commit's SHA, or
// a pull request as owner/repo#7. There may be none.
func (s Store) Find(ctx context.Context, text string) ([]string, error) {
	text = FoldCase(text)
	keys, err := sqldb.Strings(ctx, s.DB, "SELECT key FROM fleet_prompts WHERE key = $1", text)
	if err != nil || len(keys) > 0 {
		return keys, err
	}

	switch {
	case pullForm.MatchString(text):
		keys, err = sqldb.Strings(ctx, s.DB, `SELECT p.key FROM fleet_pulls l JOIN fleet_prompts p ON p.key = l.key
WHERE l.pull = $1 ORDER BY p.added, p.key LIMIT 20`, text)
	case shaForm.MatchString(text):
		keys, err = sqldb.Strings(ctx, s.DB, `SELECT key FROM fleet_prompts WHERE thread = '' AND key LIKE $1
UNION SELECT key FROM fleet_commits WHERE commit_key LIKE $1 ORDER BY key LIMIT 20`, "%@"+text+"%")
	}
	return keys, err
}

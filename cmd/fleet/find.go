package main

import (
	"context"
	"database/sql"
	"regexp"

	"github.com/mintlify-community/mintlify-go/internal/redact"
)

var shaForm = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// find returns the keys of the prompts that text names: a key, the beginning of a commit's SHA, or
// a pull request as owner/repo#7.
func (s store) find(ctx context.Context, text string) ([]string, error) {
	keys, err := s.keys(ctx, "SELECT key FROM fleet_prompts WHERE key = $1", text)
	if err != nil || len(keys) > 0 {
		return keys, err
	}

	switch {
	case pullForm.MatchString(text):
		keys, err = s.keys(ctx, `SELECT key FROM fleet_prompts
WHERE replace(' ' || pulls || ' ', ' ' || $1 || ' ', '') <> ' ' || pulls || ' ' ORDER BY added, key LIMIT 20`, text)
	case shaForm.MatchString(text):
		keys, err = s.keys(ctx, `SELECT key FROM fleet_prompts WHERE follows = '' AND key LIKE $1
UNION SELECT key FROM fleet_commits WHERE commit_key LIKE $1 ORDER BY key LIMIT 20`, "%@"+text+"%")
	}
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, usageError("no prompt has the key, the commit or the pull request %s: want a key, "+
			"7 digits or more of a SHA, or owner/repo#7", redact.OneLine(text, 300))
	}
	return keys, nil
}

func (s store) keys(ctx context.Context, query, text string) ([]string, error) {
	var keys []string
	err := scan(ctx, s.DB, func(rows *sql.Rows) error {
		var key string
		if err := rows.Scan(&key); err != nil {
			return err
		}
		keys = append(keys, key)
		return nil
	}, query, text)
	return keys, err
}

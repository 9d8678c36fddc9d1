package database

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// LeftOut is a merge, or a comment for the agent, that did not become a prompt.
type LeftOut struct {
	At         time.Time
	Kind       string // merge or comment
	Repository string // owner/repo
	SHA        string // the merge commit; "" for a comment
	Pull       string // owner/repo#7; of a merge of several, each is stored
	Author     string // who commented; "" for a merge
	Reason     string
}

// String says what was left out, and why.
func (l LeftOut) String() string {
	about := []string{"the merge", l.Repository + "@" + l.SHA}
	if l.Kind == "comment" {
		about = []string{"a comment by", l.Author, "on"}
	}
	if l.Pull != "" {
		about = append(about, l.Pull)
	}
	return strings.Join(about, " ") + ": " + l.Reason
}

// KeepLeftOut stores what was left out, for 30 days. A delivery that comes again adds nothing.
func (s Store) KeepLeftOut(ctx context.Context, l LeftOut) error {
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_left_out (id, at, kind, repository, sha, pull, author, reason)
SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE NOT EXISTS (SELECT 1 FROM fleet_left_out
	WHERE kind = $3 AND repository = $4 AND sha = $5 AND pull = $6 AND author = $7 AND reason = $8)`,
		rand.Text(), time.Now().UnixMilli(), l.Kind,
		FoldCase(l.Repository), l.SHA, FoldCase(l.Pull), l.Author, l.Reason)
	return err
}

// FindLeftOut returns what was left out of a key, the beginning of a commit's SHA, or a pull request.
func (s Store) FindLeftOut(ctx context.Context, text string) ([]LeftOut, error) {
	text = FoldCase(text)
	return All(ctx, s.DB, func(l *LeftOut) []any {
		return []any{Millis(&l.At), &l.Kind, &l.Repository, &l.SHA, &l.Pull, &l.Author, &l.Reason}
	}, `SELECT at, kind, repository, sha, pull, author, reason FROM fleet_left_out
WHERE kind = 'merge' AND repository || '@' || sha = $1 OR $2 <> '' AND sha LIKE $2 || '%' OR pull = $1
ORDER BY at LIMIT 20`, text, shaForm.FindString(text))
}

// WasLeftOut reports whether a merge was left out for a reason.
func (s Store) WasLeftOut(ctx context.Context, repository, sha, reason string) (bool, error) {
	n, err := sqldb.Number(ctx, s.DB, `SELECT count(*) FROM fleet_left_out
WHERE kind = 'merge' AND repository = $1 AND sha = $2 AND reason = $3`, FoldCase(repository), sha, reason)
	return n > 0, err
}

// KeepFound stores, for 7 days, that a pull request has the marker of a key.
func (s Store) KeepFound(ctx context.Context, key, link string) error {
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_found (key, link, at) VALUES ($1, $2, $3)
ON CONFLICT (key, link) DO UPDATE SET at = $3`, key, link, time.Now().UnixMilli())
	return err
}

// Found returns the link of the first pull request with the marker of a key that was seen after a time, ""
// if none was.
func (s Store) Found(ctx context.Context, key string, after time.Time) (string, error) {
	const query = "SELECT link FROM fleet_found WHERE key = $1 AND at >= $2 ORDER BY at LIMIT 1"
	return First(sqldb.Strings(ctx, s.DB, query, key, after.UnixMilli()))
}

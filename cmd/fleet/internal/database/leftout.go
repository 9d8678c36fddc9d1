package database

import (
	"context"
	"crypto/rand"
	"strconv"
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
	Comment    int64  // GitHub's id of a comment
	Author     string // who commented; "" for a merge
	Reason     string
	Documented string // the key of a prompt that tells of the merge all the same, such as the prompt of a push
}

// String says what was left out, and why.
func (l LeftOut) String() string {
	about := []string{"the merge", l.Repository + "@" + l.SHA}
	if l.Kind == "comment" {
		about = []string{"comment", strconv.FormatInt(l.Comment, 10), "by", l.Author, "on"}
	}
	if l.Pull != "" {
		about = append(about, l.Pull)
	}
	text := strings.Join(about, " ") + ": " + l.Reason
	if l.Documented != "" {
		text += "; it is documented all the same, by " + l.Documented
	}
	return text
}

// KeepLeftOut stores what was left out, for 30 days. A delivery that comes again adds nothing.
func (s Store) KeepLeftOut(ctx context.Context, l LeftOut) error {
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_left_out
	(id, at, kind, repository, sha, pull, author, reason, comment)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE NOT EXISTS (SELECT 1 FROM fleet_left_out
	WHERE kind = $3 AND repository = $4 AND sha = $5 AND pull = $6 AND author = $7 AND reason = $8 AND comment = $9)`,
		rand.Text(), time.Now().UnixMilli(), l.Kind,
		FoldCase(l.Repository), l.SHA, FoldCase(l.Pull), l.Author, l.Reason, l.Comment)
	return err
}

// FindLeftOut returns what was left out of a key, the beginning of a commit's SHA, or a pull request.
func (s Store) FindLeftOut(ctx context.Context, text string) ([]LeftOut, error) {
	text = FoldCase(text)
	return All(ctx, s.DB, func(l *LeftOut) []any {
		return []any{Millis(&l.At), &l.Kind, &l.Repository, &l.SHA, &l.Pull, &l.Author, &l.Reason, &l.Comment,
			&l.Documented}
	}, `SELECT at, kind, repository, sha, pull, author, reason, comment, coalesce((SELECT p.key
	FROM fleet_commits c JOIN fleet_prompts p ON p.key = c.key
	WHERE c.commit_key = l.repository || '@' || l.sha AND c.joined = 0 AND p.state <> 'canceled'), '')
FROM fleet_left_out l
WHERE kind = 'merge' AND repository || '@' || sha = $1 OR $2 <> '' AND sha LIKE $2 || '%' OR pull = $1
ORDER BY at LIMIT 20`, text, shaForm.FindString(text))
}

// WasLeftOut reports whether a merge was left out for a reason, which others may detail.
func (s Store) WasLeftOut(ctx context.Context, repository, sha, reason string) (bool, error) {
	n, err := sqldb.Number(ctx, s.DB, `SELECT count(*) FROM fleet_left_out
WHERE kind = 'merge' AND repository = $1 AND sha = $2 AND substr(reason, 1, length($3)) = $3`,
		FoldCase(repository), sha, reason)
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

// NoProject is why a merge is left out whose repository no project documents.
const NoProject = "no project documents this repository: see fleet serve -project"

// Undocumented is a repository with merges that no project documents.
type Undocumented struct {
	Repository string
	Since      time.Time
	Merges     int
}

// Undocumented returns the repositories of which merges were left out for the lack of a project, unless one was taken
// since.
func (s Store) Undocumented(ctx context.Context) ([]Undocumented, error) {
	return All(ctx, s.DB, func(u *Undocumented) []any { return []any{&u.Repository, Millis(&u.Since), &u.Merges} },
		`SELECT repository, min(at), count(DISTINCT sha) FROM fleet_left_out l WHERE kind = 'merge' AND reason = $1
	AND NOT EXISTS (SELECT 1 FROM fleet_prompts p WHERE p.repository = l.repository AND p.added > l.at * 1000000)
GROUP BY repository ORDER BY repository`, NoProject)
}

// NoteDocumented notes that a project documents a repository from now on.
func (s Store) NoteDocumented(ctx context.Context, repository string) error {
	const then = "no project documented this repository then: have GitHub deliver its webhook again, see docs/fleet.md"
	_, err := s.ExecContext(ctx, "UPDATE fleet_left_out SET reason = $3 "+
		"WHERE kind = 'merge' AND repository = $1 AND reason = $2", repository, NoProject, then)
	return err
}

// CommentEvent is what an event says of a comment.
type CommentEvent struct {
	ID        int64
	UpdatedAt time.Time
	IsDeleted bool
	Text      string // what an edit asks for, if that may be sent
}

// NoteComment keeps, for 7 days, the newest event of a comment: a deletion, else the one that was updated last, of two
// at the same time the one that came last. It returns that.
func (s Store) NoteComment(ctx context.Context, e CommentEvent) (CommentEvent, error) {
	newest := CommentEvent{ID: e.ID}
	err := s.QueryRowContext(ctx, `INSERT INTO fleet_comment_events (id, updated, deleted, text, at)
VALUES ($1, $2, CASE WHEN $3 THEN 1 ELSE 0 END, $4, $5) ON CONFLICT (id) DO UPDATE SET
	text = CASE WHEN excluded.deleted = 1 OR fleet_comment_events.deleted = 1 THEN ''
		WHEN excluded.updated >= fleet_comment_events.updated THEN excluded.text ELSE fleet_comment_events.text END,
	updated = CASE WHEN excluded.updated >= fleet_comment_events.updated THEN excluded.updated
		ELSE fleet_comment_events.updated END,
	deleted = CASE WHEN excluded.deleted = 1 THEN 1 ELSE fleet_comment_events.deleted END, at = excluded.at
RETURNING updated, deleted = 1, text`, e.ID, Millis(&e.UpdatedAt), e.IsDeleted, e.Text, time.Now().UnixMilli()).
		Scan(Millis(&newest.UpdatedAt), &newest.IsDeleted, &newest.Text)
	return newest, err
}

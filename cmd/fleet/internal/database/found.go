package database

import (
	"context"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// keepFound is how long a link is known that was found.
const keepFound = 7 * Day

// KeepFound stores that a pull request has the marker of a key.
func (s Store) KeepFound(ctx context.Context, key, link string) error {
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_found (key, link, at) VALUES ($1, $2, $3)
ON CONFLICT (key, link) DO UPDATE SET at = $3`, key, link, time.Now().UnixMilli())
	return err
}

// Found returns the link of the first pull request with the marker of a key that was seen after a time, ""
// if none was.
func (s Store) Found(ctx context.Context, key string, after time.Time) (string, error) {
	const query = "SELECT link FROM fleet_found WHERE key = $1 AND at >= $2 ORDER BY at LIMIT 1"
	links, err := sqldb.Strings(ctx, s.DB, query, key, after.UnixMilli())
	if err != nil || len(links) == 0 {
		return "", err
	}
	return links[0], nil
}

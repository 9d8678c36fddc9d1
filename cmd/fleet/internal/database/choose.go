package database

import (
	"context"
	"time"

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

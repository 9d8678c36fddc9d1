package queue

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
)

// Quota is how many prompts of a project may be sent, and when.
type Quota struct {
	Left   int           // may be sent now
	free   time.Time     // when one may, if none may now
	Places []time.Time   // when each place of the quota can be taken, the earliest first
	Window time.Duration // how long a place stays taken
}

// readSent returns, by project, until when the prompts that were sent within the window have their places in the quota,
// the latest first. A prompt counts from its deadline: the service got it before that. What a person has sent again
// within the window counts once.
func (s Queue) readSent(ctx context.Context, now time.Time) (map[string][]time.Time, error) {
	places := map[string][]time.Time{}
	err := sqldb.Scan(ctx, s.DB, func(rows *sql.Rows) error {
		var project string
		var deadline time.Time
		err := rows.Scan(&project, database.Nanos(&deadline))
		places[project] = append(places[project], deadline.Add(s.Window))
		return err
	}, `SELECT p.project, p.deadline FROM fleet_projects q CROSS JOIN fleet_prompts p
WHERE p.project = q.project AND p.deadline > $1 AND `+database.WasSent+` ORDER BY p.project, p.deadline DESC`,
		now.Add(-s.Window).UnixNano())
	return places, err
}

// quotaAfter returns the quota of a project of which places are taken.
func (s Queue) quotaAfter(taken []time.Time, now time.Time) Quota {
	q := Quota{Window: s.Window}
	q.Places = slices.Clone(taken[:min(len(taken), s.Quota)])
	q.Left = s.Quota - len(q.Places)
	if q.Left == 0 {
		q.free = q.Places[len(q.Places)-1]
	}

	for range q.Left {
		q.Places = append(q.Places, now)
	}
	slices.Reverse(q.Places)
	return q
}

// SendingTime is about how long the prompts of a project take that are sent one after the other.
const SendingTime = 3 * time.Second

// LastOf returns about when the last of n prompts is sent if the first may be at start.
func (q Quota) LastOf(n int, start time.Time) time.Time {
	if n == 0 || len(q.Places) == 0 {
		return time.Time{}
	}

	place := q.Places[(n-1)%len(q.Places)]
	if place.Before(start) {
		place = start
	}
	last := place.Add(time.Duration((n-1)/len(q.Places)) * q.Window)
	if sent := start.Add(time.Duration(n) * SendingTime); sent.After(last) {
		return sent
	}
	return last
}

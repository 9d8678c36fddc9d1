package queue

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// Quota is how many prompts of a project may be sent, and when.
type Quota struct {
	Left   int           // may be sent now
	free   time.Duration // until one may, if none may now
	Places []time.Time   // when each place of the quota can be taken, the earliest first
	Window time.Duration // how long a place stays taken
}

// QuotaOf counts the prompts of a project that were sent within the window. A prompt reaches the
// service up to a send's time later, so the window is longer by that.
func (s Queue) QuotaOf(ctx context.Context, db once.DB, project string, now time.Time) (Quota, error) {
	q := Quota{Window: s.Window + s.Settings.SendTime}
	var err error
	q.Places, err = sqldb.All(ctx, db, func(rows *sql.Rows) (time.Time, error) {
		var at int64
		err := rows.Scan(&at)
		return time.UnixMilli(at).Add(q.Window), err
	}, "SELECT at FROM fleet_posts WHERE project = $1 AND at > $2 ORDER BY at DESC LIMIT $3",
		project, now.Add(-q.Window).UnixMilli(), s.Quota)
	if err != nil {
		return q, err
	}

	q.Left = s.Quota - len(q.Places)
	if q.Left == 0 {
		q.free = q.Places[len(q.Places)-1].Sub(now)
	}
	for range q.Left {
		q.Places = append(q.Places, now)
	}
	slices.Reverse(q.Places)
	return q, nil
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

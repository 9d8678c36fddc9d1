package queue

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
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

// QuotaOf returns the quota of a project.
func (s Queue) QuotaOf(ctx context.Context, db once.DB, project string, now time.Time) (Quota, error) {
	sent, err := s.readSent(ctx, db, database.Choice{Project: project}, now)
	return s.quotaAfter(sent[project], now), err
}

// readSent returns when the prompts of a choice of projects were sent within the window, by project, the latest first.
func (s Queue) readSent(
	ctx context.Context, db once.DB, choice database.Choice, now time.Time,
) (map[string][]time.Time, error) {
	var filter database.Filter
	filter.Add("at > $%d", now.Add(-s.quotaWindow()).UnixMilli())
	if choice.Project != "" {
		filter.Add("project = $%d", choice.Project)
	}

	sent := map[string][]time.Time{}
	err := sqldb.Scan(ctx, db, func(rows *sql.Rows) error {
		var project string
		var at int64
		if err := rows.Scan(&project, &at); err != nil {
			return err
		}

		sent[project] = append(sent[project], time.UnixMilli(at))
		return nil
	}, "SELECT project, at FROM fleet_posts WHERE "+filter.Where()+" ORDER BY project, at DESC", filter.Args...)
	return sent, err
}

// quotaWindow is for how long a prompt counts. It reaches the service up to a send's time after its turn has begun.
func (s Queue) quotaWindow() time.Duration { return s.Window + s.Settings.SendTime }

// quotaAfter returns the quota of a project that has sent prompts, the latest first.
func (s Queue) quotaAfter(sent []time.Time, now time.Time) Quota {
	q := Quota{Window: s.quotaWindow()}
	for _, at := range sent[:min(len(sent), s.Quota)] {
		q.Places = append(q.Places, at.Add(q.Window))
	}

	q.Left = s.Quota - len(q.Places)
	if q.Left == 0 {
		q.free = q.Places[len(q.Places)-1].Sub(now)
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

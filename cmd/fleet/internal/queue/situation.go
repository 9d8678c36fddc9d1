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

const (
	// MaxPosts is how many POSTs may be in progress, over all machines.
	MaxPosts = 4
	// MaxWait is the longest until the next look at a queue.
	MaxWait = 5 * time.Minute
)

// situation has everything that decides about a project's next turn.
type situation struct {
	at      time.Time
	project string
	pauses  []Pause // of all projects

	queued

	free  time.Duration // until the quota has a place, 0 if it has one
	mine  int           // POSTs of the project in progress
	total int           // POSTs of all projects in progress
}

// queued has the queue of a project.
type queued struct {
	count   int    // prompts of the project
	limited int    // of these, how many the limit of a day holds back
	held    int    // of these, how many are of a repository that a person has paused
	oldest  int64  // when the oldest of the others was added, in Unix nanoseconds; 0 if there are none
	head    string // the key of the first that may be sent; "" if none may

	// later is when the first of those may be sent whose job is at work again. It is zero if there is a head.
	later time.Time
}

// readSituation reads what decides about a project's next turn: of only one of its prompts, unless that is "".
func (s Queue) readSituation(ctx context.Context, tx once.DB, project, only string) (situation, error) {
	now := situation{at: time.Now(), project: project}
	choice := database.Choice{Project: project, Key: only}
	queues, err := readQueues(ctx, tx, choice, now.at)
	if err != nil {
		return now, err
	}

	if queues[project] != nil {
		now.queued = *queues[project]
	}
	now.pauses, err = Pauses(ctx, tx)
	if err != nil || now.count == 0 {
		return now, err
	}

	q, err := s.QuotaOf(ctx, tx, project, now.at)
	if err != nil {
		return now, err
	}
	now.free = q.free

	err = sqldb.Scan(ctx, tx, func(rows *sql.Rows) error { return rows.Scan(&now.mine, &now.total) },
		"SELECT count(CASE WHEN project = $2 THEN 1 END), count(*) FROM fleet_posts WHERE ends > $1",
		now.at.UnixMilli(), project)
	return now, err
}

// readQueues returns the queues of a choice by project.
func readQueues(
	ctx context.Context, db once.DB, choice database.Choice, now time.Time,
) (map[string]*queued, error) {
	choice.State = once.Pending
	filter := choice.Filter()
	isQueued := " FROM fleet_prompts p WHERE state = 'pending' AND " + filter.Where()
	isLimited := database.IsLimitedOn(filter.Next())
	filter.Args = append(filter.Args, database.DayOf(now))

	queues := map[string]*queued{}
	err := sqldb.Scan(ctx, db, func(rows *sql.Rows) error {
		var project string
		var q queued
		if err := rows.Scan(&project, &q.count, &q.limited, &q.held, &q.oldest); err != nil {
			return err
		}

		queues[project] = &q
		return nil
	}, `SELECT project, count(*), count(CASE WHEN `+isLimited+` THEN 1 END),
	count(CASE WHEN `+database.IsPausedRepository+` THEN 1 END),
	coalesce(min(CASE WHEN NOT `+isLimited+` AND NOT `+database.IsPausedRepository+` THEN added END), 0)`+
		isQueued+" GROUP BY project", filter.Args...)
	if err != nil || len(queues) == 0 {
		return queues, err
	}

	later := "CASE WHEN not_before > " + filter.Next() + " THEN not_before ELSE 0 END"
	filter.Args = append(filter.Args, now.UnixNano())
	return queues, sqldb.Scan(ctx, db, func(rows *sql.Rows) error { return scanHead(rows, queues) },
		`SELECT project, key, later FROM (
	SELECT project, key, `+later+` AS later, row_number() OVER (
		PARTITION BY project ORDER BY `+later+`, priority, queued, key) AS place`+isQueued+`
		AND NOT `+isLimited+` AND NOT `+database.IsPausedRepository+` AND `+database.IsReady+`
) heads WHERE place = 1`, filter.Args...)
}

func scanHead(rows *sql.Rows, queues map[string]*queued) error {
	var project, key string
	var later int64
	if err := rows.Scan(&project, &key, &later); err != nil {
		return err
	}

	q := queues[project]
	switch {
	case q == nil: // it was added meanwhile
	case later > 0:
		q.later = time.Unix(0, later)
	default:
		q.head = key
	}
	return nil
}

// hold is until when, and why, the next prompt of a project is not sent yet.
type hold struct {
	until time.Time // the zero time: nothing stands in the way
	why   string
}

// hold returns what stands in the way the longest. Over all machines a project has one turn at a
// time, and all projects have four: fewer as projects fail, and one if the breaker has paused all.
func (s situation) hold() hold {
	h := hold{until: s.at}
	for _, p := range s.pauses {
		if p.concerns(s.project) && p.Until.After(h.until) {
			h = hold{until: p.Until, why: p.Source + ": " + p.Reason}
		}
	}
	if free := s.at.Add(s.free); free.After(h.until) {
		h = hold{until: free, why: "the quota is used up"}
	}

	soon := s.at.Add(time.Second)
	switch {
	case h.why != "":
		return h

	case s.head == "" && !s.later.IsZero():
		return hold{until: s.later, why: whyLater}
	case s.head == "" && s.limited > 0:
		return hold{until: nextDay(s.at), why: "the limit of the day (-max-per-day) is reached"}
	case s.head == "" && s.held > 0:
		return hold{until: Forever, why: "a person has paused the repository"}
	case s.head == "":
		return hold{until: s.at.Add(MaxWait), why: whyFollow} // the end of a job wakes the queue

	case s.mine > 0:
		return hold{until: soon, why: "a prompt of the project is being sent"}
	case s.total >= s.mostPosts():
		return hold{until: soon, why: "prompts of other projects are being sent"}
	}
	return hold{}
}

// Why no prompt of a queue may be sent.
const (
	whyFollow = "its prompts follow others, whose jobs have not ended"
	whyLater  = "its next prompt is a message to a job that is at work again"
)

// mostPosts is how many POSTs may be in progress.
func (s situation) mostPosts() int {
	most := MaxPosts
	for _, p := range s.pauses {
		if p.Source == ByBreaker && p.Project == "" {
			return 1
		}

		if p.tripped(s.at) {
			most--
		}
	}
	return max(1, most)
}

// decide gives the head of the queue its turn, or says how long the project has to wait.
func (s situation) decide() turn {
	isOfAll := func(p Pause) bool { return p.Source == ByBreaker && p.Project == "" }
	t := turn{project: s.project, all: slices.ContainsFunc(s.pauses, isOfAll)}
	if s.count == 0 {
		t.isOver = true
		return t
	}

	if h := s.hold(); h.why != "" {
		t.wait = min(h.until.Sub(s.at), MaxWait)
		return t
	}
	t.key = s.head
	return t
}

// nextDay returns when the next day begins, in UTC.
func nextDay(t time.Time) time.Time { return t.UTC().Truncate(database.Day).Add(database.Day) }

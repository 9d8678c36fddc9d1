package queue

import (
	"context"
	"database/sql"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// tryAgain is until the next look after another project has just begun to try whether the service works again.
const tryAgain = 15 * time.Second

// failedTry is for how long, after a pause of all, projects try that have not failed themselves.
const failedTry = 10 * time.Second

// situation has everything that decides about a project's next turn.
type situation struct {
	own, all Project
	free     time.Time // when the quota has a place; zero if it has one
	head     string    // the key of the first prompt that may be sent; "" if none may, or the queue was not read
	queued
}

// queued counts the queue of a project.
type queued struct {
	count      int       // prompts
	Ready      int       `json:"-"`       // those that may be sent as far as they are concerned
	Limited    int       `json:"limited"` // those that the limit of a day holds back
	bounded    int       // those that have a limit of a day
	held       int       // those of a repository that a person has stopped
	OldestFree time.Time `json:"-"` // when the oldest was added that waits for no job, limit or person; zero if none is
	later      time.Time // until when the first message waits for its job; zero if none does
}

// isFree is the condition that neither its repository nor the limit of a day holds back the prompt p.
func isFree(day string) string {
	return "NOT " + database.IsStopped + " AND NOT " + database.IsLimitedSince(day)
}

// situationOf reads what decides about a project's next turn, with a count of the queue if that says why there is none.
func (s Queue) situationOf(ctx context.Context, db once.DB, project string) (situation, error) {
	seen, err := s.look(ctx, db, project)
	if err != nil || seen.head != "" || seen.holdOfProject().why != "" {
		return seen, err
	}

	queues, err := s.readQueues(ctx, db, database.Choice{Project: project})
	seen.queued = queues[project]
	return seen, err
}

// isEmpty reports whether nothing is queued, if that is known.
func (s situation) isEmpty() bool { return s.head == "" && s.count == 0 && s.holdOfProject().why == "" }

// look reads what decides about a project's next turn. It reads no queue of a project that is paused.
func (s Queue) look(ctx context.Context, db once.DB, project string) (situation, error) {
	now := time.Now()
	var l situation
	query := `SELECT ` + s.projectColumns() + `,
	(SELECT deadline FROM fleet_prompts WHERE project = $1 AND project = q.project AND ` + database.WasSent + `
		AND deadline > $3 ORDER BY deadline DESC LIMIT 1 OFFSET $4),
	coalesce(CASE WHEN q.project = $1 AND q.stopped = 0 AND q.paused_until <= ` + s.Clock + `
		AND q.turn_until <= ` + s.Clock + ` AND NOT EXISTS (SELECT 1 FROM fleet_projects a
			WHERE a.project = '' AND (a.stopped > 0 OR a.paused_until > ` + s.Clock + `))
	THEN (SELECT p.key FROM fleet_prompts p
		WHERE p.state = 'pending' AND p.project = $1 AND p.not_before <= $2 AND ` + isFree("$5") + `
		ORDER BY p.priority, p.queued, p.key LIMIT 1) END, '')
FROM fleet_projects q WHERE q.project IN ($1, '')`

	err := sqldb.Scan(ctx, db, func(rows *sql.Rows) error {
		var p Project
		var place time.Time
		var head string
		err := rows.Scan(append(p.fields(), database.Nanos(&place), &head)...)
		if p.Name == "" {
			l.all = p
			return err
		}

		l.own = p
		l.head = head
		if !place.IsZero() {
			l.free = p.Now.Add(place.Add(s.Window).Sub(now))
		}
		return err
	}, query, project, now.UnixNano(), now.Add(-s.Window).UnixNano(), s.Quota-1, database.DayOf(now).UnixNano())
	return l, err
}

// readQueues counts the queues of a choice by project.
func (s Queue) readQueues(ctx context.Context, db once.DB, choice database.Choice) (map[string]queued, error) {
	now := time.Now()
	choice.State = once.Pending
	filter := choice.Filter()
	day := filter.Arg(database.DayOf(now).UnixNano())
	isLater := "not_before > " + filter.Arg(now.UnixNano())

	queues := map[string]queued{}
	err := sqldb.Scan(ctx, db, func(rows *sql.Rows) error {
		var project string
		var q queued

		err := rows.Scan(&project, &q.count, &q.Ready, &q.Limited, &q.bounded, &q.held,
			database.Nanos(&q.OldestFree), database.Nanos(&q.later))
		queues[project] = q
		return err
	}, `SELECT project, count(*), count(*) FILTER (WHERE free AND NOT later), count(*) FILTER (WHERE limited),
	count(*) FILTER (WHERE bounded), count(*) FILTER (WHERE held),
	min(added) FILTER (WHERE free AND NOT later), min(not_before) FILTER (WHERE free AND later)
FROM (SELECT project, added, not_before, `+isFree(day)+` AS free, `+database.IsLimitedSince(day)+` AS limited,
	`+database.HasLimit+` AS bounded, `+database.IsStopped+` AS held, `+isLater+` AS later
	FROM fleet_prompts p WHERE state = 'pending' AND `+filter.Where()+`) queued GROUP BY project`, filter.Args...)
	return queues, err
}

// hold is why the next prompt of a project is not sent yet.
type hold struct {
	why   string    // "" if nothing stands in the way
	again time.Time // when to look again
	until time.Time // when the wait ends; zero if the clock alone does not end it

	person bool // a person ends it
	soon   bool // it ends within a minute or so
}

// untilThen is a hold that the clock alone ends.
func untilThen(then time.Time, why string) hold { return hold{why: why, again: then, until: then} }

// hold returns what stands in the way the longest.
func (s situation) hold() hold {
	h := s.holdOfProject()
	if h.why != "" {
		return h
	}

	switch {
	case s.head == "" && s.Ready == 0:
		return s.holdOfQueue()
	case s.own.turnUntil.After(s.own.Now):
		return hold{again: s.own.turnUntil, soon: true, why: s.own.sayTurn()}
	case s.isTry() && s.all.turnUntil.After(s.own.Now):
		return hold{again: s.all.turnUntil, soon: true, why: "another project tries whether the service works again"}
	}
	return hold{}
}

// holdOfQueue returns why none of what is queued may be sent.
func (s situation) holdOfQueue() hold {
	h := hold{again: forever, why: whyFollow}
	switch {
	case s.Limited > 0:
		h = untilThen(database.DayOf(s.own.Now).Add(database.Day), whyLimit)
	case s.held > 0:
		h = hold{again: forever, person: true, why: whyHeld}
	}

	if !s.later.IsZero() {
		h.again = s.later
	}
	return h
}

// holdOfProject returns what keeps a project from being sent to, whatever is queued.
func (s situation) holdOfProject() hold {
	h := s.own.hold()
	if all := s.all.hold(); all.again.After(h.again) {
		h = all
	}

	afterOthers := s.all.PausedUntil.Add(failedTry)
	if s.isTry() && s.own.Strikes > 0 && afterOthers.After(h.again) {
		h = hold{again: afterOthers, why: "projects that have not failed try first whether the service works again"}
	}
	if s.free.After(h.again) {
		h = untilThen(s.free, "the quota is used up")
	}
	return h
}

// hold returns what pauses a project by itself. What a person has to mend, the clock does not end.
func (p Project) hold() hold {
	switch {
	case !p.Stopped.IsZero():
		return hold{again: forever, person: true, why: ByPerson + ": " + p.StoppedBy + ", until somebody resumes it"}
	case p.IsPaused() && p.NeedsPerson():
		return hold{again: p.PausedUntil, person: true, why: p.Source + ": " + p.Reason}
	case p.IsPaused():
		return untilThen(p.PausedUntil, p.Source+": "+p.Reason)
	}
	return hold{again: p.Now}
}

// sayTurn says that a prompt is being sent. A sender that has died looks the same until the turn is over.
func (p Project) sayTurn() string {
	until := p.turnUntil.UTC().Format(time.TimeOnly)
	return "a prompt of the project is being sent, or is in doubt until " + until + " UTC"
}

// isTry reports whether the next turn of any project tries whether the service works again.
func (s situation) isTry() bool { return s.all.Strikes >= maxStrikes }

// Why no prompt of a queue may be sent.
const (
	whyFollow = "its prompts follow others, whose jobs have not ended"
	whyHeld   = "a person has paused the repository, until somebody resumes it"
	whyLimit  = "the limit of the day (-max-per-day) is reached"
)

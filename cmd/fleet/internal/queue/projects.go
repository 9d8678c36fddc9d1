package queue

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// The sources of pauses.
const (
	ByPerson  = "person"
	byService = "service" // a 429, or an error that a person has to fix
	ByBreaker = "breaker"
)

// The causes of pauses.
const (
	CausePerson  = "person"
	CauseKey     = "key" // it is refused, or may not do this
	CauseProject = "project"
	CauseCredits = "credits"
	CauseQuota   = "quota"
	CauseOutage  = "outage"
)

// Trouble returns the kind of trouble with a project that a person should know of: pause or outage, "" if there is
// none. It lasts until a prompt is sent, also between two pauses. An outage is one after an hour.
func (s Queue) Trouble(p Project) string {
	switch {
	case !s.stillFails(p):
		return ""
	case p.NeedsPerson():
		return "pause"
	case p.Cause == CauseOutage && (p.IsAlien || p.Now.Sub(p.Began) > time.Hour):
		return "outage"
	}
	return ""
}

// stillFails reports whether a failure has led to a pause, also between two pauses, and no prompt was sent since.
func (s Queue) stillFails(p Project) bool {
	isOver := !p.IsPaused() && p.Now.Sub(p.Last) > s.PauseMax+newOutage
	return p.Cause != "" && !isOver && p.Stopped.IsZero()
}

// withFailures adds to why nothing is sent that a project still fails, or else all.
func (s Queue) withFailures(why string, own, all Project) string {
	p := own
	if isOfAll := all.Reason != "" && strings.Contains(why, all.Reason); isOfAll || !s.stillFails(own) {
		p = all
	}
	if !s.stillFails(p) || !own.Stopped.IsZero() || !all.Stopped.IsZero() {
		return why
	}

	why += fmt.Sprintf("; failures since %s UTC (%d so far)", p.Began.UTC().Format(time.DateTime), p.Tries)
	if !strings.Contains(why, p.Reason) {
		why += ", the last: " + p.Reason
	}
	if s.Trouble(p) == "" {
		why += "; nothing to do about them: fleet tries again by itself"
	}
	return strings.TrimPrefix(why, "; ")
}

// NeedsPerson reports whether a person has to mend what has caused a pause.
func (p Project) NeedsPerson() bool {
	return p.Cause == CauseKey || p.Cause == CauseProject || p.Cause == CauseCredits
}

// forever is when to look again at what a person has stopped: whoever resumes it wakes the queue.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Project is the queue of a project, or under "" what all queues have in common: see the table fleet_projects. Its
// times are those of the database's clock.
type Project struct {
	Name      string
	Now       time.Time // when it was read
	turnUntil time.Time
	pause

	Stopped   time.Time // when a person has stopped it; zero if nobody has
	StoppedBy string
}

// pause is what a project's failures have led to.
type pause struct {
	PausedSince, PausedUntil time.Time
	asked                    bool
	Began, Last              time.Time
	Strikes, doubled         int
	failed                   string
	Source, Cause, Reason    string

	Tries   int  // failures in a row
	IsAlien bool // something else than the service responds, such as a login page
}

const (
	pauseColumns = `paused_since, paused_until, asked, began, last, strikes, doubled, failed, source, cause, reason,
	tries, alien`
	setPause = "UPDATE fleet_projects SET (" + pauseColumns + `) = ($1, $2, CASE WHEN $3 THEN 1 ELSE 0 END, $4, $5,
	$6, $7, $8, $9, $10, $11, $12, CASE WHEN $13 THEN 1 ELSE 0 END)`
)

// fields returns what pauseColumns are read into, and written from.
func (p *pause) fields() []any {
	at := database.Millis
	return []any{
		at(&p.PausedSince), at(&p.PausedUntil), &p.asked, at(&p.Began), at(&p.Last), &p.Strikes, &p.doubled,
		&p.failed, &p.Source, &p.Cause, &p.Reason, &p.Tries, &p.IsAlien,
	}
}

// IsPaused reports whether a failure, or the service itself, keeps the project from being sent to.
func (p Project) IsPaused() bool { return p.PausedUntil.After(p.Now) }

func (s Queue) projectColumns() string {
	return pauseColumns + ", project, turn_until, stopped, stopped_by, " + s.Clock
}

func (p *Project) fields() []any {
	at := database.Millis
	return append(p.pause.fields(), &p.Name, at(&p.turnUntil), at(&p.Stopped), &p.StoppedBy, at(&p.Now))
}

// Projects returns all projects by name, "" first.
func (s Queue) Projects(ctx context.Context) ([]Project, error) {
	return database.All(ctx, s.DB, (*Project).fields,
		"SELECT "+s.projectColumns()+" FROM fleet_projects ORDER BY project")
}

// become stores what has changed of a project's pause.
func (p Project) become(ctx context.Context, db once.DB, next pause) error {
	if next == p.pause {
		return nil
	}

	_, err := db.ExecContext(ctx, setPause+" WHERE project = $14", append(next.fields(), p.Name)...)
	return err
}

// Pause is what keeps a project from being sent to, or for "" all of them.
type Pause struct{ Project, Source, Cause string }

// Pauses returns the pauses of a project.
func (p Project) Pauses() []Pause {
	var pauses []Pause
	if !p.Stopped.IsZero() {
		pauses = append(pauses, Pause{p.Name, ByPerson, CausePerson})
	}
	if p.IsPaused() {
		pauses = append(pauses, Pause{p.Name, p.Source, p.Cause})
	}
	return pauses
}

// Stop sends nothing to a project, or to any for "", until a person resumes it.
func (s Queue) Stop(ctx context.Context, project, by string) error {
	_, err := s.ExecContext(ctx, `INSERT INTO fleet_projects (project, stopped, stopped_by)
VALUES ($1, `+s.Clock+`, $2) ON CONFLICT (project) DO UPDATE
SET stopped = excluded.stopped, stopped_by = excluded.stopped_by`, project, by)
	return err
}

// VoidTurns ends, after a person has stopped a choice of prompts, the turns in which no prompt is claimed yet: none
// will be. It returns how many prompts of the choice are being sent.
func (s Queue) VoidTurns(ctx context.Context, choice database.Choice) (int64, error) {
	projects := []string{choice.Project}
	var err error
	if choice.Project == "" {
		projects, err = sqldb.Strings(ctx, s.DB,
			"SELECT project FROM fleet_projects WHERE project <> '' ORDER BY project")
	}
	if err != nil {
		return 0, err
	}

	for _, project := range projects {
		if err := s.voidTurn(ctx, project); err != nil {
			return 0, err
		}
	}

	choice.State = once.Sending
	sending := choice.Filter()
	return sqldb.Number(ctx, s.DB, `SELECT count(*) FROM fleet_prompts WHERE turn IN (
	SELECT q.turn FROM fleet_projects q WHERE q.turn <> '' AND q.turn_until > `+s.Clock+`) AND `+sending.Where(),
		sending.Args...)
}

// voidTurn waits for a turn that is just being taken.
func (s Queue) voidTurn(ctx context.Context, project string) error {
	return s.Transact(ctx, func(tx *sql.Tx) error {
		if err := s.LockProjects(ctx, tx, project); err != nil {
			return err
		}
		n, err := sqldb.Changed(tx.ExecContext(ctx, `UPDATE fleet_projects SET turn = '', turn_until = 0
WHERE project = $1 AND claimed = 0 AND turn <> ''`, project))
		if err != nil || n == 0 {
			return err
		}
		return s.Wake(ctx, tx, database.SendsOf(project))
	})
}

// Resume lifts all pauses of a project, or for "" those of all projects but what a person has stopped one by one. It
// returns how many it has lifted.
func (s Queue) Resume(ctx context.Context, project string) (int64, error) {
	lifted := int64(0)
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		lifted = 0
		none := (&pause{}).fields()
		isPaused := "paused_until > " + s.Clock
		if project == "" {
			n, err := sqldb.Changed(tx.ExecContext(ctx, setPause+" WHERE project <> '' AND "+isPaused, none...))
			if err != nil {
				return err
			}
			lifted = n
		}

		n, err := sqldb.Changed(tx.ExecContext(ctx, setPause+", stopped = 0, stopped_by = '' WHERE project = $14 AND "+
			"(stopped > 0 OR "+isPaused+")", append(none, project)...))
		lifted += n
		if err != nil || lifted == 0 {
			return err
		}

		if project == "" {
			return s.wakeAll(ctx, tx)
		}
		return s.WakeSends(ctx, tx, project)
	})
	if err != nil || lifted == 0 || project != "" {
		return lifted, err
	}
	return lifted, s.WakeAll(ctx)
}

// ResumeRepository lifts the stop of a repository. It returns how many it has lifted.
func (s Queue) ResumeRepository(ctx context.Context, repository string) (int64, error) {
	lifted := int64(0)
	err := s.Transact(ctx, func(tx *sql.Tx) error {
		projects, err := sqldb.Strings(ctx, tx, `SELECT DISTINCT project FROM fleet_prompts
WHERE state = 'pending' AND repository = $1`, repository)
		if err != nil {
			return err
		}
		if err := s.LockProjects(ctx, tx, projects...); err != nil {
			return err
		}

		lifted, err = sqldb.Changed(tx.ExecContext(ctx, `UPDATE fleet_repositories SET stopped = 0, stopped_by = ''
WHERE repository = $1 AND stopped > 0`, repository))
		if err != nil {
			return err
		}
		return s.WakeSends(ctx, tx, projects...)
	})
	return lifted, err
}

// SetLimits stores how many new jobs of a repository may be made a day: by repository, and under "" for those that have
// no limit of their own. What was stored before no longer counts: workers look again, if it was something else.
func (s Queue) SetLimits(ctx context.Context, limits map[string]int) error {
	return s.Transact(ctx, func(tx *sql.Tx) error {
		before := map[string]int{}
		err := sqldb.Scan(ctx, tx, func(rows *sql.Rows) error {
			var repository string
			var most int
			err := rows.Scan(&repository, &most)
			before[repository] = most
			return err
		}, "SELECT repository, most FROM fleet_repositories WHERE most >= 0")

		if err != nil || maps.Equal(before, limits) {
			return err
		}
		if err := storeLimits(ctx, tx, limits); err != nil {
			return err
		}
		return s.wakeAll(ctx, tx)
	})
}

func storeLimits(ctx context.Context, tx *sql.Tx, limits map[string]int) error {
	if _, err := tx.ExecContext(ctx, "UPDATE fleet_repositories SET most = -1"); err != nil {
		return err
	}

	for repository, most := range limits {
		_, err := tx.ExecContext(ctx, `INSERT INTO fleet_repositories (repository, most) VALUES ($1, $2)
ON CONFLICT (repository) DO UPDATE SET most = $2`, repository, most)
		if err != nil {
			return err
		}
	}
	return nil
}

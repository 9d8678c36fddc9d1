// Package exports keeps windows of the database up to date, with as few requests as possible.
package exports

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	heldWait = 10 * time.Second // between two looks at whether another sync has ended
	saveTime = 20 * time.Second // to store how a run ended, even if it was interrupted
)

// Loader loads windows. Its fields are set before use.
type Loader struct {
	Store *store.Store

	// Client may be for any project. It asks Reserve before each request and does not retry.
	Client *mintlify.Client

	Budget   int                              // requests an hour
	Pages    int                              // how many pages of a list the loader asks for at most
	Texts    bool                             // whether to keep what readers write
	Wait     bool                             // whether to wait for the quota and for another run
	Log      func(format string, args ...any) // gets a line for each export and wait
	Requests int                              // counts what this loader has requested
	Missing  int                              // counts the requests that are left for the next runs

	left int // requests of the budget
}

// Reserve is a limiter for the client: it keeps the budget over all runs.
func (l *Loader) Reserve(ctx context.Context, _ mintlify.RequestInfo) error {
	left, err := l.Store.Reserve(ctx, l.Budget)
	if err != nil {
		return err
	}

	l.left = left
	l.Requests++
	return nil
}

// Load brings the exports of a range up to date, and keeps each page as it comes. It loads the newest
// lists first, then what is final. Then it loads what may still change, as far as it fits into the hour's budget.
//
// Load ends with a [*store.HeldError] if another run is loading into the database, and with a
// [*store.QuotaError] when the budget or the quota is used up before all that is final is loaded,
// unless Wait is set. If visitors cannot be loaded, Load still loads the others, and returns a
// [*LoadError] at the end. It joins the two if both happen. A list that cannot be loaded is not an
// error: the database has the reason.
//
// Before it loads anything, it deletes the lists that the range does not keep, and once all is loaded,
// the pages of days. At the end it stores for each project how it ended.
func (l *Loader) Load(ctx context.Context, r Range) error {
	if err := l.take(ctx); err != nil {
		return err
	}

	q := newQueue(r)
	stop := l.load(ctx, r, q)
	if errors.Is(stop, store.ErrLost) {
		return stop
	}

	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if err := l.saveEnd(detached, r, q, stop); err != nil {
		err = fmt.Errorf("how the run ended could not be stored: %w", err)
		q.failures = append(q.failures, &LoadError{err: err})
	}
	released := l.Store.Release(detached)
	return errors.Join(append(q.failures, stop, released)...)
}

// take makes this run the one that loads into the database. It waits for another one if it may.
func (l *Loader) take(ctx context.Context) error {
	for said := ""; ; {
		err := l.Store.Take(ctx)
		held, ok := errors.AsType[*store.HeldError](err)
		if !ok || !l.Wait {
			return err
		}

		if held.Holder != said {
			l.Log("Waiting: %v.", held)
			said = held.Holder
		}
		if err := sleep(ctx, heldWait); err != nil {
			return err
		}
	}
}

// load loads the exports of a range, and returns why it stopped before the end, if it did.
func (l *Loader) load(ctx context.Context, r Range, q *queue) error {
	if !r.KeepFrom.IsZero() {
		for _, project := range r.Projects {
			if err := l.Store.Expire(ctx, project, r.KeepFrom); err != nil {
				return err
			}
		}
	}

	todo, err := l.plan(ctx, r)
	if err != nil {
		return err
	}

	q.noteEarlier(todo.known)
	final := slices.Concat(todo.final, todo.failed)
	q.all = len(final)
	for _, task := range final {
		if err := l.loadFinal(ctx, q, task); err != nil {
			return err
		}
	}

	if err := l.loadOpen(ctx, r, q); err != nil {
		return err
	}
	if len(q.failures) > 0 {
		return nil
	}
	return l.prune(ctx, r)
}

// loadFinal loads what is final. It waits for the quota if it may.
func (l *Loader) loadFinal(ctx context.Context, q *queue, task Task) error {
	for {
		err := l.loadOne(ctx, q, task)
		quota, ok := errors.AsType[*store.QuotaError](err)
		if !ok || !l.Wait || ctx.Err() != nil {
			return err
		}

		l.Log("Waiting for the hourly quota until %s.", quota.Until.Format(time.TimeOnly+" MST"))
		if err := l.pause(ctx, time.Until(quota.Until)); err != nil {
			return err
		}
	}
}

// loadOpen loads what may still change, as far as each export fits into the budget: if it were
// half loaded, the next night would begin it anew. It waits for nothing.
func (l *Loader) loadOpen(ctx context.Context, r Range, q *queue) error {
	todo, err := l.plan(ctx, r) // how large the site is may be known by now
	if err != nil {
		return err
	}

	for _, task := range todo.open {
		left, err := l.Store.Left(ctx, l.Budget)
		if err != nil {
			return err
		}
		if l.requests(todo.known, task.Project, task.Kind, task.Span()) > left {
			continue
		}

		q.all++
		err = l.loadOne(ctx, q, task)
		if isQuota(err) && ctx.Err() == nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loadOne loads an export, and notes how it ended. It returns why the run stops, if it does.
func (l *Loader) loadOne(ctx context.Context, q *queue, task Task) error {
	if q.isGivenUp(task) {
		return nil
	}

	err := l.loadTask(ctx, task, q.attempts(task))

	switch {
	case err == nil:
		q.succeeded(task)
		l.Log("%v (%d of %d exports, %d requests, %d left this hour)", task, q.done, q.all, l.Requests, l.left)
	case endsRun(ctx, err):
		return err
	case isMoving(err, task.Window):

	default:
		q.failed(task, err)
		if q.isOptional(task) {
			l.Log("Not loaded: %v: %v", task, err)
		}
	}
	return nil
}

// endsRun reports whether no other export can be loaded either, for now.
func endsRun(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, store.ErrLost) || isQuota(err)
}

// isQuota reports whether runs on this database have spent the budget, or other programs of the
// organization the quota.
func isQuota(err error) bool {
	var quota *store.QuotaError
	return errors.As(err, &quota)
}

// prune deletes the windows that no report compares with any more, what could not be loaded before it
// left the range, and the pages of old days.
func (l *Loader) prune(ctx context.Context, r Range) error {
	firstMonth := r.firstMonth(mintlify.DayOf(time.Now().UTC()))
	for _, project := range r.Projects {
		period := store.LastWeeks(project, r.Weeks, SettledDay(time.Now()))
		if err := l.Store.Prune(ctx, period, r.From, firstMonth); err != nil {
			return err
		}
		if r.KeepDaysFrom.IsZero() {
			continue
		}

		days, err := l.Store.Series(ctx, store.Day, store.Window{Project: project})
		if err != nil {
			return err
		}
		if err := l.Store.ExpireDays(ctx, project, r.KeepDaysFrom, events.Needed(days)); err != nil {
			return err
		}
	}
	return nil
}

// saveEnd stores how the run ended, and which pages have moved. A list that could not be loaded in two runs in a row
// is a failure.
func (l *Loader) saveEnd(ctx context.Context, r Range, q *queue, stop error) error {
	if err := l.saveSyncs(ctx, r, q, stop); err != nil {
		return err
	}
	for _, project := range r.Projects {
		if err := l.saveMoves(ctx, project); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loader) saveMoves(ctx context.Context, project string) error {
	days, err := l.Store.Series(ctx, store.Day, store.Window{Project: project})
	if err != nil || len(days) == 0 {
		return err
	}

	_, moves, err := Events(ctx, l.Store, project, days, days[len(days)-1].To.AddDays(-events.Kept))
	if err != nil {
		return err
	}
	return l.Store.SaveMoves(ctx, project, moves)
}

// Events returns a project's days since one with their pages, and which pages have moved: those that syncs have
// found, and what is newer. days are all that are known.
func Events(
	ctx context.Context, s *store.Store, project string, days []store.Point, since mintlify.Date,
) (*events.Site, []store.Move, error) {
	earlier, err := s.Moves(ctx, project)
	if err != nil {
		return nil, nil, err
	}

	isFinal := func(day store.Point) bool { return IsFinal(day.At, day.Window) }
	site, err := events.Read(ctx, s, project, days, since, isFinal)
	if err != nil {
		return nil, nil, err
	}
	return site, site.AllMoves(earlier), nil
}

func (l *Loader) saveSyncs(ctx context.Context, r Range, q *queue, stop error) error {
	earlier, err := l.Store.Syncs(ctx)
	if err != nil {
		return err
	}
	todo, err := l.plan(ctx, r)
	if err != nil {
		return err
	}

	for _, project := range r.Projects {
		missing := l.missing(todo, r, project)
		l.Missing += missing

		last := store.Sync{
			Project: project,
			At:      time.Now(),
			Missing: missing,
			Problem: q.problem(project, stop),
			Failing: q.failing(project, earlier[project].Failing),
		}
		if err := l.Store.SaveSync(ctx, last); err != nil {
			return err
		}
	}
	return nil
}

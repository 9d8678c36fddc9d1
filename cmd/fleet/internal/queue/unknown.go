package queue

import (
	"context"
	"errors"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/once"
)

// How often somebody looks for what became of an unknown prompt, and for how long.
const (
	firstLook = 5 * time.Minute
	maxLook   = 6 * time.Hour
	lookDays  = 7 * database.Day
	lookTime  = time.Minute // a look
	lookMost  = 50          // in a pass
)

// Finder returns the link of the pull request that an unknown prompt led to, "" if none is known.
type Finder func(ctx context.Context, record once.Record) (link string, err error)

// nextLook returns when to look again for what became of a prompt: at once, then 5, 10, 20 … minutes apart.
func nextLook(sent, looked time.Time) time.Time {
	if looked.Before(sent) {
		return sent
	}
	return looked.Add(min(max(looked.Sub(sent), firstLook), maxLook))
}

func (w *Worker) lookForUnknown(ctx context.Context) error {
	if w.Find == nil {
		return nil
	}
	now := time.Now()
	where := "state = 'unknown' AND thread = '' AND looked < $1 AND updated > $2"
	if !w.AsksGitHub {
		where += " AND EXISTS (SELECT 1 FROM fleet_found f WHERE f.key = p.key)"
	}

	rows, err := w.Rows(ctx, where+" ORDER BY looked LIMIT $3",
		now.Add(-firstLook).UnixNano(), now.Add(-lookDays).UnixNano(), lookMost)
	if err != nil {
		return err
	}

	for _, r := range rows {
		if !nextLook(r.Deadline, r.Looked).After(now) {
			w.lookFor(ctx, r, now)
		}
	}
	return nil
}

// lookFor looks for the pull request of one prompt. What fails is tried again when it is due. It notes no look that
// asks nobody: a person reads the time, and may conclude that there is no pull request.
func (w *Worker) lookFor(ctx context.Context, r database.Row, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()

	var err error
	if w.AsksGitHub {
		const claim = "UPDATE fleet_prompts SET looked = $2 WHERE key = $1 AND looked = $3"
		err = database.Change(ctx, w.DB, errLooked, claim, r.Key, now.UnixNano(), database.Nanos(&r.Looked))
	}

	link := ""
	if err == nil {
		link, err = w.Find(ctx, r.Record)
	}
	if err == nil && link != "" {
		err = w.Resolve(ctx, r.Record, link)
	}

	if err != nil && !errors.Is(err, errLooked) {
		w.Logger.Warn("the pull request of an unknown prompt could not be looked for", "key", r.Key, "error", err)
	}
}

// errLooked is that another worker has begun to look.
var errLooked = errors.New("another worker looks")

// Resolve ends an unknown prompt whose pull request was found.
func (s Queue) Resolve(ctx context.Context, record once.Record, link string) error {
	_, err := s.Runner(nil, s.DB).MarkDone(ctx, record.Key, link)
	if errors.Is(err, once.ErrState) || errors.Is(err, once.ErrConflict) {
		return nil // somebody else has decided
	}
	if err != nil {
		return err
	}

	s.Logger.Info("the pull request of an unknown prompt was found", "key", record.Key, "pr", link)
	s.TellSoon(ctx)
	return s.wake(ctx, record.ProjectID)
}

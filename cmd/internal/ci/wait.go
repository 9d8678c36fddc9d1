package ci

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// unsaidWait is how long to wait if the service does not say.
const unsaidWait = 30 * time.Second

// WaitOut waits before another attempt: as long as said, or 30 s if the service does not say. The wait has
// jitter: the runs of many repositories fail together, and should not come back together. why says what it waits
// for, and err why the last attempt failed. It returns nil once the next attempt may begin, or err, with the
// reason, if the wait would outlast ctx or was interrupted.
func (s *Step) WaitOut(ctx context.Context, why string, said time.Duration, err error) error {
	wait := cmp.Or(said, unsaidWait)
	wait += rand.N(wait)
	deadline, hasDeadline := ctx.Deadline() // -timeout
	if hasDeadline && time.Until(deadline) <= wait {
		return fmt.Errorf("%w. The wait for another attempt would outlast -timeout", err)
	}

	s.Printf("%s: trying again in %v.", why, wait.Round(time.Second))
	if !Sleep(ctx, wait) {
		return fmt.Errorf("%w. The wait for another attempt was interrupted", err)
	}
	return nil
}

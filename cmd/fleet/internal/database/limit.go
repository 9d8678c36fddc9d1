package database

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// statementLimit is how long a statement of Postgres may take. The limit is on the client's side: one of the session
// does not survive pgbouncer.
type statementLimit time.Duration

type cancelKey struct{}

// TraceQueryStart implements [pgx.QueryTracer].
func (l statementLimit) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l))
	return context.WithValue(ctx, cancelKey{}, cancel)
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (statementLimit) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if cancel, found := ctx.Value(cancelKey{}).(context.CancelFunc); found {
		cancel()
	}
}

// ExplainSilence returns err, or that the database has not answered within a limit, if that is why a statement failed.
func ExplainSilence(err error, limit time.Duration) error {
	isSilence := errors.Is(err, context.DeadlineExceeded)
	if isSilence || err != nil && strings.Contains(err.Error(), "(SQLITE_BUSY)") {
		return fmt.Errorf("the database does not answer within %v: a table may be locked, or the database is busy",
			limit)
	}
	return err
}

//go:build unix

package store_test

import (
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func openedByMany(t *testing.T, where string) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := store.Open(t.Context(), where, source)
			if assert.NoError(t, err) {
				s.Close()
			}
		})
	}
	all.Wait()
}

// Whatever a clock that was ahead has recorded counts from now on, and not from then.
func clockAhead(t *testing.T, where string) {
	s := open(t, where)
	save(t, s, window, store.Visitors, page("/a", 0, 1, false))
	_, err := s.Reserve(t.Context(), 90)
	require.NoError(t, err)

	ahead := time.Now().Add(1000 * time.Hour)
	require.NoError(t, s.Block(t.Context(), ahead))

	raw := rawDatabase(t, where)
	for _, statement := range []string{
		`UPDATE docs_exports SET fetched_at = $1`,
		`UPDATE docs_requests SET sent_at = $1`,
	} {
		_, err := raw.ExecContext(t.Context(), statement, ahead.UnixMilli())
		require.NoError(t, err)
	}

	require.NoError(t, s.Take(t.Context()))
	_, err = s.Reserve(t.Context(), 2)
	require.NoError(t, err, "the block was of that clock")
	_, err = s.Reserve(t.Context(), 2)
	var quota *store.QuotaError
	require.ErrorAs(t, err, &quota)
	assert.WithinDuration(t, time.Now().Add(time.Hour), quota.Until, time.Minute)

	complete, _ := find(t, s, window, store.Visitors)
	assert.WithinDuration(t, time.Now(), complete.At, time.Minute)
}

func otherSource(t *testing.T, where string) {
	open(t, where)
	_, err := store.Open(t.Context(), where, "another")
	require.ErrorIs(t, err, store.ErrSetup)
	assert.ErrorContains(t, err, source)
	assert.ErrorContains(t, err, "another")
}

func newerVersion(t *testing.T, where string) {
	open(t, where)
	_, err := rawDatabase(t, where).ExecContext(t.Context(), `UPDATE docs_service SET version = 7`)
	require.NoError(t, err)

	_, err = store.Open(t.Context(), where, source)
	require.ErrorIs(t, err, store.ErrSetup)
	require.ErrorContains(t, err, "update docs-report")
	_, err = store.Read(t.Context(), where)
	require.ErrorContains(t, err, "update docs-report")
}

func requireTrue(t *testing.T, raw *sql.DB, statement string) {
	t.Helper()
	isTrue := false
	require.NoError(t, raw.QueryRowContext(t.Context(), statement).Scan(&isTrue), statement)
	assert.True(t, isTrue, statement)
}

// Numbers, truth values and, on Postgres, dates and times have their types.
func typedViews(t *testing.T, where string) {
	s := open(t, where)
	no := false
	at := time.Date(2026, time.March, 1, 2, 3, 4, 0, time.UTC)
	for kind, rows := range map[store.Kind][]any{
		store.Searches: {
			mintlify.SearchTerm{Query: "x", Hits: 1 << 40, CTR: 12.5, TopClickedPage: "/a", LastSearchedAt: at},
			mintlify.SearchTerm{Query: "y"},
		},
		store.Feedback: {
			mintlify.Feedback{ID: "f", Path: "/a", Comment: "c", CreatedAt: at, Helpful: &no, Status: "pending"},
			mintlify.Feedback{ID: "g"},
		},
		store.Conversations: {
			mintlify.Conversation{
				ID:               "c",
				Timestamp:        at,
				Query:            "q",
				QueryCategory:    "Billing",
				ResolutionStatus: "unanswered",
				Sources:          []mintlify.ConversationSource{{URL: "/a"}},
			},
			mintlify.Conversation{ID: "d"},
		},
		store.Visitors: nil,
	} {
		p := &store.Page{Rows: rows, Last: true}
		if kind == store.Visitors {
			p = page("/a", 0, 3, false)
		}
		save(t, s, window, kind, p)
	}

	for _, statement := range []string{
		`SELECT SUM(hits) = 1099511627776 AND SUM(ctr) = 12.5 AND COUNT(top_clicked_page) = 1
			AND COUNT(last_searched_at) = 1 FROM docs_searches WHERE date_from = '2026-03-01' AND span = 'day'`,
		`SELECT COUNT(*) = 1 FROM docs_feedback WHERE NOT helpful AND comment = 'c' AND status = 'pending'`,
		`SELECT COUNT(*) = 2 FROM docs_feedback`,
		`SELECT COUNT(*) = 1 FROM docs_questions WHERE resolution = 'unanswered' AND category = 'Billing'
			AND question = 'q' AND asked_at >= '2026-03-01' AND CAST(sources AS TEXT) LIKE '%/a%'`,
		`SELECT COUNT(*) = 1 FROM docs_days WHERE date_from = '2026-03-01' AND pages = 3`,
		`SELECT COUNT(*) = 1 FROM docs_pages WHERE date_from >= '2026-03-01' AND human = 2`,
		`SELECT COUNT(*) = 6 FROM docs_lists WHERE date_to = '2026-03-02'`,
	} {
		requireTrue(t, rawDatabase(t, where), statement)
	}

	if !strings.HasPrefix(where, "sqlite:") {
		var from, searched string
		err := rawDatabase(t, where).QueryRowContext(t.Context(), `SELECT pg_typeof(date_from), pg_typeof(last_searched_at)
			FROM docs_searches`).Scan(&from, &searched)
		require.NoError(t, err)
		assert.Equal(t, "date", from)
		assert.Equal(t, "timestamp with time zone", searched)
	}
}

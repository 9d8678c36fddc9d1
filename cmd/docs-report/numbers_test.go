//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// numbers are queries that find what the page says, in its words. NOW and BEFORE are the two periods.
var numbers = []string{
	`SELECT ' Humans ' || human || ' ' FROM docs_exports WHERE kind = 'visitors' AND NOW`,
	`SELECT ' AIs ' || ai || ' ' FROM docs_exports WHERE kind = 'visitors' AND NOW`,
	`SELECT ' from ' || human || ' AIs ' FROM docs_exports WHERE kind = 'visitors' AND BEFORE`,
	`SELECT ' Share of AI ' || ROUND(100.0 * ai / (human + ai), 1) || '%'
		FROM docs_exports WHERE kind = 'visitors' AND NOW`,

	`SELECT ' ' || path || ' ' || human || ' ' || ai || ' ' || ROUND(100.0 * ai / (human + ai), 1) || '% '
		FROM docs_pages WHERE NOW ORDER BY human DESC LIMIT 1`,
	`SELECT ' /guides ' || COUNT(*) || ' ' || ROUND(100.0 * SUM(human) / (SELECT SUM(human) FROM docs_pages WHERE NOW), 1) || '% '
		FROM docs_pages WHERE NOW AND path LIKE '/guides/%'`,

	withTerms + `SELECT SUM(CASE WHEN page = '' THEN hits ELSE 0 END) || ' of ' || SUM(hits) ||
		' searches went to terms that nobody clicked. These numbers are without ' ||
		(SELECT SUM(hits) FROM unfinished) || ' unfinished.'
		FROM terms WHERE term NOT IN (SELECT term FROM unfinished)`,
	withTerms + `SELECT ' Without a click ' || term || ' ' || hits || ' searches '
		FROM terms WHERE page = '' AND term NOT IN (SELECT term FROM unfinished) ORDER BY hits DESC LIMIT 1`,

	`SELECT ' could not answer ' || SUM(CASE WHEN resolution = 'unanswered' THEN 1 ELSE 0 END) || ' of ' || COUNT(*) ||
		' questions. ' FROM docs_questions WHERE NOW`,

	`SELECT ' ' || down || ' of ' || votes || ' thumbs point down (' || ROUND(100.0 * down / votes, 1) || '%)'
		FROM (SELECT SUM(CAST(data ->> 'thumbsDown' AS BIGINT)) AS down,
			SUM(CAST(data ->> 'thumbsDown' AS BIGINT) + CAST(data ->> 'thumbsUp' AS BIGINT)) AS votes
			FROM docs_lists WHERE kind = 'feedback by page' AND NOW) AS thumbs`,
	`SELECT ' Left out: ' || COUNT(*) || ' complaints that are resolved or dismissed'
		FROM docs_feedback WHERE NOW AND comment <> '' AND status IN ('resolved', 'dismissed')`,
}

// withTerms has the search terms, and those that readers typed on the way to another one.
const withTerms = `WITH terms AS (
		SELECT term, SUM(hits) AS hits, MAX(COALESCE(top_clicked_page, '')) AS page
		FROM docs_searches WHERE NOW GROUP BY term
	), unfinished AS (
		SELECT * FROM terms t WHERE page = '' AND EXISTS (
			SELECT 1 FROM terms o WHERE o.term LIKE t.term || '_%' AND (o.hits > t.hits OR LENGTH(t.term) <= 2))
	) `

// Each number of the page is the one that a query by hand finds, on both databases.
func TestNumbersBySQL(t *testing.T) {
	for name, newDatabase := range databases(t) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.db = newDatabase(t)
			r.ok("sync", "-demo", "-texts", "-db", r.db)
			page := strings.ReplaceAll(r.page(), ",", "")

			now := store.LastWeeks("demo", 4, mintlify.DayOf(time.Now().UTC()))
			in := func(w store.Window) string { return fmt.Sprintf("date_from = '%v' AND date_to = '%v'", w.From, w.To) }
			periods := strings.NewReplacer("NOW", in(now), "BEFORE", in(now.Before()))
			for _, query := range numbers {
				words := ""
				row := rawDatabase(t, r.db).QueryRowContext(t.Context(), periods.Replace(query))
				require.NoError(t, row.Scan(&words), query)
				assert.Contains(t, page, words)
			}
		})
	}
}

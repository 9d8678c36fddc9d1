//go:build unix

package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// Rows that are forgotten by their id do not come back, and texts leave counts behind.
func forgotten(t *testing.T, where string) {
	s := open(t, where)

	turn := func(id string) mintlify.Conversation {
		return mintlify.Conversation{
			ID:            id,
			Query:         "secret " + id,
			Response:      "secret",
			QueryCategory: "Billing",
			PageURL:       "https://docs.example.com/a?who=secret",
		}
	}

	load := func() {
		save(t, s, window, store.Conversations, &store.Page{
			Rows: []any{turn("a"), turn("b"), turn("a")},
			Last: true,
		})
	}

	list := func() []mintlify.Conversation {
		_, rows, err := store.List[mintlify.Conversation](t.Context(), s, window, store.Conversations)
		require.NoError(t, err)
		return rows
	}

	load()
	rows, err := s.Forget(t.Context(), "other", store.Conversations, "a")
	require.NoError(t, err)
	assert.Zero(t, rows, "of another project")

	load()
	assert.Len(t, list(), 3)

	rows, err = s.Forget(t.Context(), "docs", store.Conversations, "a")
	require.NoError(t, err)
	assert.Equal(t, 2, rows)
	load()
	require.Len(t, list(), 1)
	assert.Equal(t, "b", list()[0].ID)

	complete, _ := find(t, s, window, store.Conversations)
	assert.True(t, complete.Texts)

	begun, err := beginOf(s, window, store.Feedback, time.Now()) // is under way
	require.NoError(t, err)

	begun, err = s.Append(t.Context(), begun, &store.Page{
		Rows: []any{mintlify.Feedback{ID: "f", Comment: "secret"}},
		Next: 100,
		More: true,
	})
	require.NoError(t, err)

	rows, err = s.ForgetTexts(t.Context(), store.AllProjects)
	require.NoError(t, err)
	assert.Equal(t, 1, rows)

	_, err = s.Append(t.Context(), begun, &store.Page{Next: 200, Last: true})
	require.ErrorIs(t, err, store.ErrGone, "that run has to begin anew")
	assert.Equal(t, []mintlify.Conversation{{QueryCategory: "Billing", PageURL: "https://docs.example.com/a"}}, list())

	complete, _ = find(t, s, window, store.Conversations)
	assert.False(t, complete.Texts)

	var left int
	err = rawDatabase(t, where).QueryRowContext(t.Context(),
		`SELECT COUNT(*) FROM docs_rows WHERE CAST(data AS TEXT) LIKE '%secret%'`).Scan(&left)
	require.NoError(t, err)
	assert.Zero(t, left)
}

// An export has texts in all its rows or in none: a run that wants it otherwise begins it anew.
func textsOrNone(t *testing.T, where string) {
	s := open(t, where)
	require.NoError(t, s.Take(t.Context()))
	for _, wanted := range []store.Export{
		{Window: window, Kind: store.Conversations, Texts: true},
		{Window: window, Kind: store.Conversations},
		{Window: window, Kind: store.Conversations, Texts: true},
	} {
		begun, err := s.Begin(t.Context(), wanted, time.Time{})
		require.NoError(t, err)
		assert.Zero(t, begun.Offset, "it begins anew")

		row := mintlify.Conversation{QueryCategory: "Billing"}
		if wanted.Texts {
			row.ID = "a"
		}
		_, err = s.Append(t.Context(), begun, &store.Page{Rows: []any{row}, Next: 250, More: true})
		require.NoError(t, err)

		resumed, err := s.Begin(t.Context(), wanted, time.Time{})
		require.NoError(t, err)
		assert.Equal(t, 250, resumed.Offset, "it resumes")
	}

	wanted := store.Export{Window: window, Kind: store.Conversations, Texts: true}
	begun, err := s.Begin(t.Context(), wanted, time.Time{})
	require.NoError(t, err)
	_, err = s.Append(t.Context(), begun, &store.Page{Last: true})
	require.NoError(t, err)

	list, _, err := store.List[mintlify.Conversation](t.Context(), s, window, store.Conversations)
	require.NoError(t, err)
	assert.True(t, list.Texts)
	assert.Equal(t, 1, list.Kept)
}

// A search term does not come back in any spelling, and the database has only its hash.
func forgottenTerm(t *testing.T, where string) {
	s := open(t, where)
	load := func() {
		save(t, s, window, store.Searches, &store.Page{
			Rows: []any{
				mintlify.SearchTerm{Query: "Jo Miller", Hits: 1},
				mintlify.SearchTerm{Query: "jo  miller?", Hits: 2},
				mintlify.SearchTerm{Query: "jo", Hits: 3},
			},
			Last: true,
		})
	}
	terms := func() []string {
		_, rows, err := store.List[mintlify.SearchTerm](t.Context(), s, window, store.Searches)
		require.NoError(t, err)
		var all []string
		for _, row := range rows {
			all = append(all, row.Query)
		}
		return all
	}

	load()
	rows, err := s.Forget(t.Context(), "other", store.Searches, "jo miller")
	require.NoError(t, err)
	assert.Zero(t, rows, "of another project")

	load()
	assert.Len(t, terms(), 3)

	rows, err = s.Forget(t.Context(), "docs", store.Searches, "JO MILLER")
	require.NoError(t, err)
	assert.Equal(t, 2, rows)
	assert.Equal(t, []string{"jo"}, terms())
	load()
	assert.Equal(t, []string{"jo"}, terms())

	var hash, salt string
	err = rawDatabase(t, where).QueryRowContext(t.Context(),
		`SELECT f.id, s.salt FROM docs_forgotten f, docs_service s WHERE f.project = 'docs'`).Scan(&hash, &salt)
	require.NoError(t, err)
	assert.Len(t, hash, 64)
	assert.GreaterOrEqual(t, len(salt), 26)
}

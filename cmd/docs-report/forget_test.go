package main

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// files returns all that SQLite keeps of the rig's database.
func (r *rig) files() string {
	r.t.Helper()
	var all string
	for _, suffix := range []string{"", "-wal", "-journal"} {
		data, err := os.ReadFile(strings.TrimPrefix(r.db, "sqlite:") + suffix)
		if err == nil {
			all += string(data)
		}
	}
	return all
}

var personal = []string{"Is there a Terraform", "I do not know", "jo@example", "Out of date"}

func TestForgetTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 15, 12)
		r := newRig(t, site(3))
		withLists(r)

		for range 4 {
			require.Equal(t, exitOK, r.sync(t.Context(), "-texts", "-budget", "1000"), r.messages)
			assert.NotContains(t, r.messages, "forget")
		}

		for _, text := range personal {
			assert.Contains(t, r.files(), text)
		}

		require.Equal(t, exitOK, r.sync(t.Context()), r.messages)
		assert.Contains(t, r.messages,
			"still keeps what readers wrote, from runs with -texts. To delete it: docs-report forget -texts")

		require.Equal(t, exitOK, r.run(t.Context(), "forget", "-texts"), r.messages)
		assert.Contains(t, r.messages, "run sync without -texts")
		for _, text := range personal {
			assert.NotContains(t, r.files(), text)
		}

		asked := len(r.asked())
		require.Equal(t, exitOK, r.sync(t.Context()), r.messages)
		assert.NotContains(t, r.messages, "forget")
		assert.Len(t, r.asked(), asked, "nothing is loaded anew")

		require.Equal(t, exitOK, r.run(t.Context(), "report", "-o", "-"), r.messages)
		page := words(r.stdout)
		assert.Contains(t, page, "Integrations 1 unanswered · of 1", "counts stay")
		assert.Contains(t, page, "/docs/page-2 1 unanswered")
		assert.Contains(t, page, "What readers asked is not kept")

		require.Equal(t, exitOK, r.run(t.Context(), "report", "-page", "/docs/page-1", "-o", "-"), r.messages)
		assert.Contains(t, words(r.stdout), "What readers wrote is not kept")
	})
}

// What is forgotten by its id is left out when a later sync brings it again.
func TestForgetByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 15, 12)
		r := newRig(t, site(3))
		withLists(r)

		for range 4 {
			require.Equal(t, exitOK, r.sync(t.Context(), "-texts", "-budget", "1000"), r.messages)
		}

		require.Equal(t, exitOK, r.run(t.Context(), "forget", "-conversation", "c1", "-project", "docs"), r.messages)
		assert.Regexp(t, `^Deleted [1-9]\d* rows of conversations "c1"`, r.messages)

		require.Equal(t, exitOK, r.run(t.Context(), "forget", "-feedback", "f1"), r.messages)
		for _, text := range personal {
			assert.NotContains(t, r.files(), text)
		}

		time.Sleep(7 * 24 * time.Hour) // another period, with the same conversation in it
		asked := len(r.asked())

		for _, args := range [][]string{{"-texts"}, {"-texts"}, {"-texts"}, nil, nil} {
			require.Equal(t, exitOK, r.sync(t.Context(), append(args, "-budget", "1000")...), r.messages)
		}

		assert.Contains(t, strings.Join(r.asked()[asked:], "\n"), "docs assistant 2000-02-21 2000-03-20")
		for _, text := range personal {
			assert.NotContains(t, r.files(), text)
		}

		require.Equal(t, exitOK, r.run(t.Context(), "report", "-o", "-"), r.messages)
		assert.NotContains(t, words(r.stdout), "Integrations")

		require.Equal(t, exitOK, r.run(t.Context(), "forget", "-feedback", "typo"), r.messages)
		assert.Contains(t, r.messages, `The database has no rows of feedback "typo"`)
	})
}

// A search term is forgotten in all its spellings, and nothing in the files tells it.
func TestForgetSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.March, 15, 12)
		r := newRig(t, site(3))
		withLists(r)
		r.service.SetSearches([]mintlify.SearchTerm{
			{Query: "Jo Miller", Hits: 3},
			{Query: "jo  miller?", Hits: 2},
			{Query: "jo", Hits: 9},
		})
		require.Equal(t, exitOK, r.sync(t.Context()), r.messages)
		assert.Contains(t, r.files(), "Jo Miller")

		require.Equal(t, exitOK, r.run(t.Context(), "forget", "-search", "JO MILLER"), r.messages)
		assert.Regexp(t, `^Deleted [1-9]\d* rows of this search term`, r.messages)
		assert.NotContains(t, strings.ToLower(r.files()), "miller")
		assert.Contains(t, r.files(), "\"jo\"")

		time.Sleep(7 * 24 * time.Hour) // another period, with the same searches in it
		asked := len(r.asked())
		require.Equal(t, exitOK, r.sync(t.Context()), r.messages)
		assert.Contains(t, strings.Join(r.asked()[asked:], "\n"), "docs searches 2000-02-21 2000-03-20")
		assert.NotContains(t, strings.ToLower(r.files()), "miller")
		assert.Contains(t, r.files(), "\"jo\"")

		require.Equal(t, exitOK, r.run(t.Context(), "forget", "-search", "nothing", "-project", "docs"), r.messages)
		assert.Contains(t, r.messages, "no rows of this search term")
		assert.NotContains(t, r.messages, "nothing")
	})
}

// Rows of old lists are deleted, and no later run loads them again. Counts stay.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sleepUntil(time.April, 15, 12)
		r := newRig(t, site(3))
		withLists(r)

		args := []string{"-texts", "-from", "2000-02-01", "-budget", "1000"}
		for range 9 {
			require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		}

		rows := func(condition string) (n int) {
			query := `SELECT COUNT(*) FROM docs_lists WHERE ` + condition
			err := rawDatabase(t, r.db).QueryRowContext(t.Context(), query).Scan(&n)
			require.NoError(t, err)
			return n
		}

		assert.NotZero(t, rows("date_to <= '2000-03-15'"))
		asked := len(r.asked())
		kept := rows("date_to > '2000-03-15'")

		require.Equal(t, exitOK, r.sync(t.Context(), append(args, "-keep", "1m")...), r.messages)
		assert.Zero(t, rows("date_to <= '2000-03-15'"))
		assert.Equal(t, kept, rows("date_to > '2000-03-15'"))

		require.Equal(t, exitOK, r.sync(t.Context(), args...), r.messages)
		assert.Len(t, r.asked(), asked, "without -keep neither")
		assert.Contains(t, r.messages, "Up to date")

		require.Equal(t, exitOK, r.run(t.Context(), "report", "-month", "2000-02", "-o", "-"), r.messages)
		assert.Contains(t, words(r.stdout), "sync -keep deleted the rows of this list because of their age.")
		assert.NotContains(t, words(r.stdout), "terraform")

		require.Equal(t, exitOK, r.sync(t.Context(), append(args, "-keep", "1m", "-from", "2000-01-01")...), r.messages)
		assert.NotContains(t, strings.Join(r.asked()[asked:], "\n"), "searches 2000-01-01",
			"what would be deleted is not loaded")
	})
}

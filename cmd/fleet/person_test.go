//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/once"
)

// TestReasonsWhyAPersonIsNeeded: status, status -check and the metrics say the same, and nothing of what is everyday.
func TestReasonsWhyAPersonIsNeeded(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	state := func(state once.State, change func(*once.Record)) func(*testing.T, queue.Queue) {
		return func(t *testing.T, s queue.Queue) {
			put(t, s, "k", func(r *once.Record) {
				r.State = state
				r.UpdatedAt = time.Now()
				if change != nil {
					change(r)
				}
			})
		}
	}
	// project has one failed for a time, and lately.
	project := func(cause string, began, last time.Duration, more string) func(*testing.T, queue.Queue) {
		return func(t *testing.T, s queue.Queue) {
			execute(t, s, `INSERT INTO fleet_projects (project) VALUES ('p') ON CONFLICT DO NOTHING`)
			execute(t, s, "UPDATE fleet_projects SET source = 'x', reason = 'why', tries = 3, cause = $1, began = $2, "+
				"last = $3"+more+" WHERE project = 'p'", cause, ago(began).UnixMilli(), ago(last).UnixMilli())
		}
	}

	for name, c := range map[string]struct {
		kind string // "" if nobody is needed
		make func(*testing.T, queue.Queue)
	}{
		"a quiet night":   {"", state(once.Done, nil)},
		"a busy hour":     {"", func(*testing.T, queue.Queue) {}},
		"a quota":         {"", project("quota", 2*time.Hour, 0, ", paused_until = 32000000000000")},
		"a short outage":  {"", project("outage", 50*time.Minute, 0, "")},
		"an old outage":   {"", project("outage", 9*time.Hour, 2*time.Hour, "")},
		"a person's":      {"", project("outage", 2*time.Hour, 0, ", stopped = 1, stopped_by = 'jane'")},
		"closed":          {"", state(once.Done, func(r *once.Record) { r.Reported = once.Done })},
		"failed long ago": {"", state(once.Failed, func(r *once.Record) { r.UpdatedAt = ago(8 * database.Day) })},
		"nothing to send": {"", func(t *testing.T, s queue.Queue) {
			project("key", time.Hour, 0, ", paused_until = 32000000000000")(t, s)
			state(once.Done, nil)(t, s)
		}},

		"unknown": {"unknown", state(once.Unknown, nil)},
		"refused": {"refused", state(once.Refused, nil)},
		"failed":  {"failed", state(once.Failed, nil)},
		"running": {"running", state(once.Running, func(r *once.Record) { r.JobID, r.Problem = "j", "401" })},
		"sending": {"running", state(once.Sending, func(r *once.Record) { r.Problem = "it does not tell" })},
		"stranded": {"stranded", func(t *testing.T, s queue.Queue) {
			add(t, s, database.Prompt{Key: "m", Prompt: "x", After: "k"})
			state(once.Done, nil)(t, s)
		}},
		"result": {"result", func(t *testing.T, s queue.Queue) {
			state(once.Done, func(r *once.Record) { r.UpdatedAt = ago(2 * time.Hour) })(t, s)
			execute(t, s, "UPDATE fleet_prompts SET tried = $1", ago(time.Minute).UnixNano())
		}},
		"a revoked key, between two pauses": {"pause", project("key", time.Minute, time.Minute, "")},
		"a wrong project":                   {"pause", project("project", time.Minute, 0, ", paused_until = 32000000000000")},
		"an outage, between two pauses":     {"outage", project("outage", 2*time.Hour, time.Minute, "")},
		"a login page":                      {"outage", project("outage", 0, 0, ", alien = 1")},
		"no worker for three minutes": {"worker", func(t *testing.T, s queue.Queue) {
			execute(t, s, "UPDATE fleet_schema SET worked = $1", ago(3*time.Minute).UnixMilli())
		}},
		"a full disk": {"database", func(t *testing.T, s queue.Queue) {
			execute(t, s, `CREATE TRIGGER full BEFORE INSERT ON fleet_history WHEN length(NEW.job || NEW.problem) >= 8192
BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c1, s := made(t, "sqlite:"+sqliteFile(t))
			add(t, s, database.Prompt{Key: "k", Project: "p", Prompt: "x"})
			execute(t, s, "UPDATE fleet_schema SET worked = "+s.Clock)
			c.make(t, s)

			var now status
			require.NoError(t, json.Unmarshal([]byte(c1.wants(0, "status", "-json")), &now))
			var found []string
			for _, n := range now.NeedsPerson {
				found = append(found, n.Kind)
				assert.NotEmpty(t, n.Advice)
			}
			exported := regexp.MustCompile(`(?m)^fleet_person_needed\{cause=".*",kind="(.*)"\} 1$`).
				FindAllStringSubmatch(exportedBy(t, s), -1)

			if c.kind == "" {
				assert.Empty(t, found)
				assert.Empty(t, exported)
				c1.wants(0, "status", "-check")
				return
			}
			assert.Equal(t, []string{c.kind}, found)
			require.Len(t, exported, 1)
			assert.Equal(t, c.kind, exported[0][1])
			assert.True(t, strings.HasPrefix(c1.wants(1, "status", "-check"), c.kind))
		})
	}
}

// TestFullDiskOfSQLite: a process that has met no webhook sees that the log of writes cannot grow. A disk that is full is
// here a file that may not grow.
func TestFullDiskOfSQLite(t *testing.T) {
	t.Parallel()
	file := sqliteFile(t)
	s := openStore(t, "sqlite:"+file)
	execute(t, s, "PRAGMA wal_checkpoint(TRUNCATE)")
	add(t, s, promptOf(1, testProject))
	execute(t, s, "UPDATE fleet_schema SET worked = "+s.Clock)
	status := func(limit int64) (string, error) {
		cmd := programCommand(t, "sqlite:"+file, quick, nil, "status", "-check")
		cmd.Args = append([]string{"sh", "-c", `ulimit -f $0 && exec "$@"`, fmt.Sprint(limit), cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		out, err := cmd.CombinedOutput()
		return string(out), err
	}

	log, err := os.Stat(file + "-wal")
	require.NoError(t, err)
	out, err := status(log.Size()/512 + 1)
	require.Error(t, err, out)
	assert.Contains(t, out, "No row can be written: is its disk full")

	out, err = status(log.Size()/512 + 1000)
	require.NoError(t, err, out)
	assert.Zero(t, number(t, s, "SELECT count(*) FROM fleet_history WHERE key = ''"), "what it tries does not stay")

	s.NoteStored("disk full")
	require.Error(t, s.CheckWrites(t.Context()))
	other := openStore(t, "sqlite:"+file)
	require.ErrorContains(t, other.CheckWrites(t.Context()), "the last webhook could not be stored: disk full", "all say the same")
	other.NoteStored("")
	require.NoError(t, other.CheckWrites(t.Context()))
}

// TestMetricsOfALockedDatabase: the process has its own, and of the database's none, or all.
func TestMetricsOfALockedDatabase(t *testing.T) {
	t.Parallel()
	url := testPostgres.Database(t)
	s := openStore(t, url)
	add(t, s, promptOf(1, testProject))
	locked := func(statement string) string {
		lock, err := s.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer lock.Rollback() //nolint:errcheck // it ends the lock
		_, err = lock.ExecContext(t.Context(), statement)
		require.NoError(t, err)
		return exportedBy(t, s)
	}

	exported := locked("LOCK TABLE fleet_prompts IN ACCESS EXCLUSIVE MODE")
	assert.Contains(t, exported, "\nfleet_database_up 0\n")
	assert.Contains(t, exported, "\nfleet_build_info{")
	assert.NotContains(t, exported, "fleet_paused{")
	assert.NotContains(t, exported, "fleet_person_needed")

	exported = locked("LOCK TABLE fleet_history IN SHARE MODE")
	assert.Contains(t, exported, "\nfleet_database_up 1\n")
	assert.Contains(t, exported, `fleet_person_needed{cause="",kind="database"} 1`)
	assert.Contains(t, exportedBy(t, s), `fleet_person_needed{cause="",kind="database"} 1`, "it tries again after 15 s")

	exported = exportedBy(t, openStore(t, url))
	assert.Contains(t, exported, "\nfleet_database_up 1\n")
	assert.Contains(t, exported, `fleet_person_needed{cause="",kind="database"} 0`)
	assert.Contains(t, exported, `fleet_webhooks_total{event="push",status="503"} 0`)
}

// TestServeAsks once for each project, and warns of one that the service refuses.
func TestServeAsks(t *testing.T) {
	t.Parallel()
	var asked []string
	service := roundTrip(func(r *http.Request) *http.Response {
		asked = append(asked, r.URL.Path)
		response := httptest.NewRecorder()
		status := http.StatusNotFound
		if strings.Contains(r.URL.Path, "/wrong/") {
			status = http.StatusForbidden
		}
		http.Error(response, `{"error":"no"}`, status)
		return response.Result()
	})

	var log bytes.Buffer
	w := workerOf(t, openStore(t, "sqlite:"+sqliteFile(t)), service)
	w.Logger = slog.New(slog.NewTextHandler(&log, nil))
	ask(t.Context(), w, github.Projects{"a/b": "wrong", "a/c": "right", "a/d": "wrong", "a/docs": ""})
	assert.Len(t, asked, 2)
	assert.Equal(t, 1, strings.Count(log.String(), "the key or the project is wrong"))
	assert.Contains(t, log.String(), "project=wrong")
}

// roundTrip is a service.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

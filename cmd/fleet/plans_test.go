//go:build unix

package main

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// statements are the statements of a database, with the arguments of the last time.
type statements struct {
	driver.Connector

	mu    sync.Mutex
	args  map[string][]any
	count int
}

// plainConnector opens a connection of a database that is open already.
type plainConnector struct {
	driver driver.Driver
	name   string
}

func (c plainConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }

func (c plainConnector) Driver() driver.Driver { return c.driver }

// record has the statements of a database recorded, which is a file of SQLite or a URL of Postgres.
func record(t *testing.T, db *database.DB, name string) *statements {
	if !strings.Contains(name, ":") {
		name = "file:" + name + "?_txlock=immediate&_pragma=busy_timeout(10000)"
	}
	s := &statements{Connector: plainConnector{db.Driver(), name}, args: map[string][]any{}}
	before := db.DB
	db.DB = sql.OpenDB(s)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = before.Close() })
	return s
}

func (s *statements) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := s.Connector.Connect(ctx)
	return recordedConn{conn, s}, err
}

func (s *statements) note(query string, args []driver.NamedValue) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.count++
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.Value
	}
	s.args[query] = values
}

type recordedConn struct {
	driver.Conn
	s *statements
}

func (c recordedConn) QueryContext(ctx context.Context, q string, a []driver.NamedValue) (driver.Rows, error) {
	c.s.note(q, a)
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, q, a)
}

func (c recordedConn) ExecContext(ctx context.Context, q string, a []driver.NamedValue) (driver.Result, error) {
	c.s.note(q, a)
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, a)
}

func (c recordedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

// runOn runs a command on a database that is open already. What it prints and refuses is of no interest.
func runOn(ctx context.Context, s queue.Queue, arguments ...string) {
	p := &program{stdout: bufio.NewWriter(io.Discard), stderr: io.Discard, getenv: func(string) string { return "" }}
	c, _ := p.commandOf(arguments[0])
	if err := p.parse(c, arguments[1:]); err == nil {
		_ = c.query(ctx, s)
	}
}

var (
	scans = regexp.MustCompile(`SCAN (p|r|x|m|other|fleet_prompts)\b`)

	// The queue's index has nothing but what is queued.
	scansQueue = regexp.MustCompile(`SCAN \S+ USING (COVERING )?INDEX fleet_prompts_queue`)
)

// TestNoStatementReadsAllPrompts, but those that count all, and a list of all.
func TestNoStatementReadsAllPrompts(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.stop()
		all := record(b.t, b.DB, b.file)
		b.Keep = 13
		api, err := github.NewAPI("token", "", &http.Client{Transport: b.svc})
		require.NoError(b.t, err)
		b.Decide = github.Docs{Queue: b.Queue, API: api}.DecideReviews
		b.Find = github.Docs{Queue: b.Queue, API: api}.Find
		b.start()
		first := database.Prompt{Key: "acme/api@" + strings.Repeat("a", 40), Project: testProject, Prompt: "x"}
		b.enqueue(append(prompts(10, 2), first)...)
		b.enqueue(database.Prompt{Key: "m", After: first.Key, Prompt: "y"})
		require.NoError(b.t, b.MakePass(b.ctx))
		time.Sleep(time.Hour)
		require.NoError(b.t, b.MakePass(b.ctx))
		_ = queue.NewWorker(b.Queue, nil, (&notebook{}).tell).Tell(b.ctx, nil)

		put(b.t, b.Queue, promptOf(1, "").Key, func(r *once.Record) { r.State = once.Unknown })
		b.enqueue(promptOf(100, testProject))
		require.NoError(b.t, b.MakePass(b.ctx))
		_, err = b.Records().ListThread(b.ctx, "k")
		require.NoError(b.t, err)
		_, err = b.Records().ListUnreported(b.ctx)
		require.NoError(b.t, err)
		for _, line := range []string{
			"status", "show aaaaaaa", "show acme/api#7", "list -state failed -project p", "list -repo a/b -since 1h",
			"cancel -project q", "cancel -repo a/b", "pause -repo a/b", "pause -project p", "resume -project p",
			"resume -repo a/b", "resume -all", "retry -state failed -project p -again", "retry -key acme/repo@1 -again",
			"retry -repo acme/repo -project q -again -yes", "close -key acme/repo@2", "forget -key acme/repo@2",
		} {
			runOn(b.ctx, b.Queue, strings.Fields(line)...)
		}

		seen := 0
		for query, args := range maps.Clone(all.args) {
			if !strings.Contains(query, "fleet_prompts") || strings.Contains(query, "GROUP BY") {
				continue
			}
			seen++
			plan, err := sqldb.All(b.ctx, b.DB, func(rows *sql.Rows) (string, error) {
				var detail string
				var number int
				err := rows.Scan(&number, &number, &number, &detail)
				return detail, err
			}, "EXPLAIN QUERY PLAN "+query, args...)
			require.NoError(b.t, err, query)
			for _, step := range plan {
				isWhole := scans.MatchString(step) && !scansQueue.MatchString(step)
				assert.False(b.t, isWhole, "%s\n%s", step, query)
			}
		}
		assert.Greater(b.t, seen, 25)
	})
}

// TestStatusOfManyProjects takes as many statements as that of a few, and so do metrics. A project with nothing open
// has no series but its counts.
func TestStatusOfManyProjects(t *testing.T) {
	t.Parallel()
	statementsOf := func(projects int) int {
		file := sqliteFile(t)
		s := openStore(t, "sqlite:"+file)
		add(t, s, prompts(2*projects, projects)...)
		for _, key := range []string{"acme/repo@0", fmt.Sprint("acme/repo@", projects)} {
			put(t, s, key, func(r *once.Record) { r.State = once.Done })
		}

		all := record(t, s.DB, file)
		now, err := statusOf(t.Context(), s)
		require.NoError(t, err)
		assert.Len(t, now.Projects, projects)

		exported := exportedBy(t, s)
		assert.Contains(t, exported, `fleet_prompts{project="project-1",state="done"} 2`)
		assert.NotContains(t, exported, `fleet_quota_left{project="project-1"}`)
		assert.Contains(t, exported, `fleet_quota_left{project="project-2"} 100`)
		return all.count
	}
	assert.Equal(t, statementsOf(10), statementsOf(300))
}

// TestTextThatNoDatabaseTakes costs no merge.
func TestTextThatNoDatabaseTakes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		r := newReceiver(t, url)
		odd := "A\u0000B"
		status, text := r.post("pull_request", event(t, pullRequest(fields{"title": odd, "body": odd})), nil)
		assert.Equal(t, 202, status, text)

		reviewed := newReviewed(t, url)
		reviewed.is(once.Done, docsPull)
		status, text = reviewed.comment(reviewComment(fields{"body": "/docs " + odd}, nil))
		assert.Contains(t, text, "enqueued", status)
		put(t, r.store, r.rows()[0].Key, func(record *once.Record) { record.Problem = odd + "\xff" })
		assert.Equal(t, "A\uFFFDB\uFFFD", r.rows()[0].Problem)

		c := terminal{t, url}
		c.wants(2, "enqueue", "-key", "k", "-project", "p", "-prompt", "a\x00b")
	})
}

// copyPrompt makes copies of a prompt of Postgres, as they are after a vacuum.
func copyPrompt(t *testing.T, s queue.Queue, key string, from, to int) {
	t.Helper()
	execute(t, s, `INSERT INTO fleet_prompts SELECT (jsonb_populate_record(p, jsonb_build_object('key', p.key || '-' || n))).*
FROM fleet_prompts p, generate_series($2::bigint, $3::bigint) n WHERE p.key = $1`, key, from, to)
	execute(t, s, "VACUUM ANALYZE")
}

// TestALookReadsTheSame of a queue of 100 prompts and of one of 10,000, beside another of 10,000, but for a level of
// each index.
func TestALookReadsTheSame(t *testing.T) {
	t.Parallel()
	url := testPostgres.Database(t)
	s := openStore(t, url)
	add(t, s, promptOf(1, testProject), promptOf(2, "another"))
	copyPrompt(t, s, promptOf(1, "").Key, 1, 99)
	few := blocksOfALook(t, url, testProject)

	copyPrompt(t, s, promptOf(1, "").Key, 100, 9_999)
	copyPrompt(t, s, promptOf(2, "").Key, 1, 9_999)
	many := blocksOfALook(t, url, testProject)
	t.Logf("%d blocks of 100, %d of 10,000", few, many)
	assert.LessOrEqual(t, many, few+6, "each of its indexes may have a level more")
}

// TestAnIdlePassReadsNoEndedPrompts: after 100,000 of them it reads at most twice as many blocks as after 1,000.
func TestAnIdlePassReadsNoEndedPrompts(t *testing.T) {
	t.Parallel()
	url := testPostgres.Database(t)
	s := openStore(t, url)
	add(t, s, promptOf(1, testProject))
	put(t, s, promptOf(1, "").Key, func(r *once.Record) {
		r.State, r.Reported, r.JobID, r.Deadline = once.Done, once.Done, "job_1", r.AddedAt
	})
	copyPrompt(t, s, promptOf(1, "").Key, 1, 999)
	few := blocksOfAPass(t, url)

	copyPrompt(t, s, promptOf(1, "").Key, 1_000, 99_999)
	many := blocksOfAPass(t, url)
	t.Logf("%d blocks after 1,000, %d after 100,000", few, many)
	assert.LessOrEqual(t, many, 2*few)
}

// blocksOfAPass returns how many blocks of Postgres an idle worker reads in a pass, and to tell results.
func blocksOfAPass(t *testing.T, url string) int {
	t.Helper()
	s := openStore(t, url)
	s.Keep = 13
	seen := record(t, s.DB, url)
	w := queue.NewWorker(s, nil, nil)
	w.Decide = github.Docs{Queue: s}.DecideReviews
	w.Find = github.Docs{Queue: s}.Find
	require.NoError(t, w.MakePass(t.Context()))
	require.NoError(t, queue.NewWorker(s, nil, (&notebook{}).tell).Tell(t.Context(), nil))

	blocks := 0
	for query, args := range maps.Clone(seen.args) {
		n := blocksOf(t, s, query, args...)
		blocks += n
		if n > 50 {
			t.Logf("%d blocks: %s", n, strings.Join(strings.Fields(query), " "))
		}
	}
	assert.Greater(t, len(seen.args), 8)
	return blocks
}

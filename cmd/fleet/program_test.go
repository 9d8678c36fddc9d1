//go:build unix

package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// terminal is a person at the program.
type terminal struct {
	t   *testing.T
	url string
}

func (c terminal) run(stdin string, arguments ...string) (stdout string, code int) {
	out, text, code := c.runAll(stdin, nil, arguments...)
	c.t.Logf("%q: %d %s", arguments, code, text)
	return out, code
}

func (c terminal) runAll(
	stdin string, environment map[string]string, arguments ...string,
) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	p := program{getenv: func(name string) string {
		if name == "DATABASE_URL" {
			return c.url
		}
		return environment[name]
	}, stdin: strings.NewReader(stdin), stdout: bufio.NewWriter(&out), stderr: &errs, Settings: queue.Production, transport: mintlifytest.NewService()}
	code = p.exit(p.run(c.t.Context(), arguments))
	return out.String(), errs.String(), code
}

// made returns a terminal at a database with tables.
func made(t *testing.T, url string) (terminal, queue.Queue) {
	c := terminal{t, url}
	_, code := c.run("", "init")
	require.Zero(t, code)

	return c, openStore(t, url)
}

// put makes a record what a test needs.
func put(t *testing.T, s queue.Queue, key string, change func(*once.Record)) {
	t.Helper()
	r, err := s.Records().Get(t.Context(), key)
	require.NoError(t, err)
	r.Version++
	change(&r)
	require.NoError(t, s.Records().Put(t.Context(), r))
}

func (c terminal) counts() map[string]int {
	out, code := c.run("", "status", "-json")
	require.Zero(c.t, code)

	var status status
	require.NoError(c.t, json.Unmarshal([]byte(out), &status))
	return status.Counts
}

func (c terminal) wants(code int, arguments ...string) string {
	c.t.Helper()
	out, got := c.run("", arguments...)
	assert.Equal(c.t, code, got, "%q: %s", arguments, out)

	return out
}

// refuses wants exit 2 and, on stderr, the problem.
func (c terminal) refuses(environment map[string]string, problem string, arguments ...string) {
	c.t.Helper()
	_, text, code := c.runAll("", environment, arguments...)
	assert.Equal(c.t, 2, code, "%q", arguments)
	assert.Contains(c.t, text, problem, "%q", arguments)
}

// TestBusyDatabase: a person's command waits longer for other processes than a worker, which goes on later.
func TestBusyDatabase(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + sqliteFile(t)
	for command, wait := range map[string]int64{"work": 3000, "serve": 3000, "pause": 10_000, "status": 10_000} {
		s := openStoreAs(t, command, url)
		assert.Equal(t, wait, number(t, s, "PRAGMA busy_timeout"), command)
	}
}

func TestCommands(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		for i := range 5 {
			c.wants(
				0, "enqueue", "-key", promptOf(i, "").Key, "-project", fmt.Sprint("p", i%2), "-prompt",
				"Do it.\x1b[2J", "-pull", "acme/repo#7",
			)
		}
		assert.Equal(t, "acme/repo@1 is known already: queued, project p1\n0 enqueued, 1 known already\n",
			c.wants(2, "enqueue", "-key", promptOf(1, "").Key, "-project", "p1", "-prompt", "x"))
		put(
			t, s, "acme/repo@0",
			func(r *once.Record) {
				r.State, r.Problem, r.Deadline = once.Unknown, "lost\x1b[2J", time.Now().Add(time.Hour)
			},
		)
		out := c.wants(0, "status")
		assert.Contains(t, out, "Sent at about "+utc(rowOf(t, s, "acme/repo@0").UpdatedAt), "its deadline is in the future")
		assert.True(t, strings.HasPrefix(out, "worker  since "), "what needs a person comes first: %s", out)
		assert.Contains(t, out, "unknown  project p0  acme/repo@0  since")
		assert.Contains(t, out, `"docs-job: acme/repo@0"`)
		assert.Regexp(t, `(?m)^queued +4$`, out)
		assert.Regexp(t, `(?m)^p0 +2 +20\d\d-.* 99 +- +a person +no worker is running$`, out)
		assert.NotContains(t, out+c.wants(0, "show", "acme/repo@0")+c.wants(0, "list"), "\x1b")
		assert.Equal(t, 2, strings.Count(c.wants(0, "list", "-state", "queued", "-project", "p1"), "\n"))
		shown := `(?s)key +acme/repo@1\nstate +queued.*pulls +acme/repo#7.*prompt\n  Do it.*history\n  2.* queued`
		assert.Regexp(t, shown, c.wants(0, "show", "acme/repo@1"))

		c.wants(0, "retry", "-key", "acme/repo@0", "-job", "job_3")
		assert.Equal(t, 1, c.counts()["running"])

		c.wants(0, "close", "-key", "acme/repo@0", "-pr", "https://example.com/1")
		c.wants(2, "close", "-key", "acme/repo@0")
		assert.Contains(t, c.wants(0, "list", "-state", "done"), "https://example.com/1")

		assert.Contains(t, c.wants(2, "cancel", "-project", "p0"), "would cancel acme/repo@2")
		assert.Equal(t, 4, c.counts()["queued"], "a plan changes nothing")

		c.wants(0, "cancel", "-key", "acme/repo@1")
		c.wants(2, "cancel", "-key", "acme/repo@1")
		assert.Equal(t, "2 canceled, 0 changed meanwhile\n", c.wants(0, "cancel", "-project", "p0", "-yes"))
		assert.Equal(t, "1 canceled, 0 changed meanwhile\n", c.wants(0, "cancel", "-all", "-yes"))

		c.wants(2, "cancel", "-all", "-yes")
		assert.Equal(t, 4, c.counts()["canceled"])

		for i, state := range []once.State{once.Failed, once.Failed, once.Refused, once.Unknown} {
			put(t, s, promptOf(i+1, "").Key, func(r *once.Record) { r.State = state })
		}
		c.wants(2, "retry", "-state", "unknown", "-again", "-yes")
		c.wants(2, "retry", "-state", "failed", "-again")
		assert.Equal(t, "1 queued, 0 changed meanwhile\n",
			c.wants(0, "retry", "-state", "failed", "-again", "-yes", "-project", "p1"))
		c.wants(2, "retry", "-state", "refused", "-repo", "acme/other", "-again", "-yes")
		plan, _, _ := c.runAll("", nil, "retry", "-state", "refused", "-repo", "acme/repo", "-again")
		assert.Contains(t, plan, "would retry acme/repo@3 ")
		c.wants(0, "retry", "-state", "refused", "-again", "-yes")
		c.wants(2, "retry", "-key", "acme/repo@4", "-again")
		c.wants(0, "retry", "-key", "acme/repo@4", "-again", "-yes")
		assert.Equal(t, map[string]int{"queued": 3, "done": 1, "failed": 1}, some(c.counts()))
	})
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	c.wants(0, "enqueue", "-key", "k", "-project", "p", "-prompt", "x")
	c.wants(2, "resume", "-project", "p")
	c.wants(0, "pause", "-project", "p")
	c.wants(0, "pause", "-all")
	why := func() string {
		all, err := s.ProjectsStatus(t.Context())
		require.NoError(t, err)
		return all[len(all)-1].Why
	}
	assert.Contains(t, why(), "person: paused")
	assert.Regexp(t, `(?m)^p +1 +20\d\d-.* 100 +- +a person +person: paused at 20.*, until somebody resumes it`, c.wants(0, "status"))

	c.wants(0, "resume", "-all")
	c.wants(2, "resume", "-all")
	assert.Contains(t, why(), "person: paused", "a person has paused the project")

	c.wants(0, "resume", "-project", "p")
	assert.Equal(t, queue.IsNext, why())

	execute(t, s, "UPDATE fleet_projects SET turn = 't', claimed = 1, turn_until = $1 WHERE project = 'p'",
		time.Now().Add(time.Minute).UnixMilli())
	execute(t, s, "UPDATE fleet_prompts SET turn = 't', state = 'sending'")
	assert.Equal(t, "paused; 1 prompt is being sent\n", c.wants(0, "pause", "-project", "p"))

	c.wants(0, "resume", "-project", "p")
	put(t, s, "k", func(r *once.Record) { r.State, r.JobID, r.Problem = once.Running, "job_1", "401" })
	c.wants(2, "resume", "-project", "q")
	assert.Equal(t, "1 running with a problem: polled again\n", c.wants(0, "resume", "-project", "p"))
}

// TestShowSaysWhyItWaits, by the rules that decide about turns.
func TestShowSaysWhyItWaits(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		for _, key := range []string{"acme/api@1", "acme/api@2", "acme/web@1"} {
			c.wants(0, "enqueue", "-key", key, "-project", "p", "-prompt", "x")
		}
		c.wants(0, "enqueue", "-key", "m", "-after", "acme/api@1", "-prompt", "x")
		waits := func(key, why string) {
			t.Helper()
			shown := c.wants(0, "show", key)
			_, own, _ := strings.Cut(shown, "key       "+key+"\n")
			own, _, _ = strings.Cut(own, "prompt\n")
			assert.Regexp(t, `(?m)^waits     `+why+`$`, own)
		}

		waits("acme/api@1", "no worker is running")
		waits("acme/api@2", "it is the turn of acme/api@1")
		waits("m", "the job that it is a message to has not ended, or an earlier message has not")

		execute(t, s, "UPDATE fleet_schema SET worked = "+s.Clock)
		waits("acme/api@1", "it is next, within seconds")

		c.wants(0, "pause", "-repo", "acme/api")
		waits("acme/api@1", "a person has paused the repository, until somebody resumes it")
		waits("acme/web@1", "it is next, within seconds")

		require.NoError(t, s.SetLimits(t.Context(), map[string]int{"acme/web": 0}))
		waits("acme/web@1", `the limit of the day \(-max-per-day\) is reached; waits until 20\S+ 00:00:00 UTC`)

		c.wants(0, "pause", "-project", "p")
		waits("acme/web@1", `person: paused at 20.*, until somebody resumes it`)

		c.wants(0, "resume", "-project", "p")
		c.wants(0, "resume", "-repo", "acme/api")
		put(t, s, "acme/api@1", func(r *once.Record) { r.State, r.JobID = once.Done, "job_1" })
		waits("m", "it is the turn of acme/api@2")
		execute(t, s, "UPDATE fleet_prompts SET not_before = $1 WHERE key = 'm'",
			time.Now().Add(time.Minute).UnixNano())
		waits("m", "the job that it is a message to is at work again")
		assert.NotContains(t, c.wants(0, "show", "acme/api@1"), "key       acme/api@1\nstate     done\nwaits")
	})
}

// TestBadLineLosesNothing: what stands before it is there, and the same input, mended,
// adds the rest.
func TestBadLineLosesNothing(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	var lines []string
	for i := range 250 {
		lines = append(lines, fmt.Sprintf(`{"key":"acme/repo@%d","project":"p","prompt":"x"}`, i))
	}
	for _, bad := range []string{"{", `{"key":"a b","project":"p","prompt":"x"}`, `{"key":"k","project":"p","prompt":"x","priority":5}`, `{"key":"k","project":"p","prompt":"x","no":1}`, `[]`,
		`{"key":"k","project":"p","prompt":"x","commits":["l"]}`, `{"key":"k","project":"p","prompt":"x","line":1}`,
		`{"key":"k","project":"p","prompt":"x"} {"key":"l"}`, `{"key":"k","project":"p","prompt":"x"}]`, strings.Repeat("x", 9*database.MaxPrompt)} {
		out, text, code := c.runAll(strings.Join(lines[:249], "\n")+"\n"+bad+"\n"+lines[249], nil, "enqueue", "-stdin")
		assert.Equal(t, 2, code)
		assert.Contains(t, text, "line 250: ")
		assert.Contains(t, out, " known already\n")
	}
	out, code := c.run("\ufeff"+strings.Join(lines, "\r\n\n"), "enqueue", "-stdin") // as Windows writes it
	assert.Zero(t, code)
	assert.True(t, strings.HasPrefix(out, "acme/repo@0 is known already: queued, project p\n"), out)
	assert.True(t, strings.HasSuffix(out, "\n1 enqueued, 249 known already\n"), out)

	_, code = c.run(
		`{"key":"long","project":"p","prompt":"`+strings.Repeat(`\u00fc`, database.MaxPrompt/2)+`"}`, "enqueue",
		"-stdin",
	)
	assert.Zero(t, code)
}

// TestLineOfAFailure numbers the lines when the database fails, too.
func TestLineOfAFailure(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	execute(t, s, `CREATE TRIGGER full BEFORE INSERT ON fleet_prompts
WHEN NEW.key = 'k120' BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
	var lines strings.Builder
	for i := range 150 {
		fmt.Fprintf(&lines, `{"key":"k%d","prompt":"x"}`+"\n", i)
	}
	out, text, code := c.runAll(lines.String(), nil, "enqueue", "-stdin", "-project", "p")
	assert.Equal(t, 1, code)
	assert.Contains(t, text, "lines 101 to 150: ")
	assert.Contains(t, text, "disk full")
	assert.Equal(t, "100 enqueued, 0 known already\n", out)
	assert.Regexp(t, `(?m)^p +100 `, c.wants(0, "status"), "the lines take the flag's project")
}

func TestBadCommandLines(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	for _, arguments := range [][]string{
		{}, {"no-such"}, {"enqueue"}, {"enqueue", "-stdin", "-key", "k"}, {"enqueue", "stray"},
		{"status", "-no-such"}, {"list", "-state", "waiting"}, {"list", "-state", ""},
		{"retry"}, {"retry", "-key", "unheard-of", "-again"}, {"retry", "-key", "k"}, {"retry", "-key", "k", "-job", ""},
		{"retry", "-key", "k", "-again", "-job", "j"}, {"retry", "-state", "failed"},
		{"show"}, {"show", "unheard-of"}, {"cancel"}, {"cancel", "-key", ""}, {"cancel", "-all", "-project", "p"},
		{"pause"}, {"resume", "-project", ""}, {"close", "-key", "k", "-pr", "javascript:x"},
		{"work"}, {"work", "-n", "0"}, {"work", "-send-time", "1ms"}, {"work", "-log-format", "xml"},
		{"work", "-max-per-day", "1", "-max-per-day", "2"}, {"work", "-pause-min", "1h"},
		{"serve"}, {"serve", "-priority", "9"}, {"serve", "-addr", ""},
	} {
		_, code := c.run("", arguments...)
		assert.Equal(t, 2, code, "%q", arguments)
	}
}

// TestFlagGivenAsFalse is not given: it chooses nothing, and decides nothing.
func TestFlagGivenAsFalse(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	c.wants(0, "enqueue", "-key", "k", "-project", "p", "-prompt", "x")
	c.refuses(nil, "cancel wants -key or -project or -repo or -all", "cancel", "-all=false", "-yes")
	c.refuses(nil, "pause wants -project or -repo or -all", "pause", "-all=false")
	c.refuses(nil, "resume wants -project or -repo or -all", "resume", "-all=false")
	assert.Equal(t, 1, c.counts()["queued"])

	c.wants(0, "cancel", "-key", "k", "-all=false")
	c.refuses(nil, "retry wants -again or -job", "retry", "-key", "k", "-again=false")
	assert.Equal(t, 1, c.counts()["canceled"])
}

// TestMessagesSayWhatToDo at three in the morning.
func TestMessagesSayWhatToDo(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	nowhere := terminal{t, ""} // the flags are checked before the database is opened
	for want, arguments := range map[string][]string{
		`there is no command "bogus", want demo, init, work, serve, enqueue, status`: {"bogus"},
		"enqueue wants -key, -project (or -after) and -prompt":                       {"enqueue"},
		`invalid value "x" for flag -pr: want a URL such as https://`: {
			"close", "-key", "k", "-pr", "x",
		},
		"close wants -key": {"close", "-pr", "https://example.com/1"},
		"cancel wants -key or -project or -repo or -all":   {"cancel", "-key", "k", "-all"},
		"-job is given and empty: is its variable set?":    {"retry", "-key", "k", "-job", ""},
		"show takes 1 arguments besides its flags":         {"show"},
		"-project moves a prompt that no job can exist of": {"retry", "-key", "k", "-project", "p", "-job", "j"},
		`-project: mintlify: projectID contains a slash`:   {"retry", "-key", "k", "-project", "a/b", "-again"},
		"no prompt of typo is known":                       {"pause", "-project", "typo"},
		"acme/api has two limits":                          {"work", "-max-per-day", "acme/api=1", "-max-per-day", "ACME/api=1"},
		"open /no/such/folder/fleet.db: no such file":      {"init"},
		"or sqlite:FILE (for an absolute path sqlite:/var": {"status"},
	} {
		at := nowhere
		switch arguments[0] {
		case "pause":
			at = c
		case "init":
			at.url = "sqlite:/no/such/folder/fleet.db"
		case "status":
			at.url = "sqlite://fleet.db"
		}
		_, text, code := at.runAll("", nil, arguments...)
		assert.Contains(t, text, want)
		assert.Equal(t, arguments[0] != "pause", code == 2, "%q", arguments)
	}
	assert.Regexp(t, `(?m)^typo +0 .* a person +person`, c.wants(0, "status"), "the pause holds all the same")
}

// TestDatabaseURL: each form, no password in any error, and no file made of a typo.
func TestDatabaseURL(t *testing.T) {
	t.Chdir(t.TempDir())
	for url, want := range map[string]string{
		"":                      "DATABASE_URL is not set",
		"mysql://u:hunter2@h/x": "has an unknown form",
		"fleet.db":              "has an unknown form",
		"sqlite:":               "names no file",
		"sqlite://hunter2.db":   "names no file, want postgres://…, host=… dbname=…, or sqlite:FILE",
		"sqlite::memory:":       "names no file",
		"sqlite:missing.db":     "run fleet init",
		"postgres://user:hunter2@127.0.0.1:port/x":                                  "it cannot be parsed",
		"postgres://user:hunter2@127.0.0.1:1/x?connect_timeout=1":                   "DATABASE_URL",
		"host=127.0.0.1 port=1 password=hunter2 dbname=x connect_timeout=1":         "DATABASE_URL",
		"password=hunter2 user=u host=127.0.0.1 port=1 dbname=x connect_timeout=1":  "DATABASE_URL",
		"password='hunter2 host=127.0.0.1":                                          "it cannot be parsed",
		"password = hunter2 host":                                                   "it cannot be parsed",
		"postgres://user:hunter2 @127.0.0.1:1/x":                                    "DATABASE_URL",
		"postgres://user:hun%ter2@127.0.0.1/x":                                      "it cannot be parsed",
		"host=127.0.0.1 port=1 password=hunter2 dbname=x sslmode=hunter2":           "it cannot be parsed",
		"host=127.0.0.1 port=1 password=hunter2 dbname=x pool_max_conns=99hunter29": "it cannot be parsed",
	} {
		for _, command := range []string{"status", "init"} {
			if command == "init" && strings.HasSuffix(url, "missing.db") {
				continue
			}
			_, text, code := terminal{t, url}.runAll("", nil, command)
			assert.NotZero(t, code, url)
			assert.Contains(t, text, want, url)
			assert.NotContains(t, text, "hunter2", url)
		}
	}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, files)

	for _, name := range []string{
		"a b.db", "what?.db", "100%.db", "ü#1.db", "//" + filepath.Join(t.TempDir(), "x.db"),
	} {
		c, _ := made(t, "sqlite:"+name)
		c.wants(0, "status")
		assert.FileExists(t, strings.Replace(name, "///", "/", 1))
	}
}

// TestFormsOfPostgres: a URL, and libpq's form in any order.
func TestFormsOfPostgres(t *testing.T) {
	t.Parallel()
	url := testPostgres.Database(t)
	c, s := made(t, url)
	name := strings.TrimPrefix(strings.Split(url, "?")[0], "postgres:///")
	_, folder, _ := strings.Cut(url, "host=")
	for _, form := range []string{
		"host=%s user=postgres dbname=%s", "  user = postgres host=%s dbname=%s",
		"dbname=%[2]s host='%[1]s' user=postgres password=''",
	} {
		c.url = fmt.Sprintf(form, folder, name)
		c.wants(0, "status")
	}

	// A role that may only read and write rows.
	for _, statement := range []string{
		"CREATE ROLE " + name + "_rows LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + name + "_rows",
		"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO " + name + "_rows",
	} {
		execute(t, s, statement)
	}
	c.url = fmt.Sprintf("host=%s user=%s_rows dbname=%s", folder, name, name)
	c.wants(0, "enqueue", "-key", "k", "-project", "p", "-prompt", "x")
	assert.Equal(t, 1, riverJobs(t, s), "at once, not by the next pass")

	c.wants(0, "status")
	c.wants(0, "pause", "-all")
	c.wants(0, "cancel", "-key", "k")

	// It can work, too.
	c.wants(0, "enqueue", "-key", "l", "-project", "p", "-prompt", "x")
	c.wants(0, "resume", "-all")
	f := newFleet(t, url, quick, newCountingService())
	f.url = c.url
	f.start()
	f.until(timeToDo, "the prompt to be done", func() bool { return f.counts()["done"] == 1 })
	assert.NotRegexp(t, "level=(WARN|ERROR)", f.logged())
}

func riverJobs(t *testing.T, s queue.Queue) int {
	return int(number(t, s, "SELECT count(*) FROM river_job WHERE kind = 'fleet_send'"))
}

func TestSchemaVersions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		if file, found := strings.CutPrefix(url, "sqlite:"); found {
			db, err := sql.Open("sqlite", file) // an empty file is a database without tables
			require.NoError(t, err)
			_, err = db.ExecContext(t.Context(), "CREATE TABLE x (y)")
			require.NoError(t, err)
			require.NoError(t, db.Close())
		}
		terminal{t, url}.refuses(nil, "run fleet init", "status")

		c, s := made(t, url)
		c.wants(0, "status")
		execute(t, s, "UPDATE fleet_schema SET version = 1000")
		for _, command := range []string{"status", "init"} {
			c.refuses(nil, "made by a newer fleet", command)
		}
	})
}

func TestKeyIsNeededAndNeverShown(t *testing.T) {
	t.Parallel()
	c := terminal{t, "sqlite:" + sqliteFile(t)}
	c.refuses(nil, "MINTLIFY_API_KEY", "work")

	_, text, code := c.runAll("", map[string]string{"MINTLIFY_API_KEY": "mint_dsc_secret"}, "work")
	assert.Equal(t, 2, code)
	assert.Contains(t, text, "MINTLIFY_API_KEY is an assistant key")
	assert.NotContains(t, text, "secret")

	withKey := map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey}
	c.refuses(withKey, "FLEET_GITHUB_SECRET", "serve", "-project", "p")
	assert.NoFileExists(t, strings.TrimPrefix(c.url, "sqlite:"))
}

// TestAdoptLooksTheJobUp with a key in the environment.
func TestAdoptLooksTheJobUp(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	c.wants(0, "enqueue", "-key", "k", "-project", "p", "-prompt", "x")
	c.refuses(map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey}, "404", "retry", "-key", "k", "-job", "job_no")
	assert.Equal(t, 1, c.counts()["queued"])
}

// TestCaseIsIgnored in keys and repositories: acme/api@SHA and ACME/API@SHA are one job.
func TestCaseIsIgnored(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	c.wants(0, "enqueue", "-key", "ACME/API@5907854", "-project", "p", "-prompt", "x", "-pull", "Acme/API#7")
	c.run(`{"key":"Acme/Api@5907854","project":"p","prompt":"x","pull":"ACME/api#7"}`, "enqueue", "-stdin")
	assert.Equal(t, 1, c.counts()["queued"])

	out := c.wants(0, "show", "Acme/api@5907854")
	assert.Contains(t, out, "acme/api@5907854\n")
	assert.Contains(t, out, "acme/api#7\n")

	c.wants(0, "cancel", "-key", "ACME/API@5907854")
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullDisk: what stdout does not take is exit 1, and said.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	c.wants(0, "enqueue", "-key", "k", "-project", "p", "-prompt", "x")
	for _, arguments := range [][]string{
		{"list"}, {"show", "k"}, {"status"}, {"status", "-json"}, {"-h"}, {"list", "-h"}, {"--version"},
	} {
		var stderr strings.Builder
		getenv := environment{"DATABASE_URL": c.url}.get
		p := program{getenv: getenv, stdout: bufio.NewWriter(fullDisk{}), stderr: &stderr, Settings: queue.Production}
		assert.Equal(t, 1, p.exit(p.run(t.Context(), arguments)), "%q", arguments)
		assert.Contains(t, stderr.String(), "no space left on device", "%q", arguments)
	}
}

// TestHelpGoesToStdout for each command, with no environment set.
func TestHelpGoesToStdout(t *testing.T) {
	for _, command := range (&program{}).commands() {
		out, text, code := terminal{t, ""}.runAll("", nil, command.name, "-h")
		assert.Zero(t, code, command.name)
		assert.Contains(t, out, "Usage of "+command.name)
		assert.Empty(t, text, command.name)
	}
}

// TestStatusWithoutPrompts prints no header over nothing, and counts that have every state.
func TestStatusWithoutPrompts(t *testing.T) {
	t.Parallel()
	c, _ := made(t, "sqlite:"+sqliteFile(t))
	assert.True(t, strings.HasPrefix(c.wants(0, "status"), "queued "))

	zeros := map[string]int{
		"queued": 0, "sending": 0, "running": 0, "done": 0, "failed": 0, "refused": 0, "unknown": 0, "canceled": 0,
	}
	assert.Equal(t, zeros, c.counts())

	c.wants(0, "pause", "-project", "p")
	assert.Contains(t, c.wants(0, "status"), "PROJECT ")
	var status status
	require.NoError(t, json.Unmarshal([]byte(c.wants(0, "status", "-json")), &status))
	assert.Equal(t, zeros, status.Projects[0].Counts)
}

// TestTheImageIsNamed as the workflow that publishes it names it.
func TestTheImageIsNamed(t *testing.T) {
	for _, name := range []string{"README.md", "deploy/kubernetes.yaml", "deploy/compose.yaml"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Contains(t, string(text), "ghcr.io/mintlify-community/fleet:", name)
	}
	workflow, err := os.ReadFile("../../.github/workflows/image.yml")
	require.NoError(t, err)
	assert.Contains(t, string(workflow), "ghcr.io/$GITHUB_REPOSITORY_OWNER/fleet")
}

// TestHistorySaysWho has decided: a person's command, or the machine that worked.
func TestHistorySaysWho(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	require.NoError(t, err)
	svc := newCountingService()
	f := newFleet(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"), quick, svc)
	f.person("jane", "enqueue", "-key", "k", "-project", testProject, "-prompt", "x")
	f.person("joe", "cancel", "-key", "k")
	f.person("jane", "retry", "-key", "k", "-again")
	f.start()
	f.until(timeToDo, "the prompt to be done", func() bool { return f.counts()["done"] == 1 })

	out := f.person("jane", "show", "k")
	assert.Regexp(
		t,
		`queued by jane@`+host+`\n.* canceled by joe@`+host+`\n.* queued by jane@`+host+`\n.* sending by `+host+`\n`,
		out,
	)
	assert.Contains(t, f.person("joe", "pause", "-all")+f.person("joe", "status"), "by joe@"+host)
}

// person runs a command as a person, and returns what it printed.
func (f *fleet) person(name string, arguments ...string) string {
	f.t.Helper()
	output, err := f.command([]string{"USER=" + name}, arguments...).Output()
	require.NoError(f.t, err, "%q: %s", arguments, output)
	return string(output)
}

// TestNamesOfAPrompt: a person names it as what is at hand. Two that fit change nothing.
func TestNamesOfAPrompt(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		api, web := "acme/api@"+sha("a"), "acme/web@"+sha("a")
		add(t, s,
			database.Prompt{Key: api, Project: "p", Prompt: "x", Pull: "acme/api#7"},
			database.Prompt{Key: web, Project: "p", Prompt: "x", Pull: "acme/api#8"},
		)
		put(t, s, api, func(r *once.Record) { r.State = once.Refused })

		for _, arguments := range [][]string{
			{"retry", "-key", "Acme/API@AAAAAAA", "-again"},
			{"retry", "-key", "acme/api#7", "-project", "q", "-again"},
			{"cancel", "-key", "acme/api@aaaaaaaa"},
			{"retry", "-key", "acme/api#7", "-again"},
			{"cancel", "-key", "acme/api#7"},
			{"forget", "-key", "acme/api@aaaaaaa"},
		} {
			c.wants(0, arguments...)
		}

		for _, arguments := range [][]string{
			{"cancel", "-key", "aaaaaaa"}, {"close", "-key", "aaaaaaa"}, {"forget", "-key", "aaaaaaa"}, {"show", "aaaaaaa"},
		} {
			c.refuses(nil, "nothing is changed: aaaaaaa names several prompts: "+api+", "+web, arguments...)
		}
		c.refuses(nil, "no prompt has the key, the commit or the pull request aaaaaa:", "cancel", "-key", "aaaaaa")
		assert.Equal(t, once.Pending, rowOf(t, s, web).State)

		c.wants(0, "retry", "-repo", "acme/web", "-project", "q", "-yes")
		assert.Equal(t, "q", rowOf(t, s, web).ProjectID)
	})
}

// TestCommandsEnd with a locked table, and say why.
func TestCommandsEnd(t *testing.T) {
	t.Parallel()
	url := testPostgres.Database(t)
	s := openStore(t, url)
	lock, err := s.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer lock.Rollback() //nolint:errcheck // the test has ended
	_, err = lock.ExecContext(t.Context(), "LOCK TABLE fleet_prompts IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)

	for line, want := range map[string]string{
		"status": "within 100ms: a table may be locked", "cancel -all": "within 100ms", "show k": "within 100ms",
		"enqueue -key k -project p -prompt x": "within 100ms", "report": "within 600ms", "list -since 1h": "within 600ms",
	} {
		var errs bytes.Buffer
		getenv := environment{"DATABASE_URL": url}.get
		p := program{getenv: getenv, stdout: bufio.NewWriter(io.Discard), stderr: &errs, Settings: queue.Production}
		p.patience = 100 * time.Millisecond
		assert.Equal(t, 1, p.exit(p.run(t.Context(), strings.Fields(line))), line)
		assert.Contains(t, errs.String(), want, line)
	}
}

// TestQuotaOverAllProcesses has the service count, and refuse requests beyond the quota.
func TestQuotaOverAllProcesses(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		svc.quota, svc.window = 5, 3*time.Second
		s := quick
		s.Quota, s.Window, s.SendTime = 5, svc.window, time.Second
		f := newFleet(t, url, s, svc)
		f.enqueue(prompts(8, 1)...)
		for range 3 {
			f.start()
		}
		counts := f.await(5 * time.Minute)
		assert.Equal(t, 8, counts["done"])
		assert.Zero(t, svc.refused, "more than the quota within a window")

		_, twice := svc.count()
		assert.Zero(t, twice)
	})
}

// TestREADMEDemo runs the demo by the README's command. Nothing leaves the machine, whatever is set for work.
func TestREADMEDemo(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^go run -C cmd/fleet \. (demo)$`).FindSubmatch(readme)
	require.NotNil(t, command, "the README's command")

	chat, gh := newGitHub(t), newGitHub(t)
	env := []string{
		"DATABASE_URL=", "FLEET_RESULTS_URL=" + chat.URL, "FLEET_GITHUB_TOKEN=x", "GITHUB_API_URL=" + gh.URL,
	}
	output, err := programCommand(t, "", queue.Production, env, string(command[1])).CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Empty(t, chat.saw())
	assert.Empty(t, gh.saw())

	for _, want := range []string{
		"12 enqueued, 0 known already", "0 enqueued, 12 known already", "1 unknown", "Look for \"docs-job: acme/service-",
		"-job job_4", "12 merges have led to 12 jobs",
	} {
		assert.Contains(t, string(output), want)
	}
	assert.NotContains(t, string(output), "api.mintlify.com")
}

// TestLostTerminal: a worker outlives a stderr that is gone, and a hang-up ends it like SIGTERM.
func TestLostTerminal(t *testing.T) {
	t.Parallel()
	svc := newCountingService()
	f := newFleet(t, "sqlite:"+sqliteFile(t), quick, svc)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd := f.command(nil, "work", "-send-time", "2s")
	cmd.Stderr = writer
	run := f.run(cmd)
	writer.Close()
	reader.Close()

	f.enqueue(prompts(2, 1)...)
	f.until(timeToDo, "the prompts to be done", func() bool { return f.counts()["done"] == 2 })
	require.NoError(t, run.Process.Signal(syscall.SIGHUP))
	time.Sleep(10 * time.Millisecond)
	_ = run.Process.Signal(syscall.SIGHUP) // a terminal sends it twice
	assert.NoError(t, run.Wait())
}

// TestNewerSchema: an older worker stops by itself, and an older server takes nothing more.
func TestNewerSchema(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, svc)
		server, addrs := f.serve(nil, "-project", testProject)
		worker := f.start()
		r := receiver{t, f.store, "http://" + addrs[0]}
		f.until(timeToDo, "the workers", func() bool {
			working, err := f.store.IsWorking(t.Context())
			return err == nil && working
		})
		execute(t, f.store, "UPDATE fleet_schema SET version = 1000")

		assert.Error(t, worker.Wait())
		assert.Equal(t, 2, worker.ProcessState.ExitCode())
		status, _ := r.post("push", event(t, push(nil)), nil)
		assert.Equal(t, 503, status)
		assert.NoError(t, f.end(server, syscall.SIGTERM))
		assert.Empty(t, svc.acted)
	})
}

// documented has the flags that a text names for each command.
type documented map[string][]string

var flagForm = regexp.MustCompile(`(?:^|[ (|\x60\[])-([a-z]+(?:-[a-z]+)*)`)

func (d documented) note(command, text string) {
	for _, found := range flagForm.FindAllStringSubmatch(text, -1) {
		d[command] = append(d[command], found[1])
	}
	d[command] = append(d[command], "")
}

// check checks that a text names all commands in their order, and only flags that they take.
func (d documented) check(t *testing.T, text string) {
	for _, c := range (&program{}).commands() {
		require.Contains(t, d, c.name, text)

		for _, name := range d[c.name] {
			assert.True(t, name == "" || slices.Contains(flagsOf(c), name), "%s: %s takes no -%s", text, c.name, name)
		}
		if c.name == "work" || c.name == "serve" {
			continue // their other flags are for -h
		}
		for _, name := range flagsOf(c) {
			assert.Contains(t, d[c.name], name, "%s lacks a flag of %s", text, c.name)
		}
	}
	for name := range d {
		_, err := (&program{}).commandOf(name)
		assert.NoError(t, err, text)
	}
}

// TestUsageNamesEveryCommand, each with the flags that it takes.
func TestUsageNamesEveryCommand(t *testing.T) {
	named := documented{}
	for _, line := range regexp.MustCompile(`(?m)^  fleet ([a-z]+)(.*)$`).FindAllStringSubmatch(usageText, -1) {
		named.note(line[1], line[2])
	}
	named.check(t, "usage.txt")
}

// TestREADMENamesEveryCommand in its table. A cell may name several: all take its flags.
func TestREADMENamesEveryCommand(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	table := ""
	for _, name := range []string{"every day", "on a bad day"} {
		_, rest, found := strings.Cut(string(readme), "| "+name+" | |\n|---|---|\n")
		require.True(t, found, name)
		rows, _, _ := strings.Cut(rest, "\n\n")
		table += rows + "\n"
	}

	named := documented{}
	for row := range strings.Lines(table) {
		cells := strings.SplitN(row, "|", 3)
		for _, name := range regexp.MustCompile("`([a-z]+)").FindAllStringSubmatch(cells[1], -1) {
			named.note(name[1], cells[1])
		}
	}
	named.check(t, "README.md")
}

// flagsOf returns the names of the flags that a command takes.
func flagsOf(c command) []string {
	var names []string
	(&program{}).flagsOf(c).VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

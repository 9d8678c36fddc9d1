//go:build unix

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/once"
)

// TestResumeActs: the first prompt after resume is sent long before its River job would wake by itself:
// after a person's pause, and after a key that was mended.
func TestResumeActs(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		var revoked atomic.Bool
		f := newFleet(t, url, quick, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if revoked.Load() {
				http.Error(rw, `{"error":"invalid key"}`, http.StatusUnauthorized)
				return
			}
			svc.ServeHTTP(rw, r)
		}))
		f.start()

		f.person("jane", "pause", "-all")
		f.enqueue(prompts(3, 1)...)
		f.untilAsleep(testProject)
		f.person("jane", "resume", "-all")
		f.untilActed(svc, promptOf(0, "").Key)
		f.until(timeToDo, "the others", func() bool { return f.counts()["done"] == 3 })

		revoked.Store(true)
		f.enqueue(promptOf(9, testProject))
		f.until(timeToDo, "the key to be refused", func() bool { return len(pausesOf(t, f.store)) == 1 })
		f.untilAsleep(testProject)
		status := f.person("jane", "status")
		assert.Regexp(t, `project-1 +1 +20\S+ \S+ UTC +\d+ +- +a person +service: on \S+: .*401`, status, "no clock ends that")
		assert.Contains(t, status, "Mend the key (new ones are made at https://app.mintlify.com/settings/")
		assert.Contains(t, status, ") and restart each process that has the old one, then: fleet resume -project project-1.")

		revoked.Store(false)
		f.person("jane", "resume", "-project", testProject)
		f.untilActed(svc, promptOf(9, "").Key)
	})
}

// TestWrongProject: a prompt that was enqueued for a wrong project is moved, while no job can exist.
func TestWrongProject(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/wrong/") {
				http.Error(rw, `{"error":"no such project"}`, http.StatusForbidden)
				return
			}
			svc.ServeHTTP(rw, r)
		}))
		c := terminal{t, url}
		c.wants(0, "enqueue", "-key", "k", "-project", "wrong", "-prompt", "x")
		c.refuses(nil, "fleet retry -key k -project right -again",
			"enqueue", "-key", "k", "-project", "right", "-prompt", "x")

		f.start()
		f.until(timeToDo, "the project to be refused", func() bool { return len(pausesOf(t, f.store)) == 1 })
		f.untilAsleep("wrong")

		c.wants(2, "retry", "-key", "k", "-project", "wrong", "-again")
		out := c.wants(0, "retry", "-key", "k", "-project", "right", "-again")
		assert.Equal(t, "k is queued for project right\n", out)
		f.untilActed(svc, "k")
		f.until(timeToDo, "the prompt to be done", func() bool { return f.counts()["done"] == 1 })
		out = c.wants(0, "show", "k")
		assert.Contains(t, out, "project   right\n")
		assert.Regexp(t, `queued by \S+ moved from project wrong\n`, out)
		assert.Contains(t, c.wants(2, "retry", "-key", "k", "-project", "wrong", "-again")+out, "done")
	})
}

// TestMoveWhileNoJobCanExist: only then.
func TestMoveWhileNoJobCanExist(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	for _, state := range database.States {
		key := string(state)
		c.wants(0, "enqueue", "-key", key, "-project", "wrong", "-prompt", "x")
		put(t, s, key, func(r *once.Record) { r.State, r.Problem = state, "old" })

		canMove := state == once.Pending || state == once.Refused || state == once.Canceled
		_, text, code := c.runAll("", nil, "retry", "-key", key, "-project", "right", "-again")
		r := rowOf(t, s, key)
		if !canMove {
			assert.Equal(t, 2, code, key)
			assert.Contains(t, text, "is for prompts that are queued, refused, canceled", key)
			assert.Equal(t, "wrong", r.Record.ProjectID, key)

			continue
		}
		assert.Zero(t, code, "%s: %s", key, text)
		assert.Equal(t, once.Pending, r.State)
		assert.Equal(t, "right", r.ProjectID)
		assert.Empty(t, r.Problem)

		record, err := s.Records().Get(t.Context(), key)
		require.NoError(t, err)
		assert.Equal(t, "right", record.ProjectID, "of the record, too")
	}
	_, code := c.run("", "retry", "-key", "nobody", "-project", "right", "-again")
	assert.Equal(t, 2, code)
}

// TestSentMeanwhile counts what another has changed between the choice and the transaction, of which there are several.
func TestSentMeanwhile(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	add(t, s, prompts(decideBatch+3, 1)...)
	rows, err := s.Choose(t.Context(), database.Choice{State: once.Pending})
	require.NoError(t, err)
	put(t, s, rows[1].Key, func(r *once.Record) { r.State = once.Sending })

	cancel := decision{
		from: []once.State{once.Pending},
		apply: func(ctx context.Context, tx *sql.Tx, r database.Row) error {
			_, err := s.RunnerIn(tx).Cancel(ctx, r.Key)
			return err
		},
	}
	decided, err := cancel.decide(t.Context(), s, rows)
	require.NoError(t, err)
	assert.Len(t, decided, decideBatch+2)
	assert.Equal(t, 1, c.counts()["sending"])
}

// TestStatusOrder: what needs a person first, and running jobs with the same problem are one line.
func TestStatusOrder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		add(t, s, prompts(110, 1)...)
		out := c.wants(1, "status", "-check")
		assert.True(t, strings.HasPrefix(out, "worker  since "), out)
		assert.NotContains(t, out, "will be empty")

		for i := range 110 {
			put(t, s, promptOf(i, "").Key, func(r *once.Record) {
				r.UpdatedAt = time.Now()
				switch {
				case i < 100:
					r.State, r.JobID = once.Running, fmt.Sprint("job_", i)
					r.Problem = "401 Unauthorized [GET /v2/agent/p/job/" + r.JobID + "]"
				case i == 100:
					r.State = once.Failed
				case i == 101:
					r.State = once.Refused
				case i == 102:
					r.State, r.Deadline = once.Unknown, time.Now()
				case i < 106:
					r.State, r.UpdatedAt = once.Failed, time.Now().AddDate(0, 0, -8)
				default:
					r.State = once.Done
				}
			})
		}

		var now status
		require.NoError(t, json.Unmarshal([]byte(c.wants(0, "status", "-json")), &now))
		var order []string
		for _, a := range now.NeedsPerson {
			order = append(order, fmt.Sprint(a.Kind, " ", a.Count))
		}
		assert.Equal(t, []string{"unknown 1", "refused 1", "failed 1", "running 100"}, order)
		assert.EqualValues(t, 3, now.Old)

		_, text, code := c.runAll("", nil, "status", "-check")
		assert.Equal(t, 1, code)
		assert.Contains(t, text, "a person is needed (4 in all), first for unknown project project-1 acme/repo@102")
		out = c.wants(0, "status")
		assert.Contains(t, out, "and 99 others with the same problem")
		assert.Contains(t, out, "\n  401 Unauthorized")
		execute(t, s, `INSERT INTO fleet_history (id, key, version, at, state, job, problem, who)
SELECT key, key, 2, 1, state, job, problem, 'machine-7' FROM fleet_prompts WHERE state = 'running'`)
		out = c.wants(0, "status")
		assert.Contains(t, out, "and 99 others with the same problem")
		assert.Contains(t, out, "\n  on machine-7: 401 Unauthorized")
		assert.Contains(t, out, "3 failed and refused ones are older than 7 days")
	})
}

// TestPauseOfARepository holds back its prompts alone.
func TestPauseOfARepository(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, svc)
		c := terminal{t, url}
		c.wants(0, "pause", "-repo", "ACME/api")
		c.wants(0, "enqueue", "-key", "acme/api@1", "-project", "p", "-prompt", "x")
		c.wants(0, "enqueue", "-key", "acme/web@1", "-project", "p", "-prompt", "x")
		f.start()
		f.untilActed(svc, "acme/web@1")
		assert.Zero(t, svc.of("acme/api@1"))
		out := c.wants(0, "status")
		assert.Contains(t, out, "Repository acme/api is paused at ")
		assert.Contains(t, out, "a person has paused the repository")

		c.wants(2, "resume", "-repo", "acme/web")
		f.untilAsleep("p")
		c.wants(0, "resume", "-repo", "acme/api")
		f.untilActed(svc, "acme/api@1")

		c.wants(0, "pause", "-all")
		c.wants(0, "enqueue", "-key", "acme/api@2", "-project", "p", "-prompt", "x")
		c.wants(2, "retry", "-repo", "acme/api", "-project", "q")
		assert.Equal(t, "1 queued for project q, 0 changed meanwhile\n",
			c.wants(0, "retry", "-repo", "acme/api", "-project", "q", "-yes"))
		plan, problem, code := c.runAll("", nil, "cancel", "-repo", "acme/api")
		assert.Equal(t, 2, code)
		assert.Contains(t, plan, "would cancel acme/api@2 of project q")
		assert.Contains(t, problem, "1 to cancel; nothing is changed")
		c.wants(0, "cancel", "-repo", "acme/api", "-yes")
	})
}

// TestMoveDuringAnUpgrade says that the rest is left as it was, and not that it was sent.
func TestMoveDuringAnUpgrade(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	add(t, s, promptOf(1, "p"), promptOf(2, "p"))
	execute(t, s, `CREATE TRIGGER upgrade AFTER UPDATE OF project ON fleet_prompts
BEGIN UPDATE fleet_schema SET version = version + 1; END`)
	c.refuses(nil, "2 are left as they were: acme/repo@2: the tables were made by a newer fleet",
		"retry", "-repo", "acme/repo", "-project", "q", "-yes")
}

// TestForget deletes the texts of a thread, and keeps what stops a second job.
func TestForget(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		add(t, s, database.Prompt{Key: "acme/api@1", Project: "p", Prompt: "jane's secret"})
		add(t, s, database.Prompt{Key: "m", Prompt: "jane's wish", After: "acme/api@1"})
		put(t, s, "acme/api@1", func(r *once.Record) { r.State, r.JobID, r.Problem = once.Failed, "job_1", "jane's words" })
		c.refuses(nil, "m is queued; first: fleet cancel -key m", "forget", "-key", "acme/api@1")

		c.wants(0, "cancel", "-key", "m")
		assert.Equal(t, "2 forgotten, 0 changed meanwhile\n", c.wants(0, "forget", "-key", "m"))
		out := c.wants(0, "show", "acme/api@1") + c.wants(0, "list", "-json")
		assert.NotContains(t, out, "jane")
		assert.Regexp(t, `(?m)^forgotten its texts, at 20`, out)
		assert.Contains(t, out, "job_1")
		if file, isFile := strings.CutPrefix(url, "sqlite:"); isFile {
			for _, name := range []string{file, file + "-wal"} {
				content, _ := os.ReadFile(name)
				assert.False(t, strings.Contains(string(content), "jane's secret"), name)
			}
		}

		c.wants(2, "retry", "-key", "acme/api@1", "-again")
		c.wants(2, "retry", "-state", "failed", "-again", "-yes")
		for _, state := range []once.State{once.Failed, once.Refused} {
			put(t, s, "acme/api@1", func(r *once.Record) { r.State = state })
			c.wants(0, "status", "-check")
		}
		put(t, s, "acme/api@1", func(r *once.Record) { r.State, r.JobID = once.Canceled, "" })
		c.refuses(nil, "the texts of acme/api@1 were forgotten at ",
			"retry", "-key", "acme/api@1", "-project", "q", "-again")
		assert.Equal(t, "[]\n", c.wants(0, "list", "-json", "-state", "queued"))

		c.wants(2, "enqueue", "-key", "acme/api@1", "-project", "p", "-prompt", "again")
		untold, err := s.Untold(t.Context())
		require.NoError(t, err)
		assert.Empty(t, untold)
	})
}

// TestForgetAuthor forgets a person's merges, with all that follows them, and a person's comments, one by one.
func TestForgetAuthor(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		r := newReceiver(t, url)
		commit := func(id, login string) fields {
			return fields{"id": id, "message": "Add it", "author": fields{"username": login}}
		}
		other := strings.Repeat("b", 40)
		pushed := event(t, push(fields{"commits": []fields{commit(other, "Jane_x"), commit(testSHA, "joe")}}))
		r.post("push", pushed, nil)
		leftOut := fields{"full_name": "acme/left-out", "default_branch": "main"}
		for id, login := range map[string]string{other: "jane_x", testSHA: "janeyx"} {
			r.post("push", event(t, push(fields{
				"after": id, "repository": leftOut, "commits": []fields{commit(id, login)},
			})), nil)
		}

		merge := "acme/repo@" + testSHA
		for _, key := range []string{"m1", "m2"} {
			add(t, s, database.Prompt{Key: key, Prompt: "bob's wish", After: merge, Author: "bob"})
		}
		for _, key := range []string{merge, "m1"} {
			put(t, s, key, func(r *once.Record) { r.State, r.JobID = once.Done, "job_1" })
		}
		forgotten := func() (keys []string) {
			for _, key := range []string{merge, "m1", "m2"} {
				if !rowOf(t, s, key).Forgotten.IsZero() {
					keys = append(keys, key)
				}
			}
			return keys
		}

		plan := c.wants(2, "forget", "-author", "bob")
		assert.Contains(t, plan, "would forget m1 ")
		assert.Empty(t, forgotten(), "a plan changes nothing")

		out := c.wants(1, "forget", "-author", "Bob", "-yes")
		assert.Contains(t, out, "m2 is queued; first: fleet cancel -key m2\n1 forgotten, and 0 that were left out\n")
		assert.Equal(t, []string{"m1"}, forgotten(), "his comments alone")

		out = c.wants(1, "forget", "-author", "JANE_x", "-yes")
		assert.Contains(t, out, "1 forgotten, and 1 that were left out\n")
		assert.Equal(t, []string{merge, "m1"}, forgotten(), "her merge, though another wrote a part of it")

		c.wants(0, "cancel", "-key", "m2")
		c.wants(0, "forget", "-author", "bob", "-yes")
		_, text, code := c.runAll("", nil, "forget", "-author", "nobody", "-yes")
		assert.Equal(t, 2, code)
		assert.Contains(t, text, "nobody of that login has written anything that is kept")
		r.post("push", pushed, nil)
		assert.Zero(t, number(t, s, "SELECT count(*) FROM fleet_authors"))
		assert.Contains(t, c.wants(0, "show", other[:9]), merge)
		assert.Equal(t, 1, strings.Count(c.wants(0, "show", "acme/left-out@"+testSHA), "the merge"), "of janeyx")
	})
}

// TestKeep forgets what ended long ago. A thread is as old as the last message to its job.
func TestKeep(t *testing.T) {
	inBubble(t, func(b *bench) {
		keeping := b.Queue
		keeping.Keep = 13
		first := promptOf(0, testProject)
		isForgotten := func(key string) bool {
			require.NoError(t, queue.NewWorker(keeping, nil, nil).MakePass(b.ctx))
			r := rowOf(b.t, b.Queue, key)
			return !r.Forgotten.IsZero()
		}
		b.enqueue(first)
		time.Sleep(10 * time.Minute)
		assert.False(t, isForgotten(first.Key), "it has just ended")

		b.skip(14 * 31 * 24 * time.Hour)
		b.enqueue(database.Prompt{Key: "m", Prompt: "x", After: first.Key})
		time.Sleep(10 * time.Minute)
		require.Equal(t, 2, b.counts()["done"])
		assert.False(t, isForgotten(first.Key))

		b.skip(14 * 31 * 24 * time.Hour)
		assert.True(t, isForgotten(first.Key))

		b.enqueue(database.Prompt{Key: "late", Prompt: "x", After: first.Key})
		time.Sleep(10 * time.Minute)
		require.Equal(t, 3, b.counts()["done"])
		assert.False(t, isForgotten("late"), "it has just ended")

		b.skip(14 * 31 * 24 * time.Hour)
		assert.True(t, isForgotten("late"), "though the rest of its thread was forgotten before")
	})
}

// TestOperatorIsTold: list says why, resume -all what it leaves, the row of all what it stops, refused ones with one
// reason are one entry, and a plan to forget counts what was left out.
func TestOperatorIsTold(t *testing.T) {
	t.Parallel()
	c, s := made(t, "sqlite:"+sqliteFile(t))
	add(t, s, prompts(4, 2)...)
	add(t, s, database.Prompt{Key: "m", Prompt: "x", After: promptOf(0, "").Key})
	c.wants(0, "pause", "-all")
	assert.Regexp(t, `(?m)^all .* a person +person: paused.*; it stops 5 queued prompts, of 2 projects$`, c.wants(0, "status"))

	c.wants(0, "pause", "-project", "project-2")
	c.wants(0, "pause", "-repo", "acme/api")
	out := c.wants(0, "resume", "-all")
	assert.Regexp(t, `resumed\nleft: project project-2, paused at .*fleet resume -project project-2\n`+
		`left: repository acme/api, paused at .*fleet resume -repo acme/api\n`, out)

	list := c.wants(0, "list")
	assert.Regexp(t, `(?m)^queued\tacme/repo@1\tproject-2\t.*\tperson: paused at `, list)
	assert.Regexp(t, `(?m)^queued\tm\tproject-1\t.*\tthe job that it is a message to has not ended`, list)
	assert.Contains(t, c.wants(0, "list", "-json"), `"why": "the job that it is a message to has not ended`)

	for i := range 4 {
		put(t, s, promptOf(i, "").Key, func(r *once.Record) {
			r.State, r.Problem, r.UpdatedAt = once.Refused, "400: the branch does not exist", time.Now()
		})
	}
	status := c.wants(0, "status")
	assert.Equal(t, 2, strings.Count(status, "refused  project "), status)
	assert.Contains(t, status, "To send all that were refused again: fleet retry -state refused -project project-1 -again -yes")

	require.NoError(t, s.KeepLeftOut(t.Context(), database.LeftOut{Kind: "comment", Author: "jane", Reason: "x"}))
	assert.Contains(t, c.wants(2, "forget", "-author", "jane"), "would forget 1 that were left out")
}

//go:build unix

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// TestFollowUpWaitsForItsJob, and the prompts behind it do not. It takes its place in the quota.
func TestFollowUpWaitsForItsJob(t *testing.T) {
	inBubble(t, func(b *bench) {
		active := mintlifytest.JobStep{Status: "active"}
		steps := make([]mintlifytest.JobStep, 20)
		for i := range steps {
			steps[i] = active
		}
		b.svc.svc.ScriptJob(append(
			steps, mintlifytest.JobStep{Status: "completed", PRLink: "https://github.com/acme/docs/pull/9"},
		)...)

		first := promptOf(0, testProject)
		b.enqueue(first)
		time.Sleep(5 * time.Second)
		message := database.Prompt{Key: "message", Prompt: "Mention --json.", After: first.Key, Priority: 1}
		b.enqueue(message)
		behind := prompts(3, 1)[1:]
		for i := range behind {
			behind[i].Priority = 2
		}
		b.enqueue(behind...)

		time.Sleep(30 * time.Second)
		assert.Equal(t, map[string]int{"running": 1, "queued": 1, "done": 2}, some(b.counts()), "it waits for its job")

		status := b.status()
		assert.Contains(t, status.Projects[0].Why, "follow others, whose jobs have not ended")
		assert.Empty(t, status.NeedsPerson)

		time.Sleep(58 * time.Minute)
		assert.Equal(t, 4, b.counts()["done"])

		sent := 0
		for _, r := range b.svc.svc.Requests() {
			if strings.HasSuffix(r.Path, "/message") {
				sent++
				assert.Equal(t, "Mention --json.", r.Prompt)
			}
		}
		assert.Equal(t, 1, sent)

		assert.Equal(t, 100-4, b.status().Projects[0].QuotaLeft, "a message counts")

		r := rowOf(b.t, b.Queue, "message")
		assert.NotEmpty(t, r.JobID)
		assert.Equal(t, first.Key, r.After)
	})
}

// some drops the zeros.
func some(counts map[string]int) map[string]int {
	kept := map[string]int{}
	for name, n := range counts {
		if n > 0 {
			kept[name] = n
		}
	}
	return kept
}

// TestJobThatIsAtWorkAgain has somebody else message the job: the follow-up waits, and the prompt
// behind it is sent meanwhile.
func TestJobThatIsAtWorkAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		first := promptOf(0, testProject)
		b.enqueue(first)
		time.Sleep(time.Minute)
		require.Equal(t, 1, b.counts()["done"])

		job := b.svc.svc.Jobs()[0]
		busy := true
		b.svc.atWork = func(r *http.Request) bool { return busy && strings.HasSuffix(r.URL.Path, job.ID) }

		behind := promptOf(1, testProject)
		behind.Priority = 2
		b.enqueue(database.Prompt{Key: "message", Prompt: "x", After: first.Key, Priority: 1}, behind)
		time.Sleep(10 * time.Minute)
		assert.Equal(t, map[string]int{"done": 2, "queued": 1}, some(b.counts()))
		assert.Empty(t, b.pauses(), "which says nothing of the service")

		look := time.Until(b.nextTry("message"))
		assert.Greater(t, look, -15*time.Second, "River takes a while to begin")
		assert.Less(t, look, 2*time.Minute)

		busy = false
		time.Sleep(max(0, look) + 20*time.Second)
		assert.Zero(t, b.counts()["queued"], "the queue is looked at once the message may be sent again")
	})
}

// TestWaitingMessagesCostNoRequests: while their job runs nobody but its follower asks for it, and while it is at work
// again one of them does. Then they are sent in their order.
func TestWaitingMessagesCostNoRequests(t *testing.T) {
	inBubble(t, func(b *bench) {
		const messages = 10
		active := mintlifytest.JobStep{Status: "active"}
		b.svc.svc.ScriptJob(append(slices.Repeat([]mintlifytest.JobStep{active}, 20),
			mintlifytest.JobStep{Status: "completed"})...)
		first := promptOf(0, testProject)
		b.enqueue(first)
		time.Sleep(5 * time.Second)

		asked := func(d time.Duration) int {
			before := b.svc.gets
			time.Sleep(d)
			return b.svc.gets - before
		}
		alone := asked(20 * time.Second)
		for i := range messages {
			b.enqueue(database.Prompt{Key: fmt.Sprintf("m%02d", i), Prompt: fmt.Sprintf("%02d", i), After: first.Key})
		}
		assert.LessOrEqual(b.t, asked(20*time.Second), alone, "its follower")

		busy := true
		b.svc.atWork = func(*http.Request) bool { return busy }
		put(b.t, b.Queue, first.Key, func(r *once.Record) { r.State = once.Done })
		assert.LessOrEqual(b.t, asked(time.Minute), 6)
		b.enqueue(database.Prompt{Key: "late", Prompt: "late", After: first.Key})
		assert.LessOrEqual(b.t, asked(time.Minute), 6)

		busy = false
		before := b.svc.gets
		b.untilDone(messages+2, 3*time.Hour)
		assert.LessOrEqual(b.t, b.svc.gets-before, 6*messages)
		var sent []string
		for _, r := range b.svc.svc.Requests() {
			if strings.HasSuffix(r.Path, "/message") {
				sent = append(sent, r.Prompt)
			}
		}
		assert.Len(b.t, sent, messages+1)
		assert.True(b.t, slices.IsSorted(sent))
	})
}

// TestMessageWithoutAJob says nothing of the service, however long it waits: its first prompt was canceled.
func TestMessageWithoutAJob(t *testing.T) {
	inBubble(t, func(b *bench) {
		require.NoError(b.t, b.Stop(b.ctx, testProject, "jane"))
		first := promptOf(0, testProject)
		b.enqueue(first, database.Prompt{Key: "message", Prompt: "x", After: first.Key})
		_, err := b.Runner(nil).Cancel(b.ctx, first.Key)
		require.NoError(b.t, err)
		_, err = b.Resume(b.ctx, testProject)
		require.NoError(b.t, err)

		time.Sleep(3 * time.Hour)
		assert.Zero(b.t, number(b.t, b.Queue, "SELECT count(*) FROM fleet_projects WHERE last > 0"))
		assert.Zero(b.t, b.svc.gets)
		assert.Equal(b.t, map[string]int{"canceled": 1, "queued": 1}, some(b.counts()))
	})
}

// nextTry returns the time before which a prompt is not sent.
func (b *bench) nextTry(key string) time.Time {
	n, err := sqldb.Number(b.ctx, b.DB, "SELECT not_before FROM fleet_prompts WHERE key = $1", key)
	require.NoError(b.t, err)
	return time.Unix(0, n)
}

// TestEnqueueAfter is a follow-up by hand: it is in the job's project, and a second one follows
// the first.
func TestEnqueueAfter(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		c.refuses(nil, "no prompt has the key nobody", "enqueue", "-key", "m", "-after", "nobody", "-prompt", "x")

		c.wants(2, "enqueue", "-key", "m", "-after", "M", "-prompt", "x")

		c.wants(0, "enqueue", "-key", "acme/api@5907854", "-project", "p", "-prompt", "x", "-pull", "acme/api#7")
		c.refuses(nil, "whose job is in project p",
			"enqueue", "-key", "m", "-after", "acme/api@5907854", "-project", "q", "-prompt", "x")

		c.wants(0, "enqueue", "-key", "m1", "-after", "ACME/api@5907854", "-prompt", "Mention it.")
		out, code := c.run(`{"key":"m2","after":"acme/api@5907854","prompt":"y"}`, "enqueue", "-stdin")
		assert.Zero(t, code, out)

		c.wants(2, "enqueue", "-key", "m1", "-after", "acme/api@5907854", "-prompt", "x")
		for key, after := range map[string]string{"m1": "acme/api@5907854", "m2": "acme/api@5907854"} {
			r := rowOf(t, s, key)
			assert.Equal(t, after, r.After, key)
			assert.Equal(t, "p", r.ProjectID, key)
		}

		out = c.wants(0, "show", "m1")
		assert.Regexp(
			t,
			`(?s)key +acme/api@5907854\n.*key +m1\n.*follows +acme/api@5907854\n.*key +m2\n.*follows +acme/api@5907854\n`,
			out,
		)
		assert.NotContains(t, out, "advice", "it is only its turn that they wait for")

		c.wants(2, "retry", "-key", "m1", "-project", "q", "-again")
		c.wants(0, "retry", "-key", "acme/api@5907854", "-project", "q", "-again")
		assert.Equal(t, 3, strings.Count(c.wants(0, "list", "-project", "q"), "\n"), "they go with it")

		c.wants(0, "cancel", "-key", "acme/api@5907854")
		assert.Contains(t, c.wants(0, "status"), "It waits for the job of acme/api@5907854, which has none")

		put(t, s, "m1", func(r *once.Record) { r.State, r.Deadline = once.Unknown, time.Now() })
		assert.Contains(t, c.wants(0, "status"), "Look whether the pull request has the change")
		c.refuses(nil, "nobody has looked for the pull request of m1: it is a message", "retry", "-key", "m1", "-again")
		c.wants(0, "retry", "-key", "m1", "-again", "-yes")
	})
}

// TestTwoFollowUpsAtOnce, in two processes: all are in one thread, in the order in which they came.
func TestTwoFollowUpsAtOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		c.wants(0, "enqueue", "-key", "k", "-project", "p", "-prompt", "x")
		other := openStore(t, url)
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				to := s
				if i%2 == 0 {
					to = other
				}
				_, err := to.Enqueue(
					t.Context(), database.Prompt{Key: "m" + string(rune('0'+i)), Prompt: "x", After: "k", Priority: 2},
				)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		thread, err := s.ThreadOf(t.Context(), "k")
		require.NoError(t, err)
		require.Len(t, thread, 11)
		for i, r := range thread[1:] {
			assert.Equal(t, "k", r.Thread)
			assert.False(t, r.AddedAt.Before(thread[i].AddedAt), "package once sees the same order")
		}
	})
}

// TestEarlierMessageIsSentInstead, if it becomes known after the look at the queue, as from a machine whose clock is
// behind: what was sent is followed, and what came back goes behind the others.
func TestEarlierMessageIsSentInstead(t *testing.T) {
	inBubble(t, func(b *bench) {
		first := promptOf(0, testProject)
		b.enqueue(first)
		time.Sleep(time.Minute)
		require.Equal(t, 1, b.counts()["done"])

		limited := 0
		b.svc.fails = func(r *http.Request) int {
			execute(b.t, b.Queue, "UPDATE fleet_prompts SET added = 1 WHERE key = 'm2'")
			if limited == 0 && strings.HasSuffix(r.URL.Path, "/message") {
				limited++
				return http.StatusTooManyRequests
			}
			return 0
		}
		for _, key := range []string{"m1", "m2"} {
			b.enqueue(database.Prompt{Key: key, Prompt: key, After: first.Key, Priority: 1})
		}
		time.Sleep(3 * time.Hour)
		assert.Equal(t, 3, b.counts()["done"])
		var sent []string
		for _, r := range b.svc.svc.Requests() {
			if strings.HasSuffix(r.Path, "/message") {
				sent = append(sent, r.Prompt)
			}
		}
		assert.Equal(t, []string{"m2", "m1"}, sent)
	})
}

// TestListChooses by repository and time, and prints JSON.
func TestListChooses(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		c, s := made(t, url)
		assert.Equal(t, "[]\n", c.wants(0, "list", "-json"))

		for _, key := range []string{"acme/api@1", "acme/api2@1", "acme/a_i@1", "other"} {
			c.wants(0, "enqueue", "-key", key, "-project", "p", "-prompt", "x")
		}
		c.wants(0, "enqueue", "-key", "by-hand", "-project", "p", "-prompt", "x", "-pull", "acme/api#7")
		c.wants(0, "enqueue", "-key", "acme/web@1", "-project", "p", "-prompt", "x", "-pull", "acme/docs#7")
		put(t, s, "acme/api@1", func(r *once.Record) { r.State, r.UpdatedAt = once.Done, time.Now().Add(-48*time.Hour) })

		assert.Equal(t, 2, strings.Count(c.wants(0, "list", "-repo", "ACME/api"), "\n"))
		assert.Equal(t, 1, strings.Count(c.wants(0, "list", "-repo", "acme/api", "-since", "24h"), "\n"))
		assert.Equal(t, 1, strings.Count(c.wants(0, "list", "-repo", "acme/a_i"), "\n"), "_ is not a wildcard")
		assert.Empty(t, c.wants(1, "list", "-repo", "acme/ap"))
		assert.Empty(t, c.wants(1, "list", "-repo", "acme/docs"), "its key names another")
		assert.Regexp(t, `(?s)^\[\n  \{\n    "key": "acme/api@1",\n    "state": "done",\n    "project": "p",.*\}\n\]\n$`,
			c.wants(0, "list", "-json", "-state", "done"))
		for _, since := range []string{"-1h", "0d", "x", "d", "99999999d"} {
			c.wants(2, "list", "-since", since)
		}
		assert.Equal(t, 5, strings.Count(c.wants(0, "list", "-since", "1d"), "\n"))
		c.wants(0, "report", "-since", "30d")
		c.wants(2, "list", "-repo", "acme")
	})
}

// TestQuotaOfAnHour, after which the next prompts are sent. Status says about when the queue is empty.
func TestQuotaOfAnHour(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.enqueue(prompts(250, 1)...)
		time.Sleep(10 * time.Minute)
		status := b.status()
		status.Working = true // River, which says so, does not run in a bubble
		var out strings.Builder
		require.NoError(t, status.write(&out, false))
		assert.Contains(t, out.String(), "The queue will be empty about 20")

		empty := status.EmptyAbout
		assert.InDelta(t, 2*61-10, time.Until(empty).Minutes(), 10)

		time.Sleep(49 * time.Minute)
		assert.Equal(t, 100, b.svc.posts)
		status = b.status()
		assert.Zero(t, status.Projects[0].QuotaLeft)
		assert.WithinDuration(t, time.Now().Add(2*time.Minute), status.Projects[0].NextFree, 2*time.Minute)

		time.Sleep(time.Until(empty) - 10*time.Minute)
		assert.NotZero(t, b.counts()["queued"])

		time.Sleep(20 * time.Minute)
		assert.Zero(t, b.counts()["queued"])
	})
}

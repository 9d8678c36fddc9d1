//go:build unix

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/once"
)

// TestReadyIsWhatPackageOnceSends: in each history of a thread the condition of a look says that a message may go if,
// and only if, package once sends it.
func TestReadyIsWhatPackageOnceSends(t *testing.T) {
	added := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	message := once.Record{Task: once.Task{Key: "m", Prompt: "m"}, State: once.Pending, AddedAt: added}
	others := []once.Record{
		{}, // there is none
		{Task: once.Task{Key: "a", Prompt: "x"}, State: once.Pending, AddedAt: added.Add(-1)},
		{Task: once.Task{Key: "a", Prompt: "x"}, State: once.Pending, AddedAt: added},
		{Task: once.Task{Key: "z", Prompt: "x"}, State: once.Pending, AddedAt: added},
		{Task: once.Task{Key: "a", Prompt: "x"}, State: once.Pending, AddedAt: added.Add(1)},
		{Task: once.Task{Key: "a"}, State: once.Pending, AddedAt: added.Add(-1)},
	}
	for _, state := range database.States[1:] {
		for _, key := range []string{"a", "z"} {
			others = append(others, once.Record{Task: once.Task{Key: key, Prompt: "x"}, State: state, AddedAt: added})
		}
	}

	inBubble(t, func(b *bench) {
		n := 0
		for _, state := range database.States {
			for _, hasJob := range []bool{true, false} {
				for _, other := range others {
					n++
					first := once.Record{Task: once.Task{Key: "first"}, State: state, AddedAt: added.Add(-time.Hour)}
					h := history{b, fmt.Sprintf("-%d", n)}
					if hasJob {
						first.JobID = h.job()
					}
					h.put(first, "")
					h.put(other, "first")
					h.put(message, "first")
					isReady, isSent := h.ask()
					assert.Equal(b.t, isSent, isReady, "the first is %s, with a job %v; the other is %+v", state, hasJob, other)
				}
			}
		}
		assert.Greater(b.t, n, 200)
	})
}

// history is a thread of its own.
type history struct {
	*bench
	suffix string // of its keys
}

func (h history) client() *mintlify.Client {
	client, err := h.svc.svc.Client().ForProject(testProject)
	require.NoError(h.t, err)
	return client
}

// job returns the id of a job that has ended.
func (h history) job() string {
	jobs := h.client().Jobs
	job, err := jobs.Create(h.ctx, mintlify.CreateJobParams{Prompt: "x"})
	require.NoError(h.t, err)
	job, err = jobs.WaitUntilDone(h.ctx, job.ID)
	require.NoError(h.t, err)
	return job.ID
}

func (h history) put(r once.Record, thread string) {
	if r.Key == "" {
		return
	}
	r.Key += h.suffix
	r.Version = 1
	r.UpdatedAt = time.Now()
	r.ProjectID = testProject
	r.Deadline = time.Now().Add(time.Minute)
	if thread != "" {
		r.After = thread + h.suffix
		r.Thread = r.After
	}
	require.NoError(h.t, h.Records().Put(h.ctx, r))
}

// ask returns what the look's condition says of the message, and whether package once sends it.
func (h history) ask() (isReady, isSent bool) {
	isReady = number(h.t, h.Queue, "SELECT count(*) FROM fleet_prompts p WHERE key = $1 AND "+database.IsReady,
		"m"+h.suffix) > 0
	runner, err := once.New(h.client(), h.Records())
	require.NoError(h.t, err)
	step, _ := runner.Step(h.ctx, "m"+h.suffix)
	return isReady, step.Sent && step.Ahead.Version == 0
}

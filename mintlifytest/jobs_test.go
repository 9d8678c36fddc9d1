package mintlifytest_test

import (
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestScriptJob(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	create := func() string {
		job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
		require.NoError(t, err)
		assert.Equal(t, mintlify.JobActive, job.Status)
		return job.ID
	}
	message := func(id string) {
		job, err := client.Jobs.Message(t.Context(), id, mintlify.MessageParams{Prompt: "x"})
		require.NoError(t, err)
		assert.Equal(t, mintlify.JobActive, job.Status, "set back")
		assert.Empty(t, job.PRLink)
		assert.Zero(t, job.ArchivedAt)
	}

	svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobFailed})
	svc.ScriptJob(
		mintlifytest.JobStep{},
		mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://example.com/1"},
		mintlifytest.JobStep{Status: mintlify.JobCompleted},
		mintlifytest.JobStep{Status: mintlify.JobArchived})

	first := create()
	second := create()
	third := create()
	assert.Equal(t, []string{"failed", "failed"}, statuses(t, client, first, 2))
	assert.Equal(t, []string{"active", "completed"}, statuses(t, client, second, 2))

	message(second)
	left := []string{"completed", "archived", "archived"}
	assert.Equal(t, left, statuses(t, client, second, 3), "the steps that are left")
	assert.WithinDuration(t, time.Now(), poll(t, client, second).ArchivedAt, time.Minute)
	message(second)
	assert.Equal(t, []string{"active", "archived", "archived"}, statuses(t, client, second, 3))
	assert.Equal(t, []string{"active", "completed", "completed"}, statuses(t, client, third, 3), "without a script")
	assert.NotEmpty(t, poll(t, client, third).PRLink)

	svc.AddJob("job_5", mintlifytest.JobStep{Status: mintlify.JobCompleted})
	message("job_5")
	again := []string{"active", "completed"}
	assert.Equal(t, again, statuses(t, client, "job_5", 2), "though it had not been polled yet")
	fourth := create()
	assert.Equal(t, []string{"active", "completed"}, statuses(t, client, fourth, 2), "an id of its own")

	svc.AddJob("a/b c", mintlifytest.JobStep{Status: "paused"})
	assert.Equal(t, "paused", string(poll(t, client, "a/b c").Status))
	svc.AddJob("a/b c", mintlifytest.JobStep{Status: mintlify.JobCompleted})
	assert.Equal(t, "completed", string(poll(t, client, "a/b c").Status), "replaced")

	var ids []string
	for _, job := range svc.Jobs() {
		ids = append(ids, job.ID)
	}
	assert.Equal(t, []string{first, second, third, "job_5", fourth, "a/b c"}, ids)
	assert.Equal(t, *poll(t, client, second), svc.Jobs()[1], "as the service reports it")
}

func TestJobTimeIsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		client := svc.Client()
		svc.SetJobTime(20 * time.Second)
		job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
		require.NoError(t, err)

		works := func() {
			assert.Equal(t, []string{"active", "active", "active"}, statuses(t, client, job.ID, 3))
			time.Sleep(20*time.Second - time.Nanosecond)
			assert.Equal(t, []string{"active"}, statuses(t, client, job.ID, 1))
			time.Sleep(time.Nanosecond)
			assert.Equal(t, []string{"completed", "completed"}, statuses(t, client, job.ID, 2))
			assert.NotEmpty(t, poll(t, client, job.ID).PRLink)
		}
		works()
		_, err = client.Jobs.Message(t.Context(), job.ID, mintlify.MessageParams{Prompt: "x"})
		require.NoError(t, err)
		works()

		svc.AddJob("scripted", mintlifytest.JobStep{Status: mintlify.JobFailed})
		assert.Equal(t, []string{"failed"}, statuses(t, client, "scripted", 1))
	})
}

// The fake is at once, and by the real schedule follows the rule for a wait after a message.
func TestPlainWaitAfterMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", slices.Repeat([]mintlifytest.JobStep{{Status: mintlify.JobCompleted}}, 9)...)
		for _, tc := range []struct {
			client *mintlify.Client
			want   time.Duration
		}{
			{svc.Client(), 0},
			{svc.Client(mintlifytest.WithRealSchedule()), 30 * time.Second},
		} {
			_, err := tc.client.Jobs.Message(t.Context(), "j", mintlify.MessageParams{Prompt: "x"})
			require.NoError(t, err)
			start := time.Now()
			_, err = tc.client.Jobs.WaitUntilDone(t.Context(), "j")
			require.NoError(t, err)
			assert.InDelta(t, tc.want, time.Since(start), float64(tc.want)/5)
		}
	})
}

// Were anything here quadratic, this would take minutes.
func TestManyJobs(t *testing.T) {
	n := manyJobs
	if os.Getenv("MINTLIFY_LONG") == "" {
		n /= 20
	}
	useManyJobs(t, n)
}

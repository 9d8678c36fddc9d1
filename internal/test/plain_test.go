package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// The tests of this file make each call as one writes it without reading. Either it is right, or
// it is documented why it stays. Packages once and mintlifytest have such tests of their own.

// It stays: the language lets a loop over an iter.Seq2 leave the error out. Collect does not.
func TestPlainRange(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SetVisitors([]mintlify.Visitor{{Path: "/a"}, {Path: "/b"}})
	svc.SucceedNext(mintlify.OpGetVisitors, 1)
	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 400})
	export := svc.Client().Analytics.Visitors(t.Context(), mintlify.VisitorsParams{PageSize: 1})

	rows, err := mintlify.Collect(export)
	require.ErrorIs(t, err, mintlify.ErrBadRequest)
	assert.Equal(t, []mintlify.Visitor{{Path: "/a"}}, rows, "those before the error, and no zero row")

	rows, err = mintlify.Collect(export)
	require.NoError(t, err)
	assert.Equal(t, []mintlify.Visitor{{Path: "/a"}, {Path: "/b"}}, rows, "called again, it exports again")
}

func TestPlainStub(t *testing.T) {
	for method, isPost := range map[string]bool{"POST": true, "PUT": true, "GET": false, "HEAD": false, "": false} {
		for _, status := range []int{408, 499, 500, 504} {
			stub := fmt.Errorf("docs: %w", &mintlify.APIError{Method: method, StatusCode: status})
			assert.Equal(t, isPost, errors.Is(stub, mintlify.ErrOutcomeUnknown), "%s %d", method, status)
			_, again := mintlify.RetryAfter(stub)
			assert.Equal(t, !isPost, again, "%s %d", method, status)
		}
	}
}

func TestPlainEmbedding(t *testing.T) {
	type ours struct {
		mintlify.Job
		Repo string
	}
	type deployed struct {
		mintlify.Deployment
		Repo string
	}
	job := ours{mintlify.Job{ID: "job_1", Status: mintlify.JobActive, CreatedAt: kit.Noon}, "acme/api"}
	queued := mintlify.Deployment{ID: "d", Status: mintlify.DeploymentQueued, EndedAt: kit.Noon}
	deployment := deployed{queued, "acme/api"}

	kit.AssertRoundTrip(t, &job)
	kit.AssertRoundTrip(t, &deployment)
	text, err := json.Marshal(job)
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"job_1","status":"active","createdAt":"2026-03-05T12:00:00Z","Repo":"acme/api"}`, string(text))
}

func TestPlainHook(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j", mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 503}},
		mintlifytest.JobStep{Status: mintlify.JobCompleted})
	var seen []mintlify.JobStatus
	_, err := svc.Client().Jobs.WaitUntilDone(t.Context(), "j",
		mintlify.WithOnPoll(func(p mintlify.Poll) {
			assert.Equal(t, string(p.Job.Status), p.Status)
			seen = append(seen, p.Job.Status)
		}))
	require.NoError(t, err)
	assert.Equal(t, []mintlify.JobStatus{"", mintlify.JobCompleted}, seen)

	svc.FailNext(mintlify.OpGetDeployment, 1, mintlifytest.Fault{Status: 503})
	_, err = svc.Client().Deployments.WaitUntilDone(t.Context(), "d", mintlify.WithMaxOutage(0),
		mintlify.WithOnPoll(func(p mintlify.Poll) { assert.Empty(t, p.Deployment.Status) }))
	assert.Empty(t, kit.RequireAs[*mintlify.WaitError](t, err).Deployment.Status)
}

func TestPlainRetryLoop(t *testing.T) {
	for name, fault := range map[string]mintlifytest.Fault{
		"429":        {Status: 429},
		"429 at 0":   {Status: 429, Header: http.Header{"Retry-After": {"0"}}},
		"no network": {Refuse: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.FailNext(mintlify.OpCreateJob, 1000, fault)
			client := svc.Client(mintlify.WithMaxRetries(0))

			tries := 0
			for start := time.Now(); time.Since(start) < 10*time.Minute; {
				tries++
				_, err := kit.Create(t.Context(), client)
				wait, ok := mintlify.RetryAfter(err)
				require.True(t, ok)
				time.Sleep(wait)
			}
			assert.Equal(t, 20, tries, "%s: each 30 s", name)
		})
	}
}

func TestPlainCursors(t *testing.T) {
	const last = `{"conversations":[],"nextCursor":"01H","hasMore":false}`
	page, err := kit.NewClient(t, kit.RespondWith(200, last)).Analytics.
		GetConversationPage(t.Context(), mintlify.ConversationsParams{})
	require.NoError(t, err)
	assert.Empty(t, page.NextCursor, "the service may send a cursor with the last page")
}

func TestPlainUnknownStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.JobStep{Status: "paused"})
		var records []slog.Record
		client := svc.Client(mintlifytest.WithRealSchedule(), kit.LogRecords(&records))

		start := time.Now()
		job, err := client.Jobs.WaitUntilDone(t.Context(), "j")
		waitErr := kit.RequireAs[*mintlify.WaitError](t, err)
		require.ErrorContains(t, err, `the status "paused", which this version of the SDK does not know`)
		assert.Equal(t, mintlify.JobStatus("paused"), waitErr.Job.Status)
		assert.Equal(t, mintlify.JobStatus("paused"), job.Status)
		assert.InDelta(t, 24*time.Hour, time.Since(start), float64(2*time.Minute))
		_, again := mintlify.RetryAfter(err)
		assert.False(t, again)

		svc.AddJob("k", mintlifytest.JobStep{Status: "paused"})
		for _, id := range []string{"j", "k", "j", "k"} {
			poll, err := client.Jobs.Poll(t.Context(), id, 48*time.Hour)
			require.NoError(t, err)
			assert.Positive(t, poll.Next, "a single Poll has no memory")
		}
		warnings := kit.Logged(records, "unknown status")
		require.Len(t, warnings, 2, "one warning for an id and a status")
		assert.Equal(t, "paused", warnings[0]["status"])
	})
}

func TestPlainHeader(t *testing.T) {
	rt := kit.NewRecording(kit.RespondWith(429, ""), kit.RespondWith(200, "{}"))
	client := kit.NewClient(t, rt, mintlify.WithRetryWait(0, 0))
	err := client.Call(t.Context(), mintlify.CallParams{
		Method: http.MethodPost,
		Path:   "/v1/things",
		Header: http.Header{"idempotency-key": {"42"}, "Accept": {"text/csv"}, "azAZ09~": {"a\tb"}},
		Body:   struct{}{},
	}, nil)
	require.NoError(t, err)
	for _, sent := range rt.Sent() {
		assert.Equal(t, []string{"42"}, sent.Header["Idempotency-Key"])
		assert.Equal(t, []string{"text/csv"}, sent.Header["Accept"])
		assert.Equal(t, "a\tb", sent.Header.Get("azAZ09~"))
		assert.Equal(t, "application/json", sent.Header.Get("Content-Type"))
		assert.Equal(t, "Bearer "+kit.Key, sent.Header.Get("Authorization"))
	}

	for name, value := range map[string]string{
		"authorization": "Bearer x", "Host": "example.com", "User-Agent": "x", "Content-Length": "1",
		"Transfer-Encoding": "chunked", "Connection": "close",
		"": "x", "a b": "x", "X-Break": "a\r\nb: c", "X-Del": "\x7f", "X-Unit": "\x1f",
	} {
		err := client.Call(t.Context(), mintlify.CallParams{
			Method: http.MethodGet, Path: "/v1/things", Header: http.Header{name: {value}},
		}, nil)
		kit.RequireArgumentError(t, err, "header")
	}
	assert.Equal(t, 2, rt.Count())
}

func TestPlainUpdate(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpTriggerUpdate, 1, mintlifytest.Fault{Status: 503})
	_, err := svc.Client().Deployments.TriggerUpdate(t.Context(), mintlify.TriggerUpdateParams{})
	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.ErrorContains(t, err, "triggering it again is safe")
	assert.Len(t, svc.Requests(), 1)
}

// stale is a service that reports the earlier end of a job until delay after a message, and then
// that the job is at work for a minute.
type stale struct {
	delay    time.Duration
	message  func() *http.Response // the response to a message
	messaged time.Time
}

func (s *stale) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		s.messaged = time.Now()
		return s.message(), nil
	}

	since := time.Since(s.messaged)
	if !s.messaged.IsZero() && since >= s.delay && since < s.delay+time.Minute {
		return kit.Response(200, kit.JobJSON), nil
	}
	return kit.Response(200, `{"id":"job_1","status":"completed"}`), nil
}

func TestPlainWaitAfterMessage(t *testing.T) {
	taken := func() *http.Response { return kit.Response(200, `{"id":"job_1","status":"completed"}`) }
	lost := func() *http.Response { return kit.Response(504, "") }
	refused := func() *http.Response { return kit.Response(404, "") }
	trust := mintlify.WithSettleTime(0)
	for name, tc := range map[string]struct {
		service stale
		opts    []mintlify.WaitOption
		other   bool          // the wait is another project's client's, of the same id
		want    time.Duration // of the wait, about
	}{
		"the service is slow":      {service: stale{delay: 20 * time.Second, message: taken}, want: 80 * time.Second},
		"the service is at once":   {service: stale{message: taken}, want: time.Minute},
		"the response is lost":     {service: stale{delay: 20 * time.Second, message: lost}, want: 80 * time.Second},
		"the message is refused":   {service: stale{delay: 20 * time.Second, message: refused}},
		"slower than the rule":     {service: stale{delay: time.Hour, message: taken}, want: 30 * time.Second},
		"an option of the wait's":  {service: stale{delay: 20 * time.Second, message: taken}, opts: []mintlify.WaitOption{trust}},
		"a job of another project": {service: stale{delay: 20 * time.Second, message: taken}, other: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := tc.service
				client := kit.NewClient(t, &service)
				project := "proj"
				if tc.other {
					project = "other"
				}
				waiter, err := client.ForProject(project)
				require.NoError(t, err)

				_, _ = kit.Message(t.Context(), client)
				start := time.Now()
				_, err = waiter.Jobs.WaitUntilDone(t.Context(), "job_1", tc.opts...)
				require.NoError(t, err)
				assert.InDelta(t, tc.want.Seconds(), time.Since(start).Seconds(), 6)
			})
		})
	}

	t.Run("Poll, whatever waited says", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			done := mintlifytest.JobStep{Status: mintlify.JobCompleted}
			svc.AddJob("job_1", done, done, mintlifytest.JobStep{}, done)
			svc.AddJob("job_2")
			client := svc.Client(mintlifytest.WithRealSchedule())
			for _, id := range []string{"job_1", "job_2"} {
				_, err := client.Jobs.Message(t.Context(), id, mintlify.MessageParams{Prompt: "And the links"})
				require.NoError(t, err)
			}

			for i, status := range []string{"completed", "completed", "active", "completed"} {
				time.Sleep(time.Second)
				poll, err := client.Jobs.Poll(t.Context(), "job_1", time.Hour)
				require.NoError(t, err)
				assert.Equal(t, status, poll.Status)
				assert.Equal(t, i == 3, poll.Next == 0, "an end counts once the job has been at work")
			}
		})
	})
}

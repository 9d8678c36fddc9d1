//go:build unix

package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// bench is a worker whose steps a test makes one by one.
type bench struct {
	*worker
	t     *testing.T
	svc   *mintlifytest.Service
	told  []row
	fails error // of telling
}

func (b *bench) tell(_ context.Context, r row) error {
	b.told = append(b.told, r)
	return b.fails
}

func newBench(t *testing.T, s settings) *bench {
	b := &bench{t: t, svc: mintlifytest.NewService()}
	st, _ := added(t, sqliteFile(t))
	b.worker = &worker{store: st, results: b, logger: slog.New(slog.DiscardHandler), settings: s, paused: map[string]time.Time{}}
	b.client = b.newClient(mintlify.WithHTTPClient(&http.Client{Transport: b.svc}))
	return b
}

func (b *bench) newClient(options ...mintlify.Option) *mintlify.Client {
	environment := map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey}
	client, err := newMintlify(func(name string) string { return environment[name] }, b.settings, options)
	require.NoError(b.t, err)
	return client
}

// step makes a step, and returns the row after it and how long until the next.
func (b *bench) step() (after row, snooze time.Duration) {
	b.t.Helper()
	job := &river.Job[args]{JobRow: &rivertype.JobRow{ID: read(b.t, b.store).riverJob}, Args: args{promptOf(1, "").Key}}
	err := b.Work(b.t.Context(), job)
	var snoozed *river.JobSnoozeError
	if errors.As(err, &snoozed) {
		return read(b.t, b.store), snoozed.Duration
	}
	require.NoError(b.t, err)
	return read(b.t, b.store), -1
}

func TestStepsFromPromptToPullRequest(t *testing.T) {
	b := newBench(t, production)
	r, snooze := b.step()
	assert.Equal(t, waiting, r.State)
	assert.Zero(t, snooze)
	assert.Contains(t, b.svc.Requests()[0].Prompt, "Do it.\n\n")
	assert.Contains(t, b.svc.Requests()[0].Prompt, "\nfleet: acme/repo@1\n", "the marker")
	assert.Equal(t, "/v2/agent/"+testProject+"/job", b.svc.Requests()[0].Path, "the row's project")
	_, snooze = b.step()
	assert.InDelta(t, 5*time.Second, snooze, float64(time.Second), "the SDK's schedule")
	r, _ = b.step()
	assert.Equal(t, done, r.State)
	assert.NotEmpty(t, r.PRLink)
	assert.True(t, r.open)
	b.fails = errors.New("nobody there")
	_, snooze = b.step()
	assert.Equal(t, 5*time.Minute, snooze)
	b.fails = nil
	r, snooze = b.step()
	assert.Negative(t, snooze)
	assert.False(t, r.open)
	require.Len(t, b.told, 2, "at least once")
	assert.Equal(t, r.PRLink, b.told[1].PRLink)
	b.step()
	assert.Len(t, b.told, 2)
}

// TestWhatCreateBrings is the rule that everything hangs on: what is sent again, and
// what never.
func TestWhatCreateBrings(t *testing.T) {
	for name, c := range map[string]struct {
		fault   mintlifytest.Fault
		want    state
		snooze  time.Duration
		problem bool
	}{
		"429":                        {mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"120"}}}, queued, 2 * time.Minute, false},
		"429 without a time":         {mintlifytest.Fault{Status: 429}, queued, 30 * time.Second, false},
		"429 for a day":              {mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"86400"}}}, queued, time.Hour, false},
		"401":                        {mintlifytest.Fault{Status: 401}, queued, 30 * time.Second, true},
		"403":                        {mintlifytest.Fault{Status: 403}, queued, 30 * time.Second, true},
		"no connection":              {mintlifytest.Fault{Refuse: true}, queued, 30 * time.Second, false},
		"400":                        {mintlifytest.Fault{Status: 400}, failed, 0, true},
		"404":                        {mintlifytest.Fault{Status: 404}, failed, 0, true},
		"408":                        {mintlifytest.Fault{Status: 408}, unknown, 0, true},
		"500":                        {mintlifytest.Fault{Status: 500}, unknown, 0, true},
		"302":                        {mintlifytest.Fault{Status: 302}, unknown, 0, true},
		"connection lost":            {mintlifytest.Fault{Drop: true}, unknown, 0, true},
		"HTML":                       {mintlifytest.Fault{Body: "<html>"}, unknown, 0, true},
		"a job in a response broken": {mintlifytest.Fault{Body: `{"id":"job_1","status":7`}, waiting, 0, false},
		"a job without a status":     {mintlifytest.Fault{Body: `{"id":"job_1"}`}, waiting, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, production)
			b.svc.FailNext(mintlify.OpCreateJob, 1, c.fault)
			r, snooze := b.step()
			assert.Equal(t, c.want, r.State)
			assert.InDelta(t, c.snooze, snooze, float64(c.snooze/8), "when to go on")
			assert.Equal(t, c.problem, r.Problem != "", r.Problem)
			assert.Equal(t, c.want == queued, r.SentAt.IsZero())
			if c.want == waiting {
				assert.Equal(t, "job_1", r.JobID)
			}
			requests := len(b.svc.Requests())
			_, next := b.step()
			if c.want == queued {
				assert.Positive(t, next, "the whole project waits")
			}
			for _, request := range b.svc.Requests()[requests:] {
				assert.NotEqual(t, mintlify.OpCreateJob, request.Operation)
			}
			if c.want == failed || c.want == unknown {
				require.Len(t, b.told, 1)
				assert.Equal(t, r.Problem, b.told[0].Problem)
			}
		})
	}
}

// during calls f while a request is on its way.
type during struct {
	next http.RoundTripper
	f    func()
}

func (d during) RoundTrip(r *http.Request) (*http.Response, error) {
	d.f()
	return d.next.RoundTrip(r)
}

func TestLiveSenderIsNotGivenUp(t *testing.T) {
	b := newBench(t, production)
	swept := false
	b.client = b.newClient(mintlify.WithHTTPClient(&http.Client{Transport: during{b.svc, func() {
		givenUp, lost := sweep(t, b.store)
		assert.Empty(t, givenUp)
		assert.Empty(t, lost)
		assert.Equal(t, sending, read(t, b.store).State)
		swept = true
	}}}))
	r, _ := b.step()
	assert.Equal(t, waiting, r.State)
	assert.True(t, swept)
}

func TestResponseAfterTheSendWasGivenUp(t *testing.T) {
	b := newBench(t, production)
	b.client = b.newClient(mintlify.WithHTTPClient(&http.Client{Transport: during{b.svc, func() {
		_, err := b.store.exec(t.Context(), "UPDATE fleet_prompts SET expires_at = 1")
		require.NoError(t, err)
		givenUp, _ := sweep(t, b.store)
		assert.Len(t, givenUp, 1)
	}}}))
	before := read(t, b.store)
	r, _ := b.step()
	b.client = b.newClient(mintlify.WithHTTPClient(&http.Client{Transport: b.svc}))
	assert.Equal(t, waiting, r.State, "it heals")
	assert.NotEqual(t, before.riverJob, r.riverJob)
	b.step()
	r, _ = b.step()
	assert.Equal(t, done, r.State)
}

func TestSendGoesOnThroughAShutdown(t *testing.T) {
	b := newBench(t, production)
	ctx, cancel := context.WithCancel(t.Context())
	b.svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 200 * time.Millisecond})
	stop := time.AfterFunc(50*time.Millisecond, cancel)
	defer stop.Stop()
	r := read(t, b.store)
	_ = b.Work(ctx, &river.Job[args]{JobRow: &rivertype.JobRow{ID: r.riverJob}, Args: args{r.Key}})
	assert.Error(t, ctx.Err())
	assert.Equal(t, waiting, read(t, b.store).State)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Error(t, b.Work(cancelled, &river.Job[args]{JobRow: &rivertype.JobRow{ID: r.riverJob}, Args: args{r.Key}}))
}

func TestReplacedRiverJobDoesNothing(t *testing.T) {
	b := newBench(t, production)
	r := read(t, b.store)
	require.NoError(t, b.Work(t.Context(), &river.Job[args]{JobRow: &rivertype.JobRow{ID: r.riverJob + 1}, Args: args{r.Key}}))
	assert.Equal(t, queued, read(t, b.store).State)
	assert.Empty(t, b.svc.Requests())
}

func TestPolls(t *testing.T) {
	hours := production
	hours.MaxWait = -1
	for name, c := range map[string]struct {
		fault    mintlifytest.Fault
		settings settings
		want     state
		problem  string
	}{
		"502":            {mintlifytest.Fault{Status: 502}, production, waiting, ""},
		"connection":     {mintlifytest.Fault{Refuse: true}, production, waiting, ""},
		"HTML":           {mintlifytest.Fault{Body: "<html>"}, production, waiting, ""},
		"429":            {mintlifytest.Fault{Status: 429, Header: http.Header{"Retry-After": {"7200"}}}, production, waiting, ""},
		"401":            {mintlifytest.Fault{Status: 401}, production, waiting, "401"},
		"404":            {mintlifytest.Fault{Status: 404}, production, failed, "404"},
		"too long":       {mintlifytest.Fault{}, hours, failed, "not ended"},
		"too long a 502": {mintlifytest.Fault{Status: 502}, hours, failed, "502"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.settings)
			r, _ := b.step()
			require.Equal(t, waiting, r.State)
			b.svc.FailNext(mintlify.OpGetJob, 1, c.fault)
			r, snooze := b.step()
			assert.Equal(t, c.want, r.State)
			assert.Contains(t, r.Problem, c.problem)
			assert.Equal(t, c.problem == "", r.Problem == "")
			if c.want == waiting {
				assert.Greater(t, snooze, 4*time.Second)
				r, _ = b.step()
				assert.Empty(t, r.Problem, "it has passed")
				r, _ = b.step()
				assert.Equal(t, done, r.State)
			}
			if name == "429" {
				assert.GreaterOrEqual(t, snooze, 2*time.Hour)
			}
		})
	}
}

func TestFailedJob(t *testing.T) {
	b := newBench(t, production)
	b.svc.ScriptJob(mintlifytest.Step{Status: mintlify.JobFailed})
	b.step()
	r, _ := b.step()
	assert.Equal(t, failed, r.State)
	assert.NotEmpty(t, r.Problem)
}

func TestBadProjectFailsAlone(t *testing.T) {
	b := newBench(t, production)
	_, err := b.store.exec(t.Context(), "UPDATE fleet_prompts SET project = '..'")
	require.NoError(t, err)
	r, _ := b.step()
	assert.Equal(t, failed, r.State)
	assert.Empty(t, b.svc.Requests())
}

// late is a context whose time has passed, though nobody has told it so yet: as that of a
// process which has just woken up.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }

func TestNothingIsSentAfterItsTime(t *testing.T) {
	b := newBench(t, production)
	job, err := b.client.Jobs.Create(late{context.WithoutCancel(t.Context())}, mintlify.CreateJobParams{Prompt: "x"})
	require.Error(t, err)
	assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.Empty(t, b.svc.Requests())
	assert.Equal(t, queued, responded(row{}, job, err).State)
}

func TestKeyIsNeededAndNeverShown(t *testing.T) {
	getenv := func(string) string { return "" }
	_, err := newMintlify(getenv, production, nil)
	require.ErrorContains(t, err, "MINTLIFY_API_KEY")
	_, err = newMintlify(func(string) string { return "mint_dsc_secret" }, production, nil)
	require.Error(t, err)
	assert.False(t, strings.Contains(err.Error(), "secret"))
}

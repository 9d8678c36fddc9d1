package once

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// What becomes of a record, as tables: a pure function of what is on record and what happened.

func response(op mintlify.Operation, status int) error {
	return &mintlify.APIError{Operation: op, StatusCode: status}
}

// blocked is a page of Cloudflare's.
func blocked(status int) error {
	header := http.Header{"Server": {"cloudflare"}}
	return &mintlify.APIError{StatusCode: status, Header: header, Body: []byte("<title>Blocked | Cloudflare</title>")}
}

func TestTableOfOutcomes(t *testing.T) {
	badPrompt := &mintlify.ArgumentError{Name: "prompt", Reason: "is not UTF-8"}
	badKey := &mintlify.ArgumentError{Name: "apiKey", Reason: "is empty"}
	for _, test := range []struct {
		err             error
		create, message State
	}{
		{badPrompt, Refused, Refused},
		{badKey, Pending, Pending},
		{context.DeadlineExceeded, Pending, Pending},
		{fmt.Errorf("wrapped: %w", mintlify.ErrOutcomeUnknown), Unknown, Sending},
		{response("", 302), Unknown, Sending},
		{response("", 400), Refused, Refused},
		{response("", 401), Pending, Pending},
		{response("", 402), Pending, Pending},
		{response("", 403), Pending, Pending},
		{response("", 404), Pending, Refused},
		{response("", 408), Unknown, Sending},
		{response("", 409), Pending, Refused},
		{response("", 407), Pending, Pending},
		{response("", 410), Refused, Refused},
		{response("", 413), Refused, Refused},
		{response("", 415), Refused, Refused},
		{response("", 422), Refused, Refused},
		{response("", 425), Pending, Pending},
		{response("", 451), Refused, Refused},
		{response("", 511), Unknown, Sending},
		{blocked(403), Refused, Refused},
		{blocked(404), Refused, Refused},
		{blocked(409), Refused, Refused},
		{blocked(429), Pending, Pending},
		{response("", 429), Pending, Pending},
		{response("", 500), Unknown, Sending},
		{response("", 503), Unknown, Sending},
	} {
		for after, want := range map[string]State{"": test.create, "before": test.message} {
			err := test.err
			var api *mintlify.APIError
			if errors.As(err, &api) {
				api.Operation = mintlify.OpCreateJob
				if after != "" {
					api.Operation = mintlify.OpSendMessage
				}
			}
			claim := Record{Task: Task{After: after}, State: Sending, Sender: "s"}
			got := claim.outcome(nil, err)
			assert.Equal(t, want, got.State, "%v, after %q", err, after)
			assert.Equal(t, err.Error(), got.Problem)
			assert.Empty(t, got.JobID)

			job := &mintlify.Job{ID: "job_1", PRLink: "link"}
			got = claim.outcome(job, nil)
			assert.Equal(t, Running, got.State)
			assert.Equal(t, "job_1", got.JobID)
			assert.Empty(t, got.Problem)
		}
	}
}

// What becomes of the record when the response to a send is stored.
func TestTableOfRecording(t *testing.T) {
	made := Record{State: Running, Sender: "a", JobID: "1"}
	none := Record{State: Pending, Sender: "a", Problem: "429"}
	bad := Record{State: Refused, Sender: "a", Problem: "400"}
	lost := Record{State: Unknown, Sender: "a", Problem: "504"}
	for name, test := range map[string]struct {
		result, current Record
		want            Record // zero: unchanged
		lost            bool
	}{
		"as claimed":       {result: made, current: Record{State: Sending, Sender: "a"}, want: made},
		"given up":         {result: made, current: Record{State: Unknown, Sender: "a", Problem: "x"}, want: made},
		"to be sent again": {result: made, current: Record{State: Pending, Sender: "a"}, want: made},
		"marked done": {
			result:  made,
			current: Record{State: Done, Sender: "a", PRLink: "link"},
			want:    Record{State: Done, Sender: "a", PRLink: "link", JobID: "1"},
		},
		"recorded already": {result: made, current: Record{State: Done, Sender: "a", JobID: "1"}},
		"adopted":          {result: made, current: Record{State: Running, Sender: "b", JobID: "1"}},
		"with another job": {result: made, current: Record{State: Running, Sender: "a", JobID: "2"}, lost: true},
		"sent again":       {result: made, current: Record{State: Sending, Sender: "b"}, lost: true},

		"no job":             {result: none, current: Record{State: Sending, Sender: "a"}, want: none},
		"no job, given up":   {result: none, current: Record{State: Unknown, Sender: "a", Problem: "x"}, want: none},
		"refused, given up":  {result: bad, current: Record{State: Unknown, Sender: "a"}, want: bad},
		"unknown, given up":  {result: lost, current: Record{State: Unknown, Sender: "a"}},
		"no job, found":      {result: none, current: Record{State: Done, Sender: "a"}},
		"no job, of another": {result: none, current: Record{State: Unknown, Sender: "b"}},
		"no job, sent again": {result: none, current: Record{State: Sending, Sender: "b"}},
		"no job, adopted":    {result: none, current: Record{State: Running, Sender: "a", JobID: "2"}},
	} {
		got, err := test.result.addedTo(test.current)
		assert.Equal(t, test.lost, err != nil, name)
		if test.want == (Record{}) {
			test.want = test.current
		}
		assert.Equal(t, test.want, got, name)
	}
}

func TestTableOfSilence(t *testing.T) {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	const sendTime = time.Minute
	for name, test := range map[string]struct {
		left, age time.Duration // until the deadline, and since the claim
		state     State
		next      time.Duration
	}{
		"just begun":                {left: time.Minute, state: Sending, next: soon},
		"begun a while ago":         {left: 58 * time.Second, age: 2 * time.Second, state: Sending, next: 2 * time.Second},
		"begun long ago":            {age: time.Minute, state: Sending, next: 5 * time.Second},
		"in its grace":              {left: -118 * time.Second, age: time.Minute, state: Sending, next: 2 * time.Second},
		"past its grace":            {left: -2 * time.Minute, age: 3 * time.Minute, state: Unknown},
		"by a clock a little ahead": {left: time.Hour, age: -time.Hour, state: Sending, next: soon},
		"by a clock that was wrong": {left: 2 * time.Hour, age: -time.Hour, state: Sending, next: soon},
	} {
		claim := Record{State: Sending, Deadline: now.Add(test.left), UpdatedAt: now.Add(-test.age)}
		got := claim.watched(now, sendTime)
		assert.Equal(t, test.state, got.record.State, name)
		assert.Equal(t, test.next, got.next, name)

		want := claim.Deadline
		if test.left > time.Hour {
			want = now.Add(sendTime)
		}
		assert.Equal(t, want, got.record.Deadline, name)
	}
}

func TestTableOfPolls(t *testing.T) {
	active := &mintlify.Job{ID: "1", Status: mintlify.JobActive}
	completed := &mintlify.Job{ID: "1", Status: mintlify.JobCompleted, PRLink: "link"}
	failed := &mintlify.Job{ID: "1", Status: mintlify.JobFailed}
	const odd = `the job has the status "paused", which this version does not know`
	paused := &mintlify.Job{ID: "1", Status: "paused"}
	failure := &mintlify.JobFailedError{Job: failed}
	network := errors.New("connection reset")
	revoked := response(mintlify.OpGetJob, 401)
	tomorrow := &mintlify.APIError{Operation: mintlify.OpGetJob, StatusCode: 429, RetryAfter: 24 * time.Hour}
	for name, test := range map[string]struct {
		before  string // the problem on record
		poll    mintlify.Poll
		err     error
		state   State
		problem string
		next    time.Duration
		ends    bool

		unsettled, age time.Duration
	}{
		"active": {
			before: "x",
			poll:   mintlify.Poll{Job: *active, Next: 5},
			state:  Running,
			next:   5,
		},
		"failed poll": {
			before:  "x",
			poll:    mintlify.Poll{Err: network, Next: 5},
			state:   Running,
			problem: "x",
			next:    5,
		},
		"completed": {
			before: "x",
			poll:   mintlify.Poll{Job: *completed},
			state:  Done,
		},
		"failed": {
			poll:    mintlify.Poll{Job: *failed},
			err:     failure,
			state:   Failed,
			problem: failure.Error(),
		},
		"ended before the message": {
			poll:      mintlify.Poll{Job: *completed},
			unsettled: 20 * time.Second,
			state:     Running,
			next:      20 * time.Second,
		},
		"failed before the message": {
			poll:      mintlify.Poll{Job: *failed},
			err:       failure,
			unsettled: 20 * time.Second,
			state:     Running,
			next:      20 * time.Second,
		},
		"odd status": {
			poll:    mintlify.Poll{Job: *paused, Next: 5},
			age:     11 * time.Minute,
			state:   Running,
			problem: odd,
			next:    5,
		},
		"odd status for a short time": {
			poll:  mintlify.Poll{Job: *paused, Next: 5},
			age:   9 * time.Minute,
			state: Running,
			next:  5,
		},
		"odd status of an adopted record, noted just now": {
			before:  odd,
			poll:    mintlify.Poll{Job: *paused, Next: 5},
			state:   Running,
			problem: odd,
			next:    5,
		},
		"odd status that has gone": {
			before: odd,
			poll:   mintlify.Poll{Job: *active, Next: 5},
			age:    11 * time.Minute,
			state:  Running,
			next:   5,
		},
		"active for six hours": {
			poll:    mintlify.Poll{Job: *active, Next: 5},
			age:     6*time.Hour + 1,
			state:   Running,
			problem: "the job has been active for 6h0m0s",
			next:    5,
		},
		"revoked key": {
			err:     revoked,
			state:   Running,
			problem: revoked.Error(),
			next:    5 * time.Minute,
			ends:    true,
		},
		"noted already": {
			before:  "x",
			err:     revoked,
			state:   Running,
			problem: "x",
			next:    5 * time.Minute,
			ends:    true,
		},
		"come back tomorrow": {
			err:     tomorrow,
			state:   Running,
			problem: tomorrow.Error(),
			next:    time.Hour,
			ends:    true,
		},
	} {
		running := Record{State: Running, JobID: "1", Problem: test.before}
		got := running.polled(test.poll, test.err, test.unsettled, test.age)
		assert.Equal(t, test.state, got.record.State, name)
		assert.Equal(t, test.next, got.next, name)
		assert.Equal(t, test.problem, got.record.Problem, name)
		assert.Equal(t, test.ends, got.ends, name)
		assert.Equal(t, test.state == Done, got.record.PRLink != "", name)
	}
}

func TestTableOfHolds(t *testing.T) {
	withRetryAfter := func(status int, wait time.Duration) error {
		return &mintlify.APIError{Operation: mintlify.OpCreateJob, StatusCode: status, RetryAfter: wait}
	}
	for name, test := range map[string]struct {
		err  error
		want time.Duration // 0: as long as the last one, doubled
	}{
		"bad certificate":   {&tls.CertificateVerificationError{Err: errors.New("expired")}, mendingTime},
		"bad key":           {&mintlify.ArgumentError{Name: "apiKey", Reason: "is empty"}, mendingTime},
		"401":               {withRetryAfter(401, 0), mendingTime},
		"402":               {withRetryAfter(402, 0), mendingTime},
		"403":               {withRetryAfter(403, 0), mendingTime},
		"404":               {withRetryAfter(404, 0), mendingTime},
		"407":               {withRetryAfter(407, 0), mendingTime},
		"409":               {withRetryAfter(409, 0), 0},
		"511":               {withRetryAfter(511, 0), mendingTime},
		"429":               {withRetryAfter(429, 0), 0},
		"503":               {withRetryAfter(503, 0), 0},
		"429 says when":     {withRetryAfter(429, 7*time.Second), 7 * time.Second},
		"401 says when":     {withRetryAfter(401, time.Minute), mendingTime},
		"501 says when":     {withRetryAfter(501, time.Minute), 0},
		"503 says tomorrow": {withRetryAfter(503, 24*time.Hour), time.Hour},
		"network":           {errors.New("connection reset"), 0},
		"deadline":          {context.DeadlineExceeded, 0},
	} {
		assert.Equal(t, test.want, holdAfter(test.err), name)
		assert.Equal(t, test.want, holdAfter(fmt.Errorf("asking failed: %w", test.err)), name)
	}
}

// While an errand is done, one for the next send may take its place.
func TestErrandThatIsReplacedWhileItIsDone(t *testing.T) {
	a := newAgenda()
	a.add(errand{key: "k", send: "first"})
	first := a.first()
	a.add(errand{key: "k", send: "second"})
	a.again(first, 0)

	second := a.first()
	assert.Equal(t, "second", second.send)
	a.again(second, 0)
	assert.Nil(t, a.first(), "it was done, and had no other in its place")
}

// A change of a record while its errand is done is not lost. What a List shows again is not a change.
func TestErrandThatIsAddedWhileItIsDone(t *testing.T) {
	for rank, isAnew := range map[rank]bool{urgent: true, changed: true, listed: false} {
		a := newAgenda()
		a.add(errand{key: "k", rank: listed})
		e := a.first()
		a.add(errand{key: "k", rank: rank})
		a.again(e, time.Hour)
		assert.Equal(t, isAnew, a.first() != nil, rank)
	}
}

// What is due at the same moment is done in the order of add, and what is new before what is overdue.
func TestOrderOfAnAgenda(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgenda()
		order := func() string {
			var keys string
			for e := a.first(); e != nil; e = a.first() {
				keys += e.key
				a.again(e, time.Minute)
			}
			return keys
		}
		for _, key := range []string{"c", "a", "b"} {
			a.add(errand{key: key, rank: listed})
		}
		assert.Equal(t, "cab", order())

		time.Sleep(10 * time.Minute)
		a.add(errand{key: "z", rank: listed})
		a.add(errand{key: "y", rank: urgent})
		a.add(errand{key: "b", rank: urgent})
		assert.Equal(t, "byzca", order(), "b was added before y")
		assert.Empty(t, order())
	})
}

// The fields are exact, since a call goes on with them.
func TestNoMessageShowsAKeyThatTheServiceOrAFinderReturned(t *testing.T) {
	const secret = mintlifytest.APIKey
	held := Record{Task: Task{Key: "k"}, Version: 3, State: Running, JobID: secret, PRLink: secret}
	lines := &strings.Builder{}
	finder := func(context.Context, Record) (Found, error) { return Found{JobID: secret}, nil }
	logger := slog.New(slog.NewTextHandler(lines, nil))
	r, err := New(mintlifytest.NewService().Client(), emptyStore{}, WithFinder(finder), WithLogger(logger))
	require.NoError(t, err)

	r.log(t.Context(), slog.LevelInfo, "once: running", held)
	_, notFound := r.find(t.Context(), Record{Task: Task{Key: "k"}, State: Unknown})
	_, wentOn := r.keep(t.Context(), Record{Task: Task{Key: "k"}, Version: 2, State: Unknown}, held)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, notRecorded := r.settle(ctx, held, nil)

	for _, message := range []string{
		lines.String(),
		notFound.Error(),
		wentOn.Error(),
		notRecorded.Error(),
		otherJob(held).Error(),
		held.oddity(secret, time.Hour),
		step{status: secret}.whileWaiting(context.Canceled).Error(),
	} {
		assert.Contains(t, message, "[API key]")
		assert.NotContains(t, message, secret[5:])
	}
	assert.Equal(t, 3, strings.Count(lines.String(), "level="), lines.String())
}

// emptyStore has no records, and takes none.
type emptyStore struct{}

func (emptyStore) Get(context.Context, string) (Record, error)      { return Record{}, nil }
func (emptyStore) Put(context.Context, Record) error                { return ErrConflict }
func (emptyStore) List(context.Context, ...State) ([]Record, error) { return nil, nil }

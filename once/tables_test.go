package once

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// What a record comes to, as tables: a pure function of what is on record and what happened.

func response(op mintlify.Operation, status int) error {
	return &mintlify.APIError{Operation: op, StatusCode: status}
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
		{fmt.Errorf("wrapped: %w", mintlify.ErrOutcomeUnknown), Unknown, Unknown},
		{response("", 302), Unknown, Unknown},
		{response("", 400), Refused, Refused},
		{response("", 401), Pending, Pending},
		{response("", 402), Pending, Pending},
		{response("", 403), Pending, Pending},
		{response("", 404), Pending, Refused},
		{response("", 408), Unknown, Unknown},
		{response("", 409), Pending, Refused},
		{response("", 410), Pending, Pending},
		{response("", 413), Refused, Refused},
		{response("", 422), Refused, Refused},
		{response("", 429), Pending, Pending},
		{response("", 500), Unknown, Unknown},
		{response("", 503), Unknown, Unknown},
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
			got = claim.outcome(job, err)
			assert.Equal(t, Running, got.State, "a job counts, whatever comes with it")
			assert.Equal(t, "job_1", got.JobID)
			assert.Empty(t, got.Problem)
		}
	}
}

// What becomes of the record when the response to a send is stored.
func TestTableOfRecording(t *testing.T) {
	for _, test := range []struct {
		name            string
		current, result Record
		want            Record
		lost            bool
	}{
		{"as claimed", Record{State: Sending, Sender: "a"}, Record{State: Running, Sender: "a", JobID: "1"}, Record{State: Running, Sender: "a", JobID: "1"}, false},
		{"given up meanwhile", Record{State: Unknown, Sender: "a", Problem: "x"}, Record{State: Running, Sender: "a", JobID: "1"}, Record{State: Running, Sender: "a", JobID: "1"}, false},
		{"to be sent again", Record{State: Pending, Sender: "a"}, Record{State: Running, Sender: "a", JobID: "1"}, Record{State: Running, Sender: "a", JobID: "1"}, false},
		{"marked done", Record{State: Done, Sender: "a", PRLink: "p"}, Record{State: Running, Sender: "a", JobID: "1"}, Record{State: Done, Sender: "a", JobID: "1", PRLink: "p"}, false},
		{"recorded already", Record{State: Done, Sender: "a", JobID: "1"}, Record{State: Running, Sender: "a", JobID: "1"}, Record{State: Done, Sender: "a", JobID: "1"}, false},
		{"adopted meanwhile", Record{State: Running, Sender: "b", JobID: "1"}, Record{State: Running, Sender: "a", JobID: "1"}, Record{State: Running, Sender: "b", JobID: "1"}, false},
		{"with another job", Record{State: Running, Sender: "a", JobID: "2"}, Record{State: Running, Sender: "a", JobID: "1"}, Record{State: Running, Sender: "a", JobID: "2"}, true},
		{"sent again", Record{State: Sending, Sender: "b"}, Record{State: Running, Sender: "a", JobID: "1"}, Record{State: Sending, Sender: "b"}, true},
		{"no job", Record{State: Sending, Sender: "a"}, Record{State: Pending, Sender: "a", Problem: "x"}, Record{State: Pending, Sender: "a", Problem: "x"}, false},
		{"no job, given up", Record{State: Unknown, Sender: "a"}, Record{State: Pending, Sender: "a", Problem: "x"}, Record{State: Unknown, Sender: "a"}, false},
		{"no job, sent again", Record{State: Sending, Sender: "b"}, Record{State: Pending, Sender: "a", Problem: "x"}, Record{State: Sending, Sender: "b"}, false},
		{"no job, adopted", Record{State: Running, Sender: "a", JobID: "2"}, Record{State: Unknown, Sender: "a"}, Record{State: Running, Sender: "a", JobID: "2"}, false},
	} {
		got, err := test.result.addedTo(test.current)
		assert.Equal(t, test.lost, err != nil, test.name)
		assert.Equal(t, test.want, got, test.name)
	}

	follow := Task{After: "before"}
	older := Record{Task: follow, State: Running, Sender: "a", JobID: "1"}
	current := Record{Task: follow, State: Running, Sender: "b", JobID: "1"}
	got, err := older.addedTo(current)
	assert.ErrorIs(t, err, errOtherJob, "a message was sent twice")
	assert.Equal(t, current, got)
	current.Sender = "a"
	_, err = older.addedTo(current)
	assert.NoError(t, err)
}

func TestTableOfSilence(t *testing.T) {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	const sendTime = time.Minute
	for _, test := range []struct {
		name     string
		deadline time.Duration // from now
		age      time.Duration // of the claim
		state    State
		next     time.Duration
	}{
		{"just begun", time.Minute, 0, Sending, soon},
		{"begun a while ago", 58 * time.Second, 2 * time.Second, Sending, 2 * time.Second},
		{"begun long ago", 0, time.Minute, Sending, 5 * time.Second},
		{"in its grace", -118 * time.Second, 178 * time.Second, Sending, 2 * time.Second},
		{"past its grace", -2 * time.Minute, 3 * time.Minute, Unknown, 0},
		{"by a clock a little ahead", time.Hour, -time.Hour, Sending, soon},
		{"by a clock that was wrong", time.Hour + time.Second, -time.Hour, Sending, soon},
	} {
		claim := Record{State: Sending, Deadline: now.Add(test.deadline), Updated: now.Add(-test.age)}
		got := claim.watched(now, sendTime)
		assert.Equal(t, test.state, got.record.State, test.name)
		assert.Equal(t, test.next, got.next, test.name)
		isRewritten := !got.record.Deadline.Equal(claim.Deadline)
		assert.Equal(t, test.deadline > time.Hour, isRewritten, test.name)
		if isRewritten {
			assert.Equal(t, now.Add(sendTime), got.record.Deadline)
		}
	}
}

func TestTableOfPolls(t *testing.T) {
	active := &mintlify.Job{ID: "1", Status: mintlify.JobActive}
	completed := &mintlify.Job{ID: "1", Status: mintlify.JobCompleted, PRLink: "link"}
	failed := &mintlify.Job{ID: "1", Status: mintlify.JobFailed}
	network := errors.New("connection reset")
	for _, test := range []struct {
		name    string
		problem string // on record
		after   string
		poll    mintlify.Poll
		err     error
		state   State
		next    time.Duration
		want    string // the problem then
		cause   bool
	}{
		{"active", "x", "", mintlify.Poll{Job: active, Next: 5}, nil, Running, 5, "", false},
		{"failed poll", "x", "", mintlify.Poll{Err: network, Next: 5}, nil, Running, 5, "x", false},
		{"completed", "x", "", mintlify.Poll{Job: completed}, nil, Done, 0, "", false},
		{"failed", "", "", mintlify.Poll{Job: failed}, &mintlify.JobFailedError{Job: failed}, Failed, 0, "mintlify: job 1 failed: the agent hit an unrecoverable error", false},
		{"ended before the message", "", "before", mintlify.Poll{Job: completed, Next: 5}, nil, Running, 20 * time.Second, "", false},
		{"revoked key", "", "", mintlify.Poll{}, response(mintlify.OpGetJob, 401), Running, 5 * time.Minute, "mintlify: get job: 401 Unauthorized (the API key is wrong, revoked or expired; keys expire after 90 days by default)", true},
		{"noted already", "x", "", mintlify.Poll{}, response(mintlify.OpGetJob, 401), Running, 5 * time.Minute, "x", true},
		{"come back in a day", "x", "", mintlify.Poll{}, &mintlify.APIError{Operation: mintlify.OpGetJob, StatusCode: 429, RetryAfter: 24 * time.Hour}, Running, time.Hour, "x", true},
	} {
		running := Record{Task: Task{After: test.after}, State: Running, JobID: "1", Problem: test.problem}
		got := running.polled(test.poll, test.err, 10*time.Second)
		assert.Equal(t, test.state, got.record.State, test.name)
		assert.Equal(t, test.next, got.next, test.name)
		assert.Equal(t, test.want, got.record.Problem, test.name)
		assert.Equal(t, test.cause, got.cause != nil, test.name)
		assert.Equal(t, test.state == Done, got.record.PRLink != "", test.name)
	}
}

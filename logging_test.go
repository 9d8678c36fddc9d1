package mintlify_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// logRecorder is a log handler that keeps the records.
type logRecorder struct{ records *[]slog.Record }

func (r logRecorder) Enabled(context.Context, slog.Level) bool { return true }
func (r logRecorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r logRecorder) WithGroup(string) slog.Handler            { return r }
func (r logRecorder) Handle(_ context.Context, record slog.Record) error {
	*r.records = append(*r.records, record)
	return nil
}

// logged returns the attributes of the records with that message, their level among them.
func logged(records []slog.Record, message string) (attrs []map[string]any) {
	for _, record := range records {
		if strings.Contains(record.Message, message) {
			of := map[string]any{"level": record.Level}
			record.Attrs(func(a slog.Attr) bool { of[a.Key] = a.Value.Any(); return true })
			attrs = append(attrs, of)
		}
	}
	return attrs
}

func TestWithLoggerLogsEachRequestAndRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records []slog.Record
		second := func() { time.Sleep(time.Second) }
		rt := newRecording(doing(second, failWith(errors.New("reset"))), doing(second, respondWith(429, "", "Retry-After", "7")), doing(second, respondWith(200, jobJSON)))
		_, err := newClient(t, rt, mintlify.WithLogger(slog.New(logRecorder{&records}))).Jobs.Get(t.Context(), "a/b")
		require.NoError(t, err)

		var levels []slog.Level
		for _, record := range records {
			levels = append(levels, record.Level)
		}
		assert.Equal(t, []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelDebug, slog.LevelWarn, slog.LevelDebug}, levels)

		requests := logged(records, "mintlify: request")
		require.Len(t, requests, 3)
		for i, request := range requests {
			assert.Equal(t, "get job", request["operation"])
			assert.Equal(t, "GET", request["method"])
			assert.Equal(t, "/v2/agent/proj/job/a%2Fb", request["path"])
			assert.EqualValues(t, i+1, request["attempt"])
			assert.Equal(t, time.Second, request["duration"])
			assert.Equal(t, []any{nil, int64(429), int64(200)}[i], request["status"])
		}
		assert.Contains(t, requests[0]["error"], "reset")
		assert.Contains(t, requests[1]["error"], "429")
		assert.NotContains(t, requests[2], "error")

		retries := logged(records, "retrying request")
		require.Len(t, retries, 2)
		assert.EqualValues(t, 2, retries[1]["attempt"])
		assert.Equal(t, 7*time.Second, retries[1]["wait"])
	})
}

func TestWithLoggerLogsARequestThatWithRateLimiterRefuses(t *testing.T) {
	var records []slog.Record
	_, err := get(t.Context(), newClient(t, nil, mintlify.WithLogger(slog.New(logRecorder{&records})), mintlify.WithRateLimiter(
		func(context.Context, mintlify.Operation, string) error { return errors.New("no tokens") })))
	require.Error(t, err)
	require.Len(t, records, 1)
	assert.NotContains(t, logged(records, "request")[0], "duration")
}

func TestWithLoggerOfNilIsSilent(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(200, jobJSON), mintlify.WithLogger(nil)))
	require.NoError(t, err)
}

func TestWithLoggerLogsNoRetryOnceTheContextHasEnded(t *testing.T) {
	var records []slog.Record
	ctx, cancel := context.WithCancel(t.Context())
	_, err := create(ctx, newClient(t, doing(cancel, respondWith(429, "")),
		mintlify.WithLogger(slog.New(logRecorder{&records})), mintlify.WithRetryWait(0, 0)))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, mintlify.ErrRateLimited)
	assert.Empty(t, logged(records, "retrying request"))
}

func TestWithLoggerLogsAFailedPollOfWaitUntilDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records []slog.Record
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.Step{}, failing(mintlifytest.Fault{Status: 503}), completed)
		var next time.Duration
		_, err := svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithLogger(slog.New(logRecorder{&records}))).Jobs.WaitUntilDone(t.Context(), "j",
			mintlify.WithOnPoll(func(p mintlify.Poll) {
				if p.Number == 2 {
					next = p.Next
				}
			}))
		require.NoError(t, err)
		warnings := logged(records, "poll failed")
		require.Len(t, warnings, 1)
		assert.EqualValues(t, 2, warnings[0]["poll"])
		assert.Equal(t, next, warnings[0]["wait"])
	})
}

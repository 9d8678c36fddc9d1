package mintlify_test

import (
	"context"
	"errors"
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

type logRecorder struct{ records *[]slog.Record }

func (r logRecorder) Enabled(context.Context, slog.Level) bool { return true }

func (r logRecorder) WithAttrs([]slog.Attr) slog.Handler { return r }

func (r logRecorder) WithGroup(string) slog.Handler { return r }

func (r logRecorder) Handle(_ context.Context, record slog.Record) error {
	*r.records = append(*r.records, record)
	return nil
}

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

func TestLoggerTellsEachRequestAndRetry(t *testing.T) {
	var records []slog.Record
	client := newClient(t, respondWith(503, "down"), mintlify.WithLogger(slog.New(logRecorder{&records})),
		mintlify.WithRetryWait(0, 0), mintlify.WithMaxRetries(1))
	_, err := get(t.Context(), client)
	require.Error(t, err)
	var levels []slog.Level
	for _, record := range records {
		levels = append(levels, record.Level)
	}
	assert.Equal(t, []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelDebug}, levels)

	_, err = get(t.Context(), newClient(t, respondWith(200, jobJSON), mintlify.WithLogger(nil)))
	require.NoError(t, err, "nil is silence")
}

func TestWhatALogLineTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records []slog.Record
		logger := mintlify.WithLogger(slog.New(logRecorder{&records}))
		sent := 0
		client := newClient(t, transport(func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			switch sent++; sent {
			case 1:
				return nil, errors.New("reset")
			case 2:
				return response(429, "", "Retry-After", "7"), nil
			}
			return response(200, jobJSON), nil
		}), logger)
		_, err := client.Jobs.Get(t.Context(), "a/b")
		require.NoError(t, err)
		requests, retries := logged(records, "mintlify: request"), logged(records, "retrying request")
		requests = requests[:0:0]
		for _, record := range logged(records, "mintlify: request") {
			if record["level"] == slog.LevelDebug {
				requests = append(requests, record)
			}
		}
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
		require.Len(t, retries, 2)
		assert.Equal(t, slog.LevelWarn, retries[1]["level"])
		assert.EqualValues(t, 2, retries[1]["attempt"])
		assert.Equal(t, 7*time.Second, retries[1]["wait"])

		records = nil
		_, err = get(t.Context(), newClient(t, nil, logger, mintlify.WithRateLimiter(
			func(context.Context, mintlify.Operation, string) error { return errors.New("no tokens") })))
		require.Error(t, err)
		require.Len(t, records, 1, "a request that was not let go is told too")
		assert.NotContains(t, logged(records, "request")[0], "duration")
	})
}

func TestNoRetryIsAnnouncedOnceTheContextHasEnded(t *testing.T) {
	var records []slog.Record
	ctx, cancel := context.WithCancel(t.Context())
	_, err := create(ctx, newClient(t, transport(func(*http.Request) (*http.Response, error) {
		cancel()
		return response(429, ""), nil
	}), mintlify.WithLogger(slog.New(logRecorder{&records})), mintlify.WithRetryWait(0, 0)))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, mintlify.ErrRateLimited)
	assert.Empty(t, logged(records, "retrying request"))
}

func TestWarningOfAFailedPollTellsWhichAndHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records []slog.Record
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.Step{}, failing(mintlifytest.Fault{Status: 503}), completed)
		var next time.Duration
		_, err := svc.Client(realTime(), mintlify.WithLogger(slog.New(logRecorder{&records}))).Jobs.WaitUntilDone(t.Context(), "j",
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

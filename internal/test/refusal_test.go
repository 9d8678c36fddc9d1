package test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/http2server"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

const peerRefused = "the peer refused the request before it acted"

// renewing is a service that refuses requests by a GOAWAY, and then makes jobs.
func renewing(refusals int32) *http2server.Server {
	var got atomic.Int32
	return &http2server.Server{Handle: func(event http2server.Event, stream *http2server.Stream) {
		if event != http2server.Whole {
			return
		}
		if got.Add(1) <= refusals {
			stream.GoAway(true)
			return
		}
		stream.Respond("201", `{"id":"job_1","status":"active"}`)
	}}
}

// This test notices if a release of Go changes how it reports a GOAWAY.
func TestGoAwayOnRealSocketsIsRepeatedUpToSixTimes(t *testing.T) {
	for _, tc := range []struct {
		refusals int32
		retries  int
		attempts int
		succeeds bool
	}{
		{refusals: 1, retries: 0, attempts: 2, succeeds: true},
		{refusals: 6, retries: 0, attempts: 7, succeeds: true},
		{refusals: 6, retries: math.MaxInt, attempts: 7, succeeds: true},
		{refusals: 7, retries: 0, attempts: 7, succeeds: false},
		{refusals: 9, retries: 3, attempts: 10, succeeds: true},
		{refusals: 10, retries: 3, attempts: 10, succeeds: false},
	} {
		server := renewing(tc.refusals)
		baseURL, base, err := server.Listen()
		require.NoError(t, err)
		defer server.Close()
		defer base.CloseIdleConnections()

		attempts := 0
		client := newSocketClient(t, baseURL, kit.CountAttempts(&attempts), mintlify.WithMaxRetries(tc.retries),
			mintlify.WithHTTPClient(&http.Client{Transport: base}))
		_, err = kit.Create(t.Context(), client)
		assert.Equal(t, tc.attempts, attempts)
		assert.Equal(t, tc.succeeds, err == nil, "%+v: %v", tc, err)
		if err == nil {
			continue
		}

		assert.False(t, kit.IsOutcomeUnknown(err), "%v", err)
		assert.ErrorContains(t, err, peerRefused)
		assert.NotContains(t, err.Error(), "GetBody")
		kit.AssertReadable(t, err)
		_, ok := mintlify.RetryAfter(err)
		assert.True(t, ok)
	}
}

func TestGoAwayIsRepeatedWithoutAWaitOrAWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := renewing(6)
		base := server.Transport()
		defer server.Close()
		defer base.CloseIdleConnections()

		var warnings strings.Builder
		logger := slog.New(slog.NewTextHandler(&warnings, &slog.HandlerOptions{Level: slog.LevelWarn}))
		client := kit.NewClient(t, base, mintlify.WithBaseURL("http://127.0.0.1"), mintlify.WithLogger(logger))
		start := time.Now()
		_, err := kit.Create(t.Context(), client)
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
		assert.Empty(t, warnings.String())
	})
}

func TestEachRepeatIsAnAttempt(t *testing.T) {
	server := renewing(3)
	base := server.Transport()
	defer server.Close()
	defer base.CloseIdleConnections()

	var limited, tagged []int
	keys := 0
	limiter := func(_ context.Context, info mintlify.RequestInfo) error {
		limited = append(limited, info.Attempt)
		return nil
	}
	source := func(ctx context.Context) (string, error) {
		keys++
		info, _ := mintlify.RequestFromContext(ctx)
		tagged = append(tagged, info.Attempt)
		return "mint_4f1c9d2e", nil
	}

	var logged strings.Builder
	logger := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	client := kit.NewClient(t, base, mintlify.WithBaseURL("http://127.0.0.1"), mintlify.WithRateLimiter(limiter),
		mintlify.WithKeySource(source), mintlify.WithLogger(logger))
	_, err := kit.Create(t.Context(), client)
	require.NoError(t, err)

	attempts := []int{1, 2, 3, 4}
	assert.Equal(t, attempts, limited)
	assert.Equal(t, attempts, tagged)
	assert.Equal(t, 4, keys)
	assert.Equal(t, 4, strings.Count(logged.String(), `msg="mintlify: request"`), logged.String())
	for attempt := range 3 {
		retrying := fmt.Sprintf(`msg="mintlify: retrying request" operation="create job" `+
			`path=/v2/agent/proj/job attempt=%d wait=0s`, attempt+1)
		assert.Contains(t, logged.String(), retrying)
	}
}

// The first retry with a wait waits as long as if the others had not been.
func TestGoAwayDoesNotLengthenTheWaitBeforeARetry(t *testing.T) {
	var longest time.Duration
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			server := renewing(7)
			base := server.Transport()
			defer server.Close()
			defer base.CloseIdleConnections()

			client := kit.NewClient(t, base, mintlify.WithBaseURL("http://127.0.0.1"),
				mintlify.WithRetryWait(time.Second, time.Hour))
			start := time.Now()
			_, err := kit.Create(t.Context(), client)
			require.NoError(t, err)
			longest = max(longest, time.Since(start))
		})
	}
	assert.LessOrEqual(t, longest, time.Second)
	assert.Greater(t, longest, 500*time.Millisecond)
}

var errClosedInUse = errors.New("http: server closed idle connection")

// closeInUse is a transport whose connection closes just as a request takes it.
func closeInUse(r *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(r.Context())
	trace.GetConn("api.example.com:443")
	trace.GotConn(httptrace.GotConnInfo{Reused: true})
	return nil, errClosedInUse
}

func TestNothingIsRepeatedOnceTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	rt := kit.Transport(func(r *http.Request) (*http.Response, error) { // it reads no body
		attempts++
		if attempts == 2 {
			cancel()
		}
		return closeInUse(r)
	})

	_, err := kit.Create(ctx, kit.NewClient(t, rt))
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, kit.IsOutcomeUnknown(err))
	assert.Equal(t, 2, attempts)
}

// newSocketClient returns a client of the SDK's own transport, which retries without a wait.
func newSocketClient(t *testing.T, baseURL string, opts ...mintlify.Option) *mintlify.Client {
	t.Helper()
	opts = append(opts, mintlify.WithBaseURL(baseURL), mintlify.WithRetryWait(0, 0))
	client, err := mintlify.NewClient(kit.Key, "proj", opts...)
	require.NoError(t, err)
	return client
}

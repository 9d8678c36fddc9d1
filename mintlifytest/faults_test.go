package mintlifytest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestFailNext(t *testing.T) {
	svc := mintlifytest.NewService()
	server := httptest.NewServer(svc)
	defer server.Close()
	for where, client := range map[string]*mintlify.Client{
		"memory": svc.Client(mintlify.WithMaxRetries(0)),
		"socket": onSocket(t, server),
	} {
		t.Run(where, func(t *testing.T) {
			down := &mintlifytest.Fault{Status: 503, Header: http.Header{"retry-after": {"7"}}, Body: "down"}
			svc.AddJob("j",
				mintlifytest.JobStep{},
				mintlifytest.JobStep{Fault: down},
				mintlifytest.JobStep{Status: mintlify.JobCompleted})
			fail := func(f mintlifytest.Fault) error {
				svc.FailNext(mintlify.OpGetJob, 1, f)
				_, err := client.Jobs.Get(t.Context(), "j")
				return err
			}

			assert.ErrorIs(t, fail(mintlifytest.Fault{Status: 500}), mintlify.ErrServer)
			assert.ErrorIs(t, fail(mintlifytest.Fault{Body: "<html>"}), mintlify.ErrMalformedResponse)
			assert.ErrorIs(t, fail(mintlifytest.Fault{Truncate: true}), io.ErrUnexpectedEOF)
			assert.Error(t, fail(mintlifytest.Fault{Drop: true}))

			seen := len(svc.Requests())
			assert.Error(t, fail(mintlifytest.Fault{Refuse: true}))
			assert.Len(t, svc.Requests(), seen, "the service sees nothing of it")

			assert.Equal(t, mintlify.JobActive, poll(t, client, "j").Status, "the script did not go on")
			_, err := client.Jobs.Get(t.Context(), "j")
			var apiErr *mintlify.APIError
			require.ErrorAs(t, err, &apiErr)
			assert.Equal(t, 7*time.Second, apiErr.RetryAfter)
			assert.Equal(t, "down", apiErr.Message)

			_, err = client.Jobs.Get(t.Context(), "j")
			assert.NoError(t, err)
			assert.Equal(t, mintlify.JobCompleted, poll(t, client, "j").Status)
		})
	}
}

func TestFailNextAndSucceedNextKeepTheOrder(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j")
	svc.SucceedNext(mintlify.OpGetJob, 2)
	svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Status: 503})
	svc.SucceedNext(mintlify.OpGetJob, 1)
	svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 404})
	svc.SucceedNext(mintlify.OpGetJob, 0)
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 409})

	client := svc.Client(mintlify.WithMaxRetries(0))
	for _, kind := range []error{nil, nil, mintlify.ErrServer, mintlify.ErrServer, nil, mintlify.ErrNotFound, nil} {
		_, err := client.Jobs.Get(t.Context(), "j")
		assert.ErrorIs(t, err, kind)
	}
}

// A mistake in a test must not leave it green.
func TestFailNextPanicsIfNothingWouldFail(t *testing.T) {
	svc := mintlifytest.NewService()
	for _, n := range []int{0, -1} {
		assert.Panics(t, func() { svc.FailNext(mintlify.OpGetJob, n, mintlifytest.Fault{Status: 500}) })
	}
	for _, f := range []mintlifytest.Fault{{}, {Acted: true}, {Header: http.Header{}}, {Delay: -1}} {
		assert.Panics(t, func() { svc.FailNext(mintlify.OpGetJob, 1, f) }, "%+v", f)
	}
	for _, f := range []mintlifytest.Fault{
		{Status: 200}, {Body: "x"}, {Header: http.Header{"A": {"b"}}},
		{Refuse: true}, {Drop: true}, {Truncate: true}, {Delay: 1},
	} {
		assert.NotPanics(t, func() { svc.FailNext(mintlify.OpGetJob, 1, f) }, "%+v", f)
	}
	assert.Panics(t, func() { svc.SucceedNext("create-job", 0) })
	assert.NotPanics(t, func() { svc.SucceedNext(mintlify.OpCreateJob, 0) })
	assert.Equal(t, []string{`"get job" (7)`}, svc.UnusedFaults(), "it still works after a panic")
}

func TestNothingIsAddedWithoutAnID(t *testing.T) {
	svc := mintlifytest.NewService()
	assert.Panics(t, func() { svc.AddJob("") })
	assert.Panics(t, func() { svc.AddDeployment("") })
	assert.Panics(t, func() { svc.AddAutomation("") })
	assert.Empty(t, svc.Jobs())
}

func TestStepFaultFailsAPollThatFailNextLetsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		late := &mintlifytest.Fault{Status: 503, Delay: time.Second}
		svc.AddJob("j", mintlifytest.JobStep{Fault: late}, mintlifytest.JobStep{Status: mintlify.JobCompleted})
		svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Delay: 2 * time.Second})
		client := svc.Client(mintlify.WithMaxRetries(0))

		start := time.Now()
		_, err := client.Jobs.Get(t.Context(), "j")
		assert.ErrorIs(t, err, mintlify.ErrServer)
		assert.Equal(t, 3*time.Second, time.Since(start), "both delays")
		assert.Equal(t, mintlify.JobCompleted, poll(t, client, "j").Status, "the step is over")
	})
}

func TestFaultActed(t *testing.T) {
	for name, tc := range map[string]struct {
		fault mintlifytest.Fault
		acted bool
	}{
		"delay":            {mintlifytest.Fault{Delay: 1}, true},
		"200":              {mintlifytest.Fault{Status: 200}, true},
		"body":             {mintlifytest.Fault{Body: "<html>"}, true},
		"drop":             {mintlifytest.Fault{Drop: true}, true},
		"truncate":         {mintlifytest.Fault{Truncate: true}, true},
		"504":              {mintlifytest.Fault{Status: 504}, false},
		"504, acted":       {mintlifytest.Fault{Status: 504, Acted: true}, true},
		"429, acted":       {mintlifytest.Fault{Status: 429, Acted: true}, true},
		"refused":          {mintlifytest.Fault{Refuse: true}, false},
		"refused and more": {mintlifytest.Fault{Refuse: true, Acted: true, Status: 504}, false},
	} {
		t.Run(name, func(t *testing.T) {
			svc := mintlifytest.NewService()
			client := svc.Client(mintlify.WithMaxRetries(0))
			svc.FailNext(mintlify.OpCreateJob, 1, tc.fault)
			_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})

			var apiErr *mintlify.APIError
			if errors.As(err, &apiErr) {
				assert.Equal(t, tc.fault.Status, apiErr.StatusCode)
			}
			assert.Equal(t, tc.acted, len(svc.Jobs()) == 1)
			for _, request := range svc.Requests() {
				assert.Equal(t, tc.acted, request.Acted)
			}
		})
	}
}

func TestPlainRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		client := svc.Client(mintlify.WithMaxRetries(0))
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Refuse: true, Status: 429})
		_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
		require.NotErrorIs(t, err, mintlify.ErrRateLimited, "Refuse wins")
		require.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown)

		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Refuse: true, Delay: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, mintlify.ErrOutcomeUnknown, "a dial that hangs")
	})
}

func TestDelayEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.JobStep{Status: mintlify.JobCompleted})
		svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Delay: 10 * time.Second})
		client := svc.Client()

		start := time.Now()
		assert.Equal(t, mintlify.JobCompleted, poll(t, client, "j").Status, "late, but a success")
		assert.Equal(t, 10*time.Second, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Jobs.Get(ctx, "j")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 11*time.Second, time.Since(start))
	})
}

func TestFailNextOfACall(t *testing.T) {
	const op = mintlify.Operation("GET /v1/things")
	svc := mintlifytest.NewService()
	server := httptest.NewServer(svc)
	defer server.Close()
	for name, client := range map[string]*mintlify.Client{
		"memory":                svc.Client(mintlify.WithMaxRetries(0)),
		"memory, with a prefix": svc.Client(mintlify.WithMaxRetries(0), mintlify.WithBaseURL("https://api.example.com/prefix")),
		"socket":                onSocket(t, server),
	} {
		t.Run(name, func(t *testing.T) {
			call := func() error {
				return client.Call(t.Context(), mintlify.CallParams{Method: "GET", Path: "/v1/things"}, nil)
			}

			svc.SucceedNext(op, 1)
			svc.FailNext(op, 1, mintlifytest.Fault{Status: 503})
			svc.FailNext(op, 1, mintlifytest.Fault{Status: 200, Body: "{}"})

			require.ErrorIs(t, call(), mintlify.ErrNotFound, "the service has no such endpoint")
			require.ErrorIs(t, call(), mintlify.ErrServer)
			require.NoError(t, call())

			requests := svc.Requests()
			for _, request := range requests[len(requests)-3:] {
				assert.Equal(t, op, request.Operation)
				assert.Empty(t, request.ProjectID)
				assert.False(t, request.Acted)
			}
		})
	}
}

func TestFailNextOfACallToAnEndpointOfTheService(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client(mintlify.WithMaxRetries(0))
	call := mintlify.CallParams{Method: "GET", Path: "/v1/analytics/" + mintlifytest.ProjectID + "/views"}
	svc.FailNext("GET "+mintlify.Operation(call.Path), 1, mintlifytest.Fault{Status: 503})
	svc.FailNext(mintlify.OpGetViews, 1, mintlifytest.Fault{Status: 500})

	for _, status := range []int{500, 503} {
		var apiErr *mintlify.APIError
		require.ErrorAs(t, client.Call(t.Context(), call, nil), &apiErr)
		assert.Equal(t, status, apiErr.StatusCode)
	}
	require.NoError(t, client.Call(t.Context(), call, nil))
	assert.Equal(t, mintlify.OpGetViews, svc.Requests()[2].Operation)
}

// The operation of a FailNext that never occurs is probably misspelled.
func TestAnUnknownEndpointListsTheFaultsThatAreStillQueued(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client(mintlify.WithMaxRetries(0))
	call := func() error {
		return client.Call(t.Context(), mintlify.CallParams{Method: "GET", Path: "/v1/things"}, nil)
	}
	require.ErrorContains(t, call(), "No such endpoint: GET /v1/things")
	assert.NotContains(t, call().Error(), "queued")

	svc.AddJob("j")
	svc.FailNext("GET /v1/thing", 2, mintlifytest.Fault{Status: 503})
	svc.SucceedNext(mintlify.OpGetJob, 1)
	svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Status: 503})
	svc.FailNext(mintlify.OpGetViews, 1, mintlifytest.Fault{Status: 503})

	_, err := client.Analytics.GetViewPage(t.Context(), mintlify.ViewsParams{})
	require.ErrorIs(t, err, mintlify.ErrServer)
	poll(t, client, "j")

	err = call()
	assert.ErrorContains(t, err, `No such endpoint: GET /v1/things. `+
		`FailNext and SucceedNext still have these queued: "GET /v1/thing" (2), "get job" (2)`)
	assert.NotContains(t, err.Error(), "get views", "that one is used up")
}

func TestClearFaultsEndsAnOutage(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.SucceedNext(mintlify.OpCreateJob, 1)
	svc.FailNext(mintlify.OpCreateJob, 100, mintlifytest.Fault{Status: 503})
	svc.FailNext("GET /v1/things", 1, mintlifytest.Fault{Status: 503})
	svc.ClearFaults()
	assert.Empty(t, svc.UnusedFaults())

	_, err := svc.Client().Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	require.NoError(t, err)

	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 503})
	_, err = svc.Client().Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
	require.Error(t, err, "faults can be queued again")
}

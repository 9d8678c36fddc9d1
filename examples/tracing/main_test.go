package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func Example() {
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// create job
	// get job
	// get job
}

func TestSpans(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	svc := mintlifytest.NewService()
	hc := traced(svc, tracers)
	client := svc.Client(mintlify.WithHTTPClient(hc))
	ctx, parent := tracers.Tracer("test").Start(t.Context(), "parent")

	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Refuse: true})
	_, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "x"})
	require.NoError(t, err, "a connection that is refused is retried: the SDK's trace events get through")

	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	_, err = client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "x"})
	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)

	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: http.StatusServiceUnavailable})
	_, err = client.Analytics.GetVisitorPage(ctx, mintlify.VisitorsParams{})
	require.NoError(t, err)

	call := mintlify.CallParams{Method: http.MethodGet, Path: "/v1/new", Query: url.Values{"a": {"b"}}}
	err = client.Call(ctx, call, nil)
	require.ErrorIs(t, err, mintlify.ErrNotFound)

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example.com", nil)
	require.NoError(t, err)
	resp, err := hc.Do(req)
	require.NoError(t, errors.Join(err, resp.Body.Close()))

	var names []string
	var resent []string
	for _, span := range spans.Ended() {
		names = append(names, span.Name())
		assert.Equal(t, parent.SpanContext().SpanID(), span.Parent().SpanID(), span.Name())
		for _, a := range span.Attributes() {
			if a.Key == "http.request.resend_count" {
				resent = append(resent, span.Name()+" "+a.Value.String())
			}
		}
		assert.NotContains(t, fmt.Sprint(span.Attributes(), span.Events(), span.Status()), mintlifytest.APIKey)
	}
	assert.Equal(t, []string{
		"create job", "create job", "create job", "get visitors", "get visitors", "GET /v1/new", "HTTP GET",
	}, names)
	assert.Equal(t, []string{"create job 1", "get visitors 1"}, resent)
}

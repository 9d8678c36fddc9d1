// Tracing shows a client whose OpenTelemetry traces read "create job", not "HTTP POST". It
// prints the names of its spans, and talks to a fake of the service inside itself.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// traced returns an HTTP client that makes a span of each request, also of retries and
// polls. base is mintlify.NewTransport(): its httptrace events, which otelhttp passes on,
// tell the SDK that a request was never sent.
func traced(base http.RoundTripper, tracers trace.TracerProvider) *http.Client {
	spanName := func(_ string, req *http.Request) string {
		if info, ok := mintlify.RequestFromContext(req.Context()); ok {
			return string(info.Operation)
		}
		return "HTTP " + req.Method // not a request of the SDK
	}

	transport := otelhttp.NewTransport(resendCount{base},
		otelhttp.WithTracerProvider(tracers),
		otelhttp.WithSpanNameFormatter(spanName))
	return &http.Client{Transport: transport}
}

// resendCount notes in the span of a retry how many requests of the call came before.
type resendCount struct{ base http.RoundTripper }

func (t resendCount) RoundTrip(req *http.Request) (*http.Response, error) {
	info, _ := mintlify.RequestFromContext(req.Context())
	if info.Attempt > 1 {
		span := trace.SpanFromContext(req.Context())
		span.SetAttributes(attribute.Int("http.request.resend_count", info.Attempt-1))
	}
	return t.base.RoundTrip(req)
}

func run(ctx context.Context) error {
	server := httptest.NewServer(mintlifytest.NewService()) // instead of the service
	defer server.Close()

	spans := tracetest.NewSpanRecorder() // instead of your collector
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID,
		mintlify.WithBaseURL(server.URL),
		mintlify.WithHTTPClient(traced(mintlify.NewTransport(), tracers)),
		mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, 0))) // leave this out: it is for a fake
	if err != nil {
		return err
	}

	job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
	if err != nil {
		return err
	}
	_, err = client.Jobs.WaitUntilDone(ctx, job.ID)

	for _, span := range spans.Ended() {
		fmt.Println(span.Name())
	}
	return err
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/terminal"
)

// exporter is one run of the program.
type exporter struct {
	client   *mintlify.Client
	settings settings
	out      *output
	wait     bool
	stderr   *os.File
	requests counter
	rows     int64 // written by this run
}

// counter counts the requests that go through it, retries included.
type counter struct {
	http.RoundTripper
	n atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// run exports until the end, or until it has to stop. It prints why it stops and returns the
// exit code.
func (e *exporter) run(ctx context.Context) int {
	saved := e.out.checkpoint
	if saved.Done {
		fmt.Fprintf(e.stderr, "%s is complete already: remove it and %s to export again.\n",
			e.out.path, checkpointPath(e.out.path))
		return exitOK
	}
	if saved.NextOffset > 0 {
		fmt.Fprintf(e.stderr, "Resuming at row %d.\n", saved.NextOffset)
	}

	err := e.pages(ctx)
	for e.wait && errors.Is(err, mintlify.ErrRateLimited) {
		e.waitForQuota(ctx, err)
		err = e.pages(ctx)
	}
	return e.end(ctx, err)
}

// waitForQuota waits as long as the service says, or until ctx ends.
func (e *exporter) waitForQuota(ctx context.Context, limited error) {
	delay, _ := mintlify.RetryAfter(limited)
	fmt.Fprintf(e.stderr, "The hourly quota is used up: waiting for %v.\n", delay)

	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
}

// end prints why the export stops, and how to resume it. It returns the exit code.
func (e *exporter) end(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, mintlify.ErrInvalidArgument): // such as -from after -to: resuming does not help
		fmt.Fprintln(e.stderr, err)
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintf(e.stderr, "Interrupted. %s\n", e.howToResume())
		return exitInterrupted
	case errors.Is(err, mintlify.ErrRateLimited):
		delay, _ := mintlify.RetryAfter(err)
		fmt.Fprintf(e.stderr, "The hourly quota is used up: try again in %v, at %s. %s\n",
			delay, time.Now().Add(delay).Format(time.RFC3339), e.howToResume())
		return exitQuota
	}
	fmt.Fprintf(e.stderr, "%v\n%s\n", err, e.howToResume())
	return exitFailed
}

// pages writes page after page, each with its checkpoint.
func (e *exporter) pages(ctx context.Context) error {
	line := terminal.NewLine(e.stderr)
	defer line.End()
	start := time.Now()
	before := e.rows

	params := mintlify.VisitorsParams{
		DateFrom: e.settings.DateFrom,
		DateTo:   e.settings.DateTo,
		Limit:    e.settings.Limit,
		Offset:   e.out.checkpoint.NextOffset,
	}
	for page, err := range e.client.Analytics.VisitorPages(ctx, params, mintlify.WithPrefetch(1)) {
		if err != nil {
			return err
		}
		if err := e.out.write(page); err != nil {
			return err
		}
		e.rows += int64(len(page.Visitors))

		perSecond := float64(e.rows-before) / max(time.Since(start).Seconds(), 1e-3)
		progress := fmt.Sprintf("%d rows, %d requests, %.0f rows per second", e.rows, e.requests.n.Load(), perSecond)
		if page.HasMore {
			line.Update(progress)
		} else {
			line.Show(progress)
		}
	}
	return nil
}

func (e *exporter) howToResume() string {
	if e.out.path == stdoutPath {
		return "An export to stdout cannot be resumed: give it a file with -o."
	}
	return "Run the same command to resume."
}

// Package duplicates counts the jobs that one prompt makes on a bad day: sent by
// curl with --retry, as scripts do, and by the SDK. Both talk to the fake service
// over a socket.
package duplicates

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// maxTime is how long an attempt may take, of either client.
const maxTime = 2 * time.Second

// Flags make curl retry a request: after a timeout, and after a 408, 429, 500, 502,
// 503 or 504.
var Flags = []string{"--retry", "2", "--max-time", fmt.Sprint(maxTime.Seconds())}

// client sends the prompt once, as its user sees it, and says how that ended.
type client func(ctx context.Context, baseURL string) (end string, err error)

// situation is a bad day of the service.
type situation struct {
	name     string
	requests int // how many it strikes, the first ones
	fault    mintlifytest.Fault
}

var situations = []situation{
	{name: "nothing goes wrong"},
	{name: "each response takes too long, its job is made", requests: 9, fault: mintlifytest.Fault{Delay: time.Hour}},
	{name: "a gateway responds 504 once the job is made", requests: 1, fault: mintlifytest.Fault{Status: http.StatusGatewayTimeout, Acted: true}},
	{name: "the connection is lost once the job is made", requests: 1, fault: mintlifytest.Fault{Drop: true}},
	{name: "429, no job is made", requests: 1, fault: mintlifytest.Fault{Status: http.StatusTooManyRequests}},
	{name: "503, no job is made", requests: 1, fault: mintlifytest.Fault{Status: http.StatusServiceUnavailable}},
}

// Result is what one prompt came to.
type Result struct {
	Requests, Jobs int
	End            string // how the client ended
}

// Row is what it came to in one situation.
type Row struct {
	Situation string
	Curl, SDK Result
}

// Measure sends a prompt in each situation with both clients, all at once since
// they wait nearly all of the time. Where there is no curl it fails with
// [exec.ErrNotFound].
func Measure(ctx context.Context) ([]Row, error) {
	rows := make([]Row, len(situations))
	errs := make([]error, 2*len(situations))
	var all sync.WaitGroup
	for i, s := range situations {
		rows[i].Situation = s.name
		all.Go(func() { rows[i].Curl, errs[2*i] = s.measure(ctx, curl) })
		all.Go(func() { rows[i].SDK, errs[2*i+1] = s.measure(ctx, sdk) })
	}
	all.Wait()
	return rows, errors.Join(errs...)
}

func (s situation) measure(ctx context.Context, send client) (Result, error) {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpCreateJob, s.requests, s.fault)
	server := httptest.NewServer(svc)
	defer server.Close()
	end, err := send(ctx, server.URL)
	return Result{len(svc.Requests()), len(svc.Jobs()), end}, err
}

// curl is a script's. The configuration and proxy of whoever runs this do not count.
func curl(ctx context.Context, baseURL string) (string, error) {
	args := append([]string{"-q", "--noproxy", "*", "--silent", "--fail"}, Flags...)
	args = append(args, "--header", "Authorization: Bearer "+mintlifytest.APIKey, "--header", "Content-Type: application/json",
		"--data", `{"prompt":"Fix the typos"}`, baseURL+"/v2/agent/"+mintlifytest.ProjectID+"/job")
	command := exec.CommandContext(ctx, "curl", args...)
	err := command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("curl: %w", err)
	}
	return fmt.Sprint(command.ProcessState.ExitCode()), nil
}

func sdk(ctx context.Context, baseURL string) (string, error) {
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID,
		mintlify.WithBaseURL(baseURL), mintlify.WithHTTPClient(&http.Client{Timeout: maxTime}))
	if err != nil {
		return "", err
	}
	_, err = client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: "Fix the typos"})
	switch {
	case err == nil:
		return "nil", nil
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		return "ErrOutcomeUnknown", nil
	}
	return "", err
}

// Table is the rows in Markdown.
func Table(rows []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | `curl %s`: requests | jobs | exit status | SDK: requests | jobs | error |\n|---|---|---|---|---|---|---|\n", strings.Join(Flags, " "))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.Situation, row.Curl, row.SDK)
	}
	return b.String()
}

// String is the result as cells of a table.
func (r Result) String() string { return fmt.Sprintf("%d | %d | %s", r.Requests, r.Jobs, r.End) }

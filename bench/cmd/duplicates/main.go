// Command duplicates prints how many jobs one prompt makes when a call fails: sent by curl
// with --retry, as scripts do, and by the SDK. Both talk to the fake service over a socket.
// Run it as cd bench && go run ./cmd/duplicates
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// maxTime is the timeout of an attempt, of either client.
const maxTime = 2 * time.Second

// flags make curl retry a request after a timeout, and after a 408, 429, 500, 502, 503 or 504.
var flags = []string{"--retry", "2", "--max-time", fmt.Sprint(maxTime.Seconds())}

// client sends the prompt once, and returns how that ended for its user.
type client func(ctx context.Context, baseURL string) (string, error)

type situation struct {
	name     string
	requests int // the first requests, which get the fault
	fault    mintlifytest.Fault
}

var situations = []situation{
	{
		name: "nothing goes wrong",
	},
	{
		name:     "each response takes too long, its job is made",
		requests: 9,
		fault:    mintlifytest.Fault{Delay: time.Hour},
	},
	{
		name:     "a gateway responds 504 once the job is made",
		requests: 1,
		fault:    mintlifytest.Fault{Status: http.StatusGatewayTimeout, Acted: true},
	},
	{
		name:     "the connection is lost once the job is made",
		requests: 1,
		fault:    mintlifytest.Fault{Drop: true},
	},
	{
		name:     "429, no job is made",
		requests: 1,
		fault:    mintlifytest.Fault{Status: http.StatusTooManyRequests},
	},
	{
		name:     "503, no job is made",
		requests: 1,
		fault:    mintlifytest.Fault{Status: http.StatusServiceUnavailable},
	},
}

func main() {
	log.SetFlags(0)
	table, err := measure(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(table)
}

// measure sends a prompt in each situation with both clients, and returns a table in Markdown. Without curl it fails
// with [exec.ErrNotFound].
func measure(ctx context.Context) (string, error) {
	var table strings.Builder
	fmt.Fprintf(&table, "| | `curl %s`: requests | jobs | exit status | SDK: requests | jobs | error |\n",
		strings.Join(flags, " "))
	fmt.Fprintln(&table, "|---|---|---|---|---|---|---|")

	for _, s := range situations {
		fmt.Fprintf(&table, "| %s |", s.name)
		for _, send := range []client{curl, sdk} {
			cells, err := s.measure(ctx, send)
			if err != nil {
				return "", fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Fprintf(&table, " %s |", cells)
		}
		fmt.Fprintln(&table)
	}

	return table.String(), nil
}

// measure returns requests, jobs and how the client ended, as cells of the table.
func (s situation) measure(ctx context.Context, send client) (string, error) {
	svc := mintlifytest.NewService()
	if s.requests > 0 {
		svc.FailNext(mintlify.OpCreateJob, s.requests, s.fault)
	}
	server := httptest.NewServer(svc)
	defer server.Close()

	end, err := send(ctx, server.URL)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d | %d | %s", len(svc.Requests()), len(svc.Jobs()), end), nil
}

// curl sends as a script does, without the user's own configuration and proxy.
func curl(ctx context.Context, baseURL string) (string, error) {
	args := append([]string{"-q", "--noproxy", "*", "--silent", "--fail"}, flags...)
	args = append(args,
		"--header", "Authorization: Bearer "+mintlifytest.APIKey,
		"--header", "Content-Type: application/json",
		"--data", `{"prompt":"Fix the typos"}`,
		baseURL+"/v2/agent/"+mintlifytest.ProjectID+"/job")

	command := exec.CommandContext(ctx, "curl", args...)
	err := command.Run()
	var exit *exec.ExitError
	hasExited := err == nil || errors.As(err, &exit) && exit.Exited()
	if !hasExited {
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

// Quickstart runs one job from prompt to pull request: it creates the job, waits, sends a follow-up,
// waits again, and prints the pull request's URL.
//
//	quickstart                                                        # on a fake
//	quickstart -prompt "Correct the spelling on the introduction page."
//	quickstart -prompt "…" -follow-up "Mention it in the changelog."
//	quickstart -job job_77                                            # resume a wait
//
// Without flags it talks to a fake of the service inside itself, whatever is in the environment. Else it
// talks to the service, with the key and the project in MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID: each
// prompt is a run of the agent, which costs credits and may open a pull request.
//
// Exit codes: 0 done, 1 failed, 2 wrong usage, or a key or project that is missing.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func main() {
	var t task
	flag.StringVar(&t.prompt, "prompt", "", "what the agent should do: a `text` that is sent to the service")
	flag.StringVar(&t.followUp, "follow-up", "", "what the agent should do then: a `text` that is sent to the job")
	flag.StringVar(&t.job, "job", "", "the `id` of a job to wait for, instead of creating one")
	flag.Parse()

	flag.Visit(func(f *flag.Flag) {
		if strings.TrimSpace(f.Value.String()) == "" {
			fmt.Fprintf(os.Stderr, "-%s is given and empty: is its variable set?\n", f.Name)
			os.Exit(2)
		}
	})
	if flag.NArg() > 0 || flag.NFlag() > 0 && (t.prompt == "") == (t.job == "") {
		fmt.Fprintln(os.Stderr, "Give either -prompt or -job, and put quotes around a prompt.")
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	var err error
	if flag.NFlag() == 0 {
		err = demonstrate(ctx, os.Stdout)
	} else {
		err = talk(ctx, os.Stdout, t)
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, mintlify.ErrInvalidArgument) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// talk runs a task on the service of the environment.
func talk(ctx context.Context, out io.Writer, t task) error {
	client, err := mintlify.NewClientFromEnv()
	if err != nil {
		return err
	}

	service := cmp.Or(os.Getenv("MINTLIFY_BASE_URL"), mintlify.DefaultBaseURL) // mintlify-mock, for example
	fmt.Fprintf(out, "Using %s, project %s.\n", service, client.ProjectID())
	return t.run(ctx, out, client)
}

// demonstrate runs a task on a fake.
func demonstrate(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "No -prompt is given: this uses a fake of the service. One poll fails on purpose.")

	const pullRequest = "https://github.com/example/docs/pull/1"
	fake := mintlifytest.NewService()
	fake.ScriptJob(
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 502, Body: "Bad Gateway"}},
		mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: pullRequest},
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: pullRequest},
	)

	soon := mintlify.WithWaitDefaults(mintlify.WithPollInterval(400*time.Millisecond, time.Second))
	t := task{prompt: "Correct the spelling on the introduction page.", followUp: "Mention it in the changelog."}
	return t.run(ctx, out, fake.Client(soon))
}

// task is what to ask the service for.
type task struct {
	prompt   string // of a new job
	job      string // the id of a job that exists
	followUp string // for either; "" for none
}

func (t task) run(ctx context.Context, out io.Writer, client *mintlify.Client) error {
	settle := mintlify.WithSettleTime(30 * time.Second) // somebody may have just sent the job a message
	if t.job == "" {
		id, err := create(ctx, out, client, t.prompt)
		if err != nil {
			return err
		}
		t.job = id
		settle = mintlify.WithSettleTime(0)
	}

	job, err := wait(ctx, out, client, t.job, settle)
	if err != nil {
		return err
	}

	if t.followUp != "" {
		fmt.Fprintln(out, "Sending the follow-up:", t.followUp)
		_, err := client.Jobs.Message(ctx, t.job, mintlify.MessageParams{Prompt: t.followUp})
		if err != nil {
			return err
		}

		if job, err = wait(ctx, out, client, t.job); err != nil {
			return err
		}
	}

	link := cmp.Or(job.PRLink, "none (nothing changed, or the project publishes without a review)")
	fmt.Fprintln(out, "Done. Pull request:", link)
	return nil
}

// create sends the prompt with a marker, by which a person finds the pull request if the response is
// lost. After a signal the call still waits for its response, so that the job's id is known.
func create(ctx context.Context, out io.Writer, client *mintlify.Client, prompt string) (string, error) {
	marker := "quickstart-" + time.Now().UTC().Format("20060102-150405")
	prompt += fmt.Sprintf("\n\nBegin the title of the pull request with %q.", marker)
	fmt.Fprintf(out, "Sending the prompt:\n%s\n", prompt)
	job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})

	switch {
	case err == nil:
		fmt.Fprintf(out, "Created job %s. To resume the wait for it: -job %[1]s\n", job.ID)
		return job.ID, nil
	case errors.Is(err, mintlify.ErrOutcomeUnknown):
		return "", fmt.Errorf("%w\nThere may be a job. Before you send the prompt again, look for a pull request "+
			"whose title begins with %q", err, marker)
	default:
		return "", err
	}
}

// maxWait is how long a job may take. The wait has no time limit of its own.
const maxWait = 30 * time.Minute

// wait waits until the job has ended, and prints each poll.
func wait(
	ctx context.Context, out io.Writer, client *mintlify.Client, id string, opts ...mintlify.WaitOption,
) (*mintlify.Job, error) {
	show := mintlify.WithOnPoll(func(p mintlify.Poll) {
		waited := p.Waited.Round(100 * time.Millisecond)
		if p.Err != nil {
			fmt.Fprintf(out, "  after %s: a poll failed: %v\n", waited, p.Err)
			return
		}
		fmt.Fprintf(out, "  after %s: %s\n", waited, p.Status)
	})

	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	return client.Jobs.WaitUntilDone(ctx, id, append(opts, show)...)
}

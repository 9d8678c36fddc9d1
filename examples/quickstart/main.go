// Quickstart runs one job from prompt to pull request: it creates the job, shows
// the wait, sends a follow-up, waits again, and prints the pull request's URL.
//
// With MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID set it talks to the service;
// without a key, to a fake of the service inside itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func main() {
	prompt := flag.String("prompt", "Correct the spelling on the introduction page.", "what the agent should do")
	followUp := flag.String("follow-up", "Mention the corrections in the changelog.", "what it should do then")
	limit := flag.Duration("limit", time.Hour, "how long to wait in all")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()

	if err := run(ctx, os.Stdout, *prompt, *followUp); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, mintlify.ErrOutcomeUnknown) {
			fmt.Fprintln(os.Stderr, "Look in the dashboard for the job before running this again.")
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, out *os.File, prompt, followUp string) error {
	client, err := connect(out)
	if err != nil {
		return err
	}
	job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Created job %s: %s\n", job.ID, prompt)
	if job, err = wait(ctx, out, client, job.ID); err != nil {
		return err
	}

	if _, err = client.Jobs.Message(ctx, job.ID, mintlify.MessageParams{Prompt: followUp}); err != nil {
		return err
	}
	fmt.Fprintf(out, "Sent a follow-up: %s\n", followUp)
	// The service takes a message up in its own time: until then the job may
	// still read as completed.
	if job, err = wait(ctx, out, client, job.ID, mintlify.WithSettleTime(30*time.Second)); err != nil {
		return err
	}

	if job.PRLink == "" {
		fmt.Fprintln(out, "Done: no file was changed, so there is no pull request.")
	} else {
		fmt.Fprintln(out, "Done. Pull request:", job.PRLink)
	}
	return nil
}

// connect returns a client of the service or, where there is no key, of a fake.
func connect(out io.Writer) (*mintlify.Client, error) {
	if os.Getenv("MINTLIFY_API_KEY") != "" {
		return mintlify.NewClientFromEnv()
	}
	fmt.Fprintln(out, "MINTLIFY_API_KEY is not set: using a fake of the service inside this program (mintlifytest).")
	svc := mintlifytest.NewService()
	svc.ScriptJob(
		mintlifytest.Step{Status: mintlify.JobActive},
		mintlifytest.Step{Status: mintlify.JobActive},
		mintlifytest.Step{Fault: &mintlifytest.Fault{Status: 502, Body: "Bad Gateway"}}, // a wait takes it in its stride
		mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/1"},
		mintlifytest.Step{Status: mintlify.JobActive},
		mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/1"},
	)
	return svc.Client(mintlify.WithWaitDefaults(mintlify.WithPollInterval(400*time.Millisecond, time.Second))), nil
}

// wait waits for the end of the job and shows each poll.
func wait(ctx context.Context, out *os.File, client *mintlify.Client, id string, opts ...mintlify.WaitOption) (*mintlify.Job, error) {
	line := newProgressLine(out)
	defer line.end()
	return client.Jobs.WaitUntilDone(ctx, id, append(opts, mintlify.WithOnPoll(func(p mintlify.Poll) {
		status := "unknown"
		if p.Job != nil {
			status = string(p.Job.Status)
		}
		text := fmt.Sprintf("  %-9s  waited %s", status, p.Waited.Round(100*time.Millisecond))
		if p.Next > 0 {
			text += fmt.Sprintf(", next poll in %s", p.Next.Round(100*time.Millisecond))
		}
		if p.Err != nil {
			text += fmt.Sprintf(" (poll failed: %v)", p.Err)
		}
		line.show(text)
	}))...)
}

// progressLine is one line, rewritten in place, on a terminal, and plain lines elsewhere.
type progressLine struct {
	out        io.Writer
	isTerminal bool
	width      int // of what stands on the line
}

func newProgressLine(out *os.File) *progressLine {
	info, err := out.Stat()
	return &progressLine{out: out, isTerminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (l *progressLine) show(text string) {
	if !l.isTerminal {
		fmt.Fprintln(l.out, text)
		return
	}
	const columns = 79 // a longer line would wrap, and could not be rewritten
	if runes := []rune(text); len(runes) > columns {
		text = string(runes[:columns-1]) + "…"
	}
	width := len([]rune(text))
	fmt.Fprintf(l.out, "\r%s%s", text, strings.Repeat(" ", max(0, l.width-width)))
	l.width = width
}

func (l *progressLine) end() {
	if l.isTerminal && l.width > 0 {
		fmt.Fprintln(l.out)
	}
}

// Quickstart runs one job from prompt to pull request: it creates the job, shows the
// wait, sends a follow-up, waits again, and prints the pull request's URL. Then it shows
// who visits the documentation: the totals of the last 30 full days and the ten pages
// visited most.
//
//	quickstart                                                        # on a fake
//	quickstart -prompt "Correct the spelling on the introduction page."
//	quickstart -prompt "…" -follow-up "Mention it in the changelog."
//	quickstart -job job_77                                            # resume a wait
//
// Without -prompt and -job it talks to a fake of the service inside itself, whatever is
// in the environment. With one of them it talks to the service, with the key and the
// project in MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID, and sends the prompts on its
// command line and no others: each is a run of the agent, which costs credits and may
// open a pull request.
//
// Exit codes: 0 done, 1 failed, 2 wrong usage, or a key or project that is missing.
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
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/demo"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func main() {
	t, limit, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2) // parse has said why
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	ctx, cancel := context.WithTimeout(ctx, limit)
	err = run(ctx, os.Stdout, t)
	cancel()
	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, mintlify.ErrInvalidArgument) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// task is what to ask the service for. The zero task is a demonstration on the fake.
type task struct {
	prompt   string // of a new job
	job      string // the id of a job that exists
	followUp string // for either; "" for none
}

// parse reads the command line. It prints what is wrong with it.
func parse(args []string, stderr io.Writer) (task, time.Duration, error) {
	var t task
	var limit time.Duration
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&t.prompt, "prompt", "", "what the agent should do: a `text` that is sent to the service")
	flags.StringVar(&t.job, "job", "", "the `id` of a job to wait for, instead of creating one")
	flags.StringVar(&t.followUp, "follow-up", "", "what the agent should do then: a `text` that is sent to the job")
	flags.DurationVar(&limit, "limit", time.Hour, "how long to wait in all")
	if err := flags.Parse(args); err != nil {
		return t, limit, err
	}

	err := t.check(flags)
	if err != nil {
		fmt.Fprintln(stderr, err)
	}
	return t, limit, err
}

func (t task) check(flags *flag.FlagSet) error {
	empty := ""
	flags.Visit(func(f *flag.Flag) {
		if strings.TrimSpace(f.Value.String()) == "" { // a variable of a shell that is not set, for example
			empty = f.Name
		}
	})

	switch {
	case empty != "":
		return fmt.Errorf("-%s is empty", empty)
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case t.prompt != "" && t.job != "":
		return errors.New("-prompt and -job exclude each other: the prompt is for a new job")
	case t.followUp != "" && t.prompt == "" && t.job == "":
		return errors.New("-follow-up needs -prompt or -job")
	}
	return nil
}

func run(ctx context.Context, out *os.File, t task) error {
	if t == (task{}) {
		return demonstrate(ctx, out)
	}

	client, err := demo.Connect(out, nil, "")
	if err != nil {
		return err
	}

	j := &jobRun{task: t, client: client, out: out}
	if err := j.run(ctx); err != nil {
		if next := j.afterwards(err); next != "" {
			fmt.Fprintln(out, next)
		}
		return err
	}
	return showVisitors(ctx, out, client)
}

// demonstrate runs a job on the fake. If it is interrupted, there is nothing to resume.
func demonstrate(ctx context.Context, out *os.File) error {
	fake := mintlifytest.NewService()
	script(fake)
	soon := mintlify.WithWaitDefaults(mintlify.WithPollInterval(400*time.Millisecond, time.Second))
	client, err := demo.Connect(out, fake, "No -prompt is given", soon)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "One poll fails on purpose, with a 502: the wait continues.")

	t := task{
		prompt:   "Correct the spelling on the introduction page.",
		followUp: "Mention the corrections in the changelog.",
	}
	j := &jobRun{task: t, client: client, out: out}
	if err := j.run(ctx); err != nil {
		return err
	}
	return showVisitors(ctx, out, client)
}

// script sets what the demonstration sees.
func script(fake *mintlifytest.Service) {
	const pullRequest = "https://github.com/example/docs/pull/1"
	fake.ScriptJob(
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 502, Body: "Bad Gateway"}}, // the wait goes on
		mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: pullRequest},
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: pullRequest},
	)
	fake.SetVisitors(demo.Visitors(600))
}

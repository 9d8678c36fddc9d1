// Publish deploys the documentation site and waits for the verdict: a step of a CI job.
//
//	publish                       # the branch that is set up for deployment
//	publish -preview docs/flags   # a preview of a branch
//
// It shows the progress, prints the files that changed, and ends with exit code 0, or with
// 1 and the logs of the deployment. An interrupt ends the wait, not the deployment: resume
// with -id.
//
// With MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID set it talks to the service; without a key,
// to a fake of the service inside itself.
//
// Exit codes: 0 deployed, 1 failed, 2 wrong usage or set-up, 130 interrupted.
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
	"github.com/mintlify-community/mintlify-go/cmd/internal/demo"
	"github.com/mintlify-community/mintlify-go/cmd/internal/terminal"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const (
	exitDeployed    = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the command line.
type options struct {
	preview string        // a branch; "": an update
	id      string        // of a deployment to wait for; "": a new one
	timeout time.Duration // of the wait
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("publish", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.preview, "preview", "", "deploy a preview of this `branch` instead of the site")
	flags.StringVar(&o.id, "id", "", "wait for the deployment with this `id` instead of triggering one")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Minute, "how long to wait")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" { // a variable of a shell that is not set, for example
			err = fmt.Errorf("-%s is empty", f.Name)
		}
	})
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.preview != "" && o.id != "":
		err = errors.New("-preview and -id exclude each other")
	case o.timeout <= 0:
		err = fmt.Errorf("-timeout is %v, want more than 0", o.timeout)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
	}
	return o, err
}

func run(ctx context.Context, args []string, stdout, stderr *os.File) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitDeployed
	}
	if err != nil {
		return exitUsage
	}
	client, err := connect(stderr, o)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	id := o.id
	if id == "" {
		queued, err := trigger(ctx, client, o.preview)
		if err != nil {
			fmt.Fprintln(stderr, err)
		}
		if queued == nil {
			return exitFailed
		}
		id = queued.ID
		fmt.Fprintln(stdout, "Queued deployment", id)
		if queued.PreviewURL != "" {
			fmt.Fprintln(stdout, "Preview:", queued.PreviewURL)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	deployment, err := wait(ctx, stderr, client, id)
	return report(stdout, stderr, id, deployment, err)
}

// connect returns a client of the service or, where there is no key, of a fake.
func connect(stderr io.Writer, o options) (*mintlify.Client, error) {
	if os.Getenv("MINTLIFY_API_KEY") != "" {
		return demo.Connect(stderr, nil, "")
	}
	fake := mintlifytest.NewService()
	steps := []mintlifytest.DeploymentStep{
		{Status: mintlify.DeploymentQueued},
		{Fault: &mintlifytest.Fault{Status: 502, Body: "Bad Gateway"}}, // which does not end the wait
		{Status: mintlify.DeploymentInProgress},
		{Status: mintlify.DeploymentSucceeded, Summary: "Deployed"},
	}
	fake.ScriptDeployment(steps...)
	if o.id != "" {
		fake.AddDeployment(o.id, steps...)
	}
	return demo.Connect(stderr, fake, "MINTLIFY_API_KEY is not set", mintlify.WithWaitDefaults(mintlify.WithPollInterval(400*time.Millisecond, time.Second)))
}

// trigger is detached from the signals of ctx, so that the deployment's id is known.
func trigger(ctx context.Context, client *mintlify.Client, preview string) (*mintlify.QueuedDeployment, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if preview != "" {
		return client.Deployments.TriggerPreview(ctx, mintlify.PreviewParams{Branch: preview})
	}
	return client.Deployments.TriggerUpdate(ctx)
}

func wait(ctx context.Context, stderr *os.File, client *mintlify.Client, id string) (*mintlify.Deployment, error) {
	line := terminal.NewLine(stderr)
	defer line.End()
	var last string
	return client.Deployments.WaitUntilDone(ctx, id, mintlify.WithOnPoll(func(p mintlify.Poll) {
		status := "not seen yet"
		if p.Deployment != nil {
			status = string(p.Deployment.Status)
		}
		text := fmt.Sprintf("  %-12s  waited %s", status, p.Waited.Round(time.Second))
		if p.Err != nil {
			line.Show(fmt.Sprintf("%s (poll failed: %v)", text, p.Err))
			return
		}
		if status != last {
			last = status
			line.Show(text)
			return
		}
		line.Update(text)
	}))
}

// report prints the verdict and returns the exit code.
func report(stdout, stderr io.Writer, id string, deployment *mintlify.Deployment, err error) int {
	switch {
	case errors.Is(err, mintlify.ErrDeploymentFailed):
		fmt.Fprintln(stderr, err)
		for _, line := range deployment.Logs {
			fmt.Fprintln(stderr, "  "+strings.TrimRight(line, "\r\n"))
		}
		return exitFailed
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "Interrupted. The deployment continues: wait for it with -id %s\n", id)
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(stderr, "%v\nThe deployment may continue: wait for it with -id %s\n", err, id)
		return exitFailed
	}
	fmt.Fprintf(stdout, "Deployed %s at %s\n", deployment.Commit.Ref, deployment.Commit.SHA)
	changed := deployment.Commit.FilesChanged
	for _, files := range []struct {
		mark  string
		paths []string
	}{{"A", changed.Added}, {"M", changed.Modified}, {"D", changed.Removed}} {
		for _, path := range files.paths {
			fmt.Fprintln(stdout, files.mark, path)
		}
	}
	return exitDeployed
}

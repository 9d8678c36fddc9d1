// Publish deploys the documentation's site, or a preview of a branch, and waits for the
// verdict: a step of a CI job. README.md says how to add it to a pipeline; -demo shows it
// on a fake of the service.
//
// Exit codes: 0 deployed; 1 the deployment failed; 2 set-up; 3 unknown, a deployment may
// have been triggered; 4 still running; 5 nothing was triggered.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func main() { ci.Main("publish", run) }

// options are the command line.
type options struct {
	preview, id string
	timeout     time.Duration
	soft, demo  bool
}

func parse(step *ci.Step, args []string) (o options, err error) {
	flags := flag.NewFlagSet(step.Name, flag.ContinueOnError)
	flags.StringVar(&o.preview, "preview", "", "deploy a preview of this `branch` instead of the site")
	flags.StringVar(&o.id, "id", "", "wait for the deployment with this `id` instead of triggering one")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Minute, "how long to wait")
	flags.BoolVar(&o.soft, "soft", false, "end with exit code 0 unless the set-up is to blame")
	flags.BoolVar(&o.demo, "demo", false, "show a run on a fake of the service")
	err = step.Parse(flags, args)
	switch {
	case err != nil:
	case o.preview != "" && o.id != "":
		err = errors.New("-preview and -id exclude each other")
	case o.timeout <= 0:
		err = fmt.Errorf("-timeout is %v, want more than 0", o.timeout)
	}
	return o, err
}

func run(ctx context.Context, step *ci.Step, args []string) int {
	p := &publication{step: step}
	o, err := parse(step, args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, o.timeout)
		defer cancel()
		err = p.publish(ctx, o)
	}
	return p.report(o, err)
}

// publication is a run, and what it knows of its deployment.
type publication struct {
	step       *ci.Step
	id         string // "" before the service has named one
	previewURL string
	deployment *mintlify.Deployment // as last seen
}

func (p *publication) publish(ctx context.Context, o options) error {
	poll := p.step.LogPolls("deployment", time.Minute)
	opts := []mintlify.Option{mintlify.WithWaitDefaults(mintlify.WithOnPoll(func(seen mintlify.Poll) {
		p.deployment = cmp.Or(seen.Deployment, p.deployment)
		poll(seen)
	}))}
	connect := p.step.Connect
	if o.demo {
		p.step.Printf("Demo: a fake of the service inside this program. Nothing is deployed.")
		connect = demo(o.id)
	}
	client, err := connect(opts...)
	if err != nil {
		return err
	}
	if p.id = o.id; p.id == "" {
		if err := p.trigger(ctx, client, o.preview); err != nil {
			return err
		}
	}
	deployment, err := client.Deployments.WaitUntilDone(ctx, p.id)
	p.deployment = cmp.Or(deployment, p.deployment)
	_, later := mintlify.RetryAfter(err)
	switch {
	case err == nil, errors.Is(err, mintlify.ErrDeploymentFailed):
		return err
	case later, errors.As(err, new(*mintlify.WaitError)):
		return &ci.Error{Outcome: ci.Running, Err: fmt.Errorf("%w. Wait for it with -id %s", err, p.id)}
	}
	return &ci.Error{Outcome: ci.SetUp, Err: err}
}

// trigger has no signal cut it off, so that the deployment's id is known.
func (p *publication) trigger(ctx context.Context, client *mintlify.Client, branch string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	call := client.Deployments.TriggerUpdate
	if branch != "" {
		call = func(ctx context.Context) (*mintlify.QueuedDeployment, error) {
			return client.Deployments.TriggerPreview(ctx, mintlify.PreviewParams{Branch: branch})
		}
	}
	queued, err := call(ctx)
	if queued == nil {
		return err
	}
	p.id, p.previewURL = queued.ID, p.step.Link(queued.PreviewURL)
	p.step.Printf("Queued deployment %s %s", p.id, p.previewURL)
	return nil
}

// report tells how the run ended, and returns the exit code.
func (p *publication) report(o options, err error) int {
	r := ci.Result{Outcome: "success", Soft: o.soft}
	var status string
	if p.deployment != nil {
		status = string(p.deployment.Status)
	}
	switch {
	case errors.Is(err, mintlify.ErrDeploymentFailed):
		r.Outcome, r.Text = ci.Failed, err.Error()
		p.step.Printf("The deployment's logs:")
		for _, line := range p.deployment.Logs {
			p.step.Printf("  %s", line)
		}
	case err != nil:
		r.Outcome, r.Text = ci.OutcomeOf(err), err.Error()
		status = cmp.Or(status, string(r.Outcome))
	default:
		r.Text = fmt.Sprintf("Deployed %s at %s %s", p.deployment.Commit.Ref, p.deployment.Commit.SHA, p.previewURL)
		p.logFiles()
		if p.previewURL != "" {
			p.step.Print(p.previewURL)
		}
	}
	if p.previewURL != "" {
		r.Summary = "Preview: <" + p.previewURL + ">\n"
	}
	if p.id != "" {
		r.Text += " [deployment " + p.id + "]"
	}
	r.Outputs = [][2]string{{"deployment-id", p.id}, {"preview-url", p.previewURL}, {"status", status}}
	return p.step.Report(r)
}

func (p *publication) logFiles() {
	changed := p.deployment.Commit.FilesChanged
	for _, files := range []struct {
		mark  string
		paths []string
	}{{"A", changed.Added}, {"M", changed.Modified}, {"D", changed.Removed}} {
		for _, path := range files.paths {
			p.step.Printf("%s %s", files.mark, ci.OneLine(path))
		}
	}
}

// demo connects to a fake whose deployments take some polls, one of which fails.
func demo(id string) func(...mintlify.Option) (*mintlify.Client, error) {
	fake := mintlifytest.NewService()
	steps := []mintlifytest.DeploymentStep{
		{Status: mintlify.DeploymentQueued},
		{Fault: &mintlifytest.Fault{Status: 502, Body: "Bad Gateway"}},
		{Status: mintlify.DeploymentInProgress},
		{Status: mintlify.DeploymentSucceeded, Summary: "Deployed"},
	}
	fake.ScriptDeployment(steps...)
	if id != "" {
		fake.AddDeployment(id, steps...)
	}
	return func(opts ...mintlify.Option) (*mintlify.Client, error) {
		pace := mintlify.WithWaitDefaults(mintlify.WithPollInterval(400*time.Millisecond, time.Second))
		return fake.Client(append(opts, pace)...), nil
	}
}

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

// publication is a run, and what it knows of its deployment.
type publication struct {
	step       *ci.Step
	preview    string // the branch; "" is the site
	id         string // "" before the service has named one
	previewURL string
	deployment *mintlify.Deployment // as last seen
}

func run(ctx context.Context, step *ci.Step, args []string) int {
	p := &publication{step: step}
	flags := flag.NewFlagSet(step.Name, flag.ContinueOnError)
	flags.StringVar(&p.preview, "preview", "", "deploy a preview of this `branch` instead of the site")
	flags.StringVar(&p.id, "id", "", "wait for the deployment with this `id` instead of triggering one")
	step.Timeout = 30 * time.Minute
	err := step.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err == nil && p.preview != "" && p.id != "":
		err = errors.New("-preview and -id exclude each other")
	case err == nil:
		ctx, cancel := context.WithTimeout(ctx, step.Timeout)
		defer cancel()
		err = p.publish(ctx)
	}
	return p.report(err)
}

func (p *publication) publish(ctx context.Context) error {
	connect, log := p.step.Connect, p.step.LogPolls("deployment", time.Minute)
	if p.step.Demo {
		p.step.Printf("Demo: a fake of the service inside this program. Nothing is deployed.")
		connect = p.demo
	}
	client, err := connect(mintlify.WithWaitDefaults(mintlify.WithOnPoll(func(poll mintlify.Poll) {
		p.deployment = cmp.Or(poll.Deployment, p.deployment)
		log(poll)
	})))
	if err != nil {
		return err
	}
	if p.id == "" {
		if err := p.trigger(ctx, client); err != nil {
			return err
		}
	}
	_, err = client.Deployments.WaitUntilDone(ctx, p.id)
	_, later := mintlify.RetryAfter(err)
	switch {
	case err == nil, errors.Is(err, mintlify.ErrDeploymentFailed):
		return err
	case later, errors.As(err, new(*mintlify.WaitError)):
		return ci.Running.Of(fmt.Errorf("%w. Wait for it with -id %s", err, p.id))
	}
	return ci.SetUp.Of(err)
}

// trigger lets no signal interrupt it, so that the deployment's id is known.
func (p *publication) trigger(ctx context.Context, client *mintlify.Client) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var queued *mintlify.QueuedDeployment
	if p.preview != "" {
		queued, err = client.Deployments.TriggerPreview(ctx, mintlify.PreviewParams{Branch: p.preview})
	} else {
		queued, err = client.Deployments.TriggerUpdate(ctx)
	}
	if queued == nil {
		return err
	}
	p.id, p.previewURL = queued.ID, p.step.Link(queued.PreviewURL)
	p.step.Printf("Queued deployment %s %s", p.id, p.previewURL)
	return nil
}

// report tells how the run ended, and returns the exit code.
func (p *publication) report(err error) int {
	r, status := ci.Result{Outcome: "success"}, ""
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
		commit := p.deployment.Commit
		files := commit.FilesChanged
		r.Text = fmt.Sprintf("Deployed %s at %s (files: %d added, %d modified, %d removed) %s", commit.Ref, commit.SHA, len(files.Added), len(files.Modified), len(files.Removed), p.previewURL)
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

// demo connects to a fake whose deployments take some polls, one of which fails.
func (p *publication) demo(opts ...mintlify.Option) (*mintlify.Client, error) {
	fake := mintlifytest.NewService()
	if p.id != "" {
		fake.AddDeployment(p.id)
	}
	badGateway := &mintlifytest.Fault{Status: 502, Body: "Bad Gateway"}
	fake.ScriptDeployment(mintlifytest.DeploymentStep{}, mintlifytest.DeploymentStep{Fault: badGateway}, mintlifytest.DeploymentStep{Status: mintlify.DeploymentSucceeded})
	return fake.Client(append(opts, mintlify.WithWaitDefaults(mintlify.WithPollInterval(400*time.Millisecond, time.Second)))...), nil
}

// Publish deploys the documentation's site, or a preview of a branch, and waits for the
// result: a step of a CI job. README.md says how to add it to a pipeline; -demo shows it
// on a fake of the service.
//
// Exit codes: 0 deployed, or skipped by the service; 1 the deployment failed; 2 set-up; 3 unknown,
// a deployment may have been triggered; 4 still running; 5 nothing was triggered.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func main() { ci.Main("publish", run) }

// publication is a run, and what it knows of its deployment.
type publication struct {
	step *ci.Step
	// preview is the branch. "" means the site.
	preview string
	// id is "" until the service has named the deployment.
	id string
	// previewURL is "" until the service has named it, and for the site.
	previewURL string
	// deployment is the deployment as last seen, or nil.
	deployment *mintlify.Deployment
}

func run(ctx context.Context, step *ci.Step, args []string) int {
	p := &publication{step: step}
	err := p.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return p.report(err)
	}

	ctx, cancel := context.WithTimeout(ctx, step.Timeout)
	defer cancel()
	return p.report(p.publish(ctx))
}

func (p *publication) parse(args []string) error {
	p.step.Timeout = 30 * time.Minute
	flags := flag.NewFlagSet(p.step.Name, flag.ContinueOnError)
	flags.StringVar(&p.preview, "preview", "", "deploy a preview of this `branch` instead of the site")
	flags.StringVar(&p.id, "id", "", "wait for the deployment with this `id` instead of triggering one")

	if err := p.step.Parse(flags, args); err != nil {
		return err
	}

	p.preview = strings.TrimPrefix(strings.TrimSpace(p.preview), "refs/heads/")
	if p.preview != "" && p.id != "" {
		return errors.New("-preview and -id exclude each other")
	}
	return nil
}

func (p *publication) publish(ctx context.Context) error {
	client, err := p.connect()
	if err != nil {
		return err
	}

	known := "" // of the deployment
	if p.id == "" {
		if err := p.trigger(ctx, client); err != nil {
			return err
		}
		known = "triggered"
	}

	_, err = client.Deployments.WaitUntilDone(ctx, p.id)
	_, mayHelpLater := mintlify.RetryAfter(err)
	isInterrupted := errors.As(err, new(*mintlify.WaitError))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mintlify.ErrDeploymentFailed):
		return ci.Failed.Of(err)
	case mayHelpLater, isInterrupted:
		return ci.Running.Of(fmt.Errorf("%w. Wait for it with -id %s", err, p.id))
	}

	if p.deployment != nil {
		known = "last seen as " + string(p.deployment.Status)
	}
	if known != "" {
		err = fmt.Errorf("%w. The deployment was %s: once this is fixed, wait for it with -id %s", err, known, p.id)
	}
	return ci.SetUp.Of(err)
}

// connect returns a client that reports every poll.
func (p *publication) connect() (*mintlify.Client, error) {
	log := p.step.LogPolls("deployment", time.Minute)
	onPoll := mintlify.WithOnPoll(func(poll mintlify.Poll) {
		if poll.Status != "" {
			p.deployment = &poll.Deployment
		}
		log(poll)
	})

	if p.step.Demo {
		return p.demo(mintlify.WithWaitDefaults(onPoll))
	}
	return p.step.Client(mintlify.WithWaitDefaults(onPoll))
}

// demo connects to a fake whose deployments take some polls, one of which fails.
func (p *publication) demo(opts ...mintlify.Option) (*mintlify.Client, error) {
	p.step.Printf("Demo: a fake of the service inside this program. Nothing is deployed.")
	fake := mintlifytest.NewService()
	if p.id != "" {
		fake.AddDeployment(p.id)
	}
	fake.ScriptDeployment(
		mintlifytest.DeploymentStep{},
		mintlifytest.DeploymentStep{Fault: &mintlifytest.Fault{Status: 502, Body: "Bad Gateway"}},
		mintlifytest.DeploymentStep{Status: mintlify.DeploymentSucceeded},
	)

	pace := mintlify.WithWaitDefaults(mintlify.WithPollInterval(400*time.Millisecond, time.Second))
	return fake.Client(append(opts, pace)...), nil
}

// trigger triggers a deployment. As long as the quota is full or there is no connection, it waits and tries again:
// both are proof that nothing was triggered. A preview whose response was lost is triggered again, too, since a
// second one of a branch replaces the first. Several updates at once may hang a project.
func (p *publication) trigger(ctx context.Context, client *mintlify.Client) error {
	for lost := 0; ; {
		err := p.tryTrigger(ctx, client)
		var refused *mintlify.APIError
		hasResponse := errors.As(err, &refused)
		isLimited := hasResponse && refused.StatusCode == http.StatusTooManyRequests
		_, mayHelpLater := mintlify.RetryAfter(err)
		isLost := errors.Is(err, mintlify.ErrOutcomeUnknown)

		switch {
		case isLimited:
			err = p.step.WaitOut(ctx, "The quota is full, and nothing was triggered", refused.RetryAfter, err)

		case mayHelpLater && !hasResponse && !isLost:
			err = p.step.WaitOut(ctx, fmt.Sprintf("Nothing was triggered (%v)", err), 0, err)

		case isLost && p.preview == "":
			return notAgain(err)
		case isLost && lost < maxLost:
			lost++
			err = p.step.WaitOut(ctx, fmt.Sprintf("The response was lost (%v)", err), 0, err)
		default:
			return p.afterLost(lost, err)
		}
		if err != nil {
			return p.afterLost(lost, err)
		}
	}
}

// afterLost returns how triggering ended: if responses were lost before err came, one may have been triggered.
func (p *publication) afterLost(lost int, err error) error {
	if lost == 0 || err == nil {
		return err
	}
	return ci.Unknown.Of(err)
}

// maxLost is how many lost responses of a preview are followed by another attempt.
const maxLost = 2

// notAgain returns the error of an update whose response was lost, with what to do.
func notAgain(err error) error {
	said := strings.Replace(err.Error(), ": triggering it again is safe, and costs another one at most", "", 1)
	return ci.Unknown.Of(fmt.Errorf("%s. Look in the dashboard whether the site is being deployed before you "+
		"deploy it again: several updates at once may hang a project", said))
}

// tryTrigger triggers a deployment once. After a signal the SDK still waits for the response, so that
// the deployment's id is known.
func (p *publication) tryTrigger(ctx context.Context, client *mintlify.Client) error {
	var queued *mintlify.QueuedDeployment
	var err error
	if p.preview == "" {
		queued, err = client.Deployments.TriggerUpdate(ctx, mintlify.TriggerUpdateParams{})
	} else {
		queued, err = client.Deployments.TriggerPreview(ctx, mintlify.TriggerPreviewParams{Branch: p.preview})
	}
	if queued == nil {
		return err
	}

	p.id = queued.ID // known even if an error came with it
	p.previewURL = p.step.Link(queued.PreviewURL)
	p.step.Printf("Queued deployment %s %s", p.id, p.previewURL)
	return nil
}

package main

import (
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

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

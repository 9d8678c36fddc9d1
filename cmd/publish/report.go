package main

import (
	"errors"
	"fmt"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
)

const deployed ci.Outcome = "success"

// report tells how the run ended, and returns the exit code.
func (p *publication) report(err error) int {
	outcome := deployed
	switch {
	case errors.Is(err, mintlify.ErrDeploymentFailed):
		outcome = ci.Failed
		p.printLogs()
	case err != nil:
		outcome = ci.OutcomeOf(err)
	case p.previewURL != "":
		p.step.Print(p.previewURL)
	}

	summary := ""
	if p.previewURL != "" {
		summary = "Preview: <" + p.previewURL + ">\n"
	}

	return p.step.Report(ci.Result{
		Outcome: outcome,
		Text:    p.explain(err),
		Outputs: [][2]string{
			{"deployment-id", p.id},
			{"preview-url", p.previewURL},
			{"status", p.status(outcome)},
		},
		Summary: summary,
	})
}

// explain says in one line what has happened.
func (p *publication) explain(err error) string {
	var text string
	if err != nil {
		text = err.Error()
	} else {
		commit := p.deployment.Commit
		files := commit.FilesChanged
		text = fmt.Sprintf("Deployed %s at %s (files: %d added, %d modified, %d removed) %s",
			commit.Ref, commit.SHA, len(files.Added), len(files.Modified), len(files.Removed), p.previewURL)
	}

	if p.id != "" {
		text += " [deployment " + p.id + "]"
	}
	return text
}

// status returns the deployment's as last seen or, if it was never seen, the outcome.
func (p *publication) status(outcome ci.Outcome) string {
	if p.deployment != nil && p.deployment.Status != "" {
		return string(p.deployment.Status)
	}
	return string(outcome)
}

func (p *publication) printLogs() {
	p.step.Printf("The deployment's logs:")
	for _, line := range p.deployment.Logs {
		p.step.Printf("  %s", line)
	}
}

package main

import (
	"fmt"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
)

const (
	deployed ci.Outcome = "success"
	skipped  ci.Outcome = "skipped"
)

// report tells how the run ended, and returns the exit code.
func (p *publication) report(err error) int {
	outcome := deployed
	if err != nil {
		outcome = ci.OutcomeOf(err)
	}

	preview := ""
	summary := ""
	if err == nil && !p.isSkipped() {
		preview = p.previewURL
	}
	if preview != "" {
		summary = "Preview: <" + preview + ">\n"
	}

	logs := p.logs()
	if outcome == ci.Failed && logs != "" {
		p.step.Printf("The deployment's logs:")
		for line := range strings.Lines(logs) {
			p.step.Printf("  %s", line)
		}
		summary += "\n" + p.step.Folded("The deployment's logs", logs)
	}

	return p.step.Report(ci.Result{
		Outcome: p.heading(outcome),
		Text:    p.explain(err),
		Outputs: [][2]string{
			{"deployment-id", p.id},
			{"preview-url", preview},
			{"status", p.status(outcome)},
		},
		Stdout:  preview,
		Summary: summary,
	})
}

// heading is the outcome of the summary. A deployment that the service skipped is a success of the step alone.
func (p *publication) heading(outcome ci.Outcome) ci.Outcome {
	if outcome == deployed && p.isSkipped() {
		return skipped
	}
	return outcome
}

// explain says in one line what has happened.
func (p *publication) explain(err error) string {
	var text string
	switch {
	case err != nil:
		text = err.Error()
	case p.isSkipped():
		text = strings.TrimSpace("The service skipped this deployment, and deployed nothing. " + p.deployment.Summary)
	default:
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

// isSkipped reports whether the service has ended the deployment without a build.
func (p *publication) isSkipped() bool {
	return p.deployment != nil && p.deployment.Status == mintlify.DeploymentSkipped
}

// status returns the deployment's status as last seen. If nobody has seen it, or if a person has to
// fix the set-up first, status returns the outcome.
func (p *publication) status(outcome ci.Outcome) string {
	if p.deployment != nil && outcome != ci.SetUp {
		return string(p.deployment.Status)
	}
	return string(outcome)
}

// logs returns the deployment's logs. Some of them end with a line break.
func (p *publication) logs() string {
	if p.deployment == nil {
		return ""
	}

	var logs strings.Builder
	for _, log := range p.deployment.Logs {
		logs.WriteString(strings.TrimRight(log, "\r\n") + "\n")
	}
	return logs.String()
}

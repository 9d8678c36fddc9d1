package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// outcome is how a run ended, as in the output "outcome", and what is on record of a
// commit's job.
type outcome string

const (
	pullRequestMade outcome = "pull-request"
	noPullRequest   outcome = "no-pull-request"
	skipped         outcome = "skipped"
	failed          outcome = "failed"
	setUp           outcome = "set-up"
	unknown         outcome = "unknown"
	running         outcome = "running"
	notStarted      outcome = "not-started"
	claimed         outcome = "claimed" // on record only: a run is making the job, or died doing so
)

// outcomes are what each outcome is to a shell, to GitHub, and to people.
var outcomes = map[outcome]struct {
	exitCode     int
	state, words string
}{
	pullRequestMade: {0, "success", "Documentation: pull request opened"},
	noPullRequest:   {0, "success", "No pull request: nothing to change, or published without a review"},
	skipped:         {0, "success", "Skipped"},
	failed:          {1, "failure", "The agent's job failed; -new makes another"},
	setUp:           {2, "error", "The set-up needs a hand"},
	unknown:         {3, "error", "A job may exist; its id is not known"},
	running:         {4, "pending", "The agent is at work; run again to wait for it"},
	notStarted:      {5, "error", "No job was made; run again"},
	claimed:         {4, "pending", "The job is being made"},
}

// outcomeError is an error that is not one of the set-up.
type outcomeError struct {
	outcome outcome
	error
}

func (e *outcomeError) Unwrap() error { return e.error }

func outcomeOf(err error) outcome {
	var own *outcomeError
	if errors.As(err, &own) {
		return own.outcome
	}
	return setUp
}

// result is what a run came to.
type result struct {
	outcome       outcome // "" where an error tells it
	change        change
	jobID, prLink string
}

// report says what the run came to wherever people and later steps look, and returns
// its exit code.
func (p *program) report(r result, err error) int {
	switch {
	case r.outcome != "":
	case err != nil:
		r.outcome = outcomeOf(err)
	case r.change.skip != "":
		r.outcome = skipped
	default: // -no-wait
		r.outcome = running
	}
	kind, code, words := "notice", outcomes[r.outcome].exitCode, outcomes[r.outcome].words
	text := words + " " + r.prLink + r.change.skip
	if err != nil {
		kind, text = "error", fmt.Sprintf("%s: %v", words, err)
	} else if r.outcome == running {
		code = 0 // as was asked for
	}
	if r.jobID != "" {
		text += " [job " + r.jobID + "]"
	}
	p.log.conclude(kind, text)
	if r.prLink != "" {
		fmt.Fprintln(p.stdout, r.prLink)
	}
	if err := p.writeOutputs(r, words); err != nil {
		p.log.conclude("error", fmt.Sprintf("An output cannot be written: %v", err))
		code = max(code, outcomes[setUp].exitCode)
	}
	return code
}

// writeOutputs writes the outputs for later steps of GitHub or later jobs of GitLab,
// and GitHub's summary.
func (p *program) writeOutputs(r result, words string) (err error) {
	var gitHub, gitLab strings.Builder
	for _, output := range [][2]string{{"outcome", string(r.outcome)}, {"job-id", p.log.secrets.Replace(oneLine(r.jobID))}, {"pr-link", r.prLink}} {
		delimiter := rand.Text() // nobody can end a value with what nobody knows
		fmt.Fprintf(&gitHub, "%s<<%s\n%s\n%[2]s\n", output[0], delimiter, output[1])
		fmt.Fprintf(&gitLab, "DOCS_ON_MERGE_%s=%s\n", strings.ToUpper(strings.ReplaceAll(output[0], "-", "_")), output[1])
	}
	summary := "### " + words + "\n\n"
	if r.prLink != "" {
		summary += "<" + r.prLink + ">\n\n"
	}
	if r.change.head != "" {
		summary += fmt.Sprintf("Commit `%s`; %s\n", r.change.head, r.change.stat())
	}
	if path := p.getenv("GITHUB_OUTPUT"); path != "" {
		err = write(path, os.O_APPEND, gitHub.String())
	}
	if path := p.getenv("GITHUB_STEP_SUMMARY"); path != "" {
		err = errors.Join(err, write(path, os.O_APPEND, summary))
	}
	if p.getenv("GITLAB_CI") == "true" {
		err = errors.Join(err, write(filepath.Join(p.dir, "docs-on-merge.env"), os.O_TRUNC, gitLab.String()))
	}
	return err
}

// write writes text to a file and returns when it is on disk.
func write(path string, flag int, text string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = file.WriteString(text); err != nil {
		return err
	}
	return file.Sync()
}

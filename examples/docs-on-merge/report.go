package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// result is what a run came to.
type result struct {
	change        change
	ended         outcome // of the job; "" where it was not seen to end
	jobID, prLink string
}

// outcome is that of a run with this result and error.
func (r result) outcome(err error) outcome {
	switch {
	case r.ended != "":
		return r.ended
	case err != nil:
		return outcomeOf(err)
	case r.change.skip != "":
		return skipped
	}
	return running
}

// report says what the run came to wherever people and later steps look, and returns
// its exit code.
func (p *program) report(r result, err error) int {
	outcome := r.outcome(err)
	code, _, words := outcome.describe()
	text, kind := words+" "+r.prLink+r.change.skip, "notice"
	switch {
	case outcome == running && err == nil: // -no-wait
		code = 0
	case code > 0:
		text, kind = fmt.Sprintf("%s: %v", words, err), "error"
	}
	if r.jobID != "" {
		text += " [job " + r.jobID + "]"
	}
	p.log.conclude(kind, text)
	if r.prLink != "" {
		fmt.Fprintln(p.stdout, r.prLink)
	}
	outputs := [][2]string{{"outcome", string(outcome)}, {"job-id", p.log.secrets.Replace(oneLine(r.jobID))}, {"pr-link", r.prLink}}
	if err := p.writeOutputs(outputs, summary(r, words)); err != nil {
		p.log.conclude("error", fmt.Sprintf("An output cannot be written: %v", err))
		return max(code, 2)
	}
	return code
}

// writeOutputs writes the outputs for later steps of GitHub, or later jobs of GitLab,
// and GitHub's summary.
func (p *program) writeOutputs(outputs [][2]string, summary string) error {
	var gitHub, dotenv strings.Builder
	for _, output := range outputs {
		delimiter := rand.Text() // nobody can end a value with what nobody knows
		fmt.Fprintf(&gitHub, "%s<<%s\n%s\n%[2]s\n", output[0], delimiter, output[1])
		fmt.Fprintf(&dotenv, "DOCS_ON_MERGE_%s=%s\n", strings.ToUpper(strings.ReplaceAll(output[0], "-", "_")), output[1])
	}
	for path, text := range map[string]string{p.getenv("GITHUB_OUTPUT"): gitHub.String(), p.getenv("GITHUB_STEP_SUMMARY"): p.log.secrets.Replace(summary)} {
		if err := write(path, os.O_APPEND, text); path != "" && err != nil {
			return err
		}
	}
	if p.getenv("GITLAB_CI") == "true" {
		return write(filepath.Join(p.dir, "docs-on-merge.env"), os.O_TRUNC, dotenv.String())
	}
	return nil
}

// summary is Markdown for the run's page.
func summary(r result, words string) string {
	text := "### " + words + "\n\n"
	if r.prLink != "" {
		text += "<" + r.prLink + ">\n\n"
	}
	if r.change.head != "" {
		text += fmt.Sprintf("Commit `%s`; %s\n", r.change.head, r.change.stat())
	}
	return text
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

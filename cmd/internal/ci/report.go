package ci

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Result is how a step ended, for whoever looks: a shell, a person, a later step.
type Result struct {
	// Outcome decides the exit code, unless Like is set.
	Outcome Outcome
	// Like is an outcome whose exit code the step has. "" means its own.
	Like Outcome
	// Text says in one line why the step ended so.
	Text string
	// Outputs are names and values for later steps.
	Outputs [][2]string
	// Stdout is what stdout takes, such as a link. "" leaves stdout alone.
	Stdout string
	// Summary is Markdown that follows Text. Text from outside goes through Code, Folded or Link.
	Summary string
	// Asked says that the user has asked for this outcome: the exit code is 0.
	Asked bool
}

// Report tells how the step ended wherever people and later steps look. It returns the
// exit code.
func (s *Step) Report(r Result) int {
	kind := "notice"
	decisive := cmp.Or(r.Like, r.Outcome)
	code := decisive.exitCode()
	switch {
	case r.Asked:
		code = 0
	case code != 0 && s.Soft && decisive != SetUp:
		kind = "warning"
		code = 0
	case code != 0:
		kind = "error"
	}
	s.annotate(kind, r.Text)

	for _, err := range []error{s.write(r), s.print(r.Stdout)} {
		if err != nil {
			s.annotate("error", fmt.Sprintf("The result cannot be written: %v", err))
			code = cmp.Or(code, SetUp.exitCode())
		}
	}
	return code
}

// Warnf logs a warning, which GitHub also shows on the page of the run, and keeps it for the summary.
func (s *Step) Warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(s.warnings, text) { // an attempt was made again
		return
	}
	s.warnings = append(s.warnings, text)
	s.annotate("warning", text)
}

// annotate logs a line that GitHub also shows on the page of the run.
func (s *Step) annotate(kind, text string) {
	text = inert(s.OneLine(text))
	if s.OnGitHub() {
		text = "::" + kind + " title=" + s.Name + "::" + strings.ReplaceAll(text, "%", "%25")
	}
	fmt.Fprintln(s.Stderr, text)
}

// write writes the outputs and the summary. Outside GitHub and GitLab the log has the outputs.
func (s *Step) write(r Result) error {
	var gitHub, gitLab strings.Builder
	for _, output := range r.Outputs {
		name := output[0]
		value := s.OneLine(output[1])
		delimiter := rand.Text() // a value cannot guess it

		fmt.Fprintf(&gitHub, "%s<<%s\n%s\n%[2]s\n", name, delimiter, value)
		variable := strings.ToUpper(strings.ReplaceAll(s.Name+"_"+name, "-", "_"))
		fmt.Fprintf(&gitLab, "%s=%s\n", variable, value)
		if value != "" && !s.OnGitHub() && !s.OnGitLab() {
			s.Printf("%s = %s", name, value)
		}
	}

	warnings := ""
	for _, warning := range s.warnings {
		warnings += s.Code("Warning: " + s.OneLine(warning))
	}
	if warnings != "" {
		warnings += "\n"
	}

	summary := fmt.Sprintf("### %s: %s\n\n%s\n%s%s\n", s.Name, r.Outcome, s.Code(r.Text), warnings, r.Summary)
	return s.deliver(gitHub.String(), summary, gitLab.String())
}

// deliver adds outputs and a summary to the files of GitHub, and makes the file of GitLab.
func (s *Step) deliver(outputs, summary, dotenv string) error {
	err := errors.Join(
		appendTo(s.Getenv("GITHUB_OUTPUT"), outputs),
		appendTo(s.Getenv("GITHUB_STEP_SUMMARY"), summary),
	)
	if s.OnGitLab() {
		err = errors.Join(err, replace(filepath.Join(s.Dir, s.Name+".env"), dotenv))
	}
	return err
}

// appendTo appends text to the file at path, unless that is "".
func appendTo(path, text string) error {
	if path == "" {
		return nil
	}

	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// replace writes a file beside path and renames it. A link at path, which a repository
// may contain, is replaced and not followed.
func replace(path, text string) error {
	beside := filepath.Join(filepath.Dir(path), "."+rand.Text())
	err := os.WriteFile(beside, []byte(text), 0o644)
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		_ = os.Remove(beside) // the first error is the one that counts
	}
	return err
}

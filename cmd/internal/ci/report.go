package ci

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Result is how a step ended, for whoever looks: a shell, a person, a later step.
type Result struct {
	Outcome Outcome
	Text    string      // why, in one line
	Outputs [][2]string // name and value, for later steps
	Summary string      // Markdown that follows Text; foreign text goes through Code or Link
	Asked   bool        // exit code 0: the outcome was asked for
}

// Report tells how the step ended wherever people and later steps look. It returns the
// exit code.
func (s *Step) Report(r Result) int {
	kind, code := "notice", r.Outcome.exitCode()
	switch {
	case r.Asked:
		code = 0
	case code != 0 && s.Soft && r.Outcome != SetUp:
		kind, code = "warning", 0
	case code != 0:
		kind = "error"
	}
	s.annotate(kind, r.Text)
	if err := s.write(r); err != nil {
		s.annotate("error", fmt.Sprintf("An output cannot be written: %v", err))
		code = cmp.Or(code, SetUp.exitCode())
	}
	return code
}

// write writes the outputs and the summary. At a desk the log has the outputs.
func (s *Step) write(r Result) error {
	var gitHub, gitLab strings.Builder
	for _, output := range r.Outputs {
		name, value, delimiter := output[0], s.OneLine(output[1]), rand.Text() // a value cannot guess its delimiter
		fmt.Fprintf(&gitHub, "%s<<%s\n%s\n%[2]s\n", name, delimiter, value)
		fmt.Fprintf(&gitLab, "%s=%s\n", strings.ToUpper(strings.ReplaceAll(s.Name+"_"+name, "-", "_")), value)
		if value != "" && !s.OnGitHub() && !s.OnGitLab() {
			s.Printf("%s = %s", name, value)
		}
	}
	return s.deliver(gitHub.String(), fmt.Sprintf("### %s: %s\n\n%s\n%s\n", s.Name, r.Outcome, s.Code(r.Text), r.Summary), gitLab.String())
}

// deliver adds outputs and a summary to the files of GitHub, and makes the file of GitLab.
func (s *Step) deliver(outputs, summary, dotenv string) (err error) {
	for name, text := range map[string]string{"GITHUB_OUTPUT": outputs, "GITHUB_STEP_SUMMARY": summary} {
		if path := s.Getenv(name); path != "" {
			file, failed := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
			if failed == nil {
				_, failed = file.WriteString(text)
				failed = errors.Join(failed, file.Close())
			}
			err = errors.Join(err, failed)
		}
	}
	if s.OnGitLab() {
		err = errors.Join(err, replace(filepath.Join(s.Dir, s.Name+".env"), dotenv))
	}
	return err
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
		_ = os.Remove(beside)
	}
	return err
}

// annotate logs a line that GitHub also shows on the page of the run.
func (s *Step) annotate(kind, text string) {
	text = inert(s.OneLine(text))
	if s.OnGitHub() {
		text = "::" + kind + " title=" + s.Name + "::" + strings.ReplaceAll(text, "%", "%25")
	}
	fmt.Fprintln(s.Stderr, text)
}

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
	Soft    bool        // exit code 0 unless the set-up is to blame
	Asked   bool        // exit code 0: the outcome was asked for
}

// Report tells how the step ended wherever people and later steps look. It returns the
// exit code.
func (s *Step) Report(r Result) int {
	kind, code := "notice", r.Outcome.exitCode()
	switch {
	case r.Asked:
		code = 0
	case code != 0 && r.Soft && r.Outcome != SetUp:
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

// write writes the outputs for later steps of GitHub or later jobs of GitLab, and
// GitHub's summary.
func (s *Step) write(r Result) (err error) {
	var gitHub, gitLab strings.Builder
	shout := func(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }
	for _, output := range r.Outputs {
		name, value, delimiter := output[0], s.Clean(output[1]), rand.Text() // a value cannot guess its delimiter
		fmt.Fprintf(&gitHub, "%s<<%s\n%s\n%[2]s\n", name, delimiter, value)
		fmt.Fprintf(&gitLab, "%s_%s=%s\n", shout(s.Name), shout(name), value)
	}
	if path := s.Getenv("GITHUB_OUTPUT"); path != "" {
		err = appendTo(path, gitHub.String())
	}
	if path := s.Getenv("GITHUB_STEP_SUMMARY"); path != "" {
		err = errors.Join(err, appendTo(path, fmt.Sprintf("### %s: %s\n\n%s\n%s\n", s.Name, r.Outcome, s.Code(r.Text), r.Summary)))
	}
	if s.OnGitLab() {
		err = errors.Join(err, replace(filepath.Join(s.Dir, s.Name+".env"), gitLab.String()))
	}
	return err
}

func appendTo(path, text string) error {
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
	file, err := os.CreateTemp(filepath.Dir(path), ".*-"+filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// projects are those that document repositories, by owner/repo in lower case, and by "" for
// all other repositories. The project "" leaves a repository out.
type projects map[string]string

// set takes owner/repo=project, owner/repo=, or a project for all other repositories.
func (p projects) set(text string) error {
	name, project, found := strings.Cut(text, "=")
	if !found {
		name = ""
		project = text
	}
	if text == "" || found != repository.MatchString(name) {
		return errors.New("want owner/repo=project, or a project for all other repositories")
	}

	p[foldCase(name)] = project
	_, err := mintlify.NewClient("any-key", cmp.Or(project, "none"))
	return err
}

// read takes the lines of a file. A # begins a comment. A line that cannot be read is an error with
// its number.
func (p projects) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}

	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}

		if err := p.set(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

// of returns the project that documents a repository, and false if none is known.
func (p projects) of(repository string) (string, bool) {
	if project, known := p[foldCase(repository)]; known {
		return project, true
	}
	project, known := p[""]
	return project, known
}

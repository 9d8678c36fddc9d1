package github

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// Projects are those that document repositories, by owner/repo in lower case, and by "" for
// all other repositories. The project "" leaves a repository out.
type Projects map[string]string

// Of returns the project that documents a repository, and false if none is known.
func (p Projects) Of(repository string) (string, bool) {
	if project, known := p[database.FoldCase(repository)]; known {
		return project, true
	}
	project, known := p[""]
	return project, known
}

// leftOut returns the repositories that are left out: the documentation's.
func (p Projects) leftOut() []string {
	names := slices.Sorted(maps.Keys(p))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" || p[name] != "" })
}

// ReadProjects returns the projects of the values of -project, and of the lines of a file, unless its name is "". A #
// begins a comment. It refuses a repository that stands twice with different projects.
func ReadProjects(flags []string, file string) (Projects, error) {
	projects := Projects{}
	places := map[string]string{}
	for _, text := range flags {
		if err := projects.add(text, "-project "+safetext.OneLine(text, 200), places); err != nil {
			return nil, err
		}
	}

	if file == "" {
		return projects, nil
	}

	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}

	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}

		if err := projects.add(line, fmt.Sprint("line ", n), places); err != nil {
			return nil, err
		}
	}
	return projects, nil
}

// add adds owner/repo=project, owner/repo=, or a project for all other repositories, and notes where that stands.
func (p Projects) add(text, place string, places map[string]string) error {
	name, project, isValid := CutRepository(text)
	if !isValid {
		return fmt.Errorf("%s: want owner/repo=project, or a project for all other repositories", place)
	}
	if _, err := mintlify.NewClient("any-key", cmp.Or(project, "none")); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}

	if other, known := p[name]; known && other != project {
		return fmt.Errorf("%s: two projects for %s, at %s and at %s",
			place, cmp.Or(name, "all other repositories"), places[name], place)
	}

	p[name] = project
	places[name] = place
	return nil
}

// CutRepository cuts owner/repo=value, or a value for all repositories. It reports whether the text has such a form.
func CutRepository(text string) (repository, value string, isValid bool) {
	name, value, found := strings.Cut(text, "=")
	if !found {
		return "", text, text != ""
	}
	return database.FoldCase(name), value, database.RepositoryForm.MatchString(name)
}

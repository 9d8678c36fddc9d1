package github

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/internal/redact"
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

// Mapping gathers projects from flags and the lines of a file. It refuses a repository that has two.
type Mapping struct {
	Projects Projects
	places   map[string]string // where each repository stands
}

// NewMapping returns a mapping without a project.
func NewMapping() *Mapping { return &Mapping{Projects: Projects{}, places: map[string]string{}} }

// Set takes owner/repo=project, owner/repo=, or a project for all other repositories, which stands at a place.
func (m *Mapping) Set(text, place string) error {
	name, project, found := strings.Cut(text, "=")
	if !found {
		name = ""
		project = text
	}
	if text == "" || found != database.RepositoryForm.MatchString(name) {
		return errors.New("want owner/repo=project, or a project for all other repositories")
	}

	if _, err := mintlify.NewClient("any-key", cmp.Or(project, "none")); err != nil {
		return err
	}

	name = database.FoldCase(name)
	other, known := m.Projects[name]
	isTwice := strings.HasPrefix(place, flagPlace) && strings.HasPrefix(m.places[name], flagPlace)
	if known && (other != project || isTwice) {
		who := name + " has"
		if name == "" {
			who = "all other repositories have"
		}
		return fmt.Errorf("%s two projects, at %s and at %s", who, m.places[name], place)
	}

	m.Projects[name] = project
	m.places[name] = place
	return nil
}

// SetFlag takes the value of a flag -project.
func (m *Mapping) SetFlag(text string) error {
	return m.Set(text, flagPlace+redact.OneLine(text, 200))
}

// flagPlace begins the place of a flag.
const flagPlace = "-project "

// Read takes the lines of a file. A # begins a comment. A line that cannot be read is an error with
// its number.
func (m *Mapping) Read(file string) error {
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

		place := fmt.Sprintf("line %d", n)
		if err := m.Set(line, place); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return nil
}

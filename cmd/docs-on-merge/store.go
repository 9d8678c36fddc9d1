package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/once"
)

// onGitHub reports whether GitHub has the repository and may be asked about it.
func (p *program) onGitHub() bool {
	if p.step.OnGitHub() {
		return true
	}
	return p.options.repository != "" && p.step.Getenv("GITHUB_TOKEN") != "" && !p.step.OnGitLab()
}

var gitHubRemote = regexp.MustCompile(`(^|[/@.])(github\.com|ghe\.com)[:/]`)

// fromGitHub reports whether the clone is of a repository on GitHub, whose runs keep the
// record there.
func (p *program) fromGitHub(ctx context.Context) bool {
	if p.onGitHub() {
		return true
	}
	g := p.git
	return !p.step.OnGitLab() && gitHubRemote.MatchString(g.run(ctx, "remote", "get-url", "origin"))
}

// openStore opens the place of the record. A run that cannot see the record on GitHub could make a
// second job, so it must be told where the record is. Statuses are nil if the record is elsewhere.
func (p *program) openStore(ctx context.Context, c change) (once.Store, *statuses, error) {
	if p.place != nil {
		return p.place, nil, nil
	}

	if remote, isRemote := strings.CutPrefix(p.options.state, "git:"); isRemote {
		if remote == "" || remote[0] == '-' {
			return nil, nil, fmt.Errorf("-state git:%s names no remote", remote)
		}
		return shared{refs{p.git, remote}, p.step.Link}, nil, nil
	}

	switch {
	case p.fromGitHub(ctx) && p.options.state == "":
		s, err := p.openStatuses(c)
		return shared{s, p.step.Link}, s, err
	case p.fromGitHub(ctx):
		p.step.Printf("The record of jobs is in %s. This run does not read the record on GitHub.", p.options.state)
	case p.isOnCI():
		p.step.Printf("The record of jobs is in a directory: if it goes away with this runner, " +
			"the next run for this change makes another job.")
	}

	dir, err := p.stateDir()
	if err != nil {
		return nil, nil, err
	}

	store, err := once.NewDir(dir)
	if err == nil {
		p.place = store
	}
	return store, nil, err
}

// stateDir returns the directory of -state. Without the flag it is a folder of the user.
func (p *program) stateDir() (string, error) {
	if p.options.state != "" {
		return p.options.state, nil
	}

	config, err := os.UserConfigDir()
	return filepath.Join(config, "docs-on-merge"), err
}

// isOnCI reports whether a CI job runs the program. Not every CI sets the variable CI.
func (p *program) isOnCI() bool {
	names := []string{"CI", "JENKINS_URL", "TF_BUILD", "BUILDKITE", "BITBUCKET_BUILD_NUMBER"}
	return slices.ContainsFunc(names, func(name string) bool { return p.step.Getenv(name) != "" })
}

func (p *program) openStatuses(c change) (*statuses, error) {
	api, err := p.gitHub.of(c.repository)
	if err == nil && !p.onGitHub() {
		err = errors.New("-repository is not given") // origin may be a fork
	}
	if err != nil {
		return nil, fmt.Errorf("%w: GitHub's record of jobs needs GITHUB_TOKEN and -repository "+
			"(in GitHub Actions GITHUB_TOKEN alone), and -state names another place for the record", err)
	}

	return &statuses{gitHub: api, p: p, of: c}, nil
}

// note leaves the status of a change without a job, for whoever looks at the commit later. A run
// whose record is elsewhere leaves none.
func (p *program) note(ctx context.Context, c change, words string) {
	projectID := strings.TrimSpace(p.step.Getenv("MINTLIFY_PROJECT_ID"))
	isRecordHere := p.options.state == "" && p.onGitHub()
	if !isRecordHere || projectID == "" || c.repository == "" {
		return
	}

	s, err := p.openStatuses(c)
	if err == nil {
		err = s.note(ctx, c.key(projectID), p.step.OneLine(words))
	}
	if err != nil {
		p.step.Printf("The commit's status does not say so: %v", err)
	}
}

// journal is a place that others can read, to which runs add versions of a record. If several
// runs add the same version, one of them counts, and it is the same for all runs.
type journal interface {
	// read returns the versions of key's record that count, from the first, and where the
	// journal ends.
	read(ctx context.Context, key string) (versions []once.Record, end string, err error)
	// add adds a version at the end that read has returned. It may fail and still have
	// added it.
	add(ctx context.Context, r once.Record, end string) error
}

// shared is a [once.Store] in a journal. It leaves out what others must not read.
type shared struct {
	journal
	// cleanLink returns a link that others may follow, or "".
	cleanLink func(string) string
}

func (s shared) Get(ctx context.Context, key string) (once.Record, error) {
	versions, _, err := s.read(ctx, key)
	if err != nil || len(versions) == 0 {
		return once.Record{}, err
	}
	return versions[len(versions)-1], nil
}

// Put adds a version, and reads back whether it counts.
func (s shared) Put(ctx context.Context, r once.Record) error {
	versions, end, err := s.read(ctx, r.Key)
	if err != nil {
		return err
	}
	if len(versions) != r.Version-1 {
		return once.ErrConflict
	}

	r = s.public(r)
	addErr := s.add(ctx, r, end)
	versions, _, err = s.read(ctx, r.Key)
	isThere := err == nil && len(versions) >= r.Version
	switch {
	case isThere && versions[r.Version-1] == r:
		return nil
	case isThere:
		return once.ErrConflict
	case addErr != nil:
		return addErr
	case err != nil:
		return err
	}
	return ci.NotStarted.Of(errors.New("the record was written, but cannot be read back"))
}

// public returns the part of r that others may read, with times as a journal keeps them.
func (s shared) public(r once.Record) once.Record {
	r.Prompt = ""
	r.ProjectID = ""
	r.Problem = ""
	r.PRLink = s.cleanLink(r.PRLink)
	r.Deadline = r.Deadline.Truncate(time.Microsecond)
	r.UpdatedAt = r.UpdatedAt.Truncate(time.Microsecond)
	r.AddedAt = time.Time{} // it orders the records of a list
	r.Reported = ""
	return r
}

func (s shared) List(context.Context, ...once.State) ([]once.Record, error) {
	return nil, errors.ErrUnsupported
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
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

type place struct {
	store once.Store
	// statuses hold the record. nil means that it is elsewhere.
	statuses *statuses
}

// openPlace opens the place of the record. A run that cannot see the record on GitHub could make a
// second job, so it must be told where the record is.
func (p *program) openPlace(ctx context.Context, c change) (place, error) {
	dir := p.options.state
	if remote, found := strings.CutPrefix(dir, "git:"); found {
		return p.openRefs(remote)
	}

	switch {
	case p.fromGitHub(ctx) && dir == "":
		return p.openStatuses(c)
	case p.fromGitHub(ctx):
		p.step.Printf("The record of jobs is in %s. This run does not read the record on GitHub.", dir)
	case p.isOnCI():
		p.step.Printf("The record of jobs is in a directory: if it goes away with this runner, " +
			"the next run for this change makes another job.")
	}
	return openDir(dir)
}

// isOnCI reports whether a CI job runs the program. Not every CI sets the variable CI.
func (p *program) isOnCI() bool {
	for _, name := range []string{"CI", "JENKINS_URL", "TF_BUILD", "BUILDKITE", "BITBUCKET_BUILD_NUMBER"} {
		if p.step.Getenv(name) != "" {
			return true
		}
	}
	return false
}

func (p *program) openRefs(remote string) (place, error) {
	if remote == "" || remote[0] == '-' {
		return place{}, fmt.Errorf("-state git:%s names no remote", remote)
	}
	return place{store: shared{refs{p.git, remote}, p.step.Link}}, nil
}

func openDir(dir string) (place, error) {
	dir, err := dirOf(dir)
	if err != nil {
		return place{}, err
	}

	store, err := once.NewDir(dir)
	return place{store: store}, err
}

// dirOf returns the directory of -state. "" is a folder of the user.
func dirOf(state string) (string, error) {
	if state != "" {
		return state, nil
	}

	config, err := os.UserConfigDir()
	return filepath.Join(config, "docs-on-merge"), err
}

func (p *program) openStatuses(c change) (place, error) {
	api, err := p.openGitHub(c.repository)
	if err == nil && !p.onGitHub() {
		err = errors.New("-repository is not given") // origin may be a fork
	}
	if err != nil {
		return place{}, fmt.Errorf("%w: GitHub's record of jobs needs GITHUB_TOKEN and -repository "+
			"(in GitHub Actions GITHUB_TOKEN alone), and -state names another place for the record", err)
	}

	s := &statuses{
		gitHub:  api,
		commit:  c.head,
		prefix:  merges.Key(c.repository, c.head) + ":",
		settle:  p.settle,
		runLink: p.runLink(),
		isSoft:  p.step.Soft,
		isAsync: p.options.noWait,
	}
	return place{store: shared{s, p.step.Link}, statuses: s}, nil
}

// note leaves the status of a change without a job, for whoever looks at the commit later. A run
// whose record is elsewhere leaves none.
func (p *program) note(ctx context.Context, c change, words string) {
	projectID := strings.TrimSpace(p.step.Getenv("MINTLIFY_PROJECT_ID"))
	isRecordHere := p.options.state == "" && p.onGitHub()
	if !isRecordHere || projectID == "" || c.repository == "" {
		return
	}

	place, err := p.openStatuses(c)
	if err == nil {
		err = place.statuses.note(ctx, c.recordKey(projectID), p.step.OneLine(words))
	}
	if err != nil {
		p.step.Printf("The commit's status does not say so: %v", err)
	}
}

// watched is a store that tells when it shows a job: after a read or a write of a record
// that is running. Whoever sent the prompt, a run can then go on without the store.
type watched struct {
	once.Store
	onJob func()
}

func (s watched) Get(ctx context.Context, key string) (once.Record, error) {
	r, err := s.Store.Get(ctx, key)
	if err == nil && r.State == once.Running {
		s.onJob()
	}
	return r, err
}

func (s watched) Put(ctx context.Context, r once.Record) error {
	err := s.Store.Put(ctx, r)
	if err == nil && r.State == once.Running {
		s.onJob()
	}
	return err
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

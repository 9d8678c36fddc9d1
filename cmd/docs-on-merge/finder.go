package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	lookEvery = time.Minute
	lookTimes = 20
)

// finder looks in the documentation's repository for the pull request that a prompt has led to
// whose response was lost.
type finder struct {
	p   *program
	api *gitHub
	// asked counts the calls of find, and took is how long the run kept calling it.
	asked int
	took  time.Duration
	// said is the last error that was logged.
	said string
	// isBlind says that the token may not read the pull requests.
	isBlind bool
}

// newFinder returns nil if there is nowhere to look.
func (p *program) newFinder(ctx context.Context, c change) *finder {
	repository := p.options.docsRepository
	if repository == "" && p.fromGitHub(ctx) {
		repository = c.repository
	}
	if repository == "" || p.docsGitHub.token == "" || p.step.OnGitLab() {
		if p.options.docsRepository != "" {
			p.step.Printf("-docs-repository does nothing on GitLab, or without GITHUB_DOCS_TOKEN or GITHUB_TOKEN: " +
				"no run looks for the pull request of a lost response.")
		}
		return nil
	}

	api, err := p.docsGitHub.of(repository)
	if err != nil {
		return nil // the repository is not one of GitHub
	}
	api.needs = "the token needs pull-requests: read in " + repository + ", and the job's own token cannot read " +
		"another private repository: give one as docs-token, or by hand as GITHUB_DOCS_TOKEN"
	return &finder{p: p, api: api}
}

// find returns the pull request of a record, if there is one. It is for [once.WithFinder]. It logs
// its errors itself, each once.
func (f *finder) find(ctx context.Context, r once.Record) (once.Found, error) {
	f.asked++
	begun := docspulls.SentAfter(r, f.p.sendTime)
	isKey := func(key string) bool { return key == r.Key }
	for pulls, err := range docspulls.Pages(ctx, f.api.get, f.api.repository, begun) {
		if err != nil {
			f.tell(ctx, err)
			break
		}

		link := f.p.step.Link(docspulls.Find(pulls, f.api.repository, begun, isKey))
		if link != "" {
			f.p.step.Printf("Found the pull request of the lost response: %s", link)
			return once.Found{PRLink: link}, nil
		}
	}
	return once.Found{}, nil
}

// tell logs an error once.
func (f *finder) tell(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.isBlind = ci.OutcomeOf(err) == ci.SetUp

	text := fmt.Sprintf("The pull requests of %s cannot be read: %v", f.api.repository, err)
	if text != f.said {
		f.p.step.Printf("%s", text)
	}
	f.said = text
}

// looked says where a run has looked for the pull request, and for how long. It is "" if nobody looks.
func (f *finder) looked() string {
	switch {
	case f == nil || f.asked == 0:
		return ""
	case f.said != "":
		return f.said + ". "
	}

	howLong := "once"
	if f.took >= lookEvery {
		howLong = "for " + f.took.Round(time.Second).String()
	}
	return fmt.Sprintf("This run looked %s in the pull requests of %s, and each later run looks again. ",
		howLong, f.api.repository)
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
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
	api        *gitHub
	repository string
	sendTime   time.Duration
	step       *ci.Step
	// asked counts the calls of find.
	asked int
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
	token := cmp.Or(p.step.Getenv("GITHUB_DOCS_TOKEN"), p.step.Getenv("GITHUB_TOKEN"))
	if repository == "" || token == "" || p.step.OnGitLab() {
		if p.options.docsRepository != "" {
			p.step.Printf("-docs-repository does nothing on GitLab, or without GITHUB_DOCS_TOKEN or GITHUB_TOKEN: " +
				"no run looks for the pull request of a lost response.")
		}
		return nil
	}

	api, err := p.newGitHub(repository, token)
	if err != nil {
		return nil // the repository is not one of GitHub
	}
	api.needs = "the token needs pull-requests: read in " + repository + ", and the job's own token cannot read " +
		"another private repository: give one as docs-token, or by hand as GITHUB_DOCS_TOKEN"
	return &finder{api: api, repository: repository, sendTime: p.sendTime, step: p.step}
}

// find returns the pull request of a record, if there is one. It is for [once.WithFinder]. It logs
// its errors itself, each once.
func (f *finder) find(ctx context.Context, r once.Record) (once.Found, error) {
	f.asked++
	link, err := f.search(ctx, r)
	if err != nil {
		f.tell(ctx, err)
		return once.Found{}, nil
	}

	if link != "" {
		f.step.Printf("Found the pull request of the lost response: %s", link)
	}
	return once.Found{PRLink: link}, nil
}

// search returns the link of the pull request of a record, or "".
func (f *finder) search(ctx context.Context, r once.Record) (string, error) {
	begun := docspulls.SentAfter(r, f.sendTime)
	isKey := func(key string) bool { return key == r.Key }
	for pulls, err := range docspulls.Pages(ctx, f.get, f.repository, begun) {
		if err != nil {
			return "", err
		}
		if link := docspulls.Find(pulls, f.repository, begun, isKey); link != "" {
			return f.step.Link(link), nil
		}
	}
	return "", nil
}

// get is a [docspulls.Get].
func (f *finder) get(ctx context.Context, path string, into any) error {
	below := strings.TrimPrefix(path, "repos/"+f.repository)
	return f.api.do(ctx, http.MethodGet, below, nil, into)
}

// tell logs an error once.
func (f *finder) tell(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.isBlind = ci.OutcomeOf(err) == ci.SetUp

	text := fmt.Sprintf("The pull requests of %s cannot be read: %v", f.repository, err)
	if text != f.said {
		f.step.Printf("%s", text)
	}
	f.said = text
}

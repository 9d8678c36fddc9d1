package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	docsToken = "ghs_the_token_of_the_docs"
	docsLink  = "https://github.com/acme/docs/pull/9"
)

// losing is a world whose next response is lost. The documentation is in another, private repository.
func losing(t *testing.T) *world {
	w := merged(t)
	w.forge.docs = map[string][]docspulls.Pull{"acme/docs": {}}
	w.forge.docsToken = docsToken
	w.env["GITHUB_DOCS_TOKEN"] = docsToken
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	return w
}

// open has the agent open the pull request of the prompt that was sent, with what changes alter.
func (w *world) open(changes ...func(pull *docspulls.Pull)) {
	w.t.Helper()
	prompts := w.prompts()
	require.NotEmpty(w.t, prompts)
	key, _ := once.FindMarker(prompts[len(prompts)-1])
	pull := w.pull(docsLink, "Documents it.\n\n"+once.Marker(key))
	for _, change := range changes {
		change(&pull)
	}

	w.forge.mu.Lock()
	defer w.forge.mu.Unlock()
	w.forge.docs["acme/docs"] = slices.Insert(w.forge.docs["acme/docs"], 0, pull)
}

func (w *world) pull(link, body string) docspulls.Pull {
	pull := docspulls.Pull{HTMLURL: link, Body: body, CreatedAt: time.Now()}
	pull.Head.Repo = &docspulls.Repository{FullName: "Acme/docs"}
	return pull
}

// bubble runs f in a bubble, and returns how long it took.
func bubble(t *testing.T, f func(t *testing.T)) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f(t)
		took = time.Since(start)
	})
	return took
}

// requireFound requires that a run has found the pull request, and has sent nothing.
func (w *world) requireFound(t *testing.T, r citest.Ran) {
	t.Helper()
	require.Zero(t, r.Code, r.Log)
	outputs := map[string]string{"outcome": "pull-request", "job-id": "", "pr-link": docsLink}
	assert.Equal(t, outputs, r.Outputs)
	assert.Equal(t, docsLink+"\n", r.Stdout)
	assert.Equal(t, "success", w.newest().State)
	assert.Equal(t, docsLink, w.newest().TargetURL)
	assert.Contains(t, w.newest().Description, "Pull request opened")
	assert.Len(t, w.prompts(), 1)
}

// The token of the documentation writes no status, and the job's own does not read there.
func TestALostResponseIsFoundByTheRunThatLostIt(t *testing.T) {
	w := losing(t)
	inner := w.toForge
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		want := gitHubToken
		if strings.HasPrefix(r.URL.Path, "/repos/acme/docs/") {
			want = docsToken
		}
		assert.Equal(t, "Bearer "+want, r.Header.Get("Authorization"), r.URL.Path)
		return inner.RoundTrip(r)
	})

	took := bubble(t, func(t *testing.T) {
		time.AfterFunc(7*time.Minute+30*time.Second, func() { w.open() })
		w.requireFound(t, w.run(t.Context(), "-docs-repository", "acme/docs"))
	})
	assert.InDelta(t, 8*time.Minute, took, float64(30*time.Second))
	assert.LessOrEqual(t, w.forge.looks, 10, "once a minute")
}

func TestHowLongARunLooks(t *testing.T) {
	docs := []string{"-docs-repository", "acme/docs"}
	for name, tc := range map[string]struct {
		args    []string
		prepare func(w *world)
		// after is when a signal comes. Zero means that none does.
		after time.Duration
		took  time.Duration
		looks int
		says  string
	}{
		"twenty minutes": {
			args: docs,
			took: 20 * time.Minute, looks: 21, says: "looking for its pull request in acme/docs for 20m0s",
		},
		"a signal": {args: docs, after: 5 * time.Minute, took: 5 * time.Minute, looks: 5},
		"-timeout": {
			args: append(docs, "-timeout", "5m"),
			took: 5 * time.Minute, looks: 5, says: "looking for its pull request in acme/docs for 4m",
		},
		"-no-wait": {args: append(docs, "-no-wait"), looks: 1},
		"a token that may not read": {
			args:    docs,
			prepare: func(w *world) { delete(w.env, "GITHUB_DOCS_TOKEN") },
			looks:   1, says: "give one as docs-token",
		},
		"on GitLab": {
			args: append(docs, "-state", t.TempDir(), "-base", "HEAD^"),
			prepare: func(w *world) {
				w.env = keys()
				w.env["GITLAB_CI"] = "true"
				w.env["CI_PROJECT_PATH"] = "acme/cli"
				w.env["GITHUB_TOKEN"] = docsToken
			},
			says: "-docs-repository does nothing on GitLab",
		},
		"without a token": {
			args: append(docs, "-state", t.TempDir()),
			prepare: func(w *world) {
				delete(w.env, "GITHUB_DOCS_TOKEN")
				delete(w.env, "GITHUB_TOKEN")
			},
			says: "or without GITHUB_DOCS_TOKEN or GITHUB_TOKEN: no run looks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := losing(t)
			if tc.prepare != nil {
				tc.prepare(w)
			}

			took := bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.after > 0 {
					time.AfterFunc(tc.after, cancel)
				}
				r := w.run(ctx, tc.args...)
				assert.Equal(t, 3, r.Code, r.Log)
				assert.Contains(t, r.Log, tc.says)
				assert.Contains(t, r.Log, "A job may exist: look for it")
				assert.LessOrEqual(t, strings.Count(r.Log, "\nThe pull requests of "), 1, r.Log)
			})
			assert.InDelta(t, tc.took, took, float64(30*time.Second))
			assert.Equal(t, tc.looks, w.forge.looks)
		})
	}
}

// A run whose response is lost is often the only one that a person looks at.
func TestALostResponseSaysWhyAndWhereTheRunLooked(t *testing.T) {
	for name, tc := range map[string]struct {
		fault      mintlifytest.Fault
		says, inDB string
	}{
		"status":   {mintlifytest.Fault{Status: 502}, "mintlify: create job: 502 Bad Gateway", "502 Bad Gateway"},
		"dropped":  {mintlifytest.Fault{Drop: true}, "connection reset by peer", "connection lost"},
		"time-out": {mintlifytest.Fault{Delay: time.Hour}, "mintlify: create job: ", "time-out"},
	} {
		w := losing(t)
		w.service = mintlifytest.NewService()
		w.service.FailNext(mintlify.OpCreateJob, 1, tc.fault)
		r := w.runOnce("-docs-repository", "acme/docs")
		require.Equal(t, 3, r.Code, r.Log)
		for _, text := range []string{r.Log, r.Summary} {
			assert.Contains(t, text, "the response was lost: ", name)
			assert.Contains(t, text, tc.says, name)
			assert.Contains(t, text, "This run looked for 20m0s in the pull requests of acme/docs, and each later run looks again")
			assert.Contains(t, text, "If there is one, review it, and run again")
			assert.NotContains(t, text, "earlier run", name)
			assert.NotContains(t, text, "id of its job", name)
		}
		status := w.newest().Description
		assert.Contains(t, status, "A job may exist: look for it ("+tc.inDB+") [", name)

		r = w.runOnce("-docs-repository", "acme/docs")
		assert.Contains(t, r.Log, "an earlier run's response was lost, and its log says why. This run looked once in the")
		assert.Equal(t, status, w.newest().Description, "why is still there")
	}
}

// The runner died while it sent the prompt. The run that makes the record unknown also looks.
func TestAfterARunnerDiedThePullRequestIsTakenAtOnce(t *testing.T) {
	for store, args := range losing(t).places() {
		w := losing(t)
		args := append([]string{"-docs-repository", "acme/docs"}, args...)
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(1500 * time.Nanosecond) // of which a status and a ref keep a microsecond
			records, key := w.storeOf(t, args...)
			require.NoError(t, records.Put(t.Context(), once.Record{
				Task:      once.Task{Key: key},
				Version:   1,
				State:     once.Sending,
				Sends:     1,
				Sender:    "dead",
				Deadline:  time.Now().UTC().Truncate(time.Microsecond),
				UpdatedAt: time.Now().UTC().Truncate(time.Microsecond),
			}))
			w.forge.docs["acme/docs"] = []docspulls.Pull{w.pull(docsLink, once.Marker(key))}

			time.Sleep(time.Hour)
			r := w.run(t.Context(), args...)
			assert.Zero(t, r.Code, "%s: %s", store, r.Log)
			assert.Equal(t, docsLink, r.Outputs["pr-link"])
			assert.Equal(t, 1, w.forge.looks, store)
			assert.NotContains(t, r.Log, "level=", "of package once")
			assert.Empty(t, w.service.Requests())
		})
	}
}

// Each later run looks once, and so does -again before it sends.
func TestALaterRunLooks(t *testing.T) {
	for _, again := range []bool{false, true} {
		w := losing(t)
		bubble(t, func(t *testing.T) {
			args := []string{"-docs-repository", "acme/docs", fmt.Sprintf("-again=%v", again)}
			require.Equal(t, 3, w.run(t.Context(), "-docs-repository", "acme/docs", "-no-wait").Code)
			assert.Equal(t, 1, w.forge.looks)

			if !again {
				assert.Equal(t, 3, w.run(t.Context(), args...).Code)
				assert.Equal(t, 2, w.forge.looks)
			}
			w.open()
			w.requireFound(t, w.run(t.Context(), args...))
			r := w.run(t.Context(), args...)
			w.requireFound(t, r)
		})
	}
}

func TestAgainSendsIfThereIsNoPullRequest(t *testing.T) {
	w := losing(t)
	bubble(t, func(t *testing.T) {
		require.Equal(t, 3, w.run(t.Context(), "-docs-repository", "acme/docs", "-no-wait").Code)
		r := w.run(t.Context(), "-docs-repository", "acme/docs", "-again")
		assert.Zero(t, r.Code, r.Log)
		assert.Equal(t, "job_2", r.Outputs["job-id"])
		assert.Equal(t, 2, w.forge.looks, "once before it")
	})
}

func TestWithoutTheFlagTheRunLooksInItsOwnRepository(t *testing.T) {
	w := losing(t)
	w.forge.docs = map[string][]docspulls.Pull{"acme/cli": {}}
	w.forge.docsToken = gitHubToken
	delete(w.env, "GITHUB_DOCS_TOKEN")
	require.Equal(t, 3, w.runOnce().Code)
	assert.Equal(t, 1, w.forge.looks)

	key, _ := once.FindMarker(w.prompts()[0])
	pull := w.pull(docsLink, once.Marker(key))
	pull.Head.Repo.FullName = "acme/cli"
	w.forge.docs["acme/cli"] = []docspulls.Pull{pull}
	w.requireFound(t, w.runOnce())
}

func TestOnlyItsOwnPullRequestIsFound(t *testing.T) {
	for name, change := range map[string]func(pull *docspulls.Pull){
		"another's marker": func(pull *docspulls.Pull) { pull.Body = "docs-job: acme/cli@1:2" },
		"no marker":        func(pull *docspulls.Pull) { pull.Body = "Documents it." },
		"a fork":           func(pull *docspulls.Pull) { pull.Head.Repo.FullName = "eve/docs" },
		"a deleted fork":   func(pull *docspulls.Pull) { pull.Head.Repo = nil },
		"older":            func(pull *docspulls.Pull) { pull.CreatedAt = time.Now().AddDate(0, 0, -2) },
		"no link":          func(pull *docspulls.Pull) { pull.HTMLURL = "javascript:alert(1)" },
	} {
		t.Run(name, func(t *testing.T) {
			w := losing(t)
			bubble(t, func(t *testing.T) {
				time.Sleep(time.Hour)
				time.AfterFunc(time.Minute, func() { w.open(change) })
				r := w.run(t.Context(), "-docs-repository", "acme/docs")
				assert.Equal(t, 3, r.Code, r.Log)
				assert.Empty(t, r.Outputs["pr-link"])
			})
		})
	}
}

func TestPagesAreReadUntilTheyAreTooOld(t *testing.T) {
	for name, tc := range map[string]struct {
		later int           // pull requests that were opened after it
		every time.Duration // between two of them
		found bool
		looks int
	}{
		"on the tenth page":    {later: 299, every: time.Second, found: true, looks: 10},
		"on the eleventh page": {later: 300, every: time.Second, looks: 10},
		"two days older":       {later: 75, every: -time.Hour, looks: 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := losing(t)
			bubble(t, func(t *testing.T) {
				time.Sleep(90 * 24 * time.Hour)
				require.Equal(t, 3, w.run(t.Context(), "-docs-repository", "acme/docs", "-no-wait").Code)
				if tc.every > 0 {
					w.open()
				}
				for i := range tc.later {
					other := w.pull("https://example.com", "Something else")
					other.CreatedAt = other.CreatedAt.Add(time.Duration(i) * tc.every)
					at := 0
					if tc.every < 0 {
						at = len(w.forge.docs["acme/docs"])
					}
					w.forge.docs["acme/docs"] = slices.Insert(w.forge.docs["acme/docs"], at, other)
				}

				w.forge.looks = 0
				r := w.run(t.Context(), "-docs-repository", "acme/docs")
				assert.Equal(t, tc.found, r.Code == 0, r.Log)
				assert.Equal(t, tc.looks, w.forge.looks)
			})
		})
	}
}

func TestAnOutageOfGitHubEndsNoSearch(t *testing.T) {
	w := losing(t)
	inner := w.toForge
	var down atomic.Bool
	down.Store(true)
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		if down.Load() && strings.HasSuffix(r.URL.Path, "/acme/docs/pulls") {
			return response(502), nil
		}
		return inner.RoundTrip(r)
	})
	bubble(t, func(t *testing.T) {
		time.AfterFunc(5*time.Minute, func() { down.Store(false) })
		time.AfterFunc(6*time.Minute, func() { w.open() })
		r := w.run(t.Context(), "-docs-repository", "acme/docs")
		w.requireFound(t, r)
		assert.Equal(t, 1, strings.Count(r.Log, "cannot be read: GET "), r.Log)
	})
}

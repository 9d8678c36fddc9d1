package main

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// bare makes a bare repository, and returns its path.
func (w *world) bare() string {
	dir := filepath.Join(w.t.TempDir(), "bare.git")
	w.git("init", "--quiet", "--template=", "--bare", dir)
	return dir
}

// clone returns a world in a clone of w's repository, with the same service.
func (w *world) clone(t *testing.T) *world {
	again := *w
	again.dir = filepath.Join(t.TempDir(), "clone")
	again.repo = &repo{dir: again.dir, known: new(sync.Map)}
	w.git("clone", "--quiet", "--template=", w.dir, again.dir)
	return &again
}

func TestRefsAreAStore(t *testing.T) {
	if !long(t) {
		t.Skip("it takes seconds: MINTLIFY_LONG=1 runs it")
	}
	oncetest.TestPublicStore(t, func(t *testing.T) once.Store {
		w := newWorld(t)
		return shared{refs{w.program(w.env, nil, nil).git, w.bare()}, w.program(w.env, nil, nil).step.Link}
	})
}

// Two clones share nothing but the remote that has the record.
func TestTwoClonesMakeOneJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.git("rev-parse", "HEAD")
	w.commit("second", "b.go", "package b\n")
	w.env["GITLAB_CI"], w.env["CI"], w.env["CI_PROJECT_PATH"] = "true", "true", "group/name"
	state := "git:" + w.bare()
	first, second := w.clone(t), w.clone(t)
	w.service.FailNext("create job", 1, mintlifytest.Fault{Drop: true})
	require.Equal(t, 3, first.runOnce("-base", before, "-state", state).code)
	require.Equal(t, 3, second.runOnce("-base", before, "-state", state).code)
	require.Zero(t, second.runOnce("-base", before, "-state", state, "-job", "job_1").code)
	r := first.runOnce("-base", before, "-state", state)
	require.Zero(t, r.code, r.log)
	assert.Equal(t, "https://github.com/example/docs/pull/1\n", r.stdout)
	assert.Len(t, w.prompts(), 1)
	assert.NotContains(t, r.log, "if it goes away with this runner")

	refs := w.git("ls-remote", strings.TrimPrefix(state, "git:"))
	assert.Regexp(t, `^[0-9a-f]{40}\trefs/docs-on-merge/[0-9a-f]{40}$`, refs, "one ref, and nothing else is pushed")
	ref := strings.Fields(refs)[1]
	history := w.git("-C", strings.TrimPrefix(state, "git:"), "log", "--format=%B", ref)
	assert.Contains(t, history, `"jobId":"job_1"`)
	for _, secret := range []string{"test-project", "package b", mintlifytest.APIKey} {
		assert.NotContains(t, history, secret, "others can read it")
	}
	assert.Empty(t, first.git("status", "--porcelain", "--untracked-files=no"))
	assert.Empty(t, first.git("for-each-ref", "refs/docs-on-merge"), "the clone is as it was")
}

func TestOneOfManyPushesWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	remote := w.bare()
	var all sync.WaitGroup
	won := make(chan string, 4)
	for i := range 4 {
		clone := w.clone(t)
		s := shared{refs{clone.program(w.env, nil, nil).git, remote}, w.program(w.env, nil, nil).step.Link}
		all.Go(func() {
			r := once.Record{Task: once.Task{Key: "k"}, Version: 1, State: once.Sending, Sender: string(rune('a' + i))}
			switch err := s.Put(t.Context(), r); err {
			case nil:
				won <- r.Sender
			default:
				assert.ErrorIs(t, err, once.ErrConflict)
			}
		})
	}
	all.Wait()
	require.Len(t, won, 1)
	r, err := shared{refs{w.program(w.env, nil, nil).git, remote}, nil}.Get(t.Context(), "k")
	require.NoError(t, err)
	assert.Equal(t, <-won, r.Sender)
}

func TestARemoteThatCannotBeUsedMeansNoJob(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	w := newWorld(t)
	for state, says := range map[string]string{
		"git:":             "names no remote",
		"git:--upload=x":   "names no remote",
		"git:nowhere":      "nowhere",
		"git:/no/such/dir": "/no/such/dir",
		"git:https://me:secret-token@127.0.0.1:1/x.git": "127.0.0.1",
	} {
		r := w.runOnce("-state", state)
		assert.Contains(t, []int{2, 5}, r.code, state)
		assert.Contains(t, r.log, says)
		assert.NotContains(t, r.log+r.summary, "secret-token")
	}
	remote := w.bare()
	require.Zero(t, w.runOnce("-state", "git:"+remote).code)
	ref := strings.Fields(w.git("ls-remote", remote))[1]
	w.git("push", "--quiet", "--force", remote, "HEAD:"+ref)
	r := w.runOnce("-state", "git:"+remote)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.log, "is not the record of")
	assert.Len(t, w.prompts(), 1)
}

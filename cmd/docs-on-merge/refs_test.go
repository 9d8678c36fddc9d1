package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
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
	skipUnlessLong(t)
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
	refsBefore := first.git("for-each-ref")
	w.service.FailNext("create job", 1, mintlifytest.Fault{Drop: true})
	require.Equal(t, 3, first.runOnce("-base", before, "-state", state).Code)
	require.Equal(t, 3, second.runOnce("-base", before, "-state", state).Code)
	require.Zero(t, second.runOnce("-base", before, "-state", state, "-job", "job_1").Code)
	r := first.runOnce("-base", before, "-state", state)
	require.Zero(t, r.Code, r.Log)
	assert.Equal(t, "https://github.com/example/docs/pull/1\n", r.Stdout)
	assert.Len(t, w.prompts(), 1)
	assert.NotContains(t, r.Log, "if it goes away with this runner")

	refs := w.git("ls-remote", strings.TrimPrefix(state, "git:"))
	assert.Regexp(t, `^[0-9a-f]{40}\trefs/docs-on-merge/[0-9a-f]{40}$`, refs, "one ref, and nothing else is pushed")
	ref := strings.Fields(refs)[1]
	history := w.git("-C", strings.TrimPrefix(state, "git:"), "log", "--format=%B", ref)
	assert.Contains(t, history, `"jobId":"job_1"`)
	for _, secret := range []string{"test-project", "package b", mintlifytest.APIKey} {
		assert.NotContains(t, history, secret, "others can read it")
	}
	assert.Empty(t, first.git("status", "--porcelain", "--untracked-files=no"))
	assert.Equal(t, refsBefore, first.git("for-each-ref"), "the clone is as it was")
}

// manyRefs gives a bare repository that many refs.
func (w *world) manyRefs(remote string, n int) {
	w.t.Helper()
	head := w.git("rev-parse", "HEAD")
	w.git("push", "--quiet", remote, "HEAD:refs/heads/main")
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range n {
		fmt.Fprintf(&packed, "%s refs/pull/%07d/head\n", head, i)
	}
	require.NoError(w.t, os.WriteFile(filepath.Join(remote, "packed-refs"), []byte(packed.String()), 0o600))
}

// packets counts the lines of git's trace of packets while f uses the refs of a remote.
func (w *world) packets(remote string, f func(s refs)) int {
	w.t.Helper()
	trace := filepath.Join(w.t.TempDir(), "packets")
	g := w.program(w.env, nil, nil).git
	g.env = append(g.env, "GIT_TRACE_PACKET="+trace)
	f(refs{g, remote})
	return strings.Count(citest.Read(w.t, trace), "\n")
}

func TestARecordIsReadWithoutTheListOfRefs(t *testing.T) {
	w := newWorld(t)
	remote := w.bare()
	w.manyRefs(remote, 2000)
	const key = "acme/cli@1"
	read := func(want int) {
		t.Helper()
		packets := w.packets(remote, func(s refs) {
			versions, _, err := s.read(t.Context(), key)
			require.NoError(t, err)
			assert.Len(t, versions, want)
		})
		assert.Less(t, packets, 200)
	}

	read(0)
	listing := w.packets(remote, func(s refs) {
		store := shared{s, func(string) string { return "" }}
		require.NoError(t, store.Put(t.Context(), once.Record{Task: once.Task{Key: key}, Version: 1}))
	})
	assert.Greater(t, listing, 2000, "a push lists")
	read(1)
}

// A record's versions are its history.
func TestAReadLeavesAFullCloneFullAndReadsAllInAShallowOne(t *testing.T) {
	w := newWorld(t)
	w.commit("second", "b.go", "package b\n")
	remote := w.bare()
	full, shallow := w.clone(t), w.clone(t)
	require.NoError(t, os.RemoveAll(shallow.dir))
	w.git("clone", "--quiet", "--template=", "--depth=1", "file://"+w.dir, shallow.dir)

	const key = "acme/cli@1"
	for i, desk := range []*world{full, shallow, full} {
		s := refs{desk.program(desk.env, nil, nil).git, remote}
		store := shared{s, func(string) string { return "" }}
		require.NoError(t, store.Put(t.Context(), once.Record{Task: once.Task{Key: key}, Version: i + 1}))
	}
	for desk, isShallow := range map[*world]string{full: "false", shallow: "true"} {
		versions, _, err := refs{desk.program(desk.env, nil, nil).git, remote}.read(t.Context(), key)
		require.NoError(t, err)
		assert.Len(t, versions, 3)
		assert.Equal(t, isShallow, desk.git("rev-parse", "--is-shallow-repository"))
		assert.Empty(t, desk.git("for-each-ref", "refs/docs-on-merge-read"))
		assert.NoFileExists(t, filepath.Join(desk.dir, ".git", "FETCH_HEAD"))
	}
}

// Git ends with the same status whether a ref is missing or a remote is down.
func TestOnlyGitsOwnLineMeansThatThereIsNoRecord(t *testing.T) {
	const ref = "refs/docs-on-merge/0a1b"
	for said, isNone := range map[string]bool{
		"fatal: couldn't find remote ref " + ref:                       true,
		"fatal: Couldn't find remote ref " + ref:                       true,
		"warning: slow\nfatal: couldn't find remote ref " + ref + "\n": true,
		"fatal: couldn't find remote ref refs/docs-on-merge/0a1b2c":    false,
		"remote: fatal: couldn't find remote ref " + ref:               false,
		"fatal: unable to access 'https://x/': Could not resolve host": false,
		"fatal: the remote end hung up unexpectedly":                   false,
		"fatal: Referenz " + ref + " konnte nicht gefunden werden":     false,
		"": false,
	} {
		assert.Equal(t, isNone, hasNoRef(errors.New("git fetch: exit status 128:\n"+said), ref), said)
	}
	assert.False(t, hasNoRef(nil, ref))
	assert.False(t, hasNoRef(errStalled, ref))
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
	} {
		r := w.runOnce("-state", state)
		assert.Equal(t, 2, r.Code, state)
		assert.Contains(t, r.Log, says)
	}

	remote := w.bare()
	require.Zero(t, w.runOnce("-state", "git:"+remote).Code)
	ref := strings.Fields(w.git("ls-remote", remote))[1]
	w.git("push", "--quiet", "--force", remote, "HEAD:"+ref)
	r := w.runOnce("-state", "git:"+remote)
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "is not the record of")
	assert.Len(t, w.prompts(), 1)
}

func TestARemoteThatCannotBeReachedMeansNotStarted(t *testing.T) {
	t.Parallel()
	w := merged(t)
	for code, soft := range map[int]string{5: "-soft=false", 0: "-soft"} {
		r := w.runOnce("-state", "git:https://me:secret-token@127.0.0.1:1/x.git", "-timeout", "20s", soft)
		assert.Equal(t, code, r.Code, r.Log)
		assert.Equal(t, "not-started", r.Outputs["outcome"])
		assert.NotContains(t, r.Log+r.Summary, "secret-token")
	}
	assert.Empty(t, w.prompts())
}

func TestARemoteThatNeverRespondsDoesNotOutlastTheTimeout(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	timer := time.AfterFunc(20*time.Second, func() { _ = silent.Close() })

	w := merged(t)
	r := w.run(t.Context(), "-state", "git:http://"+silent.Addr().String()+"/x.git", "-timeout", "200ms")
	assert.Equal(t, 5, r.Code, r.Log)
	assert.True(t, timer.Stop(), "it waited until the remote went away")
	assert.NoError(t, silent.Close())
}

func TestARemoteThatIsBackInTimeIsUsed(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"fetch", "push"} {
		for _, tc := range []struct{ failures, code, prompts int }{{2, 0, 1}, {3, 5, 0}} {
			w := newWorld(t)
			left := tc.failures
			var log citest.Buffer
			p := w.program(w.env, &log, &log)
			p.git.exec = func(cmd *exec.Cmd) error {
				if left > 0 && slices.Contains(cmd.Args, command) {
					left--
					_, _ = io.WriteString(cmd.Stderr, "ssh: Could not resolve hostname forge: Name or service not known\n")
					return errors.New("exit status 128")
				}
				return w.repo.exec(cmd)
			}

			took := bubble(t, func(t *testing.T) {
				code := p.run(t.Context(), []string{"-state", "git:" + w.bare(), "-no-wait"})
				assert.Equal(t, tc.code, code, log.String())
			})
			assert.GreaterOrEqual(t, took, 3*time.Second, "it waits between the attempts")
			assert.Zero(t, left)
			assert.Len(t, w.prompts(), tc.prompts)
		}
	}
}

// A stalled connection must not use up the time in which a job's id can be recorded.
func TestARemoteThatStallsIsUsedAgain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command               string
		stalls, code, prompts int
	}{{"fetch", 1, 0, 1}, {"push", 1, 0, 1}, {"fetch", 3, 5, 0}} {
		w := newWorld(t)
		left := tc.stalls
		var log citest.Buffer
		p := w.program(w.env, &log, &log)
		p.git.exec = func(cmd *exec.Cmd) error {
			if left > 0 && slices.Contains(cmd.Args, tc.command) {
				left--
				time.Sleep(31 * time.Second)
				return errors.New("signal: killed")
			}
			return w.repo.exec(cmd)
		}

		bubble(t, func(t *testing.T) {
			code := p.run(t.Context(), []string{"-state", "git:" + w.bare(), "-no-wait"})
			assert.Equal(t, tc.code, code, log.String())
		})
		assert.Zero(t, left)
		assert.Len(t, w.prompts(), tc.prompts)

		isSaid := strings.Contains(log.String(), "the remote did not respond within 30s")
		assert.Equal(t, tc.code != 0, isSaid, log.String())
	}
}

// What git, curl and ssh say.
func TestANetworkThatFailsIsNoSetUp(t *testing.T) {
	for text, isUnreachable := range map[string]bool{
		"fatal: unable to access 'https://x/': Could not resolve host: x":                           true,
		"fatal: unable to access 'https://x/': Failed to connect to x port 443 after 3 ms: Timeout": true,
		"fatal: unable to access 'https://x/': Recv failure: Connection reset by peer":              true,
		"fatal: unable to access 'https://x/': The requested URL returned error: 429":               true,
		"fatal: unable to access 'https://x/': The requested URL returned error: 503":               true,
		"error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502":                 true,
		"error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly: CANCEL (err 8)":         true,
		"fetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF":         true,
		"fatal: unable to connect to x:\nx[0: 10.0.0.1]: errno=Connection refused":                  true,
		"ssh: connect to host x port 22: No route to host\nfatal: Could not read":                   true,
		"kex_exchange_identification: Connection closed by remote host":                             true,
		"ssh: Could not resolve hostname x: Temporary failure in name resolution":                   true,

		"fatal: 'nowhere' does not appear to be a git repository\nfatal: Could not read":               false,
		"git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.":         false,
		"Host key verification failed.\nfatal: Could not read from remote repository.":                 false,
		"fatal: could not read Username for 'https://x': terminal prompts disabled":                    false,
		"fatal: unable to access 'https://x/': The requested URL returned error: 403":                  false,
		"error: RPC failed; HTTP 403 curl 22\nfatal: the remote end hung up unexpectedly":              false,
		"fatal: repository 'https://x/y.git/' not found":                                               false,
		"fatal: unable to access 'https://x/': SSL certificate problem: self-signed certificate":       false,
		"! [remote rejected] a -> refs/docs-on-merge/b (pre-receive hook declined)":                    false,
		"! [rejected] a -> refs/docs-on-merge/b (stale info)\nerror: failed to push some refs to '/x'": false,
	} {
		assert.Equal(t, isUnreachable, unreachable.MatchString(text), text)
	}
}

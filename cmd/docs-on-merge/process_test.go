package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// asProgram has the test binary be the program, at a quicker pace. Its value is the time that
// a send may take.
const asProgram = "DOCS_ON_MERGE_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(runTests(m))
	}

	sendTime, err := time.ParseDuration(os.Getenv(asProgram))
	if err != nil {
		panic(err)
	}
	step := &ci.Step{Name: "docs-on-merge", Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr,
		Connect: func(opts ...mintlify.Option) (*mintlify.Client, error) {
			pace := mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Millisecond, 10*time.Millisecond))
			return mintlify.NewClientFromEnv(append(opts, mintlify.WithRetryWait(0, 0), pace)...)
		}}
	p := &program{
		step:     step,
		git:      git{exec: (*exec.Cmd).Run},
		settle:   10 * time.Millisecond,
		sendTime: sendTime,
	}
	os.Exit(p.run(ci.UntilSignal(), os.Args[1:]))
}

func runTests(m *testing.M) int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // or programs inherit that it is ignored, under nohup
	var err error
	if originalsDir, err = os.MkdirTemp("", "docs-on-merge-tests-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(originalsDir)
	return m.Run()
}

// skipUnlessLong skips a test that takes long, unless MINTLIFY_LONG is set.
func skipUnlessLong(t *testing.T) {
	t.Helper()
	if !long(t) {
		t.Skip("MINTLIFY_LONG=1 runs it")
	}
}

// long reports whether tests that take long are asked for.
func long(t *testing.T) bool {
	if os.Getenv("MINTLIFY_LONG") == "" {
		t.Log("MINTLIFY_LONG=1 makes this longer")
		return false
	}
	return true
}

// onSockets has the program be a process, and the fakes servers of their own.
func (w *world) onSockets() {
	w.t.Helper()
	service := httptest.NewServer(w.service)
	w.t.Cleanup(service.Close)
	forge := httptest.NewServer(w.forge)
	w.t.Cleanup(forge.Close)

	w.env["MINTLIFY_BASE_URL"] = service.URL
	w.env["GITHUB_API_URL"] = forge.URL
	w.env[asProgram] = "1.5s" // a send that was killed is unknown soon
}

func (w *world) environ() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}
	for name, value := range w.env {
		env = append(env, name+"="+value)
	}
	return env
}

func (w *world) command(name string, args ...string) (*exec.Cmd, *citest.Buffer) {
	cmd := exec.Command(name, args...)
	var log citest.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.Stdout = w.dir, w.environ(), &log, &log
	return cmd, &log
}

func exitCode(t *testing.T, err error) int {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	if exit == nil {
		return 0
	}
	return exit.ExitCode()
}

// committed is a world on GitHub with n commits, which it also returns.
func committed(t *testing.T, n int) (*world, []string) {
	w := newWorld(t)
	for i := range n {
		w.commit(fmt.Sprint("commit ", i), "n.go", fmt.Sprintln("// ", i))
	}
	w.env["GITHUB_ACTIONS"] = "true"
	w.env["GITHUB_REPOSITORY"] = "acme/cli"
	return w, strings.Fields(w.git("rev-list", "HEAD", fmt.Sprint("--max-count=", n)))
}

// A process is killed up to three times on its way to a commit's job: at any moment, once
// its claim is there, or once the service has its prompt. Then a run is left alone.
func TestKillsNeverMakeASecondJob(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	const kills = 50
	w, commits := committed(t, kills)
	for store, args := range w.places() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := w.fresh(t)
			w.onSockets()
			w.service.FailNext(mintlify.OpCreateJob, 4*kills, mintlifytest.Fault{Delay: 20 * time.Millisecond})
			var unknowns atomic.Int64
			var workers sync.WaitGroup
			for part := range slices.Chunk(commits, 13) {
				workers.Go(func() {
					for _, commit := range part {
						// Shorter than the five minutes that a run waits if this machine was too slow to send.
						run := append([]string{"-head", commit, "-timeout", "4m"}, args...)
						if w.killed(t, commit, run) == 3 {
							unknowns.Add(1)
						}
					}
				})
			}
			workers.Wait()
			t.Logf("%d commits, %d jobs, %d unknown", len(commits), len(w.service.Jobs()), unknowns.Load())
			assert.NotZero(t, unknowns.Load(), "the kills missed what they were for")
			assert.NotEmpty(t, w.service.Jobs())
		})
	}
}

// killed kills up to three runs for a commit, and returns the exit code of a last one.
func (w *world) killed(t *testing.T, commit string, args []string) int {
	program, err := os.Executable()
	assert.NoError(t, err)
	for range rand.IntN(4) {
		cmd, _ := w.command(program, args...)
		run := processes.Start(t, cmd)
		run.Until(w.someMoment(commit, args))
		_ = run.End(os.Kill)
	}
	cmd, log := w.command(program, args...)
	code, jobs := exitCode(t, cmd.Run()), w.jobsOf(commit)
	assert.LessOrEqual(t, jobs, 1, commit)
	switch code {
	case 0:
		assert.Equal(t, 1, jobs)
	case 5: // this machine is slow
		assert.Zero(t, jobs, log)
	default:
		assert.Equal(t, 3, code, log)
		assert.Contains(t, log.String(), "A job may exist: look for it")
		record := w.onRecord(commit, args)
		assert.NotEmpty(t, record, log)
		assert.NotContains(t, record, `"job_`, "its id is on record: %s", log)
	}
	return code
}

// someMoment returns what tells that the moment has come in a run for a commit: any, or once its claim is there,
// or once the service has its prompt.
func (w *world) someMoment(commit string, args []string) func() bool {
	moments := []func() bool{
		func() bool { return rand.IntN(50) == 0 },
		func() bool { return w.onRecord(commit, args) != "" },
		func() bool { return w.jobsOf(commit) > 0 },
	}
	return moments[rand.IntN(len(moments))]
}

// places are the arguments for each place of the record.
func (w *world) places() map[string][]string {
	return map[string][]string{
		"statuses":  nil,
		"directory": {"-state", w.t.TempDir()},
		"refs":      {"-state", "git:" + w.bare()},
	}
}

// onRecord is all that is on record of a commit's job on GitHub, in a directory and in refs.
func (w *world) onRecord(commit string, args []string) (all string) {
	if remote, found := strings.CutPrefix(args[len(args)-1], "git:"); found {
		log := exec.Command("git", "-C", remote, "log", "--all", "--format=%B", "--grep=@"+commit)
		log.Env = w.gitEnv()
		records, err := log.CombinedOutput()
		assert.NoError(w.t, err, string(records))

		return strings.TrimSpace(string(records))
	}

	w.forge.mu.Lock()
	defer w.forge.mu.Unlock()
	for _, s := range w.forge.statuses[commit] {
		all += s.Description
	}
	folder := os.DirFS(args[len(args)-1])
	files, _ := fs.Glob(folder, "*/*.json")
	for _, file := range files {
		if text, _ := fs.ReadFile(folder, file); strings.Contains(string(text), "@"+commit) {
			all += string(text)
		}
	}
	return all
}

func (w *world) jobsOf(commit string) (n int) {
	for _, prompt := range w.prompts() {
		if key, _ := once.FindMarker(prompt); strings.Contains(key, "@"+commit) {
			n++
		}
	}
	return n
}

// action is the step on a runner, whose program is this test binary.
func (w *world) action() *citest.Action {
	program, err := os.Executable()
	require.NoError(w.t, err)
	a := citest.NewAction(w.t, "action.yml", "docs-on-merge", "#!/bin/sh\nexec '"+program+"' \"$@\"\n")
	a.Env = append(a.Env, w.environ()...)
	return a
}

func TestAnInterruptOfTheActionLosesNoJob(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	one := merged(t)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		w := one.fresh(t)
		w.onSockets()
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 500 * time.Millisecond})
		w.service.ScriptJob(mintlifytest.JobStep{}) // for ever
		cmd, log := w.action().Command(t, w.dir, "INPUT_TIMEOUT=20s")
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return len(w.prompts()) == 1 }, time.Minute, time.Millisecond)
		require.NoError(t, cmd.Process.Signal(sig)) // bash alone, as a runner does
		assert.Equal(t, 4, exitCode(t, cmd.Wait()), log)
		assert.Contains(t, log.String(), "Stopping as soon as the record is up to date.\nJob job_1 is on record.\n")
		assert.Equal(t, once.Running, w.state(), "on record")
		citest.RequireInert(t, log.String())
	}
}

// Whoever looks at the commit later sees that its merge was not documented, until a later run says more.
func TestADownloadThatFailsLeavesASummaryAndAStatus(t *testing.T) {
	t.Parallel()
	w := merged(t)
	w.onSockets()
	head := w.git("rev-parse", "HEAD")
	w.env["GITHUB_SHA"] = head
	w.env["GITHUB_REF_TYPE"] = "branch"
	run := func(code int, env ...string) string {
		t.Helper()
		a := w.action()
		delete(a.Files, "checksums.txt")
		summary := filepath.Join(t.TempDir(), "summary")
		cmd, log := a.Command(t, w.dir, append(env, "GITHUB_STEP_SUMMARY="+summary)...)
		assert.Equal(t, code, exitCode(t, cmd.Run()), log)
		assert.Contains(t, citest.Read(t, summary), "### docs-on-merge: not-started\n\n    http")
		citest.RequireInert(t, log.String())
		return log.String()
	}

	run(5, "INPUT_CHECK=true")
	run(5, "INPUT_STATE=/srv/x")
	run(5, "MINTLIFY_PROJECT_ID=")
	run(5, "GITHUB_REF_TYPE=tag")
	assert.Empty(t, w.forge.statuses)

	run(0, "INPUT_SOFT=true", "GITHUB_TOKEN= "+gitHubToken+"\r\n")
	assert.Equal(t, "success", w.newest().State)
	const noProgram = "No job was made: the program cannot be downloaded. Run again later"
	assert.Equal(t, noProgram, w.newest().Description)
	run(5)
	require.Len(t, w.forge.statuses[head], 1, "it may be a record")

	context := w.newest().Context
	delete(w.forge.statuses, head)
	run(5)
	assert.Equal(t, "error", w.newest().State)
	assert.Equal(t, noProgram, w.newest().Description)

	require.Zero(t, w.runOnce().Code)
	assert.Equal(t, once.Done, w.state())
	assert.Equal(t, context, w.newest().Context, "the run that works replaces it")

	log := run(5, "GITHUB_API_URL=http://127.0.0.1:1")
	assert.Contains(t, log, "The commit's status does not say so.")
}

func TestTheActionPassesOddInputsOn(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	w := merged(t)
	w.onSockets()
	w.commit("odd", "dir with space/$(touch pwned).go", "x")
	template := filepath.Join(t.TempDir(), `te"m p$HOME'late`)
	require.NoError(t, os.WriteFile(template, []byte("{{.Files}}\n"), 0o600))
	cmd, log := w.action().Command(t, w.dir, "INPUT_PATHS=dir with space\r\n\r\n  $(touch pwned)*\n-dash\n`touch pwned`;touch pwned\n", "INPUT_TEMPLATE="+template,
		"INPUT_SKIP_AUTHORS= ada \r\n$(touch pwned)\r\n\r\n", "INPUT_BRANCHES=next\r", "INPUT_BASE=HEAD~1", "INPUT_DRY_RUN=true", "INPUT_AGAIN=false", "INPUT_TIMEOUT=1h30m")
	require.Zero(t, exitCode(t, cmd.Run()), log)
	assert.Contains(t, log.String(), "> +1 -0 dir with space/$(touch pwned).go\n")
	found, err := fs.Glob(os.DirFS(w.dir), "*pwned*")
	require.NoError(t, err)
	assert.Empty(t, found)

	for _, input := range []string{"INPUT_BASE=-again", "INPUT_HEAD=--output=x", "INPUT_JOB=.."} {
		cmd, log := w.action().Command(t, w.dir, input)
		assert.Equal(t, 2, exitCode(t, cmd.Run()), "%s: %s", input, log)
	}
	assert.Empty(t, w.prompts())
}

// The program's own main, with its own pace, on sockets.
func TestMainProgram(t *testing.T) {
	skipUnlessLong(t)
	w := merged(t)
	w.onSockets()
	delete(w.env, asProgram)
	program := filepath.Join(t.TempDir(), "docs-on-merge")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	w.service.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://example.com/pull/1"})
	for range 2 {
		cmd, log := w.command(program)
		require.Zero(t, exitCode(t, cmd.Run()), log)
		assert.Contains(t, log.String(), "https://example.com/pull/1\n")
	}
	assert.Len(t, w.service.Jobs(), 1)
}

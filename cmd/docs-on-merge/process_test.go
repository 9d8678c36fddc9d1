package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// kills is how many commits the test of kills takes, with each store.
var kills = flag.Int("kills", 50, "commits a store in the test of kills")

// asProgram has the test binary be the program, at a quicker pace.
const asProgram = "DOCS_ON_MERGE_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{getenv: os.Getenv, stdout: os.Stdout, stderr: os.Stderr,
		pace: pace{settle: 10 * time.Millisecond, create: 5 * time.Second, save: 5 * time.Second, patience: time.Second, look: 50 * time.Millisecond},
		connect: func() (*mintlify.Client, error) {
			return mintlify.NewClientFromEnv(mintlify.WithRetryWait(0, 0), mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Millisecond, 10*time.Millisecond)))
		}}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// onSockets has the program be a process, and the fakes servers of their own.
func (w *world) onSockets() {
	w.t.Helper()
	service, forge := httptest.NewServer(w.service), httptest.NewServer(w.forge)
	w.t.Cleanup(func() { service.Close(); forge.Close() })
	w.env["MINTLIFY_BASE_URL"], w.env["GITHUB_API_URL"], w.env[asProgram] = service.URL, forge.URL, "1"
}

func (w *world) command(name string, args ...string) (*exec.Cmd, *lockedBuffer) {
	cmd := exec.Command(name, args...)
	var log lockedBuffer
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.Stdout = w.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}, &log, &log
	for name, value := range w.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
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

// A process is killed up to three times on its way to a commit's job: at any moment, once
// its claim is there, or once the service has its prompt. Then a run is left alone.
func TestKillsNeverMakeASecondJob(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	w := newWorld(t)
	for i := range *kills {
		w.commit(fmt.Sprint("commit ", i), "n.go", fmt.Sprintln("// ", i))
	}
	commits := strings.Fields(w.git("rev-list", "HEAD", fmt.Sprintf("--max-count=%d", *kills)))
	for _, store := range []string{"statuses", "directory"} {
		t.Run(store, func(t *testing.T) {
			w := w.fresh(t)
			w.onSockets()
			w.service.FailNext(mintlify.OpCreateJob, 4**kills, mintlifytest.Fault{Delay: 20 * time.Millisecond})
			var args []string
			if store == "statuses" {
				w.env["GITHUB_ACTIONS"], w.env["GITHUB_REPOSITORY"] = "true", "acme/cli"
			} else {
				args = []string{"-state", t.TempDir()}
			}
			var unknowns atomic.Int64
			next := make(chan string, len(commits))
			for _, commit := range commits {
				next <- commit
			}
			close(next)
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for commit := range next {
						if w.killed(t, commit, append([]string{"-head", commit}, args...)) == 3 {
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
		if !assert.NoError(t, cmd.Start()) {
			return 0
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		moment := []func() bool{
			func() bool { return rand.IntN(50) == 0 },
			func() bool { return w.onRecord(commit, args) != "" },
			func() bool { return w.jobsOf(commit) > 0 },
		}[rand.IntN(3)]
		for running := true; running && !moment(); {
			select {
			case err := <-ended:
				ended <- err
				running = false
			case <-time.After(time.Duration(rand.IntN(5000)) * time.Microsecond): // between two looks
			}
		}
		_ = cmd.Process.Kill()
		<-ended
	}
	cmd, log := w.command(program, args...)
	code, jobs := exitCode(t, cmd.Run()), w.jobsOf(commit)
	assert.LessOrEqual(t, jobs, 1, commit)
	assert.Contains(t, []int{0, 3}, code, log)
	if code == 0 {
		assert.Equal(t, 1, jobs)
	} else {
		assert.Contains(t, log.String(), "an earlier run ended before it knew the job's id")
		assert.NotContains(t, w.onRecord(commit, args), "job_", "its id is on record: %s", log)
	}
	return code
}

// onRecord is all that is on record of a commit's job.
func (w *world) onRecord(commit string, args []string) (all string) {
	w.forge.mu.Lock()
	defer w.forge.mu.Unlock()
	for _, s := range w.forge.statuses[commit] {
		all += s.Description
	}
	files, _ := filepath.Glob(filepath.Join(args[len(args)-1], commit+"*.json"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all += file + string(text)
	}
	return all
}

func (w *world) jobsOf(commit string) (n int) {
	for _, prompt := range w.prompts() {
		if strings.Contains(prompt, "@"+commit) {
			n++
		}
	}
	return n
}

// runBlock is the script of the action's last step.
func runBlock(t *testing.T) string {
	_, block, ok := strings.Cut(read(t, "action.yml"), "      run: |\n")
	require.True(t, ok)
	var script strings.Builder
	for line := range strings.Lines(block) {
		require.True(t, strings.HasPrefix(line, "        ") || line == "\n", "%q", line)
		script.WriteString(strings.TrimPrefix(line, "        "))
	}
	return script.String()
}

// onRunner returns the action's step as a runner runs it: bash with a file. The go of
// its PATH builds nothing, and the program is the test binary.
func (w *world) onRunner(inputs map[string]string) (*exec.Cmd, *lockedBuffer) {
	program, err := os.Executable()
	require.NoError(w.t, err)
	temp := w.t.TempDir()
	script := filepath.Join(temp, "step.sh")
	require.NoError(w.t, os.WriteFile(script, []byte(runBlock(w.t)), 0o600))
	require.NoError(w.t, os.WriteFile(filepath.Join(temp, "go"), []byte("#!/bin/sh\ntest \"$1\" = -C && ln -sf '"+program+"' \"$RUNNER_TEMP/docs-on-merge\"\n"), 0o700))
	cmd, log := w.command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
	for name, value := range inputs {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "PATH="+temp+":"+os.Getenv("PATH"), "RUNNER_TEMP="+temp, "GITHUB_ACTION_PATH=/action")
	return cmd, log
}

func TestAnInterruptOfTheActionLosesNoJob(t *testing.T) {
	one := merged(t)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		w := one.fresh(t)
		w.onSockets()
		w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: time.Second})
		w.service.ScriptJob(mintlifytest.Step{}) // for ever
		cmd, log := w.onRunner(map[string]string{"INPUT_TIMEOUT": "20s"})
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return len(w.prompts()) == 1 }, 20*time.Second, time.Millisecond)
		require.NoError(t, cmd.Process.Signal(sig)) // bash alone, as a runner does
		assert.Equal(t, 4, exitCode(t, cmd.Wait()), log)
		assert.Contains(t, log.String(), "Interrupted: waiting for the job's id first.\nMade job job_1.\n")
		assert.Equal(t, running, w.state(), "on record")
		requireInert(t, log.String())
	}
}

func TestTheActionPassesOddInputsOn(t *testing.T) {
	w := merged(t)
	w.onSockets()
	w.commit("odd", "dir with space/$(touch pwned).go", "x")
	template := filepath.Join(t.TempDir(), `te"m p$HOME'late`)
	require.NoError(t, os.WriteFile(template, []byte("{{.Files}}\n"), 0o600))
	cmd, log := w.onRunner(map[string]string{"INPUT_PATHS": "dir with space\n\n  $(touch pwned)*\n-dash\n`touch pwned`;touch pwned\n", "INPUT_TEMPLATE": template,
		"INPUT_BASE": "HEAD~1", "INPUT_DRY_RUN": "true", "INPUT_NEW": "false", "INPUT_TIMEOUT": "1h30m"})
	require.Zero(t, exitCode(t, cmd.Run()), log)
	assert.Contains(t, log.String(), "> +1 -0 dir with space/$(touch pwned).go\n")
	found, err := filepath.Glob(filepath.Join(w.dir, "*pwned*"))
	require.NoError(t, err)
	assert.Empty(t, found)

	for name, value := range map[string]string{"INPUT_BASE": "-new", "INPUT_HEAD": "--output=x", "INPUT_TIMEOUT": "soon", "INPUT_JOB": "..", "INPUT_DRY_RUN": "maybe", "INPUT_MAX_PROMPT": "1 -new"} {
		cmd, log := w.onRunner(map[string]string{name: value})
		assert.Equal(t, 2, exitCode(t, cmd.Run()), "%s: %s", name, log)
	}
	assert.Empty(t, w.prompts())
}

func TestEveryInputOfTheActionReachesAFlag(t *testing.T) {
	text := read(t, "action.yml")
	for _, name := range strings.Fields("base head paths template state job new timeout heartbeat max-prompt repository no-wait dry-run") {
		variable := "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		assert.Contains(t, text, "\n  "+name+":\n")
		assert.Contains(t, text, fmt.Sprintf("        %s: ${{ inputs.%s }}\n", variable, name))
		if name != "paths" {
			assert.Regexp(t, `\bfor flag in .*\b`+name+`\b.*; do`, runBlock(t))
		}
	}
	assert.NotContains(t, runBlock(t), "${{", "what is expanded in a script is run")
	assert.Regexp(t, `(?m)^exec `, runBlock(t), "a runner signals bash alone")
}

// TestGoInstall installs the program by the module's path, from a proxy on disk that
// has the working tree as a version.
func TestGoInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const path, version = "github.com/mintlify-community/mintlify-go", "v0.0.1-test"
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "proxy")
	versions := filepath.Join(dir, path, "@v")
	require.NoError(t, os.MkdirAll(versions, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(versions, "list"), []byte(version+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(versions, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(versions, version+".mod"), []byte(read(t, filepath.Join(root, "go.mod"))), 0o600))
	zipModule(t, root, path+"@"+version, filepath.Join(versions, version+".zip"))

	env, err := exec.Command("go", "env", "-json", "GOPROXY", "GOMODCACHE").Output()
	require.NoError(t, err)
	var goEnv struct{ GOPROXY, GOMODCACHE string }
	require.NoError(t, json.Unmarshal(env, &goEnv))
	bin, cache := t.TempDir(), t.TempDir()
	cmd := exec.Command("go", "install", "-modcacherw", path+"/cmd/docs-on-merge@"+version)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+cache, "GOFLAGS=", "GOSUMDB=off", "GOPRIVATE=",
		"GOPROXY=file://"+dir+",file://"+goEnv.GOMODCACHE+"/cache/download")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	w := newWorld(t)
	w.env = map[string]string{}
	demo, log := w.command(filepath.Join(bin, "docs-on-merge"), "-demo")
	require.Zero(t, exitCode(t, demo.Run()), log)
	assert.Contains(t, log.String(), "Jobs made in all: 1")
}

// The program's own main, with its own pace, on sockets.
func TestMainProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	w := merged(t)
	w.onSockets()
	delete(w.env, asProgram)
	program := filepath.Join(t.TempDir(), "docs-on-merge")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	w.service.ScriptJob(mintlifytest.Step{Status: mintlify.JobCompleted, PRLink: "https://example.com/pull/1"})
	for range 2 {
		cmd, log := w.command(program)
		require.Zero(t, exitCode(t, cmd.Run()), log)
		assert.Contains(t, log.String(), "https://example.com/pull/1\n")
	}
	assert.Len(t, w.service.Jobs(), 1)
}

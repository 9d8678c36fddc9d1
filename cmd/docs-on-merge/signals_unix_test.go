//go:build unix

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// pipeline is the program in a process group of its own, as a shell starts it. Its output goes
// through a pipe, as to tee.
type pipeline struct {
	*processes.Run
	reader *os.File
	log    *citest.Buffer
	copied chan struct{}
}

func (w *world) pipeline(args ...string) *pipeline {
	w.t.Helper()
	program, err := os.Executable()
	require.NoError(w.t, err)
	reader, writer, err := os.Pipe()
	require.NoError(w.t, err)

	cmd, log := w.command(program, args...)
	cmd.Stdout = writer
	cmd.Stderr = writer
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &pipeline{Run: processes.Start(w.t, cmd), reader: reader, log: log, copied: make(chan struct{})}
	require.NoError(w.t, writer.Close())

	go func() {
		defer close(p.copied)
		buffer := make([]byte, 1024)
		for {
			n, err := reader.Read(buffer)
			_, _ = p.log.Write(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
	return p
}

// signal sends a signal twice, to the program and to its git, as a terminal does.
func (p *pipeline) signal(t *testing.T, sig syscall.Signal) {
	for range 2 {
		err := syscall.Kill(-p.Process.Pid, sig)
		if !errors.Is(err, syscall.ESRCH) { // the run has ended meanwhile
			assert.NoError(t, err)
		}
	}
}

// Ctrl-C also ends tee, and a terminal that closes takes stderr away.
func TestATerminalThatGoesAwayLosesNoJob(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	one := merged(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		for _, isRead := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v, read: %v", sig, isRead), func(t *testing.T) {
				w := one.fresh(t)
				w.onSockets()
				w.env[asProgram] = "5s" // the record may take long on a slow machine
				w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 300 * time.Millisecond})
				w.service.ScriptJob(mintlifytest.JobStep{}) // for ever

				run := w.pipeline()
				require.Eventually(t, func() bool { return len(w.prompts()) == 1 }, time.Minute, time.Millisecond)
				if !isRead {
					require.NoError(t, run.reader.Close())
				}
				run.signal(t, sig)

				assert.Equal(t, 4, exitCode(t, run.Wait()), run.log)
				<-run.copied
				if isRead {
					assert.Contains(t, run.log.String(), "Job job_1 is on record.\n")
					assert.NoError(t, run.reader.Close())
				}
				assert.Contains(t, w.runAgain(t, "-no-wait"), "This change has job job_1 already.")
				assert.Len(t, w.prompts(), 1)
			})
		}
	}
}

// runAgain runs the program as a process, and returns its log.
func (w *world) runAgain(t *testing.T, args ...string) string {
	program, err := os.Executable()
	require.NoError(t, err)
	cmd, log := w.command(program, args...)
	assert.Zero(t, exitCode(t, cmd.Run()), log)
	return log.String()
}

// A run is interrupted up to three times on its way to a commit's job, at any moment. Then a run is
// left alone: it never has to ask what became of the prompt.
func TestSignalsAtAnyMomentMakeNothingUnknown(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	const commits = 12
	one, names := committed(t, commits)
	for store, args := range one.places() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := one.fresh(t)
			w.onSockets()
			w.env[asProgram] = "1m"
			w.service.FailNext(mintlify.OpCreateJob, 4*commits, mintlifytest.Fault{Delay: 20 * time.Millisecond})

			signals := 0
			for _, commit := range names {
				signals += w.interrupted(t, commit, append([]string{"-head", commit}, args...))
			}
			t.Logf("%d commits, %d jobs, %d runs got a signal twice", commits, len(w.service.Jobs()), signals)
			assert.Len(t, w.service.Jobs(), commits)
		})
	}
}

// interrupted interrupts up to three runs for a commit, has a last one, and returns how many it
// interrupted.
func (w *world) interrupted(t *testing.T, commit string, args []string) int {
	n := 1 + rand.IntN(3)
	for range n {
		run := w.pipeline(args...)
		run.Until(w.someMoment(commit, args))

		isRead := rand.IntN(2) == 0
		if !isRead {
			_ = run.reader.Close()
		}
		if !run.HasEnded() {
			run.signal(t, []syscall.Signal{syscall.SIGINT, syscall.SIGHUP}[rand.IntN(2)])
		}
		code := exitCode(t, run.Wait())
		<-run.copied
		_ = run.reader.Close()

		log := run.log.String()
		switch code {
		case -1:
			assert.Empty(t, log, "only a run that has not begun is killed")
		case 2:
			assert.False(t, isRead, "nobody takes the result: %s", log)
		default:
			assert.Contains(t, []int{0, 4, 5}, code, log)
		}
	}

	assert.Contains(t, w.runAgain(t, args...), "Pull request opened")
	assert.Equal(t, 1, w.jobsOf(commit), commit)
	return n
}

// Under nohup a terminal that closes changes nothing.
func TestASIGHUPThatIsIgnoredAtTheStartStaysIgnored(t *testing.T) {
	skipUnlessLong(t)
	w := merged(t)
	w.onSockets()
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 300 * time.Millisecond})
	program, err := os.Executable()
	require.NoError(t, err)

	cmd, log := w.command("nohup", program)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return len(w.prompts()) == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	assert.Zero(t, exitCode(t, cmd.Wait()), log)
	assert.True(t, strings.Contains(log.String(), "Pull request opened"), log)
}

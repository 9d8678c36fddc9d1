//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestQuotaOverAllProcesses has the service count, and refuse what is too much.
func TestQuotaOverAllProcesses(t *testing.T) {
	heavy(t)
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		svc.quota, svc.window, svc.late = 10, 5*time.Second, 2*time.Second
		s := settings{N: 10, SendTime: 3 * time.Second, MaxWait: time.Hour, Quota: 10, Window: svc.window}
		if os.Getenv("FLEET_TEST_LONG") != "" {
			svc.window, s.Window = 15*time.Second, 15*time.Second
		}
		f := newFleet(t, url, s, svc)
		f.enqueue(prompts(25, 1)...)
		for range 3 {
			f.start()
		}
		counts := f.await(2 * time.Minute)
		assert.Equal(t, 25, counts[done]+counts[unknown])
		assert.Zero(t, svc.refused, "more than the quota within a window")
		_, twice := svc.count()
		assert.Zero(t, twice)
	})
}

func TestManyProgramsStartOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, url string) {
		var commands []*exec.Cmd
		var outputs []*bytes.Buffer
		for range 8 {
			cmd := programCommand(t, url, quick, nil, "status")
			output := &bytes.Buffer{}
			cmd.Stdout, cmd.Stderr = output, output
			commands, outputs = append(commands, cmd), append(outputs, output)
		}
		for _, cmd := range commands {
			require.NoError(t, cmd.Start())
		}
		for i, cmd := range commands {
			assert.NoError(t, cmd.Wait(), outputs[i].String())
			assert.Contains(t, outputs[i].String(), "queued   0")
		}
	})
}

// TestStoppedSender has a process stopped right after its intent, past its deadline. By
// then a person has looked, found nothing, and had the prompt sent again.
func TestStoppedSender(t *testing.T) {
	heavy(t)
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		s := quick
		s.SendTime = time.Second
		f := newFleet(t, url, s, svc)
		p := promptOf(1, testProject)
		f.enqueue(p)
		stopped := f.start("FLEET_TEST_STOP=1")
		f.until(time.Minute, "the sender to stop itself", func() bool {
			var status syscall.WaitStatus
			_, err := syscall.Wait4(stopped.Process.Pid, &status, syscall.WUNTRACED|syscall.WNOHANG, nil)
			require.NoError(t, err)
			return status.Stopped()
		})
		f.until(time.Minute, "the send to be given up", func() bool {
			_, _, err := f.store.sweep(t.Context(), time.Hour)
			require.NoError(t, err)
			r, err := rowOf(t.Context(), f.store, p.Key)
			require.NoError(t, err)
			return r.State == unknown
		})
		assert.Zero(t, svc.of(p.Key))
		require.NoError(t, f.store.retry(t.Context(), p.Key, ""))
		f.start()
		assert.Equal(t, 1, f.await(time.Minute)[done])

		require.NoError(t, stopped.Process.Signal(syscall.SIGCONT))
		require.NoError(t, f.end(stopped, syscall.SIGTERM), "it stops once its step is at an end")
		assert.Equal(t, 1, svc.of(p.Key), "it has sent nothing when it woke")
	})
}

// TestREADMEDemo runs the demo by the README's command.
func TestREADMEDemo(t *testing.T) {
	heavy(t)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^go run -C cmd/fleet \. (demo)$`).FindSubmatch(readme)
	require.NotNil(t, command, "the README's command")
	output, err := programCommand(t, "", production, []string{"DATABASE_URL="}, string(command[1])).CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), "12 of 12 merges done, 0 acted on twice")
	assert.Contains(t, string(output), "kill -9")
	assert.Regexp(t, `unknown  [1-9]\n`, string(output))
}

//go:build unix

package main

import (
	"os"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// TestQuotaOverAllProcesses has the service count, and refuse requests beyond the quota.
func TestQuotaOverAllProcesses(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		svc.quota, svc.window = 5, 3*time.Second
		s := quick
		s.Quota, s.Window, s.SendTime = 5, svc.window, time.Second
		f := newFleet(t, url, s, svc)
		f.enqueue(prompts(8, 1)...)
		for range 3 {
			f.start()
		}
		counts := f.await(5 * time.Minute)
		assert.Equal(t, 8, counts["done"])
		assert.Zero(t, svc.refused, "more than the quota within a window")

		_, twice := svc.count()
		assert.Zero(t, twice)
	})
}

// TestREADMEDemo runs the demo by the README's command. Nothing leaves the machine, whatever is set for work.
func TestREADMEDemo(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^go run -C cmd/fleet \. (demo)$`).FindSubmatch(readme)
	require.NotNil(t, command, "the README's command")

	chat, gh := newTarget(t, 200), newTarget(t, 201)
	env := []string{
		"DATABASE_URL=", "FLEET_RESULTS_URL=" + chat.URL, "FLEET_GITHUB_TOKEN=x", "GITHUB_API_URL=" + gh.URL,
	}
	output, err := programCommand(t, "", queue.Production, env, string(command[1])).CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Empty(t, chat.paths)
	assert.Empty(t, gh.paths)

	for _, want := range []string{
		"12 enqueued, 0 known already", "0 enqueued, 12 known already", "1 unknown", "Look for \"docs-job: acme/service-",
		"-job job_4", "12 merges have led to 12 jobs",
	} {
		assert.Contains(t, string(output), want)
	}
	assert.NotContains(t, string(output), "api.mintlify.com")
}

// TestLostTerminal: a worker outlives a stderr that is gone, and a hang-up ends it like SIGTERM.
func TestLostTerminal(t *testing.T) {
	t.Parallel()
	svc := newCountingService()
	f := newFleet(t, "sqlite:"+sqliteFile(t), quick, svc)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd := f.command(nil, "work", "-send-time", "2s")
	cmd.Stderr = writer
	run := f.run(cmd)
	writer.Close()
	reader.Close()

	f.enqueue(prompts(2, 1)...)
	f.until(timeToDo, "the prompts to be done", func() bool { return f.counts()["done"] == 2 })
	require.NoError(t, run.Process.Signal(syscall.SIGHUP))
	time.Sleep(10 * time.Millisecond)
	_ = run.Process.Signal(syscall.SIGHUP) // a terminal sends it twice
	assert.NoError(t, run.Wait())
}

// TestNewerSchema: an older worker stops by itself, and an older server takes nothing more.
func TestNewerSchema(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, svc)
		server, addrs := f.serve(nil, "-project", testProject)
		worker := f.start()
		r := receiver{t, f.store, "http://" + addrs[0]}
		f.until(timeToDo, "the workers", func() bool {
			working, err := f.store.IsWorking(t.Context())
			return err == nil && working
		})
		execute(t, f.store, "UPDATE fleet_schema SET version = 1000")

		assert.Error(t, worker.Wait())
		assert.Equal(t, 2, worker.ProcessState.ExitCode())
		status, _ := r.post("push", event(t, push(nil)), nil)
		assert.Equal(t, 503, status)
		assert.NoError(t, f.end(server, syscall.SIGTERM))
		assert.Empty(t, svc.acted)
	})
}

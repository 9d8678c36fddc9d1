//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
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
		counts := f.await(2 * time.Minute)
		assert.Equal(t, 8, counts["done"])
		assert.Zero(t, svc.refused, "more than the quota within a window")

		_, twice := svc.count()
		assert.Zero(t, twice)
	})
}

func TestManyProgramsStartOnAnEmptyDatabase(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		var commands []*exec.Cmd
		var outputs []*bytes.Buffer
		for range 6 {
			cmd := programCommand(t, url, quick, nil, "init")
			output := &bytes.Buffer{}
			cmd.Stdout, cmd.Stderr = output, output
			commands, outputs = append(commands, cmd), append(outputs, output)
		}
		for _, cmd := range commands {
			require.NoError(t, cmd.Start())
		}
		for i, cmd := range commands {
			assert.NoError(t, cmd.Wait(), outputs[i].String())
			assert.Contains(t, outputs[i].String(), "the tables are there")
		}
	})
}

// TestREADMEDemo runs the demo by the README's command.
func TestREADMEDemo(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^go run -C cmd/fleet \. (demo)$`).FindSubmatch(readme)
	require.NotNil(t, command, "the README's command")

	output, err := programCommand(t, "", queue.Production, []string{"DATABASE_URL="}, string(command[1])).CombinedOutput()
	require.NoError(t, err, "%s", output)
	for _, want := range []string{
		"12 of 12 merges done, 0 acted on twice", "kill -9", "503 to every request", "-job job_", "-again",
	} {
		assert.Contains(t, string(output), want)
	}
	assert.Regexp(t, `pauses [1-9]`, string(output))
}

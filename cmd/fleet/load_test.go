//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLoad measures what the README says, and checks nothing: it runs for minutes, if
// FLEET_TEST_LOAD is set.
func TestLoad(t *testing.T) {
	if os.Getenv("FLEET_TEST_LOAD") == "" {
		t.Skip("it measures, for minutes: set FLEET_TEST_LOAD")
	}
	t.Run("postgres", func(t *testing.T) { measure(t, server.url(t), server.cmd.Process.Pid) })
	t.Run("sqlite", func(t *testing.T) { measure(t, filepath.Join(t.TempDir(), "fleet.db"), 0) })
}

func measure(t *testing.T, url string, databasePID int) {
	const jobs = 10_000
	var polls atomic.Int64
	service := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		polls.Add(1)
		_, id := filepath.Split(r.URL.Path)
		fmt.Fprintf(rw, `{"id":%q,"status":"active"}`, id)
	})
	f := newFleet(t, url, production, service)

	var lines strings.Builder
	for _, p := range prompts(jobs, 100) {
		fmt.Fprintf(&lines, `{"key":%q,"project":%q,"prompt":%q}`+"\n", p.Key, p.Project, p.Prompt)
	}
	enqueue := f.command(nil, "enqueue", "-stdin")
	enqueue.Stdin = strings.NewReader(lines.String())
	start := time.Now()
	require.NoError(t, enqueue.Run())
	t.Logf("enqueued %.0f a second", jobs/time.Since(start).Seconds())

	// As after an hour of waiting: polls are a minute apart.
	_, err := f.store.exec(t.Context(), `UPDATE fleet_prompts SET state = 'waiting', job_id = key, sends = 1, changed_at = {now} - 3600000`)
	require.NoError(t, err)
	start = time.Now()
	worker := f.start("FLEET_TEST_REAL_POLLS=1")
	f.until(10*time.Minute, "a poll of each", func() bool { return polls.Load() >= jobs })
	t.Logf("polled %.0f a second, all due at once", jobs/time.Since(start).Seconds())

	time.Sleep(time.Minute)
	const minutes = 3
	before, cpu, databaseCPU := polls.Load(), cpuOf(t, worker.Process.Pid), cpuOfChildren(t, databasePID)
	time.Sleep(minutes * time.Minute)
	percent := func(d time.Duration) float64 { return 100 * d.Seconds() / (minutes * 60) }
	t.Logf("%d waiting: %.0f polls a second, worker %.1f %% of a core and %s resident, database %.1f %% of a core", jobs,
		float64(polls.Load()-before)/(minutes*60), percent(cpuOf(t, worker.Process.Pid)-cpu), residentOf(t, worker.Process.Pid), percent(cpuOfChildren(t, databasePID)-databaseCPU))
}

// cpuOf is the time that a process has spent, in user and system mode.
func cpuOf(t *testing.T, pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var ticks int
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		require.NoError(t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // of 100 Hz, as Linux tells everybody
}

// cpuOfChildren is the time that a process and its children have spent.
func cpuOfChildren(t *testing.T, pid int) (sum time.Duration) {
	if pid == 0 {
		return 0
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	require.NoError(t, err)
	sum = cpuOf(t, pid)
	for _, child := range strings.Fields(string(children)) {
		n, err := strconv.Atoi(child)
		require.NoError(t, err)
		sum += cpuOf(t, n)
	}
	return sum
}

func residentOf(t *testing.T, pid int) string {
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	defer status.Close()
	text, err := io.ReadAll(status)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes, err := strconv.Atoi(strings.Fields(line)[0])
	require.NoError(t, err)
	return fmt.Sprintf("%d MB", kilobytes/1000)
}

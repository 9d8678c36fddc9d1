package main

import (
	"bufio"
	"errors"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

// asProgram has the test binary be the program.
const asProgram = "MINTLIFY_MOCK_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	main()
}

// command returns the program as a process, with nothing else in its environment.
func command(t *testing.T, args ...string) (*exec.Cmd, *citest.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = []string{asProgram + "=1"}
	stderr := new(citest.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

// The lines on stdout are all that a shell needs to run a job on the fake.
func TestItsLinesPointAProgramToIt(t *testing.T) {
	cmd, stderr := command(t, "-addr", "127.0.0.1:0", "-job-time", "0s")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	lines := bufio.NewScanner(stdout)
	for _, name := range []string{"MINTLIFY_BASE_URL", "MINTLIFY_API_KEY", "MINTLIFY_PROJECT_ID"} {
		require.True(t, lines.Scan())
		value, found := strings.CutPrefix(lines.Text(), "export "+name+"=")
		require.True(t, found, lines.Text())
		t.Setenv(name, value)
	}

	pace := mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, time.Millisecond))
	client, err := mintlify.NewClientFromEnv(pace)
	require.NoError(t, err)
	job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
	require.NoError(t, err)
	job, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
	require.NoError(t, err)
	assert.NotEmpty(t, job.PRLink)
	assert.Contains(t, stderr.String(), `201: POST /v2/agent/test-project/job {"prompt":"Fix it"}`)

	addr := strings.TrimPrefix(os.Getenv("MINTLIFY_BASE_URL"), "http://")
	second, said := command(t, "-addr", addr)
	var exit *exec.ExitError
	require.ErrorAs(t, second.Run(), &exit)
	assert.Equal(t, 2, exit.ExitCode(), "the address is in use")
	assert.Contains(t, said.String(), "mintlify-mock: -addr: listen tcp "+addr)

	if runtime.GOOS == "windows" {
		t.Skip("no process can be sent an interrupt")
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	assert.False(t, lines.Scan(), "three lines")
	assert.NoError(t, cmd.Wait())
	assert.NotContains(t, stderr.String(), os.Getenv("MINTLIFY_API_KEY"))
}

func TestParseRefusesWhatCannotBeMeant(t *testing.T) {
	for says, args := range map[string][]string{
		"-addr is given and empty": {"-addr", ""},
		"-job-time is -1s":         {"-job-time", "-1s"},
		"-visitors is -1":          {"-visitors", "-1"},
		`unexpected argument "x"`:  {"x"},
		"flag provided but not":    {"-nope"},
	} {
		_, err := parse(args, t.Output())
		assert.ErrorContains(t, err, says)
		assert.True(t, usage.Is(err), says)
	}
}

func TestHelpAndVersionArePrinted(t *testing.T) {
	var help, version citest.Buffer
	_, err := parse([]string{"-h"}, &help)
	assert.ErrorIs(t, err, flag.ErrHelp)
	inOneLine := strings.Join(strings.Fields(help.String()), " ")
	for _, op := range operations.All() {
		assert.Contains(t, inOneLine, op.String(), "an operation for /_mock/fail")
	}
	assert.Contains(t, help.String(), `(default "127.0.0.1:8686")`)

	_, err = parse([]string{"--version"}, &version)
	assert.ErrorIs(t, err, flag.ErrHelp)
	assert.Regexp(t, `^mintlify-mock \S+, commit \S+\n$`, version.String())

	_, err = parse([]string{"-h"}, fullDisk{})
	assert.EqualError(t, err, "write to stdout: the disk is full")
	assert.False(t, usage.Is(err))
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestTheFakeIsAsTheFlagsSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := parse([]string{"-quotas", "-visitors", "7"}, t.Output())
		require.NoError(t, err)
		client := s.fake().Client(mintlify.WithMaxRetries(0))
		job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
		require.NoError(t, err)

		status := func() mintlify.JobStatus {
			job, err = client.Jobs.Get(t.Context(), job.ID)
			require.NoError(t, err)
			return job.Status
		}
		time.Sleep(20*time.Second - time.Nanosecond)
		assert.Equal(t, mintlify.JobActive, status())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, mintlify.JobCompleted, status())

		_, err = client.Automations.Trigger(t.Context(), "automation_1", mintlify.TriggerAutomationParams{})
		require.NoError(t, err)
		page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
		require.NoError(t, err)
		assert.Len(t, page.Visitors, 7)

		for range 99 {
			_, err = client.Jobs.Message(t.Context(), job.ID, mintlify.MessageParams{Prompt: "And that"})
			require.NoError(t, err)
		}
		_, err = client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "Fix it"})
		var refused *mintlify.APIError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	})
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// newService returns a fake that the program talks to as to the service.
func newService(t *testing.T) *mintlifytest.Service {
	t.Helper()
	svc := mintlifytest.NewService()
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = svc
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)
	t.Setenv("MINTLIFY_BASE_URL", "")
	return svc
}

// output runs the program in a bubble, where it waits for nothing, and interrupts it
// after a time, unless that is 0.
func output(t *testing.T, arguments task, interrupt time.Duration) ([]string, error) {
	t.Helper()
	out, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer out.Close()

	var runErr error
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		if interrupt > 0 {
			time.AfterFunc(interrupt, cancel)
		}
		runErr = run(ctx, out, arguments)
		cancel()
	})

	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n"), runErr
}

func TestWithoutAPromptItUsesTheFakeAndSaysSo(t *testing.T) {
	for _, key := range []string{"", mintlifytest.APIKey} {
		svc := newService(t)
		t.Setenv("MINTLIFY_API_KEY", key)

		lines, err := output(t, task{}, 0)
		require.NoError(t, err)
		assert.Empty(t, svc.Requests(), "whatever is in the environment")
		assert.Contains(t, lines[0], "using a fake")
		assert.Contains(t, lines[1], "fails on purpose")
		assert.Contains(t, lines[3], "Created job job_1")
		assert.Regexp(t, `active +waited 0s, next poll in \d+ms`, lines[4])
		assert.Contains(t, lines, "Done. Pull request: https://github.com/example/docs/pull/1")

		table := lines[len(lines)-12:]
		assert.Equal(t, []string{"human", "AI", "total", "page"}, strings.Fields(table[0]))
		assert.Contains(t, table[1], "all 600 pages")
		last := 1 << 30
		for _, line := range table[2:] {
			assert.Equal(t, strings.Index(table[0], "page"), strings.Index(line, "/guides/"), "aligned")
			var human, ai, total int
			var path string
			_, err := fmt.Sscan(line, &human, &ai, &total, &path)
			require.NoError(t, err)
			assert.Equal(t, human+ai, total)
			assert.LessOrEqual(t, total, last, "sorted")
			last = total
		}
	}
}

func TestWithAPromptItTalksToTheService(t *testing.T) {
	svc := newService(t)
	svc.ScriptJob(
		mintlifytest.JobStep{},
		mintlifytest.JobStep{Status: mintlify.JobCompleted},
		mintlifytest.JobStep{Status: mintlify.JobCompleted},
		mintlifytest.JobStep{},
		mintlifytest.JobStep{Status: mintlify.JobCompleted})

	lines, err := output(t, task{prompt: "Fix it", followUp: "And that"}, 0)
	require.NoError(t, err)
	assert.Equal(t, "Using the service, project test-project.", lines[0])
	assert.Contains(t, lines[1], `"quickstart-20000101-000000"`, "the marker, before anything is sent")
	assert.Equal(t, "Created job job_1: Fix it", lines[2])
	assert.Contains(t, lines, "Sent a follow-up: And that")
	assert.Contains(t, lines, "Done: there is no pull request "+
		"(nothing changed, or the project publishes without a review).")
	assert.Contains(t, lines[len(lines)-1], "all 0 pages")

	requests := svc.Requests()
	require.Len(t, requests, 8)
	prompt := "Fix it\n\nBegin the title of the pull request with \"quickstart-20000101-000000\"."
	assert.Equal(t, prompt, requests[0].Prompt)
	// The bubble's clock begins at midnight of 2000-01-01.
	assert.Equal(t, "1999-12-02", requests[7].Query.Get("dateFrom"))
	assert.Equal(t, "2000-01-01", requests[7].Query.Get("dateTo"))

	svc.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobFailed})
	lines, err = output(t, task{prompt: "Fix it"}, 0)
	require.ErrorIs(t, err, mintlify.ErrJobFailed)
	assert.NotContains(t, lines[len(lines)-1], "resume")

	t.Setenv("MINTLIFY_PROJECT_ID", "")
	_, err = output(t, task{prompt: "Fix it"}, 0)
	require.ErrorContains(t, err, "MINTLIFY_PROJECT_ID")
}

// sent counts the requests of op that the service acted on.
func sent(svc *mintlifytest.Service, op mintlify.Operation) int {
	n := 0
	for _, request := range svc.Requests() {
		if request.Operation == op && request.Acted {
			n++
		}
	}
	return n
}

func TestNoPromptIsSentThatIsNotAskedFor(t *testing.T) {
	svc := newService(t)
	_, err := output(t, task{prompt: "Fix it"}, 0)
	require.NoError(t, err)
	assert.Equal(t, 1, sent(svc, mintlify.OpCreateJob))
	assert.Zero(t, sent(svc, mintlify.OpSendMessage), "no follow-up")

	_, err = output(t, task{job: "job_1"}, 0)
	require.NoError(t, err)
	_, err = output(t, task{job: "job_1", followUp: "And that"}, 0)
	require.NoError(t, err)
	assert.Equal(t, 1, sent(svc, mintlify.OpCreateJob), "the job exists")
	assert.Equal(t, 1, sent(svc, mintlify.OpSendMessage))
}

// An interrupt comes at each quarter of a second of a run of some 17 seconds, in which
// each prompt takes the service 3 seconds.
func TestInterruptLosesNoJob(t *testing.T) {
	asked := task{prompt: "Fix it", followUp: "And that"}
	interrupted := 0
	completed := 0
	for moment := time.Nanosecond; completed < 3; moment += 250 * time.Millisecond {
		svc := newService(t)
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 429, Delay: time.Second})
		for _, op := range []mintlify.Operation{mintlify.OpCreateJob, mintlify.OpSendMessage} {
			svc.FailNext(op, 1, mintlifytest.Fault{Delay: 3 * time.Second})
		}

		lines, err := output(t, asked, moment)
		if err == nil {
			completed++
			continue
		}

		interrupted++
		require.LessOrEqual(t, len(svc.Jobs()), 1)
		last := lines[len(lines)-1]
		if len(svc.Jobs()) == 0 { // after a 429 nothing is sent again
			assert.Equal(t, "No job was created.", last, "at %v", moment)
			continue
		}
		require.ErrorIs(t, err, context.Canceled, "at %v", moment)
		for _, job := range svc.Jobs() {
			assert.Contains(t, lines, fmt.Sprintf("Created job %s: Fix it", job.ID), "at %v", moment)
			assert.Contains(t, last, "run this with -job "+job.ID, "at %v", moment)
		}
		followUpIsLeft := sent(svc, mintlify.OpSendMessage) == 0 && len(svc.Jobs()) == 1
		assert.Equal(t, followUpIsLeft, strings.Contains(last, "same -follow-up"), "at %v", moment)

		_, err = output(t, task{job: "job_1"}, 0) // as it says
		require.NoError(t, err)
		require.Len(t, svc.Jobs(), 1)
	}
	t.Logf("%d interrupts", interrupted)
	assert.Greater(t, interrupted, 50)
}

// A real process: without a key, then interrupted while the service deals with its prompt.
func TestSignalLosesNoJob(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "quickstart")
	build, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", build)

	withoutKey := exec.Command(binary, "-prompt", "Fix it")
	withoutKey.Env = []string{}
	require.ErrorContains(t, withoutKey.Run(), "exit status 2")

	command := exec.Command(binary, "-prompt", "Fix it")
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)

	svc := mintlifytest.NewService()
	arrived := make(chan struct{})
	interrupted := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		select {
		case <-interrupted:
			svc.ServeHTTP(w, r)
		case <-r.Context().Done(): // the program has ended
		}
	}))
	defer server.Close()

	command.Env = append(os.Environ(),
		"MINTLIFY_API_KEY="+mintlifytest.APIKey,
		"MINTLIFY_PROJECT_ID=test-project",
		"MINTLIFY_BASE_URL="+server.URL)
	require.NoError(t, command.Start())
	go func() {
		<-arrived
		assert.NoError(t, command.Process.Signal(os.Interrupt))
	}()

	var lines []string
	for output := bufio.NewScanner(stdout); output.Scan(); {
		lines = append(lines, output.Text())
		if strings.HasPrefix(output.Text(), "Interrupted") {
			close(interrupted)
		}
	}

	require.Error(t, command.Wait())
	require.Len(t, svc.Jobs(), 1)
	assert.Contains(t, lines, "Created job job_1: Fix it")
	assert.Equal(t, "Job job_1 exists. To resume, run this with -job job_1.", lines[len(lines)-1])
}

func TestInterruptOnTheFakeLeavesNothingToResume(t *testing.T) {
	lines, err := output(t, task{}, time.Second)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotContains(t, strings.Join(lines, "\n"), "-job")
}

func TestResumedWaitAllowsForAFollowUpJustSent(t *testing.T) {
	svc := newService(t)
	const pullRequest = "https://github.com/example/docs/pull/7"
	svc.AddJob("job_1",
		mintlifytest.JobStep{Status: mintlify.JobCompleted},
		mintlifytest.JobStep{},
		mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: pullRequest})
	lines, err := output(t, task{job: "job_1"}, 0)
	require.NoError(t, err)
	assert.Contains(t, lines, "Done. Pull request: "+pullRequest)

	svc.AddJob("job_2", mintlifytest.JobStep{Status: mintlify.JobCompleted})
	lines, err = output(t, task{job: "job_2"}, 0)
	require.NoError(t, err)
	assert.Regexp(t, `^  completed  waited 3\d(\.\d)?s$`, lines[2], "the last poll")
}

func TestInterruptBeforeASendSendsNothing(t *testing.T) {
	svc := newService(t)
	out, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer out.Close()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, run(ctx, out, task{prompt: "Fix it"}), context.Canceled)
	assert.Empty(t, svc.Requests())
}

func TestWhatToDoAfterALostResponse(t *testing.T) {
	svc := newService(t)
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 504, Acted: true})
	lines, err := output(t, task{prompt: "Fix it"}, 0)
	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	last := lines[len(lines)-1]
	assert.Contains(t, last, `begins with "quickstart-20000101-000000"`)
	assert.Contains(t, last, "Settings -> Organization -> Usage")

	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 403})
	lines, err = output(t, task{prompt: "Fix it"}, 0)
	require.ErrorIs(t, err, mintlify.ErrForbidden)
	assert.Equal(t, "No job was created.", lines[len(lines)-1])

	svc.FailNext(mintlify.OpSendMessage, 1, mintlifytest.Fault{Drop: true})
	lines, err = output(t, task{job: "job_1", followUp: "And that"}, 0)
	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	assert.Contains(t, lines[len(lines)-1], "without -follow-up")

	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 201, Body: `{"id":"job_77"}`})
	svc.AddJob("job_77")
	lines, err = output(t, task{prompt: "Fix it"}, 0)
	require.NoError(t, err, "the id is known")
	assert.Contains(t, lines, "Created job job_77: Fix it")
}

func TestAJobThatNobodyHasSeenIsNotSaidToExist(t *testing.T) {
	svc := newService(t)
	lines, err := output(t, task{job: "job_none", followUp: "And that"}, 0)
	require.ErrorIs(t, err, mintlify.ErrNotFound)
	last := lines[len(lines)-1]
	assert.Equal(t, "The project has no job job_none: check -job and MINTLIFY_PROJECT_ID.", last)

	svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Status: 403})
	for followUp, want := range map[string]string{
		"":         "To resume, run this with -job job_none.",
		"And that": "The follow-up was not sent. To resume, run this with -job job_none and the same -follow-up.",
	} {
		lines, err = output(t, task{job: "job_none", followUp: followUp}, 0)
		require.ErrorIs(t, err, mintlify.ErrForbidden)
		assert.Equal(t, want, lines[len(lines)-1])
	}

	svc.AddJob("job_1", mintlifytest.JobStep{}, mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 404}})
	lines, err = output(t, task{job: "job_1"}, 0)
	require.ErrorIs(t, err, mintlify.ErrNotFound)
	last = lines[len(lines)-1]
	assert.Equal(t, "Job job_1 was there before. To resume, run this with -job job_1.", last)
}

func TestProgressInALogIsShort(t *testing.T) {
	svc := newService(t)
	steps := make([]mintlifytest.JobStep, 85) // of a wait of 45 minutes or so
	steps[40].Fault = &mintlifytest.Fault{Status: 503}
	svc.AddJob("job_1", append(steps, mintlifytest.JobStep{Status: mintlify.JobCompleted})...)
	lines, err := output(t, task{job: "job_1"}, 0)
	require.NoError(t, err)

	shown := 0
	for _, line := range lines {
		if strings.Contains(line, "waited") {
			shown++
		}
	}

	t.Logf("%d lines for 86 polls", shown)
	assert.Less(t, shown, 50)
	assert.Contains(t, strings.Join(lines, "\n"), "poll failed")
	assert.Regexp(t, `\n  completed  waited \d+m`, strings.Join(lines, "\n"))
}

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want task
		says string
	}{
		"nothing": {
			args: nil,
			want: task{},
		},
		"prompt": {
			args: []string{"-prompt", "a", "-follow-up", "b"},
			want: task{prompt: "a", followUp: "b"},
		},
		"job": {
			args: []string{"-job", "a", "-follow-up", "b"},
			want: task{job: "a", followUp: "b"},
		},
		"empty prompt":           {args: []string{"-prompt", ""}, says: "-prompt is empty"},
		"empty follow-up":        {args: []string{"-prompt", "a", "-follow-up="}, says: "-follow-up is empty"},
		"blank follow-up":        {args: []string{"-prompt", "a", "-follow-up", " "}, says: "-follow-up is empty"},
		"follow-up alone":        {args: []string{"-follow-up", "a"}, says: "-follow-up needs"},
		"both":                   {args: []string{"-prompt", "a", "-job", "b"}, says: "exclude each other"},
		"prompt without quotes":  {args: []string{"-prompt", "fix", "it"}, says: `unexpected argument "it"`},
		"what is not documented": {args: []string{"-x"}, says: "-x"},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			got, limit, err := parse(tc.args, &stderr)
			if tc.says != "" {
				require.Error(t, err)
				assert.Contains(t, stderr.String(), tc.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, time.Hour, limit)
		})
	}
}

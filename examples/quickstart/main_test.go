package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestMain(m *testing.M) {
	if os.Getenv("RUN_QUICKSTART") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestACommandLineWithoutATaskCreatesNoJob(t *testing.T) {
	fake := mintlifytest.NewService()
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	t.Setenv("RUN_QUICKSTART", "1")
	t.Setenv("MINTLIFY_BASE_URL", server.URL)
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", "project")
	for want, args := range map[string][][]string{
		"-prompt is given and empty":    {{"-prompt", ""}, {"-prompt", "  "}, {"-prompt=", "-job", "job_1"}},
		"-job is given and empty":       {{"-job", ""}, {"-job", "", "-follow-up", "And that"}},
		"-follow-up is given and empty": {{"-job", "job_1", "-follow-up", ""}},
		"Give either -prompt or -job":   {{"-follow-up", "And that"}, {"-job", "job_1", "-prompt", "Fix it"}, {"Fix it"}},
	} {
		for _, args := range args {
			command := exec.Command(os.Args[0], args...)
			output, err := command.CombinedOutput()
			assert.EqualError(t, err, "exit status 2", "%q", args)
			assert.Contains(t, string(output), want, "%q", args)
		}
	}
	assert.Empty(t, fake.Requests())
}

func TestFromAPromptToAPullRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := mintlifytest.NewService()
		client := fake.Client(mintlifytest.WithRealSchedule())
		var out strings.Builder
		require.NoError(t, task{prompt: "Fix it", followUp: "And that"}.run(t.Context(), &out, client))

		requests := fake.Requests()
		assert.Len(t, fake.Jobs(), 1)
		// The bubble's clock begins at midnight of 2000-01-01.
		marked := "Fix it\n\nBegin the title of the pull request with \"quickstart-20000101-000000\"."
		assert.Equal(t, marked, requests[0].Prompt)
		assert.Contains(t, out.String(), "\nSending the follow-up: And that\n")
		assert.Contains(t, out.String(), "\nDone. Pull request: https://github.com/example/docs/pull/1\n")

		fake.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 504, Acted: true})
		err := task{prompt: "Fix it"}.run(t.Context(), &out, client)
		require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.ErrorContains(t, err, `whose title begins with "quickstart-2000`)
	})
}

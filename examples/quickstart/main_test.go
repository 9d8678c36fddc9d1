package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestFromAPromptToAPullRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := mintlifytest.NewService()
		fake.SetVisitors([]mintlify.Visitor{{Path: "/a", Total: 1}, {Path: "/b", Human: 7, AI: 2, Total: 9}})
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
		assert.Contains(t, out.String(), "  7   2      9  /b\n      0   0      1  /a\n", "sorted")
		assert.Equal(t, "1999-12-02", requests[len(requests)-1].Query.Get("dateFrom"))

		fake.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 504, Acted: true})
		err := task{prompt: "Fix it"}.run(t.Context(), &out, client)
		require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.ErrorContains(t, err, `whose title begins with "quickstart-2000`)
	})
}

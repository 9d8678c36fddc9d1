package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

func TestTableOfRequests(t *testing.T) {
	labels := map[string]bool{"": true}
	for _, q := range requests(settings{}) {
		assert.False(t, labels[q.label], "%s is there twice", q.label)
		labels[q.label] = true
	}

	texts := map[string]bool{}
	for _, q := range requests(settings{}) {
		assert.True(t, labels[q.after], q.after)
		assert.Equal(t, q.expects != "", q.judge != nil, q.label)
		assert.NotContains(t, q.expects, "|")
		assert.False(t, q.expects != "" && texts[q.expects], q.expects)
		texts[q.expects] = true
	}
}

// The rows about asking first go by the rule of package once itself.
func TestAStatusThatStopsPackageOnceDiffers(t *testing.T) {
	for status := 200; status < 600; status++ {
		if http.StatusText(status) == "" && status != 499 {
			continue
		}

		body := `{"id":"x","status":"completed"}`
		svc := mintlifytest.NewService()
		svc.FailNext(mintlify.OpGetJob, 9, mintlifytest.Fault{Status: status, Body: body})
		store, err := once.NewDir(t.TempDir())
		require.NoError(t, err)
		runner, err := once.New(svc.Client(), store)
		require.NoError(t, err)
		_, _, err = runner.Add(t.Context(), once.Task{Key: "docs-sdk-check@1", Prompt: "x"})
		require.NoError(t, err)
		_, _ = runner.Step(t.Context(), "docs-sdk-check@1") // what counts is what was sent

		sends := false
		for _, request := range svc.Requests() {
			sends = sends || request.Operation == mintlify.OpCreateJob
		}
		assert.Equal(t, sends, !stopsOnce(status), status)

		verdict := judgeUnknownJob(nil, &response{request: &request{label: preflightJob}, status: status, body: []byte(body)})
		assert.Equal(t, sends, verdict.result == asExpected, status)
	}
}

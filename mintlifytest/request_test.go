package mintlifytest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestRequestsAreKeptWithoutTheKey(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "do it"})
	require.NoError(t, err)
	_, err = client.Jobs.Get(t.Context(), "a/b")
	require.Error(t, err)
	assert.Equal(t, []mintlifytest.Request{
		{Operation: mintlify.OpCreateJob, Method: "POST", Path: "/v2/agent/test-project/job", Query: map[string][]string{}, ProjectID: "test-project",
			Prompt: "do it", Body: []byte(`{"prompt":"do it"}`), Acted: true},
		{Operation: mintlify.OpGetJob, Method: "GET", Path: "/v2/agent/test-project/job/a%2Fb", Query: map[string][]string{}, ProjectID: "test-project"},
	}, svc.Requests())
}

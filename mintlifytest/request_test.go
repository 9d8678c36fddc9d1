package mintlifytest_test

import (
	"net/url"
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

	created := mintlifytest.Request{
		Operation: mintlify.OpCreateJob,
		Method:    "POST",
		Path:      "/v2/agent/test-project/job",
		Query:     url.Values{},
		ProjectID: "test-project",
		Prompt:    "do it",
		Body:      []byte(`{"prompt":"do it"}`),
		Acted:     true,
	}
	got := mintlifytest.Request{
		Operation: mintlify.OpGetJob,
		Method:    "GET",
		Path:      "/v2/agent/test-project/job/a%2Fb",
		Query:     url.Values{},
		ProjectID: "test-project",
	}
	assert.Equal(t, []mintlifytest.Request{created, got}, svc.Requests())
}

package mintlify_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestNewClientFromEnv(t *testing.T) {
	set := func(t *testing.T, key, project, baseURL string) {
		t.Setenv("MINTLIFY_API_KEY", key)
		t.Setenv("MINTLIFY_PROJECT_ID", project)
		t.Setenv("MINTLIFY_BASE_URL", baseURL)
	}
	t.Run("all set", func(t *testing.T) {
		set(t, "mint_abc\n", "proj", "https://env.example.com/p")
		rt := newRecording(respondWith(200, jobJSON))
		hc := &http.Client{Transport: rt}
		client, err := mintlify.NewClientFromEnv(mintlify.WithHTTPClient(hc))
		require.NoError(t, err)
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "https://env.example.com/p/v2/agent/proj/job/job_1", rt.last().URL.String())
		assert.Equal(t, "Bearer mint_abc", rt.last().Header.Get("Authorization"))

		client, err = mintlify.NewClientFromEnv(mintlify.WithHTTPClient(hc), mintlify.WithBaseURL("https://opt.example.com"))
		require.NoError(t, err)
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "opt.example.com", rt.last().URL.Host, "an option wins over the environment")
	})
	for name, tc := range map[string]struct{ key, project, baseURL, refused string }{
		"no key":       {"", "proj", "", "MINTLIFY_API_KEY"},
		"bad key":      {"mint_us_secret", "proj", "", "MINTLIFY_API_KEY"},
		"no project":   {"mint_abc", "", "", "MINTLIFY_PROJECT_ID"},
		"swapped":      {"proj", "mint_secret", "", "MINTLIFY_PROJECT_ID"},
		"bad base URL": {"mint_abc", "proj", "http://api.example.com", "MINTLIFY_BASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			set(t, tc.key, tc.project, tc.baseURL)
			_, err := mintlify.NewClientFromEnv()
			requireArgumentError(t, err, tc.refused)
			assert.ErrorContains(t, err, tc.refused)
			assert.Equal(t, strings.HasPrefix(name, "no "), strings.HasSuffix(err.Error(), tc.refused+" is not set"))
			assert.NotContains(t, err.Error(), "secret")
		})
	}
	t.Run("key source instead of a key", func(t *testing.T) {
		set(t, "", "proj", "")
		_, err := mintlify.NewClientFromEnv(mintlify.WithKeySource(func(context.Context) (string, error) { return "mint_abc", nil }))
		require.NoError(t, err)
	})
}

func TestNewClientFromEnvNamesAllThatIsMissing(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", " ")
	t.Setenv("MINTLIFY_PROJECT_ID", "")
	_, err := mintlify.NewClientFromEnv()
	assert.EqualError(t, err, "mintlify: MINTLIFY_API_KEY, MINTLIFY_PROJECT_ID are not set")
	_, err = mintlify.NewClientFromEnv(mintlify.WithKeySource(func(context.Context) (string, error) { return testKey, nil }))
	assert.EqualError(t, err, "mintlify: MINTLIFY_PROJECT_ID is not set")
}

func TestForProjectSharesEverythingButTheProject(t *testing.T) {
	svc := mintlifytest.NewService()
	one := svc.Client()
	two, err := one.ForProject("a?b")
	require.NoError(t, err)
	job, err := create(t.Context(), two)
	require.NoError(t, err)

	_, err = two.Jobs.Get(t.Context(), job.ID)
	require.NoError(t, err)
	_, err = one.Jobs.Get(t.Context(), job.ID)
	require.ErrorIs(t, err, mintlify.ErrNotFound, "a job belongs to its project")
	assert.Equal(t, "/v2/agent/a%3Fb/job", svc.Requests()[0].Path)
	assert.Equal(t, "/v2/agent/test-project/job/job_1", svc.Requests()[2].Path)
}

func TestProjectIDAndForProject(t *testing.T) {
	client := mintlifytest.NewService().Client()
	assert.Equal(t, mintlifytest.ProjectID, client.ProjectID())
	other, err := client.ForProject(" other ")
	require.NoError(t, err)
	assert.Equal(t, "other", other.ProjectID())
}

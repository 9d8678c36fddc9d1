package main

import (
	"context"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// publish runs the program and returns what it wrote.
func publish(t *testing.T, cancelAfter time.Duration, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(dir + "/out")
	require.NoError(t, err)
	errs, err := os.Create(dir + "/err")
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if cancelAfter > 0 {
			time.AfterFunc(cancelAfter, cancel)
		}
		code = run(ctx, args, out, errs)
	})
	for file, text := range map[*os.File]*string{out: &stdout, errs: &stderr} {
		read, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		*text = string(read)
		file.Close()
	}
	return code, stdout, stderr
}

// service puts a fake where the program finds the service.
func service(t *testing.T) *mintlifytest.Service {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	svc := mintlifytest.NewService()
	http.DefaultTransport = svc
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)
	t.Setenv("MINTLIFY_BASE_URL", "")
	return svc
}

func TestWithoutAKeyItUsesTheFakeAndSaysSo(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", "")
	code, stdout, stderr := publish(t, 0)
	assert.Equal(t, 0, code)
	assert.Contains(t, stderr, "using a fake")
	assert.Contains(t, stderr, "poll failed")
	assert.Contains(t, stdout, "Queued deployment deployment_1\nDeployed main at ")
	assert.Contains(t, stdout, "\nM introduction.mdx\n")
}

func TestPreview(t *testing.T) {
	svc := service(t)
	code, stdout, _ := publish(t, 0, "-preview", "docs/flags")
	assert.Equal(t, 0, code)
	assert.Contains(t, stdout, "Preview: https://")
	assert.Contains(t, stdout, "Deployed docs/flags at ")
	assert.JSONEq(t, `{"branch":"docs/flags"}`, string(svc.Requests()[0].Body))
}

func TestFailureEndsWithOneAndTheLogs(t *testing.T) {
	svc := service(t)
	svc.ScriptDeployment(mintlifytest.DeploymentStep{}, mintlifytest.DeploymentStep{Status: mintlify.DeploymentFailed, Summary: "2 broken links", Logs: []string{"Building\n", "Broken: /a"}})
	code, stdout, stderr := publish(t, 0)
	assert.Equal(t, 1, code)
	assert.NotContains(t, stdout, "Deployed")
	assert.Contains(t, stderr, "deployment deployment_1 failed: 2 broken links\n  Building\n  Broken: /a\n")
}

func TestInterruptEndsTheWaitAndSaysHowToResume(t *testing.T) {
	svc := service(t)
	svc.ScriptDeployment(mintlifytest.DeploymentStep{})
	svc.FailNext(mintlify.OpTriggerUpdate, 1, mintlifytest.Fault{Delay: 10 * time.Second})
	for _, moment := range []time.Duration{time.Second, 10 * time.Second, 11 * time.Second, time.Hour} { // during the request too
		code, stdout, stderr := publish(t, moment, "-timeout", "2h")
		assert.Equal(t, 130, code)
		assert.Contains(t, stdout, "Queued deployment")
		assert.Contains(t, stderr, "wait for it with -id deployment_")
		svc.ScriptDeployment(mintlifytest.DeploymentStep{})
	}
	code, _, _ := publish(t, 0, "-id", "deployment_1", "-timeout", "1m")
	assert.Equal(t, 1, code, "a deployment that does not end in time")
}

func TestTriggerThatFails(t *testing.T) {
	svc := service(t)
	svc.FailNext(mintlify.OpTriggerUpdate, 1, mintlifytest.Fault{Status: 504, Acted: true})
	code, stdout, stderr := publish(t, 0)
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "504")
	assert.Contains(t, stderr, "triggering it again is safe")
}

func TestWrongUsage(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", "")
	for _, args := range [][]string{{"-preview", ""}, {"-preview", "b", "-id", "d"}, {"-timeout", "-1s"}, {"main"}, {"-branch", "b"}} {
		code, stdout, stderr := publish(t, 0, args...)
		assert.Equal(t, 2, code, args)
		assert.Empty(t, stdout)
		assert.NotEmpty(t, stderr)
	}
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", "")
	code, _, stderr := publish(t, 0)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "MINTLIFY_PROJECT_ID")
}

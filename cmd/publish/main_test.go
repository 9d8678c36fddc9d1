package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// world is what a run needs: an environment and a fake of the service, in a bubble.
type world struct {
	t       *testing.T
	dir     string
	env     map[string]string
	service *mintlifytest.Service
	// elapsed is how long the last run took.
	elapsed time.Duration
}

func newWorld(t *testing.T) *world {
	env := map[string]string{
		"GITHUB_ACTIONS":      "true",
		"MINTLIFY_API_KEY":    mintlifytest.APIKey,
		"MINTLIFY_PROJECT_ID": mintlifytest.ProjectID,
	}
	return &world{t: t, dir: t.TempDir(), env: env, service: mintlifytest.NewService()}
}

func (w *world) connect(opts ...mintlify.Option) (*mintlify.Client, error) {
	if w.env["MINTLIFY_API_KEY"] == "" {
		return mintlify.NewClient("", "")
	}
	return w.service.Client(append(opts, mintlifytest.WithRealSchedule())...), nil
}

func (w *world) step(env map[string]string, stdout, stderr io.Writer) *ci.Step {
	return &ci.Step{
		Name:    "publish",
		Dir:     w.dir,
		Getenv:  func(name string) string { return env[name] },
		Stdout:  stdout,
		Stderr:  stderr,
		Connect: w.connect,
	}
}

// run runs the program in a bubble, and interrupts it after a time unless that is 0; a
// negative time has passed.
func (w *world) run(interrupt time.Duration, args ...string) (r citest.Ran) {
	w.t.Helper()
	synctest.Test(w.t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		switch {
		case interrupt > 0:
			time.AfterFunc(interrupt, cancel)
		case interrupt < 0:
			cancel()
		}

		start := time.Now()
		secrets := []string{mintlifytest.APIKey}
		r = citest.Run(w.t, w.env, secrets, func(env map[string]string, stdout, stderr io.Writer) int {
			return run(ctx, w.step(env, stdout, stderr), args)
		})
		w.elapsed = time.Since(start)
	})
	return r
}

func TestAPreviewShowsItsLinkInTheReport(t *testing.T) {
	w := newWorld(t)
	r := w.run(0, "-preview", "docs/flags")
	require.Zero(t, r.Code, r.Log)
	url := "https://test-project-preview-1.example.com"
	outputs := map[string]string{"deployment-id": "deployment_1", "preview-url": url, "status": "success"}
	assert.Equal(t, outputs, r.Outputs)
	assert.Equal(t, url+"\n", r.Stdout)
	assert.Contains(t, r.Summary, "Preview: <"+url+">")
	assert.Contains(t, r.Log, "::notice title=publish::Deployed docs/flags at ")
	assert.Contains(t, r.Log, "0 added, 1 modified, 0 removed")
	assert.JSONEq(t, `{"branch":"docs/flags"}`, string(w.service.Requests()[0].Body))

	r = w.run(0)
	require.Zero(t, r.Code)
	outputs = map[string]string{"deployment-id": "deployment_2", "preview-url": "", "status": "success"}
	assert.Equal(t, outputs, r.Outputs)
	assert.Empty(t, r.Stdout)
}

func TestASkippedDeploymentIsNoFailureAndNoSuccess(t *testing.T) {
	w := newWorld(t)
	w.service.ScriptDeployment(mintlifytest.DeploymentStep{},
		mintlifytest.DeploymentStep{Status: mintlify.DeploymentSkipped, Summary: "No changes in docs/"})
	r := w.run(0, "-preview", "b")
	require.Zero(t, r.Code, r.Log)
	assert.Equal(t, "skipped", r.Outputs["status"])
	assert.Contains(t, r.Log, "::notice title=publish::The service skipped this deployment, and deployed nothing. No changes in docs/ [")
	assert.Empty(t, r.Stdout, "the preview has not changed")
	assert.Empty(t, r.Outputs["preview-url"])
	assert.Contains(t, r.Summary, "### publish: skipped\n")
}

func TestOnGitLab(t *testing.T) {
	w := newWorld(t)
	w.env["GITHUB_ACTIONS"], w.env["GITLAB_CI"] = "", "true"
	r := w.run(0, "-preview", "b")
	require.Zero(t, r.Code, r.Log)
	assert.Equal(t, "PUBLISH_DEPLOYMENT_ID=deployment_1\n"+
		"PUBLISH_PREVIEW_URL=https://test-project-preview-1.example.com\n"+
		"PUBLISH_STATUS=success\n", citest.Read(t, filepath.Join(w.dir, "publish.env")))
	assert.NotContains(t, r.Log, "::")
}

// How each kind of run ends, and what -soft changes.
func TestExitCodes(t *testing.T) {
	failed := mintlifytest.DeploymentStep{
		Status:  mintlify.DeploymentFailed,
		Summary: "2 broken links",
		Logs:    []string{"Building\n", "Broken: /a"},
	}
	deploying := func(then ...mintlifytest.DeploymentStep) []mintlifytest.DeploymentStep {
		return append([]mintlifytest.DeploymentStep{{}}, then...)
	}
	const waitForIt = "Wait for it with -id deployment_1"
	soon := []string{"-timeout", "5m"}
	refused := mintlifytest.Fault{Status: 400, Body: `{"error":"no such branch"}`}
	down := mintlifytest.DeploymentStep{Fault: &mintlifytest.Fault{Status: 503}}
	revoked := mintlifytest.DeploymentStep{Fault: &mintlifytest.Fault{Status: 401}}
	for name, tc := range map[string]struct {
		trigger mintlifytest.Fault
		steps   []mintlifytest.DeploymentStep
		args    []string
		code    int
		status  string
		says    string
	}{
		"failed":      {steps: deploying(failed), code: 1, status: "failure", says: "2 broken links [deployment "},
		"key refused": {trigger: mintlifytest.Fault{Status: 401}, code: 2, status: "set-up", says: "401"},
		"unpaid":      {trigger: mintlifytest.Fault{Status: 402}, code: 5, status: "not-started", says: "402"},
		"plan":        {trigger: mintlifytest.Fault{Status: 403}, code: 2, status: "set-up", says: "403"},
		"no such id":  {args: []string{"-id", "nowhere"}, code: 2, status: "set-up", says: "404"},
		"key revoked": {
			steps: deploying(revoked),
			code:  2, status: "set-up",
			says: "The deployment was last seen as in_progress: once this is fixed, wait for it with -id deployment_1",
		},
		"key revoked before a poll": {
			steps: []mintlifytest.DeploymentStep{revoked},
			code:  2, status: "set-up",
			says: "The deployment was triggered: once this is fixed, wait for it with -id deployment_1",
		},
		"lost": {
			trigger: mintlifytest.Fault{Status: 504, Acted: true},
			code:    3, status: "unknown", says: "Look in the dashboard whether the site is being deployed before",
		},
		"timeout": {steps: deploying(), args: soon, code: 4, status: "in_progress", says: waitForIt},
		"outage":  {steps: []mintlifytest.DeploymentStep{down}, code: 4, status: "running", says: waitForIt},
		"refused": {trigger: refused, code: 5, status: "not-started", says: "no such branch"},
		"no connection": {
			trigger: mintlifytest.Fault{Refuse: true}, args: soon,
			code: 5, status: "not-started", says: "refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, soft := range []bool{false, true} {
				w := newWorld(t)
				if tc.trigger.Status != 0 || tc.trigger.Refuse {
					w.service.FailNext(mintlify.OpTriggerUpdate, 100, tc.trigger)
				}
				if tc.steps != nil {
					w.service.ScriptDeployment(tc.steps...)
				}

				kind := "error"
				code := tc.code
				args := tc.args
				if soft {
					args = append([]string{"-soft"}, args...)
					if tc.code != 2 {
						kind = "warning"
						code = 0
					}
				}

				r := w.run(0, args...)
				assert.Equal(t, code, r.Code, r.Log)
				assert.Equal(t, tc.status, r.Outputs["status"])
				assert.Contains(t, r.Log, "::"+kind+" title=publish::")
				assert.Contains(t, r.Log, tc.says)
				assert.Contains(t, r.Summary, tc.says, "the reason")
				assert.NotContains(t, r.Log+r.Summary, "again is safe", "several updates may hang a project")
				assert.Empty(t, r.Stdout, "nothing that looks like success")
				if tc.code == 1 {
					assert.Contains(t, r.Log, "\n  Building\n  Broken: /a\n")
					assert.Contains(t, r.Summary, "<details>", "folded")
					assert.Contains(t, r.Summary, "\n    Building\n    Broken: /a\n")
				}
			}
		})
	}
}

func TestAFailedPreviewHasNeitherALinkNorEmptyLogs(t *testing.T) {
	w := newWorld(t)
	w.service.ScriptDeployment(mintlifytest.DeploymentStep{Status: mintlify.DeploymentFailed, Summary: "2 broken links"})
	r := w.run(0, "-preview", "b")
	assert.Equal(t, 1, r.Code, r.Log)
	assert.Contains(t, r.Summary, "2 broken links")
	assert.NotContains(t, r.Summary, "https://", "nobody has deployed it")
	assert.Empty(t, r.Outputs["preview-url"])
	assert.Contains(t, r.Summary, "### publish: failed\n")
	assert.NotContains(t, r.Log+r.Summary, "The deployment's logs")
}

// limit has the service refuse the next n triggers of a preview for want of quota. The SDK makes
// four attempts each time that the program triggers one.
func (w *world) limit(n int, retryAfter string) {
	header := http.Header{}
	if retryAfter != "" {
		header.Set("Retry-After", retryAfter)
	}
	w.service.FailNext(mintlify.OpTriggerPreview, n, mintlifytest.Fault{Status: 429, Header: header})
}

// triggers counts the requests that trigger a preview.
func (w *world) triggers() int {
	n := 0
	for _, r := range w.service.Requests() {
		if r.Operation == mintlify.OpTriggerPreview {
			n++
		}
	}
	return n
}

func TestAFullQuotaIsWaitedFor(t *testing.T) {
	for _, retryAfter := range []string{"", "600"} {
		w := newWorld(t)
		w.limit(9, retryAfter)
		r := w.run(0, "-preview", "b", "-timeout", "4h")
		assert.Zero(t, r.Code, r.Log)
		assert.Equal(t, "success", r.Outputs["status"])
		assert.Contains(t, r.Log, "The quota is full, and nothing was triggered: trying again in ")
		assert.Equal(t, 10, w.triggers())
		assert.Len(t, w.service.Deployments(), 1)
	}
}

// Nothing was sent, so nothing was triggered.
func TestAConnectionIsWaitedFor(t *testing.T) {
	for _, args := range [][]string{nil, {"-preview", "b"}} {
		w := newWorld(t)
		for _, op := range []mintlify.Operation{mintlify.OpTriggerPreview, mintlify.OpTriggerUpdate} {
			w.service.FailNext(op, 40, mintlifytest.Fault{Refuse: true})
		}
		r := w.run(0, args...)
		assert.Zero(t, r.Code, r.Log)
		assert.Contains(t, r.Log, "Nothing was triggered (")
		assert.Greater(t, w.elapsed, 4*time.Minute)
		assert.Len(t, w.service.Deployments(), 1)
	}
}

func TestABranchIsNamedAsGitHubNamesIt(t *testing.T) {
	for _, name := range []string{"topic", "refs/heads/topic", "topic\r\n"} {
		w := newWorld(t)
		require.Zero(t, w.run(0, "-preview", name).Code)
		assert.JSONEq(t, `{"branch":"topic"}`, string(w.service.Requests()[0].Body))
	}
}

// A second preview of a branch replaces the first, and a second update may hang the project.
func TestAPreviewWhoseResponseIsLostIsTriggeredAgain(t *testing.T) {
	for _, fault := range []mintlifytest.Fault{{Drop: true}, {Status: 503}, {Status: 504, Acted: true}} {
		for lost, code := range map[int]int{2: 0, 3: 3} {
			w := newWorld(t)
			w.service.FailNext(mintlify.OpTriggerPreview, lost, fault)
			r := w.run(0, "-preview", "b")
			assert.Equal(t, code, r.Code, r.Log)
			assert.Equal(t, 2, strings.Count(r.Log, "The response was lost ("), r.Log)
			assert.Equal(t, 3, w.triggers(), "an organization has five a minute")

			w = newWorld(t)
			w.service.FailNext(mintlify.OpTriggerUpdate, lost, fault)
			assert.Equal(t, 3, w.run(0).Code, "an update is not")
			assert.Len(t, w.service.Requests(), 1)
		}
	}
}

// Five previews a minute are for all projects of an organization.
func TestFortyPreviewsAtOnceAreAllMade(t *testing.T) {
	w := newWorld(t)
	w.service.EnforceQuotas()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		defer func() { t.Logf("the last was deployed after %v", time.Since(start)) }()
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				var log citest.Buffer
				step := w.step(nil, &log, &log)
				assert.Zero(t, run(t.Context(), step, []string{"-preview", fmt.Sprint("branch-", i)}), log.String())
			})
		}
		all.Wait()
	})
	assert.Len(t, w.service.Deployments(), 40)
}

func TestAWaitForTheQuotaThatWouldOutlastTheTimeoutIsNotBegun(t *testing.T) {
	w := newWorld(t)
	w.limit(1000, "3000")
	r := w.run(0, "-preview", "b", "-timeout", "30m")
	assert.Equal(t, 5, r.Code, r.Log)
	assert.Equal(t, "not-started", r.Outputs["status"])
	assert.Contains(t, r.Log, "429")
	assert.Less(t, w.elapsed, time.Minute)
}

func TestASignalEndsTheWaitForTheQuota(t *testing.T) {
	w := newWorld(t)
	w.limit(1000, "600")
	r := w.run(2*time.Minute, "-preview", "b", "-timeout", "2h")
	assert.Equal(t, 5, r.Code, r.Log)
	assert.Equal(t, "not-started", r.Outputs["status"])
	assert.Contains(t, r.Log, "429", "why it waited")
	assert.Equal(t, 2*time.Minute, w.elapsed)
	assert.Empty(t, w.service.Deployments())
}

func TestInterruptLosesNoDeployment(t *testing.T) {
	w := newWorld(t)
	duringRequest := time.Second
	for _, moment := range []time.Duration{duringRequest, 10 * time.Second, 11 * time.Second, time.Hour} {
		w.service.FailNext(mintlify.OpTriggerUpdate, 1, mintlifytest.Fault{Delay: 10 * time.Second})
		w.service.ScriptDeployment(mintlifytest.DeploymentStep{})
		r := w.run(moment, "-timeout", "2h")
		assert.Equal(t, 4, r.Code, r.Log)
		assert.Contains(t, r.Log, "Wait for it with -id "+r.Outputs["deployment-id"])
		assert.Contains(t, r.Outputs["deployment-id"], "deployment_")
	}
	w.service.AddDeployment("mine", mintlifytest.DeploymentStep{Status: mintlify.DeploymentSucceeded})
	assert.Zero(t, w.run(0, "-id", "mine").Code)
	assert.Len(t, w.service.Deployments(), 5)

	before := len(w.service.Requests())
	r := w.run(-1)
	assert.Equal(t, 5, r.Code)
	assert.Equal(t, before, len(w.service.Requests()), "nothing is triggered after a signal")
}

func TestWithoutAKeyNothingLooksLikeSuccess(t *testing.T) {
	w := newWorld(t)
	w.env["MINTLIFY_API_KEY"] = ""
	for _, args := range [][]string{nil, {"-soft"}, {"-preview", "b"}} {
		r := w.run(0, args...)
		assert.Equal(t, 2, r.Code)
		assert.Empty(t, r.Stdout)
		assert.Equal(t, "set-up", r.Outputs["status"])
		assert.NotContains(t, r.Log, "Deployed")
	}
	r := w.run(0, "-demo", "-preview", "b")
	assert.Zero(t, r.Code, r.Log)
	assert.Contains(t, r.Log, "Nothing is deployed")
	assert.Contains(t, r.Log, "a poll failed")
	w.env["GITHUB_ACTIONS"] = ""
	assert.Contains(t, w.run(0, "-demo", "-preview", "b").Log, "\ndeployment-id = deployment_1\n"+
		"preview-url = https://test-project-preview-1.example.com\nstatus = success\n")
	assert.Empty(t, w.service.Requests(), "the demo has a fake of its own")
}

func TestWrongUsage(t *testing.T) {
	for says, args := range map[string][]string{
		"-id is given and empty":      {"-id", " "},
		"-preview is given and empty": {"-preview", ""},
		"exclude each other":          {"-preview", "b", "-id", "d"},
	} {
		w := newWorld(t)
		r := w.run(0, args...)
		assert.Equal(t, 2, r.Code, args)
		assert.Contains(t, r.Log, says)
		assert.Empty(t, w.service.Requests())
	}
	w := newWorld(t)
	w.env = map[string]string{}
	r := w.run(0, "-h")
	assert.Zero(t, r.Code)
	assert.Contains(t, r.Stdout, "-preview branch")
	assert.Empty(t, r.Log)
	r = w.run(0, "--version")
	assert.Zero(t, r.Code)
	assert.Regexp(t, `^publish \S+, commit \S+\n$`, r.Stdout)
}

func TestWhatABuildPrintsStaysText(t *testing.T) {
	const hostile = "::error::boo\r::add-mask::x\n  ::warning::y\n##[add-mask]main" +
		"\x1b[31mred\x1b]0;title\a\u202e" + mintlifytest.APIKey
	w := newWorld(t)
	w.service.ScriptDeployment(
		mintlifytest.DeploymentStep{Status: "in\n::error::x"},
		mintlifytest.DeploymentStep{Fault: &mintlifytest.Fault{Status: 500, Body: hostile}},
		mintlifytest.DeploymentStep{
			Status:  mintlify.DeploymentFailed,
			Summary: hostile,
			Logs:    strings.Split(hostile, "main"),
		},
	)
	body := `{"statusId":"deployment_1","previewUrl":"https://example.com/a\r\n::error::<b>b"}`
	w.service.FailNext(mintlify.OpTriggerPreview, 1, mintlifytest.Fault{Body: body})
	r := w.run(0, "-preview", "b") // which checks what is printed
	assert.Equal(t, 1, r.Code, r.Log)
	assert.Len(t, r.Outputs, 3)
	assert.Empty(t, r.Outputs["preview-url"], "nobody has deployed it")
	assert.Contains(t, r.Log, "Queued deployment deployment_1 https://example.com/")
	assert.NotContains(t, r.Summary, "<b>")
	for line := range strings.Lines(r.Summary) {
		if strings.Contains(line, "boo") {
			assert.Regexp(t, "^    ", line, "a block of code")
		}
	}
}

// A response that was lost before the quota was full may have triggered a deployment.
func TestAQuotaAfterALostResponseIsUnknown(t *testing.T) {
	w := newWorld(t)
	w.service.FailNext(mintlify.OpTriggerPreview, 1, mintlifytest.Fault{Status: 504, Acted: true})
	w.service.FailNext(mintlify.OpTriggerPreview, 1000, mintlifytest.Fault{Status: 429})
	r := w.run(0, "-preview", "b", "-timeout", "3m")
	assert.Equal(t, 3, r.Code, r.Log)
}

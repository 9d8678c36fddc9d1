package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// everything is each flag that writes.
var everything = []string{
	"-yes", "-scope", "-job", "-message", "-preview", "planted-branch", "-update", "-second-update",
}

func TestEachRowIsAsExpectedOrNotTriedAgainstTheFake(t *testing.T) {
	withJob := newService()
	withJob.AddJob("planted-job", mintlifytest.JobStep{Status: mintlify.JobArchived})
	for name, s := range map[string]session{
		"reading":             {service: newService()},
		"a fake without data": {service: mintlifytest.NewService()},
		"a known job":         {service: withJob, args: []string{"-job-id", "planted-job"}},
		"an update":           {service: newService(), args: []string{"-yes", "-update"}},
		"everything":          {service: newService(), args: everything},
	} {
		t.Run(name, func(t *testing.T) {
			setVariable(t, "MINTLIFY_READ_ONLY_KEY", "mint_planted_reader")
			got := s.withScopes().run(t)
			assert.Equal(t, exitAsExpected, got.code, got.stderr)
			assert.Empty(t, differing(t, got.report), got.report)
			assert.NotContains(t, got.report, "planted")
			for _, row := range rowsOf(t, got.report) {
				if row.result == string(notTried) {
					assert.NotEmpty(t, row.came, row.expectation)
					assert.NotContains(t, row.came, notReached, row.expectation)
				}
				assert.Empty(t, row.depends, row.expectation)
			}
		})
	}
}

// The fake has no key with the read scope alone: it knows one key.
func (s session) withScopes() session {
	inner := s.service
	s.service = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer mint_planted_reader" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"error":"planted words"}`))
			return
		}
		inner.ServeHTTP(w, r)
	})
	return s
}

func TestEverythingThatCanBeTriedIsTried(t *testing.T) {
	setVariable(t, "MINTLIFY_READ_ONLY_KEY", "mint_planted_reader")
	svc := newService()
	got := session{service: svc, args: everything}.withScopes().run(t)
	require.Equal(t, exitAsExpected, got.code, got.report)

	var untried []string
	for _, row := range rowsOf(t, got.report) {
		if row.result == string(notTried) {
			untried = append(untried, row.came)
		}
	}
	assert.ElementsMatch(t, []string{
		"needs an organization with such a plan", "no 429 came", "the list: 404 with JSON",
		"needs GITHUB_TOKEN, or a person at a terminal", "needs hours", "needs days", "no endpoint lists their ids",
		"a run costs credits, and needs an automation", "a run costs credits, and needs an automation",
	}, untried)

	// Each operation but the automation was called through the SDK.
	called := map[mintlify.Operation]bool{}
	for _, request := range svc.Requests() {
		called[request.Operation] = request.Acted || called[request.Operation]
	}
	for _, op := range operations.All() {
		assert.Equal(t, op.Name != mintlify.OpTriggerAutomation, called[op.Name], op)
	}
}

func TestWithoutAFlagItSendsUpTo25GetsAndSaysSoFirst(t *testing.T) {
	for name, handler := range map[string]func(*mintlifytest.Service) http.Handler{
		"the fake": func(svc *mintlifytest.Service) http.Handler { return svc },
		"a list with sessions": func(svc *mintlifytest.Service) http.Handler {
			return withOldList(svc, `{"allSessions":[{"sessionId":"planted-session"}]}`)
		},
		"redirects within the origin": func(svc *mintlifytest.Service) http.Handler { return redirectingOnce(svc) },
	} {
		t.Run(name, func(t *testing.T) {
			svc := newService()
			requests := 0
			counting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				assert.Equal(t, http.MethodGet, r.Method)
				handler(svc).ServeHTTP(w, r)
			})
			got := session{service: counting}.run(t)
			assert.LessOrEqual(t, requests, 25)
			assert.Greater(t, requests, 20)
			assert.True(t, strings.HasPrefix(got.stderr, "Up to 25 requests"), got.stderr)
		})
	}
}

// withOldList serves the list of version 1, which the fake does not have.
func withOldList(svc http.Handler, body string) http.Handler {
	return deviation{on: "/v1/agent/", alter: answering(body)}.handler(svc)
}

// redirectingOnce redirects every second request within its origin, but not the first one.
func redirectingOnce(svc http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/views") && !r.URL.Query().Has("redirected") {
			query := r.URL.Query()
			query.Set("redirected", "1")
			http.Redirect(w, r, r.URL.Path+"?"+query.Encode(), http.StatusFound)
			return
		}
		svc.ServeHTTP(w, r)
	})
}

func TestAForeignResponderIsOneRowAndEndsTheRun(t *testing.T) {
	for name, test := range map[string]struct {
		respond http.HandlerFunc
		came    string
	}{
		"a login page": {
			respond: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("<!doctype html><title>planted login</title>"))
			},
			came: "200 with HTML instead of JSON",
		},
		"a redirect to a login page of its own": {
			respond: func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/planted-login" {
					http.Redirect(w, r, "/planted-login", http.StatusFound)
				}
			},
			came: "a redirect (302)",
		},
		"a redirect to another origin": {
			respond: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://planted.example.com/", http.StatusMovedPermanently)
			},
			came: "a redirect (301)",
		},
		"Cloudflare's block": {
			respond: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte("error code: 1010"))
			},
			came: "Cloudflare's block (403 with text)",
		},
		"Cloudflare's challenge": {
			respond: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Cf-Ray", "planted-ray")
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte("<!doctype html><title>Just a moment...</title>"))
			},
			came: "Cloudflare's block (403 with HTML)",
		},
		"a gateway without a service": {
			respond: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
			came:    "502 with no body instead of JSON",
		},
	} {
		t.Run(name, func(t *testing.T) {
			writes := []string{"-yes", "-job", "-update"}
			got := session{service: readOnly(t, test.respond), args: writes}.run(t)
			assert.Equal(t, exitDiffers, got.code, got.stderr)
			assert.Equal(t, []expectation{expectService}, differing(t, got.report))
			assert.Equal(t, test.came, find(t, got.report, expectService).came)
			assert.Contains(t, got.report, "**0 as expected, 1 differ")
			assert.NotContains(t, got.report, "planted")
		})
	}
}

// readOnly fails the test if a request other than a GET comes.
func readOnly(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http.MethodGet, r.Method)
		next.ServeHTTP(w, r)
	})
}

func TestA429WithoutJSONIsTheServicesOwn(t *testing.T) {
	service := deviation{on: "/visitors", alter: func(_ *http.Request, r *reply) {
		r.status, r.body = http.StatusTooManyRequests, []byte("slow down")
		r.header.Set("Retry-After", "600")
	}}.handler(newService())
	got := session{service: service}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
	assert.Equal(t, string(asExpected), find(t, got.report, expectService).result)
	assert.Equal(t, string(asExpected), find(t, got.report, expectNoDeployment).result)
}

func TestTheRecorderLetsNothingPassThatWasNotAnnounced(t *testing.T) {
	sent := 0
	counting := func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, nil
	}
	r := &recorder{next: roundTripper(counting), left: 2}
	send := func(method string) error {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://example.com", nil)
		require.NoError(t, err)
		_, err = r.RoundTrip(request)
		return err
	}

	require.ErrorIs(t, send(http.MethodPost), errReadOnly)
	require.NoError(t, send(http.MethodGet))
	require.NoError(t, send(http.MethodGet))
	require.ErrorIs(t, send(http.MethodGet), errBudget)
	assert.Equal(t, 2, sent)

	r.allowWrites()
	require.NoError(t, send(http.MethodPost))
	require.NoError(t, send(http.MethodGet))
	assert.Equal(t, 4, sent)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNothingIsWrittenUnlessAPersonOrYesConfirmsIt(t *testing.T) {
	flags := everything[1:]
	declined := strings.Repeat("n\n", 3) + strings.Repeat("\n", 3)
	for name, s := range map[string]session{
		"stdin is not a terminal":       {},
		"stdin is a pipe with a yes":    {piped: strings.Repeat("y\n", 20)},
		"a person says no":              {typed: declined},
		"a person types something else": {typed: "yep\nsure\n1\nno\nyes please\nY y\n"},
		"a person ends the input":       {typed: "n"},
	} {
		t.Run(name, func(t *testing.T) {
			setVariable(t, "MINTLIFY_READ_ONLY_KEY", "mint_planted_reader")
			svc := newService()
			s.service = readOnly(t, svc)
			s.args = flags
			got := s.run(t)
			assert.Equal(t, exitAsExpected, got.code, got.stderr)
			assert.Empty(t, svc.Jobs())
			assert.Empty(t, svc.Deployments())
			assert.Contains(t, find(t, got.report, expectFirstStatus).came, "-job was not confirmed")
			assert.Contains(t, find(t, got.report, expectSecondUpdate).came, "-second-update was not confirmed")
			assert.Contains(t, got.report, "Asked: reading.")
		})
	}
}

func TestOnlyWhatIsConfirmedIsWritten(t *testing.T) {
	svc := newService()
	got := session{service: svc, args: []string{"-job", "-update", "-second-update"}, typed: "n\ny\nn\n"}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.stderr)
	assert.Empty(t, svc.Jobs())
	assert.Len(t, svc.Deployments(), 1)
	assert.Contains(t, got.stderr, "112 credits")
	assert.Contains(t, got.stderr, "queue may then stand still")
	assert.Contains(t, got.report, "Asked: reading, -update.")
}

func TestWithYesItStillSaysWhatItDoes(t *testing.T) {
	got := session{service: newService(), args: []string{"-yes", "-job", "-second-update"}}.run(t)
	assert.Contains(t, got.stderr, "112 credits")
	assert.Contains(t, got.stderr, "queue may then stand still")
}

func TestASecondUpdateNeedsTheFirst(t *testing.T) {
	svc := newService()
	session{service: svc, args: []string{"-second-update"}, typed: "n\ny\n"}.run(t)
	assert.Empty(t, svc.Deployments())
}

func TestSetUpErrors(t *testing.T) {
	for name, test := range map[string]struct {
		key, project, says string
		args               []string
		respond            func(svc http.Handler) http.Handler
	}{
		"neither":           {says: "MINTLIFY_API_KEY, MINTLIFY_PROJECT_ID are not set"},
		"no key":            {project: "p", says: "MINTLIFY_API_KEY is not set"},
		"no project":        {project: "", key: mintlifytest.APIKey, says: "MINTLIFY_PROJECT_ID is not set"},
		"a wrong key":       {key: "mint_planted_wrong", project: "p", says: "does not accept the key in MINTLIFY_API_KEY"},
		"assistant key":     {key: "mint_dsc_planted", project: "p", says: "is an assistant key"},
		"index key":         {key: "mint_us_planted", project: "p", says: "is an index key"},
		"swapped":           {key: "p", project: "mint_planted", says: "the key and the project id are swapped"},
		"a wrong flag":      {key: "k", project: "p", args: []string{"-bogus"}, says: "-bogus"},
		"an argument":       {key: "k", project: "p", args: []string{"bogus"}, says: "only flags"},
		"no job to message": {key: "k", project: "p", args: []string{"-message"}, says: "-message needs -job"},
		"no second key":     {key: "k", project: "p", args: []string{"-scope"}, says: "MINTLIFY_READ_ONLY_KEY"},
		"a key that may not read": {
			key: mintlifytest.APIKey, project: "p", says: "403",
			respond: func(svc http.Handler) http.Handler {
				return deviation{on: "/", alter: failing(http.StatusForbidden)}.handler(svc)
			},
		},
		"another organization's project": {
			key: mintlifytest.APIKey, project: "p", says: "MINTLIFY_PROJECT_ID is wrong",
			respond: func(svc http.Handler) http.Handler {
				return deviation{on: "/", alter: failing(http.StatusNotFound)}.handler(svc)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			setVariable(t, "MINTLIFY_API_KEY", test.key)
			setVariable(t, "MINTLIFY_PROJECT_ID", test.project)
			svc := http.Handler(newService())
			if test.respond != nil {
				svc = test.respond(svc)
			}
			got := session{service: readOnly(t, svc), args: test.args}.run(t)
			assert.Equal(t, exitSetUp, got.code)
			assert.Empty(t, got.report)
			assert.Contains(t, got.stderr, test.says)
			assert.NotContains(t, got.stderr, "planted")
		})
	}
}

func TestAServiceThatIsNotThereIsASetUpError(t *testing.T) {
	t.Chdir("..")
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", mintlifytest.ProjectID)
	t.Setenv("MINTLIFY_BASE_URL", "http://127.0.0.1:1")
	var out, log strings.Builder
	code := run(t.Context(), terminal{in: strings.NewReader(""), out: &out, err: &log}, timing{}, nil)
	assert.Equal(t, exitSetUp, code)
	assert.Empty(t, out.String())
	assert.Contains(t, log.String(), "no response")
}

func TestAnInterruptEndsTheWaitAndLeavesTheReport(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	svc := newService()
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		svc.ServeHTTP(w, r)
		if strings.HasSuffix(r.URL.Path, "/job/job_1") {
			interrupt()
		}
	})
	svc.ScriptJob(mintlifytest.JobStep{})

	got := session{service: service, args: []string{"-yes", "-job", "-update"}, ctx: ctx}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
	assert.Contains(t, find(t, got.report, expectJobEnds).came, "interrupted")
	assert.Equal(t, "no response came", find(t, got.report, expectEmptyBody).came)
	assert.Contains(t, got.stderr, "The job is job_1.")
	assert.Empty(t, svc.Deployments())
}

func TestAnExhaustedQuotaEndsTheAnalyticsAlone(t *testing.T) {
	svc := newService()
	svc.EnforceQuotas()
	for range 95 {
		require.NoError(t, operations.Get(mintlify.OpGetViews).Do(t.Context(), svc.Client()))
	}
	got := session{service: svc}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
	assert.Equal(t, "0 of 1 without", find(t, got.report, expectRetryAfter).came)
	assert.Equal(t, "the quota of analytics requests is used up", find(t, got.report, bodyOf(mintlify.OpGetFeedback)).came)
	assert.Equal(t, string(asExpected), find(t, got.report, expectNoDeployment).result)
}

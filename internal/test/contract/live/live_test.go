package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// everything is each flag that writes.
const everything = "-yes -job -message -preview planted -update"

func TestEachRowIsAsExpectedOrNotTriedAgainstTheFake(t *testing.T) {
	svc := newService()
	svc.AddJob("planted-job", mintlifytest.JobStep{Status: mintlify.JobArchived})
	for flags, untriedRows := range map[string]int{"": 11, "-job-id planted-job": 10, everything: 0} {
		t.Run(flags, func(t *testing.T) {
			got := session{service: dated(svc), args: strings.Fields(flags)}.run(t)
			assert.Equal(t, exitAsExpected, got.code, got.report)
			assert.NotContains(t, got.report, "planted")

			all := rowsOfReport(t, got.report)
			isTried := func(row reportRow) bool { return row.verdict != string(untried) }
			assert.Len(t, slices.DeleteFunc(all, isTried), untriedRows, got.report)
		})
	}

	called := map[mintlify.Operation]bool{}
	for _, request := range svc.Requests() {
		called[request.Operation] = request.Acted || called[request.Operation]
	}
	for _, op := range operations.All() {
		assert.Equal(t, op.Name != mintlify.OpTriggerAutomation, called[op.Name], op)
	}
}

// silences are the responses that say nothing about the service.
func silences() map[string]http.HandlerFunc {
	responding := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	all := map[string]http.HandlerFunc{
		"a lost connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a login page":      responding(200, "<!doctype html><title>planted</title>"),
		"text":              responding(200, "planted words"),
		"Cloudflare":        responding(403, "error code: 1010"),
		"a text with 429":   responding(429, "slow down"),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/planted-login", http.StatusFound)
		},
		"a broken body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"visitors":`))
		},
	}
	for _, status := range []int{401, 402, 403, 429, 500, 501, 502, 503, 504, 522, 599} {
		all[http.StatusText(status)+" in JSON"] = responding(status, `{"error":"planted words"}`)
	}
	return all
}

func TestSilenceIsNotADifference(t *testing.T) {
	parts := map[string]func(*http.Request) bool{
		"analytics":     func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/analytics/") },
		"jobs":          func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/agent/") },
		"deployments":   func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/project/") },
		"one export":    func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/feedback") },
		"later pages":   func(r *http.Request) bool { return r.URL.Query().Has("offset") || r.URL.Query().Has("cursor") },
		"what writes":   func(r *http.Request) bool { return r.Method == http.MethodPost },
		"all but posts": func(r *http.Request) bool { return r.Method == http.MethodGet },
	}
	for silence, respond := range silences() {
		for part, isPart := range parts {
			t.Run(silence+", "+part, func(t *testing.T) {
				svc := dated(newService())
				gets := 0
				service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet {
						gets++
					}
					if isPart(r) || r.URL.Path == "/planted-login" {
						respond(w, r)
						return
					}
					svc.ServeHTTP(w, r)
				})

				got := session{service: service, args: strings.Fields("-yes -job -update -timeout 1m")}.run(t)
				if part == "all but posts" {
					assert.Equal(t, exitSetUp, got.code, got.report)
					assert.Empty(t, got.report)
					assert.LessOrEqual(t, gets, 6)
					return
				}
				require.NotEqual(t, exitSetUp, got.code, got.stderr)
				assert.Empty(t, differing(t, got.report), got.report)
				assert.Equal(t, got.code == exitDiffers, strings.Contains(got.report, "Perhaps made"), got.report)
			})
		}
	}
}

func TestSomeRowsHearAStatusThatIsSilentElsewhere(t *testing.T) {
	all := map[string]deviation{
		"a typed id that is not there": {flags: "-job-id planted"},
		"404 for a POST":               {on: "POST ", alter: failing(404), flags: "-yes -update -job"},
		"409 for a POST":               {on: "POST ", alter: failing(409), flags: "-yes -update -job"},
		"405 for a POST":               {on: "POST ", alter: failing(405), flags: "-yes -update -job"},
		"500 for what cannot be read":  {on: "/preflight", alter: failing(500)},
		"500 for a deployment":         {on: "/update-status", alter: failing(500)},
		"403 for a wrong key":          {on: "/", alter: insteadOf(401, failing(403))},
	}
	for name, d := range all {
		got := session{service: d.handler(dated(newService())), args: strings.Fields(d.flags)}.run(t)
		assert.Equal(t, exitAsExpected, got.code, "%s\n%s", name, got.report)
	}
}

func TestAfterA429NothingOfThatPartIsAsked(t *testing.T) {
	svc := newService()
	svc.EnforceQuotas()
	for range 95 {
		require.NoError(t, operations.Get(mintlify.OpGetViews).Do(t.Context(), svc.Client()))
	}
	got := session{service: dated(svc)}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
	assert.Len(t, svc.Requests(), 95+6+3) // 6 of analytics, 3 of other parts
	assert.Regexp(t, "not sent after 429 with JSON, Retry-After [0-9]+", find(t, got.report, "GetFeedbackPage: a good").details)
	assert.Equal(t, string(asExpected), find(t, got.report, "a deployment that does not exist").verdict)
}

func TestWithoutAFlagItSendsGetsAloneAndSaysFirstHowMany(t *testing.T) {
	requests := 0
	svc := newService()
	svc.AddJob("planted-job")
	service := dated(svc)
	counting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		assert.Equal(t, http.MethodGet, r.Method)
		service.ServeHTTP(w, r)
	})
	got := session{service: counting, args: []string{"-job-id", "planted-job"}}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
	assert.Equal(t, maxReads, requests)
	assert.True(t, strings.HasPrefix(got.stderr, "Up to 24 requests"), got.stderr)
}

func TestTheFirstPagesAreThoseOfAnExport(t *testing.T) {
	svc := newService()
	for _, l := range lists() {
		op := operations.Get(l.operation)
		if op.Rows == nil {
			continue
		}
		_, err := op.Rows(t.Context(), svc.Client())
		require.NoError(t, err)
		asked := svc.Requests()[slices.IndexFunc(svc.Requests(), func(r mintlifytest.Request) bool {
			return r.Operation == l.operation
		})]
		assert.Equal(t, asked.Query.Get("limit"), l.query().Get("limit"), l.name)
	}
}

func TestTheRecorderLetsNothingPassThatWasNotAnnounced(t *testing.T) {
	sent := 0
	counting := func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, nil
	}
	r := &recorder{next: roundTripper(counting), left: 2, asking: &request{}}
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

	r.asking = &request{flag: "-job"}
	require.NoError(t, send(http.MethodPost))
	require.NoError(t, send(http.MethodGet))
	assert.Equal(t, 4, sent)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNothingIsSentForAFlagThatWritesWithoutYes(t *testing.T) {
	for _, flag := range []string{"-job", "-message -job-id planted-job", "-preview planted", "-update"} {
		svc := newService()
		got := session{service: dated(svc), args: strings.Fields(flag)}.run(t)
		assert.Equal(t, exitSetUp, got.code, got.stderr)
		assert.Empty(t, got.report)
		assert.Empty(t, svc.Requests())
		assert.Contains(t, got.stderr, strings.Fields(flag)[0]+": It ")
		assert.Contains(t, got.stderr, "-yes confirms")
	}
}

func TestItSaysWhatItDoesBeforeItWrites(t *testing.T) {
	got := session{service: dated(newService()), args: []string{"-yes", "-job"}}.run(t)
	assert.Regexp(t, `(?s)publishes to the live site.*112 credits.*its id is job_1.*pull request is https://`, got.stderr)
	assert.Contains(t, got.report, "Asked: reading, -job.")
}

func TestSetUpErrors(t *testing.T) {
	for name, test := range map[string]struct {
		key, project, says, flags string
		alter                     alteration
	}{
		"neither":           {says: "MINTLIFY_API_KEY, MINTLIFY_PROJECT_ID are not set"},
		"a wrong key":       {key: "mint_planted_wrong", project: "p", says: "does not accept the key in MINTLIFY_API_KEY"},
		"assistant key":     {key: "mint_dsc_planted", project: "p", says: "is an assistant key"},
		"swapped":           {key: "p", project: "mint_planted", says: "the key and the project id are swapped"},
		"a wrong flag":      {key: "k", project: "p", flags: "-bogus", says: "-bogus"},
		"an argument":       {key: "k", project: "p", flags: "bogus", says: "only flags"},
		"no job to message": {key: "k", project: "p", flags: "-message", says: "-message needs -job"},
		"no access":         {key: mintlifytest.APIKey, project: "p", alter: failing(403), says: "lacks the read scope"},
		"another's project": {key: mintlifytest.APIKey, project: "p", alter: failing(404), says: "MINTLIFY_PROJECT_ID is wrong"},
		"no body":           {key: mintlifytest.APIKey, project: "p", alter: answering(""), says: "Something else responds"},
	} {
		t.Run(name, func(t *testing.T) {
			setVariable(t, "MINTLIFY_API_KEY", test.key)
			setVariable(t, "MINTLIFY_PROJECT_ID", test.project)
			got := session{service: deviation{on: "/", alter: test.alter}.handler(newService()), args: strings.Fields(test.flags)}.run(t)
			assert.Equal(t, exitSetUp, got.code)
			assert.Empty(t, got.report)
			assert.Contains(t, got.stderr, test.says)
			assert.NotContains(t, got.stderr, "planted")
		})
	}
}

func TestTheServiceIsThereIfAnyPartOfItIs(t *testing.T) {
	for name, test := range map[string]struct {
		works string
		first int
		code  int
	}{
		"caller stats":                {"/caller-stats", 503, exitAsExpected},
		"preflight, if not all 404":   {"/preflight", 503, exitAsExpected},
		"not preflight, if both 404":  {"/preflight", 404, exitSetUp},
		"not what nobody asks for":    {"/views", 503, exitSetUp},
		"preflight, if key is silent": {"/preflight", 401, exitAsExpected},
	} {
		service := deviation{on: "/", alter: func(request *http.Request, r *reply) {
			if !strings.HasSuffix(request.URL.Path, test.works) {
				failing(test.first)(request, r)
			}
		}}
		got := session{service: service.handler(dated(newService()))}.run(t)
		assert.Equal(t, test.code == exitSetUp, got.code == exitSetUp, "%s\n%s", name, got.stderr)
	}
}

func TestWhatMayHaveActedIsLeftBehindAndExit1(t *testing.T) {
	lost := func(svc *mintlifytest.Service, op mintlify.Operation) {
		svc.FailNext(op, 1, mintlifytest.Fault{Acted: true, Drop: true})
	}
	for name, test := range map[string]struct {
		op    mintlify.Operation
		fault mintlifytest.Fault
		flags string
		says  []string
		code  int
	}{
		"all is well": {flags: everything, says: []string{"Made: a job", "Made: a message", "Made: a preview",
			"Made: a deployment"}, code: exitAsExpected},
		"a lost job": {op: mintlify.OpCreateJob, flags: "-yes -job -message",
			says: []string{"Perhaps made (no response came, and no id): a job"}, code: exitDiffers},
		"a lost message": {op: mintlify.OpSendMessage, flags: "-yes -job -message",
			says: []string{"Made: a job", "Perhaps made (no response came, and no id): a message"}, code: exitDiffers},
		"a lost preview": {op: mintlify.OpTriggerPreview, flags: "-yes -preview planted",
			says: []string{"Perhaps made (no response came, and no id): a preview"}, code: exitDiffers},
		"a gateway's 504": {op: mintlify.OpTriggerUpdate, flags: "-yes -update", fault: mintlifytest.Fault{Status: 504},
			says: []string{"Perhaps made (504 with no body, and no id): a deployment"}, code: exitDiffers},
		"a login page": {op: mintlify.OpCreateJob, flags: "-yes -job",
			fault: mintlifytest.Fault{Status: 200, Body: "<html>planted</html>"},
			says:  []string{"Perhaps made (200 with HTML, and no id): a job"}, code: exitDiffers},
		"a quota": {op: mintlify.OpCreateJob, flags: "-yes -job", fault: mintlifytest.Fault{Status: 429, Body: `{"error":"x"}`},
			code: exitAsExpected},
	} {
		t.Run(name, func(t *testing.T) {
			svc := newService()
			switch {
			case test.fault.Status != 0:
				svc.FailNext(test.op, 1, test.fault)
			case test.op != "":
				lost(svc, test.op)
			}

			got := session{service: dated(svc), args: strings.Fields(test.flags)}.run(t)
			assert.Equal(t, test.code, got.code, got.report)
			assert.Empty(t, differing(t, got.report), got.report)
			assert.NotContains(t, got.report, "planted")

			_, left, _ := strings.Cut(got.report, "## Left behind\n\n")
			items := strings.Count(left, "\n- ")
			if strings.HasPrefix(left, "- ") {
				items++
			}
			assert.Equal(t, len(test.says), items, left)
			for _, says := range test.says {
				assert.Contains(t, left, "- "+says)
			}
			assert.True(t, strings.HasSuffix(got.report, "template=first-contact.yml\n"))
		})
	}
}

func TestAnInterruptedRunSaysSoWithExit1(t *testing.T) {
	for _, path := range []string{"/views", "/job/job_1", "/visitors"} {
		svc := newService()
		svc.ScriptJob(mintlifytest.JobStep{})
		got := session{service: dated(svc), args: strings.Fields("-yes -job -update"), interruptAt: path}.run(t)
		assert.Equal(t, exitDiffers, got.code, got.report)
		assert.Contains(t, got.report, "The run was interrupted")
		assert.Empty(t, differing(t, got.report))
		assert.Empty(t, svc.Deployments())
		assert.Contains(t, find(t, got.report, "a job ends within -timeout").details, "interrupted")
	}
}

func TestAPostWhoseResponseIsNotWaitedForMayHaveActed(t *testing.T) {
	got := session{service: dated(newService()), args: strings.Fields("-yes -job"), interruptAt: "/job"}.run(t)
	assert.Equal(t, exitDiffers, got.code, got.report)
	assert.Contains(t, got.report, "- Perhaps made (interrupted, and no id): a job")
}

func TestAWaitGoesOnAfterAPollThatIsRedirected(t *testing.T) {
	polls := 0
	redirected := deviation{on: "GET /v2/agent/test-project/job/job_1", alter: func(_ *http.Request, r *reply) {
		polls++
		if polls == 1 {
			r.status = http.StatusFound
			r.header.Set("Location", "/planted-login")
		}
	}}
	got := session{service: redirected.handler(dated(newService())), args: strings.Fields("-yes -job -timeout 1m")}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
	assert.Contains(t, find(t, got.report, "a job ends within -timeout").details, "completed", got.stderr)
}

func TestAnEarlierEndIsNotTakenForTheMessagesOwn(t *testing.T) {
	svc := newService()
	svc.ScriptJob(
		mintlifytest.JobStep{Status: mintlify.JobCompleted},
		mintlifytest.JobStep{Status: mintlify.JobCompleted}, // the first poll after the message
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Status: mintlify.JobFailed},
	)
	got := session{service: dated(svc), args: strings.Fields("-yes -job -message")}.run(t)
	assert.Equal(t, exitAsExpected, got.code, got.report)
	assert.Regexp(t, "^completed, then active, then failed, in [0-9]+s$", find(t, got.report, "of a message").details)
}

func TestAnIDIsLikeTheKnownOne(t *testing.T) {
	kinds := func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return '0'
		case r >= 'a' && r <= 'z':
			return 'a'
		case r >= 'A' && r <= 'Z':
			return 'A'
		}
		return r
	}
	for _, id := range []string{
		"01JHZX3V5Q8E9RATBWGK2MCN4D", "66f0a1b2c3d4e5f601020304", "0b6ef8a2-3c41-4d2b-9f10-8a7b6c5d4e3f", "job_123456",
	} {
		assert.NotEqual(t, id, idLike(id))
		assert.Equal(t, strings.Map(kinds, id), strings.Map(kinds, idLike(id)))
	}
	assert.Len(t, idLike(""), 36)
}

package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

func TestStatusesAreAStore(t *testing.T) {
	t.Parallel()
	oncetest.TestPublicStore(t, func(t *testing.T) once.Store {
		w := newWorld(t)
		w.settle = 5 * time.Millisecond
		p := w.program(w.env, new(citest.Buffer), new(citest.Buffer))
		g, err := p.newGitHub(gitHubToken).of("acme/cli")
		require.NoError(t, err)
		return shared{&statuses{gitHub: g, p: p, of: change{head: "c0ffee"}}, p.step.Link}
	})
}

// failing has calls of GitHub's statuses by a method get a response of their own: the
// n-th and the n-1 after it, counted from 1.
func failing(w *world, method string, from, n int, acted bool, resp *http.Response) {
	calls := 0
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != method || !strings.Contains(r.URL.Path, "/statuses") {
			return w.forge.RoundTrip(r)
		}
		if calls++; calls < from || calls >= from+n {
			return w.forge.RoundTrip(r)
		}
		if acted {
			_, _ = w.forge.RoundTrip(r)
		}
		if resp == nil {
			return nil, io.ErrUnexpectedEOF
		}
		again := *resp
		again.Body = io.NopCloser(strings.NewReader(`{"message":"Resource not accessible by integration ` + gitHubToken + `"}`))
		return &again, nil
	})
}

func response(code int, header ...string) *http.Response {
	resp := &http.Response{StatusCode: code, Status: fmt.Sprint(code, " ", http.StatusText(code)), Header: http.Header{}}
	for i := 0; i < len(header); i += 2 {
		resp.Header.Set(header[i], header[i+1])
	}
	return resp
}

func TestWithoutARecordThereIsNoJob(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	one := merged(t)
	for name, tc := range map[string]struct {
		method string
		from   int
		resp   *http.Response
		code   int
		says   string
	}{
		"may not read":     {"GET", 1, response(403), 2, "permissions: statuses: write"},
		"not found":        {"GET", 1, response(404), 2, "permissions: statuses: write"},
		"may not write":    {"POST", 1, response(403), 2, "permissions: statuses: write"},
		"bad token":        {"POST", 1, response(401), 2, "401 Unauthorized"},
		"moved":            {"GET", 1, response(301, "Location", "https://evil.example.com/"), 2, "301"},
		"down for reading": {"GET", 1, response(502), 5, "502"},
		"down for writing": {"POST", 1, response(503), 5, "503"},
		"limited":          {"POST", 1, response(429), 5, "429"},
		"no connection":    {"GET", 1, nil, 5, "unexpected EOF"},
		"no second look":   {"GET", 2, response(500), 5, "500"},
		"no JSON":          {"GET", 1, response(200), 2, "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			failing(w, tc.method, tc.from, 1000, false, tc.resp)
			r := w.runOnce()
			assert.Equal(t, tc.code, r.Code, r.Log)
			assert.Contains(t, r.Log, tc.says)
			assert.Empty(t, w.prompts(), "no job")
			w.toForge = w.forge
			assert.Zero(t, w.runOnce().Code, "and none in the way of the next run")
			assert.Len(t, w.service.Jobs(), 1)
		})
	}

	w := one.fresh(t)
	delete(w.env, "GITHUB_TOKEN")
	r := w.runOnce()
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "GITHUB_TOKEN is not set")
	assert.Contains(t, r.Log, "-state", "both ways")
	assert.Empty(t, w.prompts())
}

// GitHub may say of a secondary rate limit only in the body what it is.
func TestARateLimitIsNotAMissingPermission(t *testing.T) {
	const limited = `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}`
	for name, tc := range map[string]struct {
		resp    *http.Response
		body    string
		outcome ci.Outcome
		says    string
	}{
		"no permission":     {response(403), "{}", ci.SetUp, "403 Forbidden: {} (permissions)"},
		"secondary":         {response(403), limited, ci.NotStarted, "wait a few minutes.\"} (the rate limit of GitHub)"},
		"secondary, header": {response(403, "Retry-After", "60"), "{}", ci.NotStarted, "(the rate limit of GitHub)"},
		"primary":           {response(403, "X-RateLimit-Remaining", "0"), "{}", ci.NotStarted, "(the rate limit of GitHub)"},
		"too many requests": {response(429), "{}", ci.NotStarted, "(the rate limit of GitHub)"},
	} {
		calls := 0
		g := gitHub{needs: "permissions"}
		g.client.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
			calls++
			tc.resp.Body = io.NopCloser(strings.NewReader(tc.body))
			return tc.resp, nil
		})

		synctest.Test(t, func(t *testing.T) {
			err := g.do(t.Context(), http.MethodGet, "https://api.github.com", nil, nil)
			assert.ErrorContains(t, err, tc.says, name)
			assert.Equal(t, tc.outcome, ci.OutcomeOf(err), name)
			assert.Equal(t, tc.outcome == ci.NotStarted, calls == maxAttempts, name)
		})
	}
}

func TestACallOfGitHubThatFailsOnceIsMadeAgain(t *testing.T) {
	skipUnlessLong(t)
	one := merged(t)
	for _, acted := range []bool{false, true} {
		for method, calls := range map[string]int{"GET": 6, "POST": 3} {
			for from := range calls {
				w := one.fresh(t)
				failing(w, method, from+1, 2, acted, response(502))
				assert.Zero(t, w.runOnce().Code)
				w.toForge = w.forge
				assert.Zero(t, w.runOnce().Code)
				assert.Len(t, w.service.Jobs(), 1)
			}
		}
	}
}

func TestAClaimWhoseResponseIsLostCounts(t *testing.T) {
	w := merged(t)
	failing(w, "POST", 1, 3, true, nil)
	r := w.runOnce()
	assert.Zero(t, r.Code, r.Log)
	assert.Len(t, w.prompts(), 1)
}

func TestAClaimThatCannotBeReadBackIsGivenBack(t *testing.T) {
	w := merged(t)
	failing(w, "GET", 4, 3, false, response(500))
	r := w.runOnce("-no-wait")
	assert.Equal(t, 5, r.Code, r.Log)
	assert.Equal(t, once.Pending, w.state())
	assert.Empty(t, w.prompts())
	assert.Zero(t, w.runOnce().Code)
	assert.Len(t, w.prompts(), 1)
}

func TestAJobWhoseIDCannotBeRecorded(t *testing.T) {
	w := merged(t)
	failing(w, "POST", 2, 10, false, response(500)) // for a while
	r := w.runOnce()
	assert.Zero(t, r.Code, r.Log)
	assert.Equal(t, once.Done, w.state())

	w = merged(t)
	w.service.AddJob("job_1") // so that the id is another
	failing(w, "POST", 2, 1000, false, response(500))
	r = w.runOnce()
	assert.Equal(t, 4, r.Code, r.Log)
	assert.Equal(t, "job_2", r.Outputs["job-id"])
	assert.Contains(t, r.Log, "Job job_2 was made, and its record cannot be written yet (")
	w.toForge = w.forge
	synctest.Test(t, func(t *testing.T) { // the clock of a bubble begins anew
		time.Sleep(time.Hour)
		assert.Equal(t, 3, w.run(t.Context()).Code, "a claim without an id")
		assert.Zero(t, w.run(t.Context(), "-job", "job_2").Code)
	})
	assert.Len(t, w.prompts(), 1)
}

// What a run has read stays true when GitHub no longer responds: it must not say that there is
// no job.
func TestARecordThatCannotBeReadAgainIsStillKnown(t *testing.T) {
	t.Parallel()
	one := merged(t)
	t.Run("once the job has ended", func(t *testing.T) {
		w := one.fresh(t)
		w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
			hasPolled := slices.ContainsFunc(w.service.Requests(), func(r mintlifytest.Request) bool {
				return strings.HasSuffix(r.Path, "/job_1")
			})
			if hasPolled {
				return nil, io.ErrUnexpectedEOF
			}
			return w.forge.RoundTrip(r)
		})

		r := w.runOnce()
		assert.Equal(t, 4, r.Code, r.Log)
		assert.Equal(t, "running", r.Outputs["outcome"])
		assert.Equal(t, "job_1", r.Outputs["job-id"])
		assert.Contains(t, r.Log, "the end of the job cannot be recorded: ")
		assert.Contains(t, r.Log, "unexpected EOF")
	})

	for _, name := range []string{"failed", "lost"} {
		t.Run(name, func(t *testing.T) {
			w := one.fresh(t)
			endings[name].prepare(w)
			require.Equal(t, endings[name].code, w.runOnce().Code)

			failing(w, "GET", 2, 1000, false, response(503))
			r := w.runOnce()
			assert.Equal(t, endings[name].code, r.Code, r.Log)
			assert.NotContains(t, r.Log, "No job was made")
		})
	}
}

func TestAnIDThatIsTooLongForAStatus(t *testing.T) {
	w := merged(t)
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Body: `{"id":"` + strings.Repeat("x", 60) + `","status":"active"}`})
	w.service.AddJob(strings.Repeat("x", 60), mintlifytest.JobStep{Status: mintlify.JobCompleted})
	for range 2 {
		r := w.runOnce()
		assert.Zero(t, r.Code, r.Log)
		assert.Equal(t, strings.Repeat("x", 60), r.Outputs["job-id"], "it fits without the words")
	}
	w = merged(t)
	long := strings.Repeat("y", 200)
	w.service.AddJob(long, mintlifytest.JobStep{Status: mintlify.JobCompleted})
	r := w.runOnce("-job", long)
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "too long for a commit status: give a directory with -state")
	assert.Zero(t, w.runOnce("-job", long, "-state", t.TempDir()).Code)
}

// The token may end while the job works.
func TestATokenThatEndsAfterTheSendLosesNoJob(t *testing.T) {
	w := merged(t)
	failing(w, "POST", 3, 1000, false, response(401))
	r := w.runOnce()
	assert.Equal(t, 4, r.Code, r.Log)
	assert.Equal(t, "job_1", r.Outputs["job-id"])
	assert.Contains(t, r.Log, "the end of the job cannot be recorded: POST ")
	assert.Equal(t, once.Running, w.state())
}

func TestAnIDThatNoStatusHoldsIsNamedAtOnce(t *testing.T) {
	w := merged(t)
	long := strings.Repeat("y", 200)
	w.service.AddJob(long, mintlifytest.JobStep{Status: mintlify.JobCompleted})
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Body: `{"id":"` + long + `","status":"active"}`})
	took := bubble(t, func(t *testing.T) {
		r := w.run(t.Context())
		assert.Equal(t, 4, r.Code, r.Log)
		assert.Contains(t, r.Summary, "    job: "+long+"\n")
	})
	assert.Less(t, took, time.Minute)
}

func TestAmongManyStatusesOfOthers(t *testing.T) {
	w := merged(t)
	head := w.git("rev-parse", "HEAD")
	w.forge.statuses[head] = nil
	others := func(n int) {
		added := make([]status, n)
		for i := range added {
			id := int64(len(w.forge.statuses[head]) + n - i)
			added[i] = status{ID: id, Context: "ci/build", Description: `Build [1 sending 1 "x" 0 0 ""]`, State: "pending"}
		}
		w.forge.statuses[head] = append(added, w.forge.statuses[head]...)
	}
	others(250)
	assert.Zero(t, w.runOnce().Code)
	others(250)
	r := w.runOnce()
	assert.Zero(t, r.Code)
	assert.Contains(t, r.Log, "This change has job job_1 already.")
	assert.Len(t, w.prompts(), 1)
	others(6000)
	r = w.runOnce("-again")
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Log, "too many statuses")
	assert.Len(t, w.prompts(), 1)
}

func TestStatusesThatOthersForge(t *testing.T) {
	w := merged(t)
	require.Zero(t, w.runOnce().Code)
	head := w.git("rev-parse", "HEAD")
	label := w.newest().Context
	add := func(description string) {
		id := int64(len(w.forge.statuses[head]) + 1)
		w.forge.statuses[head] = append([]status{{ID: id, Context: label, Description: description}}, w.forge.statuses[head]...)
	}
	for _, description := range []string{"", "overruled by Ada", "[released]", `[1 running 1 "x" 0 0 "job_2"]`, `[9 running 1 "x" 0 0 "job_2"]`, `[0 running 1 "x" 0 0 "job_2"]`, `[-4 running 1 "x" 0 0 "job_2"]`} {
		add(description)
	}
	r := w.runOnce()
	assert.Zero(t, r.Code, r.Log)
	assert.Equal(t, "job_1", r.Outputs["job-id"])
	add("The job is being made [1 claimed ABCDEFGHIJKLMNOPQRSTUVWXYZ ]")
	r = w.runOnce()
	assert.Equal(t, 2, r.Code, "what cannot be read is never no record")
	assert.Contains(t, r.Log, "is not a record that this version can read")
	assert.Len(t, w.prompts(), 1)
}

func TestASkipLeavesAStatus(t *testing.T) {
	w := merged(t)
	delete(w.env, "MINTLIFY_API_KEY")
	for range 2 {
		require.Zero(t, w.runOnce("-path", "docs").Code)
	}
	all := w.forge.statuses[w.git("rev-parse", "HEAD")]
	require.Len(t, all, 1, "the second run has nothing new to say")
	assert.Equal(t, "Skipped: nothing relevant changed", all[0].Description)
	assert.Equal(t, "success", all[0].State)
	assert.Equal(t, "https://github.com/acme/cli/actions/runs/77", all[0].TargetURL)
	note := all[0].Context

	require.Zero(t, w.runOnce("-dry-run").Code)
	assert.Equal(t, "Dry run: a job would be made", w.newest().Description)
	assert.Equal(t, note, w.newest().Context)

	w.env["MINTLIFY_API_KEY"] = mintlifytest.APIKey
	require.Zero(t, w.runOnce().Code)
	assert.Equal(t, note, w.newest().Context, "the record's own context")
	assert.Equal(t, once.Done, w.state())
}

func TestASkipNeverCoversARecord(t *testing.T) {
	w := merged(t)
	w.service.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	require.Equal(t, 3, w.runOnce().Code)
	unknown := w.newest()

	for _, args := range [][]string{{"-path", "docs"}, {"-dry-run"}} {
		r := w.runOnce(args...)
		assert.Zero(t, r.Code, r.Log)
		assert.Equal(t, unknown, w.newest(), args)
	}
}

func TestWhereASkipLeavesNoStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		args  []string
		unset string
	}{
		"the record is elsewhere":   {args: []string{"-state", t.TempDir()}},
		"the project is not known":  {unset: "MINTLIFY_PROJECT_ID"},
		"nobody is told the token":  {unset: "GITHUB_TOKEN"},
		"not on GitHub, and a desk": {unset: "GITHUB_ACTIONS"},
	} {
		w := merged(t)
		if tc.unset != "" {
			delete(w.env, tc.unset)
		}
		r := w.runOnce(append(tc.args, "-path", "a.go")...)
		assert.Zero(t, r.Code, name)
		assert.Empty(t, w.forge.statuses, name)
	}
}

func TestAStatusOfASkipThatCannotBeWrittenIsLogged(t *testing.T) {
	w := merged(t)
	failing(w, "POST", 1, 1000, false, response(403))
	r := w.runOnce("-path", "a.go")
	assert.Zero(t, r.Code, r.Log)
	assert.Equal(t, "skipped", r.Outputs["outcome"])
	assert.Contains(t, r.Log, "The commit's status does not say so: POST ")
	assert.Equal(t, 1, strings.Count(r.Log, "::"+"notice title="), "no annotation but the outcome")
	assert.NotContains(t, r.Log, "::warning")
	assert.NotContains(t, r.Log, "::error")
}

func TestTheStatusOfASkipNamesTheAuthor(t *testing.T) {
	const record = `[1 running 1 "x" 0 0 "job_2"]` // a name could be written so
	for author, says := range map[string]string{"dependabot[bot]": "dependabot[bot]", record: `[1 running 1 "x" 0 0 "job_2"`} {
		w := merged(t)
		w.forge.pulls = map[string][]pullRequest{"": {{Number: 1, MergedAt: "x"}}}
		w.forge.pulls[""][0].User.Login = author
		require.Equal(t, "skipped", w.runOnce("-skip-author", record).Outputs["outcome"])
		assert.Equal(t, "Skipped: it is the work of "+says, w.newest().Description)
		assert.Empty(t, w.state(), "it is not a record")
	}
}

func TestTokensAsVariablesHaveThem(t *testing.T) {
	w := losing(t)
	w.env["GITHUB_TOKEN"] = " " + gitHubToken + "\r\n"
	w.env["GITHUB_DOCS_TOKEN"] = docsToken + "\r\n"
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		assert.Contains(t, []string{"Bearer " + gitHubToken, "Bearer " + docsToken}, r.Header.Get("Authorization"))
		return w.forge.RoundTrip(r)
	})
	assert.Equal(t, 3, w.runOnce("-docs-repository", "acme/docs").Code)

	for _, name := range []string{"GITHUB_TOKEN", "GITHUB_DOCS_TOKEN"} {
		w := merged(t)
		w.env[name] = gitHubToken + "\n" + gitHubToken
		for _, args := range [][]string{nil, {"-soft"}, {"-check"}} {
			r := w.runOnce(args...)
			assert.Equal(t, 2, r.Code, r.Log)
			assert.Contains(t, r.Log, name+" has a line break")
		}
		assert.Empty(t, w.service.Requests())
	}
}

func TestTheTokenGoesToGitHubAlone(t *testing.T) {
	w := merged(t)
	w.env["GITHUB_API_URL"] = "https://github.acme.example/api/v3"
	w.toForge = roundTripper(func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, "github.acme.example", r.URL.Host)
		assert.True(t, strings.HasPrefix(r.URL.Path, "/api/v3/repos/acme/cli/"), r.URL.Path)
		assert.Equal(t, "Bearer "+gitHubToken, r.Header.Get("Authorization"))
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
		return w.forge.RoundTrip(r)
	})
	assert.Zero(t, w.runOnce().Code)
}

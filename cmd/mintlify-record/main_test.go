package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/recording"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// session is a run of the program.
type session struct {
	baseURL   string
	transport http.RoundTripper
	ctx       context.Context
	answer    string // to the question
}

// outcome is what came of a run.
type outcome struct {
	code           int
	stdout, stderr string
	text           string // of the file; "" if there is none
	file           recording.File
}

func (s session) run(t *testing.T, args ...string) outcome {
	t.Helper()
	variables := map[string]string{
		"MINTLIFY_API_KEY":    mintlifytest.APIKey,
		"MINTLIFY_PROJECT_ID": mintlifytest.ProjectID,
		"MINTLIFY_BASE_URL":   s.baseURL,
	}
	if s.baseURL == "" {
		variables["MINTLIFY_BASE_URL"] = "https://service.invalid"
	}
	if s.ctx == nil {
		s.ctx = t.Context()
	}

	var out, log bytes.Buffer
	p := program{
		stdin: strings.NewReader(s.answer), stdout: &out, stderr: &log,
		getenv:      func(name string) string { return variables[name] },
		untilSignal: func() context.Context { return s.ctx },
		transport:   s.transport,
	}
	path := filepath.Join(t.TempDir(), "recording.json")
	got := outcome{code: p.main(append(args, "-o", path)), stdout: out.String(), stderr: log.String()}

	text, err := os.ReadFile(path)
	if err == nil {
		got.text = string(text)
		require.NoError(t, json.Unmarshal(text, &got.file))
	}
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(files), 1, "nothing else is left behind")
	return got
}

func (o outcome) exchange(t *testing.T, label string) recording.Exchange {
	t.Helper()
	var found recording.Exchange
	for _, e := range o.file.Exchanges {
		if e.Label == label {
			found = e
		}
	}
	require.NotEmpty(t, found.Label, label)
	return found
}

// posts returns the operations of the requests that are not GET.
func posts(svc *mintlifytest.Service) []string {
	var all []string
	for _, r := range svc.Requests() {
		if r.Method != http.MethodGet {
			all = append(all, r.Path)
		}
	}
	return all
}

func TestEverythingIsRecordedOnceAPersonSaysYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.SetJobTime(3 * time.Minute)
		got := session{transport: svc, answer: "Yes\n"}.run(t, "-job", "-message", "-preview", "secret-branch", "-update")
		require.Equal(t, 0, got.code, got.stderr)

		assert.Equal(t, 200, got.exchange(t, "a message to a job that has ended").Status)
		polls := got.exchange(t, "polls of a new job")
		assert.Contains(t, []int{3, 4}, polls.Minutes)
		assert.Equal(t, "completed", polls.Body.(map[string]any)["status"])
		assert.Contains(t, got.stdout, "polls of a new job")
		assert.Contains(t, got.stdout, "minutes so far: "+string(rune('0'+polls.Minutes)))
		assert.Equal(t, 202, got.exchange(t, "a preview").Status)
		assert.Equal(t, 202, got.exchange(t, "an update").Status)

		assert.Contains(t, got.stderr, "its id is job_1", "an id is shown")
		assert.Contains(t, got.stderr, "-message: asks the agent for another line")
		for _, secret := range []string{"job_1", "deployment_", "secret-branch", mintlifytest.APIKey, mintlifytest.ProjectID} {
			assert.NotContains(t, got.text, secret)
			assert.NotContains(t, got.stdout, secret)
		}
	})
}

func TestNothingIsSentUnlessAPersonSaysYes(t *testing.T) {
	for _, answer := range []string{"", "no\n", "y\n", "\nyes\n"} {
		svc := mintlifytest.NewService()
		got := session{transport: svc, answer: answer}.run(t, "-update")
		assert.Equal(t, 2, got.code)
		assert.Empty(t, svc.Requests())
		assert.Contains(t, got.stderr, "nothing was sent")
		assert.Empty(t, got.text)
	}
}

func TestAMessageIsSentOnlyOnceTheJobHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("mine", mintlifytest.JobStep{}, mintlifytest.JobStep{Status: mintlify.JobCompleted})
		got := session{transport: svc}.run(t, "-yes", "-message", "-job-id", "mine")
		assert.Equal(t, 0, got.code)
		assert.Equal(t, "the job has not ended", got.exchange(t, "a message to a job that has ended").NotSent)
		assert.Contains(t, got.stdout, "a message to a job that has ended: the job has not ended")
		assert.Empty(t, posts(svc))

		svc.RefuseMessagesToEndedJobs()
		got = session{transport: svc}.run(t, "-yes", "-message", "-job-id", "mine")
		assert.Equal(t, 0, got.code)
		assert.Equal(t, 400, got.exchange(t, "a message to a job that has ended").Status)
		assert.Contains(t, got.stdout, "400, error: job must active")
	})
}

func TestAWriteWhoseResponseIsLostIsSaid(t *testing.T) {
	for name, fault := range map[string]mintlifytest.Fault{
		"lost":  {Drop: true},
		"504":   {Status: 504, Acted: true},
		"no id": {Status: 201, Body: `{"status":"active"}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			svc := mintlifytest.NewService()
			svc.FailNext(mintlify.OpCreateJob, 1, fault)
			svc.FailNext("POST /v2/agent/test-project/job", 1, fault)
			got := session{transport: svc}.run(t, "-yes", "-job", "-message")
			assert.Equal(t, 1, got.code, name)
			assert.Contains(t, got.stderr, "a new job: the service may have acted, and no id came", name)
			assert.Equal(t, "no job", got.exchange(t, "a message to a job that has ended").NotSent)
			assert.Len(t, posts(svc), 1, name)
		})
	}
}

func TestAWriteThatIsRefusedIsNoDoubt(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.FailNext("POST /v1/project/update/test-project", 1, mintlifytest.Fault{Status: 403, Body: `{"error":"Forbidden"}`})
	got := session{transport: svc}.run(t, "-yes", "-update")
	assert.Equal(t, 0, got.code)
	assert.Equal(t, 403, got.exchange(t, "an update").Status)
	assert.NotContains(t, got.stderr, "may have acted")
}

type handler http.HandlerFunc

// RoundTrip implements [http.RoundTripper].
func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	recorded := httptest.NewRecorder()
	h(recorded, r)
	resp := recorded.Result()
	resp.Request = r
	return resp, nil
}

func TestAServiceThatIsDownIsSetUp(t *testing.T) {
	sent := 0
	down := roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return nil, errors.New("connection refused by the test")
	})
	got := session{transport: down}.run(t, "-yes", "-job")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "nobody is there")
	assert.Contains(t, got.stderr, "connection refused by the test")
	assert.LessOrEqual(t, sent, 3)
	assert.Empty(t, got.text)
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestASummaryHintsAtWhatAPersonMayHaveToMend(t *testing.T) {
	said := func(status int, body string) handler {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	svc := mintlifytest.NewService()
	for hint, transport := range map[string]handler{
		"a login page": said(200, "<!doctype html><title>Sign in</title>"),
		"the key in MINTLIFY_API_KEY: it is wrong, revoked or expired": said(401, `{"error":"Please upgrade"}`),
		"is MINTLIFY_PROJECT_ID of the key's organization?": func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/visitors") {
				w.WriteHeader(400)
				_, _ = io.WriteString(w, `{"error":"Invalid project id"}`)
				return
			}
			svc.ServeHTTP(w, r)
		},
		"lacks the read scope": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("limit") == "250" && strings.Contains(r.URL.Path, mintlifytest.ProjectID) {
				w.WriteHeader(403)
				_, _ = io.WriteString(w, `{"error":"Forbidden"}`)
				return
			}
			svc.ServeHTTP(w, r)
		},
	} {
		got := session{transport: transport}.run(t, "-yes")
		assert.Equal(t, 0, got.code, "recorded, whatever came")
		assert.Contains(t, got.stdout, hint)
		assert.NotEmpty(t, got.text)
	}

	got := session{transport: said(200, "<!doctype html><title>Sign in</title>")}.run(t, "-yes", "-job")
	assert.Equal(t, "no good response before", got.exchange(t, "a new job").NotSent, "no prompt to a login page")
	got = session{transport: svc}.run(t)
	assert.NotContains(t, got.stdout, "MINTLIFY_")
}

func TestARedirectIsRecordedAndNotFollowed(t *testing.T) {
	sent := map[string]int{}
	transport := handler(func(w http.ResponseWriter, r *http.Request) {
		sent[r.URL.Path]++
		http.Redirect(w, r, "/login", http.StatusFound)
	})
	got := session{transport: transport}.run(t)
	assert.Equal(t, 0, got.code)
	assert.Zero(t, sent["/login"])
	assert.Equal(t, 302, got.exchange(t, "visitors of 30 days").Status)
	assert.Contains(t, got.stdout, "a login page")
}

func TestFieldsThatAreNotDocumentedAreListed(t *testing.T) {
	transport := handler(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"web":1,"janeDoe":{"x-1":2},"hasMore":true}`)
	})
	got := session{transport: transport}.run(t)
	assert.Contains(t, got.stdout, "Read them before you post the file:\n  janeDoe\n")
}

func TestAfterA429APartOfTheAPIIsLeftAlone(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.EnforceQuotas()
	for range 97 {
		_, err := svc.Client().Analytics.GetCallerStats(t.Context(), mintlify.CallerStatsParams{})
		require.NoError(t, err)
	}

	got := session{transport: svc}.run(t)
	assert.Equal(t, 0, got.code)
	limited := 0
	for _, e := range got.file.Exchanges {
		if e.Status == 429 {
			limited++
			assert.Equal(t, "plain text 64: too requests please try again", strings.ReplaceAll(e.Body.(string), " many", ""))
			assert.Equal(t, "3600", e.Headers["Retry-After"])
		}
	}
	assert.Equal(t, 1, limited)
	assert.Contains(t, got.stdout, "feedback counts: a response of 429 before")
	assert.Equal(t, 404, got.exchange(t, "unknown job").Status)
}

func TestAnInterruptedRunWritesWhatCame(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	svc := mintlifytest.NewService()
	sent := 0
	got := session{ctx: ctx, transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if sent++; sent == 5 {
			interrupt()
		}
		return svc.RoundTrip(r)
	})}.run(t)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "interrupted")
	assert.Contains(t, got.stdout, "interrupted")
	assert.NotEmpty(t, got.text)
}

// Net/http sends a GET again on a connection that it has used before, unless it is told not to.
func TestEachRequestIsAGETAndSentOnceIfConnectionsAreDropped(t *testing.T) {
	svc := newService()
	var mu sync.Mutex
	sent := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent[r.Method+" "+r.URL.RequestURI()+r.Header.Get("Authorization")]++
		drops := len(sent)%2 == 0
		mu.Unlock()

		if drops {
			panic(http.ErrAbortHandler)
		}
		svc.ServeHTTP(w, r)
	}))
	defer server.Close()

	got := session{baseURL: server.URL, transport: transport()}.run(t)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.LessOrEqual(t, len(sent), 30)
	assert.Greater(t, len(sent), 20)
	for request, times := range sent {
		assert.Equal(t, 1, times, request)
		assert.True(t, strings.HasPrefix(request, "GET "), request)
	}
}

func TestAllReadsAreSentIfThereIsSomethingToRead(t *testing.T) {
	svc := newService()
	svc.AddJob("mine")
	got := session{transport: svc}.run(t, "-job-id", "mine")
	assert.Equal(t, 0, got.code)
	assert.NotContains(t, got.stdout, "Not sent")
	assert.LessOrEqual(t, len(svc.Requests()), 30)

	asked := map[string]bool{}
	for _, r := range svc.Requests() {
		asked[r.Method+r.Path+r.Query.Encode()] = true
	}
	assert.Len(t, asked, len(svc.Requests()), "none twice")
}

// newService returns a fake with more rows than a page has.
func newService() *mintlifytest.Service {
	svc := mintlifytest.NewService()
	var visitors []mintlify.Visitor
	var views []mintlify.View
	var searches []mintlify.SearchTerm
	var feedback []mintlify.Feedback
	var conversations []mintlify.Conversation
	for i := range 300 {
		at := time.Now().UTC().AddDate(0, 0, -1-i%20)
		name := strings.Repeat("x", i+1)
		visitors = append(visitors, mintlify.Visitor{Path: "/" + name})
		views = append(views, mintlify.View{Path: "/" + name})
		searches = append(searches, mintlify.SearchTerm{Query: name, LastSearchedAt: at})
		feedback = append(feedback, mintlify.Feedback{ID: name, CreatedAt: at, Source: mintlify.FeedbackContextual})
		conversations = append(conversations, mintlify.Conversation{ID: name, Timestamp: at})
	}

	svc.SetVisitors(visitors)
	svc.SetViews(views)
	svc.SetSearches(searches)
	svc.SetFeedback(feedback)
	svc.SetConversations(conversations)
	return svc
}

func TestSetUpIsRefusedBeforeAnythingIsSent(t *testing.T) {
	svc := mintlifytest.NewService()
	for _, args := range [][]string{
		{"-message"}, {"-timeout", "0s"}, {"-nope"}, {"operand"}, {"-preview", ""}, {"-o", "/no/such/folder/x"},
		{"-job", "-prompt", " "},
	} {
		p := program{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, transport: svc,
			getenv: func(string) string { return "mint_x" }, untilSignal: t.Context}
		assert.Equal(t, 2, p.main(args), args)
	}
	assert.Empty(t, svc.Requests())

	none := program{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, transport: svc,
		getenv: func(string) string { return "" }}
	assert.Equal(t, 2, none.main(nil))
	assert.Equal(t, 0, none.main([]string{"-h"}))
	assert.Equal(t, 0, none.main([]string{"-version"}))
}

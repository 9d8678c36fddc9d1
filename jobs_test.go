package mintlify_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

const (
	fullJob = `{"id":"job_1","status":"active","source":{"repository":"https://github.com/o/r","ref":"main"},
		"model":"m","prLink":null,"createdAt":"2024-01-15T10:30:00.000Z","archivedAt":null}`

	oddID        = "a/b?c#d e"
	oddIDEscaped = "a%2Fb%3Fc%23d%20e"
)

// newPrefixClient returns a client whose base URL has a path, and what it sends.
func newPrefixClient(t *testing.T) (*mintlify.Client, *kit.Recording) {
	rt := kit.NewRecording(kit.RespondWith(201, fullJob))
	return kit.NewClient(t, rt, mintlify.WithBaseURL("https://api.example.com/pre%2Ffix/")), rt
}

func TestCreateToTheLetter(t *testing.T) {
	const prompt = "Use <b> & \"quotes\" \\ 日本語 naïve\u2028\n"
	client, rt := newPrefixClient(t)
	job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: prompt})
	require.NoError(t, err)

	request := rt.Last()
	assert.Equal(t, http.MethodPost, request.Method)
	assert.Equal(t, "https://api.example.com/pre%2Ffix/v2/agent/proj/job", request.URL.String())
	assert.Equal(t, http.Header{
		"Authorization": {"Bearer " + kit.Key},
		"Accept":        {"application/json"},
		"Content-Type":  {"application/json"},
		"User-Agent":    {"mintlify-go/0.1.0"},
	}, request.Header)

	assert.EqualValues(t, len(request.Text), request.ContentLength)
	assert.Contains(t, request.Text, `Use <b> & \"quotes\" \\ 日本語 naïve`, "as it is, not as \\u003c")
	assert.True(t, strings.HasPrefix(request.Text, `{"prompt":"`), request.Text)
	assert.True(t, strings.HasSuffix(request.Text, `"}`), request.Text)
	var sent map[string]string
	require.NoError(t, json.Unmarshal([]byte(request.Text), &sent))
	assert.Equal(t, map[string]string{"prompt": prompt}, sent)

	assert.Equal(t, &mintlify.Job{
		ID: "job_1", Status: mintlify.JobActive, Model: "m",
		Source:    mintlify.JobSource{Repository: "https://github.com/o/r", Ref: "main"},
		CreatedAt: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC),
	}, job)
}

func TestMessageAndGetToTheLetter(t *testing.T) {
	client, rt := newPrefixClient(t)
	_, err := client.Jobs.Message(t.Context(), oddID, mintlify.MessageParams{Prompt: "more"})
	require.NoError(t, err)
	assert.Equal(t, http.MethodPost, rt.Last().Method)
	assert.Equal(t, "/pre%2Ffix/v2/agent/proj/job/"+oddIDEscaped+"/message", rt.Last().URL.RequestURI())
	assert.Equal(t, `{"prompt":"more"}`, rt.Last().Text)

	_, err = client.Jobs.Get(t.Context(), oddID)
	require.NoError(t, err)
	assert.Equal(t, http.MethodGet, rt.Last().Method)
	assert.Equal(t, "/pre%2Ffix/v2/agent/proj/job/"+oddIDEscaped, rt.Last().URL.RequestURI())
	assert.Empty(t, rt.Last().Text)
	assert.NotContains(t, rt.Last().Header, "Content-Type")

	_, err = client.Jobs.Get(t.Context(), "...")
	require.NoError(t, err, "three dots are an id")
}

func TestCreateMessageAndGetOfAMalformedJob(t *testing.T) {
	active := &mintlify.Job{ID: "j", Status: mintlify.JobActive}

	for name, tc := range map[string]struct {
		body, reason string
		job          *mintlify.Job // of the POSTs, if the id can be read
	}{
		"id of wrong type": {`{"id":7.5,"status":"active"}`, "missing job id", nil},
		"empty id":         {`{"id":"","status":"active"}`, "missing job id", nil},
		"no id":            {`{"status":"active"}`, "missing job id", nil},
		"no status":        {`{"id":"j"}`, "missing job status", &mintlify.Job{ID: "j"}},
		"status of wrong type": {
			`{"status":true,"id":"j","model":"m"}`, "missing job status", &mintlify.Job{ID: "j", Model: "m"},
		},
		"trailing garbage":     {`{"id":"j","status":"active"} x`, "invalid JSON for a job", active},
		"two objects":          {`{"id":"j","status":"active"}{}`, "invalid JSON for a job", active},
		"broken behind the id": {`{"id":"j","status":"active","source":{"ref`, "truncated after 42 bytes", active},
		"broken in the id":     {`{"status":"active","id":"j`, "truncated after 26 bytes", nil},
		"broken in the digits": {`{"status":"active","id":12`, "truncated after 26 bytes", nil},
		"broken at the end": {
			`{"id":"j","model":"m"`, "truncated after 21 bytes: unexpected EOF", &mintlify.Job{ID: "j", Model: "m"},
		},
		"two ids": {`{"id":"a","id":"j","status":"active"`, "truncated after 36 bytes", active},
	} {
		for operation, call := range kit.JobCalls {
			t.Run(name+"/"+operation, func(t *testing.T) {
				rt := kit.RespondWith(200, tc.body, "X-Trace", "7")
				job, err := call(t.Context(), kit.NewClient(t, rt, mintlify.WithMaxRetries(0)))
				if operation != "Get" && tc.job != nil {
					require.NoError(t, err)
					assert.Equal(t, tc.job, job)
					return
				}

				require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
				assert.Nil(t, job)
				assert.Equal(t, operation != "Get", kit.IsOutcomeUnknown(err))

				malformed := kit.RequireAs[*mintlify.MalformedResponseError](t, err)
				assert.Contains(t, malformed.Reason, tc.reason)
				assert.Equal(t, 200, malformed.StatusCode)
				assert.Equal(t, "7", malformed.Header.Get("X-Trace"))
				assert.Equal(t, tc.body, string(malformed.Body))
				assert.ErrorContains(t, err, string(malformed.Operation))
			})
		}
	}
}

// An id that Get would refuse is of no use. But Get itself has an id, so a wait goes on.
func TestIDThatCannotBeSentAgain(t *testing.T) {
	for id, reason := range map[string]string{
		`"j\n"`:  "the job id has white space at an end",
		`"a\tb"`: "the job id contains a control character",
		`".."`:   "the job id is not a valid id",
		`" "`:    "the job id is empty",
	} {
		for operation, call := range kit.JobCalls {
			body := `{"id":` + id + `,"status":"active"}`
			job, err := call(t.Context(), kit.NewClient(t, kit.RespondWith(201, body)))
			if operation == "Get" {
				require.NoError(t, err)
				continue
			}

			require.ErrorIs(t, err, mintlify.ErrMalformedResponse, id)
			assert.True(t, kit.IsOutcomeUnknown(err))
			assert.ErrorContains(t, err, reason)
			assert.Nil(t, job)
		}
	}
}

// Wherever the response to a prompt ends, it is the whole job with its whole id, or an error.
func TestPromptWhoseResponseIsCutOff(t *testing.T) {
	for _, tc := range []struct{ body, id string }{
		{`{"id":"job_12345","status":"active","model":"m","source":{"ref":"main"}}`, "job_12345"},
		{`{"status":"active","id":12345,"model":"m"}`, "12345"},
		{`{"status":"active","id":12345}`, "12345"},
		{`{"model":"m","n":7,"id":12345 }`, "12345"},
	} {
		for _, compress := range []func(string) string{plain, compressed} {
			sent := compress(tc.body)
			found := 0
			for cut := range len(sent) + 1 {
				for _, rt := range []kit.Transport{
					kit.BreakOff(201, sent[:cut]), kit.RespondWith(201, sent[:cut]), // with a length, and without
				} {
					for _, name := range kit.Posts() {
						client := kit.NewClient(t, withEncoding(rt, sent != tc.body))
						job, err := kit.JobCalls[name](t.Context(), client)
						if err == nil {
							found++
							require.Equal(t, tc.id, job.ID, "%s: %q", name, sent[:cut])
							continue
						}
						require.Nil(t, job)
						require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
						require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
					}
				}
			}
			assert.NotZero(t, found, tc.body)
		}

		behindID := strings.Index(tc.body, tc.id) + len(tc.id) + 1
		_, err := kit.Create(t.Context(), kit.NewClient(t, kit.BreakOff(201, tc.body[:behindID])))
		assert.NoError(t, err, "%s: from behind the id on it is a job", tc.body)
	}
}

func plain(text string) string { return text }

func compressed(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// withEncoding returns rt with a Content-Encoding if its bodies are compressed.
func withEncoding(rt kit.Transport, isCompressed bool) kit.Transport {
	if !isCompressed {
		return rt
	}
	return func(r *http.Request) (*http.Response, error) {
		resp, err := rt(r)
		resp.Header.Set("Content-Encoding", "gzip")
		return resp, err
	}
}

func TestCreateReadsAJobBehindAByteOrderMark(t *testing.T) {
	job, err := kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(201, "\ufeff"+kit.JobJSON)))
	require.NoError(t, err)
	assert.Equal(t, "job_1", job.ID)
}

func TestGetReadsAJobWithOddOptionalFields(t *testing.T) {
	for name, fields := range map[string]string{
		"absent":          ``,
		"null":            `,"source":null,"model":null,"prLink":null,"createdAt":null,"archivedAt":null`,
		"of wrong types":  `,"source":"x","model":5,"prLink":{},"createdAt":5,"archivedAt":[]`,
		"wrong inside":    `,"source":{"repository":5,"ref":null}`,
		"no times":        `,"createdAt":"yesterday","archivedAt":""`,
		"impossible time": `,"createdAt":"2024-02-31T00:00:00Z"`,
		"beyond JSON":     `,"createdAt":"9999-12-31T23:59:59-05:00","archivedAt":"0000-01-01T00:00:00+05:00"`,
		"unknown":         `,"new":{"deep":[1,2,{}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			// The odd fields come first: what is behind them must be read too.
			body := `{` + strings.TrimPrefix(fields+`,"id":"j","status":"active"`, ",") + `}`
			job, err := kit.Get(t.Context(), kit.NewClient(t, kit.RespondWith(200, body)))
			require.NoError(t, err)
			assert.Equal(t, &mintlify.Job{ID: "j", Status: "active"}, job)
		})
	}
}

func TestJobAsJSON(t *testing.T) {
	full := mintlify.Job{
		ID:         "job_1",
		Status:     "completed",
		Model:      "m",
		PRLink:     "https://github.com/o/r/pull/1?a=1&b=2",
		Source:     mintlify.JobSource{Repository: "https://github.com/o/r", Ref: "main"},
		CreatedAt:  time.Date(2024, 1, 15, 10, 30, 0, 5e6, time.UTC),
		ArchivedAt: time.Date(2024, 1, 16, 0, 0, 0, 0, time.UTC),
	}

	encoded, err := json.Marshal(full)
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"job_1","status":"completed","model":"m","prLink":"https://github.com/o/r/pull/1?a=1&b=2",
		"source":{"repository":"https://github.com/o/r","ref":"main"},
		"createdAt":"2024-01-15T10:30:00.005Z","archivedAt":"2024-01-16T00:00:00Z"}`, string(encoded))

	var read mintlify.Job
	require.NoError(t, json.Unmarshal(encoded, &read))
	assert.True(t, full == read, "equal to the letter: %+v", read)

	encoded, err = json.Marshal(&mintlify.Job{ID: "j", Status: "active"})
	require.NoError(t, err)
	assert.Equal(t, `{"id":"j","status":"active"}`, string(encoded))

	require.Error(t, json.Unmarshal([]byte(`[]`), &read))
	require.Error(t, json.Unmarshal([]byte(`{"id":`), &read))
}

func TestJobStatusThatIsUnknownIsKeptAndNotTerminal(t *testing.T) {
	job, err := kit.Get(t.Context(), kit.NewClient(t, kit.RespondWith(200, `{"id":"j","status":"paused"}`)))
	require.NoError(t, err)
	assert.Equal(t, mintlify.JobStatus("paused"), job.Status)

	for status, terminal := range map[mintlify.JobStatus]bool{
		mintlify.JobActive:    false,
		mintlify.JobCompleted: true,
		mintlify.JobArchived:  true,
		mintlify.JobFailed:    true,
		"paused":              false,
		"":                    false,
	} {
		assert.Equal(t, terminal, status.IsTerminal(), status)
	}
}

func TestStatusIsReadInAnyCase(t *testing.T) {
	for sent, want := range map[string]mintlify.JobStatus{
		"Completed": mintlify.JobCompleted,
		"ACTIVE":    mintlify.JobActive,
		"Paused":    "Paused",
	} {
		for _, call := range kit.JobCalls {
			job, err := call(t.Context(), kit.NewClient(t, kit.RespondWith(200, `{"id":"j","status":"`+sent+`"}`)))
			require.NoError(t, err)
			assert.Equal(t, want, job.Status)
		}
	}
}

package test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

// Each fuzz target goes through a client, as a response of the service does.

// FuzzOperation feeds in a response of each operation.
func FuzzOperation(f *testing.F) {
	all := operations.All()
	for i, op := range all {
		for _, seed := range variants(op.Body) {
			f.Add(uint8(i), []byte(seed))
		}
	}

	f.Fuzz(func(t *testing.T, i uint8, body []byte) {
		op := all[int(i)%len(all)]
		result, err := op.Call(t.Context(), kit.NewClient(t, kit.RespondWith(200, string(body)), mintlify.WithMaxRetries(0)))
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
			kit.AssertReadable(t, err)
			if reflect.ValueOf(result).IsNil() {
				return
			}
			require.IsType(t, new(mintlify.QueuedDeployment), result, "%s: a result with an error", op)
		}

		isPrompt := op.IsPost() && kit.ReturnsJob(op) // whose id is enough
		if err == nil && !isPrompt {
			for _, field := range op.Required {
				require.True(t, hasField(body, field), "%s: a success without %s", op, field)
			}
		}
		assertIsWhole(t, result)
		kit.AssertRoundTrip(t, result)
	})
}

// variants returns body and responses like it that are wrong, truncated or odd in one place.
func variants(body string) []string {
	all := []string{
		body, "", "null", "{}", "[]", "<html>" + kit.Key, body + " x", "\ufeff" + body, strings.ToUpper(body),
	}
	odd := []string{
		`null`, `7`, `1.5`, `-0.0`, `1.2e1`, `-1e300`, `9223372036854775807`, `"x"`, `"\ud800\u0000"`,
		`"9999-12-31T23:59:59-05:00"`, `"2026-01-15"`, `[]`, `[null]`, `[{}]`, `{}`,
	}

	for _, at := range regexp.MustCompile(`("\w+"):("[^"]*"|[\w.]+)`).FindAllStringSubmatchIndex(body, -1) {
		name := body[at[2]:at[3]]
		before := body[:at[4]]
		through := body[:at[5]]
		after := body[at[5]:]
		all = append(all, before, through, strings.Replace(body, name, `"other"`, 1))
		for _, value := range odd {
			all = append(all, before+value+after)
		}
	}

	for _, list := range regexp.MustCompile(`("\w+"):[{[]`).FindAllStringSubmatch(body, -1) {
		name := list[1]
		renamed := strings.Replace(body, name, `"other"`, 1)
		null := strings.Replace(body, name+":", name+`:null,"other":`, 1)
		all = append(all, renamed, null)
	}
	return all
}

// hasField reports whether an object has a field that is not null.
func hasField(object []byte, name string) bool {
	var fields map[string]any
	if json.Unmarshal(bytes.TrimPrefix(object, []byte("\ufeff")), &fields) != nil {
		return false
	}
	for key, value := range fields {
		if strings.EqualFold(key, name) && value != nil {
			return true
		}
	}
	return false
}

// assertIsWhole asserts what callers rely on in a result.
func assertIsWhole(t *testing.T, result any) {
	switch r := result.(type) {
	case *mintlify.Job:
		require.NotEmpty(t, r.ID)
	case *mintlify.VisitorPage:
		require.NotNil(t, r.Visitors)
		require.Equal(t, nextOffset(len(r.Visitors), r.HasMore), r.NextOffset)
	case *mintlify.ViewPage:
		require.NotNil(t, r.Views)
		require.Equal(t, nextOffset(len(r.Views), r.HasMore), r.NextOffset)
	case *mintlify.SearchPage:
		require.NotNil(t, r.Searches)
	case *mintlify.FeedbackPage:
		require.NotNil(t, r.Feedback)
		require.True(t, !r.HasMore || r.NextCursor != "", "a page without a way to the next")
	case *mintlify.FeedbackCounts:
		require.NotNil(t, r.Counts)
	case *mintlify.ConversationPage:
		require.NotNil(t, r.Conversations)
		require.True(t, !r.HasMore || r.NextCursor != "", "a page without a way to the next")
	case *mintlify.Thread:
		require.NotNil(t, r.Messages)
	case *mintlify.Deployment:
		require.NotEmpty(t, r.ID)
		require.NotEmpty(t, r.Status)
	case *mintlify.QueuedDeployment:
		require.NotEmpty(t, r.ID)
	}
}

// nextOffset returns where the next page starts if no page size was sent.
func nextOffset(rows int, hasMore bool) int {
	if hasMore && rows == 0 {
		return 50
	}
	return rows
}

func FuzzErrorResponse(f *testing.F) {
	f.Add(400, "application/json", "", []byte(`{"error":"no","details":[{"message":"x"}]}`))
	f.Add(502, "text/html", "120", []byte("<html><title>502\nBad</title>"))
	f.Add(429, "text/plain", "Fri, 31 Dec 2999 23:59:59 GMT", []byte("Too many requests"))
	echo := `{"error":{"message":"\u006d` + kit.Key[1:] + ` ` + kit.Key + `"}}`
	f.Add(401, "application/json", kit.Key, []byte(echo))
	f.Add(404, "", "-1", []byte(strings.Repeat("x\x00\n\u202e", 1000)))
	f.Add(302, kit.Key, "10000000000000000000", []byte(kit.Key[:5]))

	f.Fuzz(func(t *testing.T, status int, contentType, retryAfter string, body []byte) {
		if status >= 200 && status <= 299 || status < 100 || status > 999 {
			return
		}

		rt := kit.RespondWith(status, string(body),
			"Content-Type", contentType, "Retry-After", retryAfter, "X-Request-Id", contentType)
		_, err := kit.Create(t.Context(), kit.NewClient(t, rt, mintlify.WithMaxRetries(0)))
		kit.AssertReadable(t, err)

		apiErr := kit.RequireAs[*mintlify.APIError](t, err)
		assert.GreaterOrEqual(t, apiErr.RetryAfter, time.Duration(0))
		assert.LessOrEqual(t, len(apiErr.Details), 10)

		texts := []string{apiErr.Message, string(apiErr.Body), apiErr.Header.Get("Content-Type"), apiErr.RequestID}
		for _, text := range append(texts, apiErr.Details...) {
			assert.NotContains(t, text, kit.Key)
		}
		firstDetail := strings.Join(apiErr.Details[:min(len(apiErr.Details), 1)], "")
		kit.AssertReadable(t, errors.New(apiErr.Message+firstDetail))
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{
		"0", "7", "-1", "1.5", "+5", " 3 ", "9223372036", "9223372037", "9223372036854775807", "10000000000000000000",
		"-99999999999999999999", "soon", "Fri, 31 Dec 9999 23:59:59 GMT", "Monday, 02-Jan-06 15:04:05 GMT",
		"Mon Jan  2 15:04:05 2006",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, value string) {
		rt := kit.RespondWith(429, "", "Retry-After", value)
		_, err := kit.Get(t.Context(), kit.NewClient(t, rt, mintlify.WithMaxRetries(0)))
		apiErr := kit.RequireAs[*mintlify.APIError](t, err)
		require.GreaterOrEqual(t, apiErr.RetryAfter, time.Duration(0))

		digits := strings.TrimLeft(strings.TrimSpace(value), "0")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return
		}

		want := time.Duration(math.MaxInt64) // a wait too long to write down
		seconds, err := strconv.ParseInt(digits, 10, 64)
		if err == nil && seconds <= math.MaxInt64/int64(time.Second) {
			want = time.Duration(seconds) * time.Second
		}
		require.Equal(t, want, apiErr.RetryAfter)
	})
}

func FuzzRequestPath(f *testing.F) {
	f.Add("https://api.example.com", "proj", "job_1")
	f.Add("https://api.example.com:8443/pre%2Ffix/", "a/b", "a/b?c#d e")
	f.Add("http://[::1]:80/x/../y", "%2e%2e", "..%2f..")
	f.Add("https://h", "...", "\x00\xff\n\u202e")
	f.Add("https://h//a;b", ";", "//")
	f.Add(" ", "proj", "job_1") // an empty variable changes nothing

	f.Fuzz(func(t *testing.T, baseURL, project, id string) {
		rt := kit.NewRecording(kit.RespondWith(200, kit.JobJSON))
		client, err := mintlify.NewClient(kit.Key, project, mintlify.WithBaseURL(baseURL), kit.Through(rt))
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			kit.AssertReadable(t, err)
			return
		}
		_, err = client.Jobs.Get(t.Context(), id)
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			return
		}

		base, err := url.Parse(cmp.Or(strings.TrimSpace(baseURL), mintlify.DefaultBaseURL))
		require.NoError(t, err)
		sent := rt.Last().URL
		require.Equal(t, base.Scheme, sent.Scheme)
		require.Equal(t, base.Hostname(), sent.Hostname())
		require.Equal(t, base.Port(), sent.Port())
		require.Nil(t, sent.User)
		require.Empty(t, sent.RawQuery)
		require.Empty(t, sent.Fragment)

		rest, ok := strings.CutPrefix(sent.EscapedPath(), strings.TrimRight(base.EscapedPath(), "/")+"/v2/agent/")
		require.True(t, ok, "%q never leaves the prefix of %q", sent, baseURL)
		segments := strings.Split(rest, "/")
		require.Len(t, segments, 3)
		for i, want := range []string{strings.TrimSpace(project), "job", id} {
			got, err := url.PathUnescape(segments[i])
			require.NoError(t, err)
			require.Equal(t, want, got, "it round-trips")
			require.NotContains(t, []string{".", ".."}, segments[i])
		}
	})
}

func FuzzDate(f *testing.F) {
	for _, seed := range []string{
		"2024-01-15", "2024-02-30", "2024-01-15T10:30:00Z", "2024-01-15T10:30:00.1239+02:00", "0000-01-01",
		"9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00Z", "2024-01-15T10:30Z", "2016-12-31T23:59:60Z",
		"2024-01-15T10:30:00,5Z",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		date, err := mintlify.ParseDate(text)
		if err != nil {
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			kit.AssertReadable(t, err)
			return
		}
		require.False(t, date.IsZero())

		again, err := mintlify.ParseDate(date.String())
		require.NoError(t, err)
		require.Equal(t, date, again)
		require.Equal(t, date.String(), again.String())

		lengths := []int{len("2006-01-02"), len("2006-01-02T15:04:05Z"), len("2006-01-02T15:04:05.000Z")}
		require.Contains(t, lengths, len(date.String()))
	})
}

package mintlify_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func TestKeyIsRedactedFromWhateverComesBack(t *testing.T) {
	echo := `{"error":"no such key ` + testKey + `","details":[{"message":"` + testKey + `"}]}`
	breakOffWith := func(status int, body string, err error) transport {
		return func(*http.Request) (*http.Response, error) {
			return pipe(status, func(w *io.PipeWriter) {
				io.WriteString(w, body)
				w.CloseWithError(err)
			}), nil
		}
	}
	var lines strings.Builder
	logger := mintlify.WithLogger(textLogger(&lines))
	for name, rt := range map[string]http.RoundTripper{
		"error":                respondWith(401, echo, "X-Echo", "Bearer "+testKey, "X-Request-Id", testKey),
		"text":                 respondWith(503, "key "+testKey),
		"count":                respondWith(200, `{"totals":{"human":"`+testKey+`"},"visitors":[],"hasMore":false}`),
		"HTML":                 respondWith(502, "<title>"+testKey+"</title>"),
		"malformed":            respondWith(200, "key "+testKey, "X-Echo", testKey),
		"truncated":            breakOffWith(200, testKey, errors.New("lost "+testKey)),
		"truncated in the key": breakOffWith(401, "bad key "+testKey[:len(testKey)-1], io.ErrUnexpectedEOF),
		"redirect":             respondWith(302, "", "Location", "https://evil.example.com/?key="+testKey),
		"error of the transport": transport(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("sent %v", r.Header)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, rt, logger, mintlify.WithRetryWait(0, 0))
			for _, call := range operations {
				_, err := call(t.Context(), client)
				require.Error(t, err)
				for err := range chain(err) {
					assert.NotContains(t, leaks(err), testKey[5:len(testKey)-1], "%T", err)
				}
				var apiErr *mintlify.APIError
				if errors.As(err, &apiErr) {
					assert.NotContains(t, leaks(*apiErr), testKey)
					assert.NotContains(t, string(apiErr.Body), testKey)
				}
				var malformed *mintlify.ResponseError
				if errors.As(err, &malformed) {
					assert.NotContains(t, leaks(*malformed), testKey)
					assert.NotContains(t, string(malformed.Body), testKey)
				}
			}
			for _, v := range []any{client, *client, client.Jobs, *client.Jobs} {
				assert.NotContains(t, leaks(v), testKey)
			}
		})
	}
	assert.NotEmpty(t, lines.String())
	assert.NotContains(t, lines.String(), testKey)
}

// chain ranges over the errors of the SDK in err: what a transport returned is its own.
func chain(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) {
		for err != nil && strings.Contains(fmt.Sprintf("%T", err), "mintlify.") {
			if !yield(err) {
				return
			}
			err = errors.Unwrap(err)
		}
	}
}

// A key that is cut in the middle would not be recognized.
func TestKeyIsRedactedBeforeTextIsCut(t *testing.T) {
	for pad := range 320 {
		for name, body := range map[string]string{
			"JSON": `{"error":"` + strings.Repeat("x", pad) + testKey + `"}`,
			"text": strings.Repeat("x", pad) + testKey,
			"HTML": "<p>" + strings.Repeat("x", pad) + testKey,
		} {
			for _, status := range []int{200, 400} {
				_, err := create(t.Context(), newClient(t, respondWith(status, body)))
				require.Error(t, err)
				assert.NotContains(t, err.Error(), testKey[:8], "%s, %d", name, pad)
			}
		}
	}
}

func TestWhatAllKeysBeginWithIsNotRedacted(t *testing.T) {
	const words = "the key must begin with mint_"
	_, err := get(t.Context(), newClient(t, respondWith(401, words)))
	assert.ErrorContains(t, err, words)
	_, err = get(t.Context(), newClient(t, respondWith(401, words+testKey[len("mint_"):len("mint_")+1])))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "mint_", "a key that was truncated")
}

func TestKeyIsRedactedFromEachDetailAndHeaderValue(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(400, `{"details":["\u006d`+testKey[1:]+`"]}`, "X-Echo", "a", "X-Echo", testKey)))
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.Equal(t, []string{"[API key]"}, apiErr.Details)
	assert.Equal(t, []string{"a", "[API key]"}, apiErr.Header["X-Echo"])
}

func TestKeyIsNotRedactedFromTheTransportsOwnResponse(t *testing.T) {
	header := http.Header{"X-Echo": {testKey}}
	_, err := get(t.Context(), newClient(t, transport(func(*http.Request) (*http.Response, error) {
		response := response(400, "")
		response.Header = header
		return response, nil
	})))
	require.Error(t, err)
	assert.Equal(t, http.Header{"X-Echo": {testKey}}, header, "a recorder may have kept it")
}

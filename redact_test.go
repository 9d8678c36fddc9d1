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

func TestKeyIsNowhereToBeSeen(t *testing.T) {
	echo := `{"error":"no such key ` + testKey + `","details":[{"message":"` + testKey + `"}]}`
	escaped := `{"error":"no such key \u006d` + testKey[1:] + `"}`
	var lines strings.Builder
	logger := mintlify.WithLogger(textLogger(&lines))
	for name, rt := range map[string]http.RoundTripper{
		"error":     respondWith(401, echo, "X-Echo", "Bearer "+testKey, "X-Request-Id", testKey),
		"escaped":   respondWith(401, escaped),
		"text":      respondWith(503, "key "+testKey),
		"entities":  respondWith(200, "<p>&#109;"+testKey[1:]),
		"count":     respondWith(200, `{"totals":{"human":"`+testKey+`"},"visitors":[],"hasMore":false}`),
		"HTML":      respondWith(502, "<title>"+testKey+"</title>"),
		"malformed": respondWith(200, "key "+testKey, "X-Echo", testKey),
		"truncated": transport(func(*http.Request) (*http.Response, error) {
			return pipe(200, func(w *io.PipeWriter) {
				io.WriteString(w, testKey)
				w.CloseWithError(errors.New("lost " + testKey))
			}), nil
		}),
		"JSON": respondWith(401, `{"x":"\u006Dint\u005f`+testKey[5:]+`"}`),
		"URL":  respondWith(302, "", "Location", "https://evil.example.com/?key=mint%5F"+testKey[5:]),
		"cut short": transport(func(*http.Request) (*http.Response, error) {
			return pipe(401, func(w *io.PipeWriter) {
				io.WriteString(w, "bad key "+testKey[:len(testKey)-1])
				w.CloseWithError(io.ErrUnexpectedEOF)
			}), nil
		}),
		"redirect": respondWith(302, "", "Location", "https://evil.example.com/?key="+testKey),
		"network": transport(func(r *http.Request) (*http.Response, error) {
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

// chain walks the errors of the SDK in err: what a transport returned is its own.
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
func TestKeyIsRedactedOutBeforeTextIsCut(t *testing.T) {
	for pad := range 320 {
		for name, body := range map[string]string{
			"JSON": `{"error":"` + strings.Repeat("x", pad) + `\u006d` + testKey[1:] + `"}`,
			"text": strings.Repeat("x", pad) + testKey,
			"HTML": "<p>" + strings.Repeat("x", pad) + "&#109;" + testKey[1:],
		} {
			for _, status := range []int{200, 400} {
				_, err := create(t.Context(), newClient(t, respondWith(status, body)))
				require.Error(t, err)
				assert.NotContains(t, err.Error(), testKey[:8], "%s, %d", name, pad)
			}
		}
	}
}

func TestWhatAllKeysBeginWithIsNoKey(t *testing.T) {
	const words = "the key must begin with mint_"
	_, err := get(t.Context(), newClient(t, respondWith(401, words)))
	assert.ErrorContains(t, err, words)
	_, err = get(t.Context(), newClient(t, respondWith(401, words+testKey[len("mint_"):len("mint_")+1])))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "mint_", "a key that was truncated")
}

func TestMoreEchoesOfTheKey(t *testing.T) {
	var escaped strings.Builder
	for _, c := range []byte(testKey) {
		escaped.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
	}
	for body, leak := range map[string]string{
		strings.Repeat("x", 64<<10-60) + escaped.String(): escaped.String()[:30],
		"&#0109;" + testKey[1:]:                           testKey[1:],
	} {
		_, err := get(t.Context(), newClient(t, respondWith(400, body)))
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		assert.NotContains(t, string(apiErr.Body), leak)
	}
	client, err := mintlify.NewClient("mint_a/b+secret", "proj", mintlify.WithHTTPClient(&http.Client{Transport: respondWith(400, `{"error":"mint_a\/b+secret"}`)}))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.NotContains(t, string(apiErr.Body), "secret")
}

func TestKeyEscapedInADetailIsRedactedOut(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(400, `{"details":["\u006d`+testKey[1:]+`"]}`)))
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.Equal(t, []string{"[API key]"}, apiErr.Details)
}

func TestKeyIsRedactedOutOfEachHeaderValue(t *testing.T) {
	_, err := get(t.Context(), newClient(t, respondWith(400, "", "X-Echo", "a", "X-Echo", testKey)))
	var apiErr *mintlify.APIError
	require.ErrorAs(t, err, &apiErr)
	assert.Equal(t, []string{"a", "[API key]"}, apiErr.Header["X-Echo"])
}

func TestResponseOfTheTransportIsNotChanged(t *testing.T) {
	header := http.Header{"X-Echo": {testKey}}
	client := newClient(t, transport(func(*http.Request) (*http.Response, error) {
		response := response(400, "")
		response.Header = header
		return response, nil
	}))
	_, err := get(t.Context(), client)
	require.Error(t, err)
	assert.Equal(t, http.Header{"X-Echo": {testKey}}, header, "a recorder may have kept it")
}

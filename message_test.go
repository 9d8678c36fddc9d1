package mintlify_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func TestAPIErrorHoldsTheServicesWords(t *testing.T) {
	for name, tc := range map[string]struct {
		body, message string
		details       []string
	}{
		"agent":                   {`{"error":"prompt too long"}`, "prompt too long", nil},
		"analytics":               {`{"error":"bad query","details":[{"message":"limit > 250"},{"message":"no such date"}]}`, "bad query", []string{"limit > 250", "no such date"}},
		"message":                 {`{"message":"not yet"}`, "not yet", nil},
		"nested":                  {`{"error":{"message":"inner","code":5}}`, "inner", nil},
		"details alone":           {`{"details":["a",{"message":"b"},7]}`, "", []string{"a", "b"}},
		"odd details":             {`{"error":"x","details":"y"}`, "x", nil},
		"plain text":              {"Too many\r\nrequests\n", "Too many requests", nil},
		"HTML with title":         {"<!DOCTYPE html><html><head>\n<title>502 Bad\nGateway &amp; more</title></head><body>" + strings.Repeat("<p>wall</p>", 1000), "502 Bad Gateway & more", nil},
		"HTML, no title":          {"<html><body><h1>Sorry</h1> come back</body></html>", "Sorry come back", nil},
		"HTML in JSON":            {`{"error":"<html><body><h1>502</h1></body></html>"}`, "502", nil},
		"byte-order mark":         {"\ufeff<html><body>hi", "hi", nil},
		"HTML behind white space": {"\n <html><title>Sorry</title>", "Sorry", nil},
		"truncated tag":           {"<html><div class='" + strings.Repeat("a ", 5000), "", nil},
		"no HTML":                 {"want 1 < limit <= 250", "want 1 < limit <= 250", nil},
		"empty":                   {"", "", nil},
		"JSON of no shape":        {`["x"]`, `["x"]`, nil},
		"null":                    {`null`, `null`, nil},
		"control":                 {`{"error":"a\u0000b\u001b[31mred\u202e\nnext\u200b"}`, "a b [31mred next", nil},
		"broken UTF-8":            {"caf\xe9 ferm\xe9", "caf ferm", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(t.Context(), newClient(t, respondWith(400, tc.body)))
			var apiErr *mintlify.APIError
			require.ErrorAs(t, err, &apiErr)
			assert.Equal(t, tc.message, apiErr.Message)
			assert.Equal(t, tc.details, apiErr.Details)
			assert.ErrorContains(t, err, "create job: 400 Bad Request")
			assert.ErrorContains(t, err, tc.message)
			for _, detail := range tc.details {
				assert.ErrorContains(t, err, detail)
			}
			assertReadable(t, err)
		})
	}
}

func TestAPIErrorCutsTheServicesWords(t *testing.T) {
	apiErr := func(body string) *mintlify.APIError {
		_, err := get(t.Context(), newClient(t, respondWith(400, body)))
		var apiErr *mintlify.APIError
		require.ErrorAs(t, err, &apiErr)
		return apiErr
	}
	assert.Len(t, apiErr(`{"details":[`+strings.Repeat(`"x",`, 1000)+`"x"]}`).Details, 10)
	whole := strings.Repeat("x", 300)
	assert.Equal(t, whole, apiErr(`{"error":"`+whole+`"}`).Message)
	for shift := range 3 {
		cut := apiErr(`{"error":"` + whole[:shift] + strings.Repeat("日", 100) + `x"}`).Message
		assert.True(t, utf8.ValidString(cut) && strings.HasSuffix(cut, "…"), "%q", cut)
		assert.LessOrEqual(t, len(cut), 300)
	}
}

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChat(t *testing.T) {
	var got string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = string(body)
		rw.WriteHeader(status)
	}))
	defer server.Close()
	c, err := newChat(server.URL + "/services/its-secret")
	require.NoError(t, err)

	require.NoError(t, c.post(t.Context(), "failed <!channel> & more"))
	assert.JSONEq(t, `{"text": "failed &lt;!channel&gt; &amp; more"}`, got)

	status = http.StatusForbidden
	require.ErrorContains(t, c.post(t.Context(), "hello"), "CHAT_URL responded 403 Forbidden")

	server.Close()
	err = c.post(t.Context(), "hello")
	require.ErrorContains(t, err, "CHAT_URL")
	assert.NotContains(t, err.Error(), "its-secret")
}

func TestChatURLIsChecked(t *testing.T) {
	for _, address := range []string{"hooks.example.com/its-secret", "ftp://example.com/its-secret", "https:///its-secret", "https://[its-secret"} {
		_, err := newChat(address)
		require.ErrorContains(t, err, "CHAT_URL is not", address)
		assert.NotContains(t, err.Error(), "its-secret")
	}
}

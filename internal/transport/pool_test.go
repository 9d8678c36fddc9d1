package transport

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func setDefault(t *testing.T, rt http.RoundTripper) {
	t.Helper()
	before := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = before })
	http.DefaultTransport = rt
}

func TestNoDefaultTransportIsAnError(t *testing.T) {
	setDefault(t, nil)
	b := newSender(t.Context(), nil)
	_, err := send(b, newRequest(t, http.MethodGet, "http://127.0.0.1", ""))
	assert.ErrorContains(t, err, "http.DefaultTransport is nil")
	assert.Equal(t, err, b.Refused, "nothing was sent")
	assert.Zero(t, b.Attempts)

	assert.NotNil(t, New())
	new(Pool).CloseIdleConnections()
}

func TestNew(t *testing.T) {
	for name, standard := range map[string]http.RoundTripper{
		"the standard library's": http.DefaultTransport,
		"a replacement":          roundTripper(nil),
		"the program's":          &http.Transport{MaxResponseHeaderBytes: 5},
	} {
		setDefault(t, standard)
		own := New()
		assert.Zero(t, own.MaxIdleConns, name)
		assert.Equal(t, 100, own.MaxIdleConnsPerHost, name)
		assert.Equal(t, 30*time.Second, own.IdleConnTimeout, name)

		if name == "the program's" {
			assert.EqualValues(t, 5, own.MaxResponseHeaderBytes)
			continue
		}
		assert.EqualValues(t, maxHeaderBytes, own.MaxResponseHeaderBytes, name)
		assert.NotNil(t, own.Proxy, name)
		assert.True(t, own.ForceAttemptHTTP2, name)
	}
}

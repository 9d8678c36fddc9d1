// Package retryable is the hand-written client on go-retryablehttp.
package retryable

import (
	"net/http"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/byhand"
)

// New is a [bench.New].
func New(baseURL string, transport http.RoundTripper) bench.Client {
	return byhand.On(HTTPClient(transport), baseURL)
}

// HTTPClient returns a client that retries as go-retryablehttp does unless told otherwise.
func HTTPClient(transport http.RoundTripper) *http.Client {
	client := retryablehttp.NewClient()
	client.Logger = nil // the default one prints every request
	if transport != nil {
		client.HTTPClient.Transport = transport
	}
	return client.StandardClient()
}

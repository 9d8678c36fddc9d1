// Package retryable is the hand-written client on go-retryablehttp.
package retryable

import (
	"net/http"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/byhand"
)

// New is a [bench.New]. Its client retries as go-retryablehttp does unless told otherwise.
func New(baseURL string, transport http.RoundTripper) bench.Client {
	client := retryablehttp.NewClient()
	client.Logger = nil // the default one prints every request
	if transport != nil {
		client.HTTPClient.Transport = transport
	}
	return byhand.On(client.StandardClient(), baseURL)
}

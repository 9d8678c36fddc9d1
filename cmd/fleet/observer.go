package main

import (
	"net/http"
	"sync/atomic"
)

// observer notes the status of the response to a POST whose context has an *atomic.Int64, and 1 if
// no response comes.
type observer struct{ next http.RoundTripper }

func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	status, ok := r.Context().Value(observer{}).(*atomic.Int64)
	if !ok || r.Method != http.MethodPost {
		return o.next.RoundTrip(r)
	}

	status.Store(1)
	response, err := o.next.RoundTrip(r)
	if err == nil {
		status.Store(int64(response.StatusCode))
	}
	return response, err
}

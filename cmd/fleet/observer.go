package main

import (
	"context"
	"net/http"
	"sync/atomic"
)

// noResponse is the status that is noted for a request that got no response.
const noResponse = 1

// observation notes how the requests of a turn ended.
type observation struct {
	status atomic.Int64 // of the last response, noResponse if there was none, 0 without a request
	posts  atomic.Int64
}

// observe returns a context whose requests are noted in the observation.
func observe(ctx context.Context) (context.Context, *observation) {
	seen := &observation{}
	return context.WithValue(ctx, observer{}, seen), seen
}

// observer notes the requests whose context observe has made.
type observer struct{ next http.RoundTripper }

func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	seen, ok := r.Context().Value(observer{}).(*observation)
	if !ok {
		return o.next.RoundTrip(r)
	}

	if r.Method == http.MethodPost {
		seen.posts.Add(1)
	}
	seen.status.Store(noResponse)
	response, err := o.next.RoundTrip(r)
	if err == nil {
		seen.status.Store(int64(response.StatusCode))
	}
	return response, err
}

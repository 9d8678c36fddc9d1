package once_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// refusing is a way to the service on which the first POSTs fail.
type refusing struct {
	svc    *mintlifytest.Service
	posts  int // that fail
	reused bool
	// err is what the transport returns once it has read the body, or before it if isUnread is set.
	err      error
	isUnread bool

	sent time.Time // when a POST reached the service
}

func (p *refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return p.svc.RoundTrip(r)
	}
	if p.posts == 0 {
		p.sent = time.Now()
		return p.svc.RoundTrip(r)
	}

	p.posts--
	trace := httptrace.ContextClientTrace(r.Context())
	trace.GetConn(r.URL.Host)
	trace.GotConn(httptrace.GotConnInfo{Reused: p.reused})
	trace.WroteHeaders()
	if !p.isUnread {
		_, _ = io.ReadAll(r.Body)
	}
	return nil, p.err
}

// How long a project is held after a request that a peer has refused before it acted.
func TestWhatAPeerRefusesHoldsTheProject(t *testing.T) {
	goAway := errors.New("http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown " +
		"GOAWAY] after Request.Body was written; define Request.GetBody to avoid this error")
	alert := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	closed := errors.New("http: server closed idle connection")

	for name, tc := range map[string]struct {
		peer refusing
		held time.Duration
	}{
		"GOAWAY":              {refusing{posts: 7, err: goAway}, 0},
		"a connection in use": {refusing{posts: 7, err: closed, reused: true, isUnread: true}, 0},
		"a new connection":    {refusing{posts: 1, err: closed, isUnread: true}, 30 * time.Second},
		"client certificate":  {refusing{posts: 1, err: alert}, 5 * time.Minute},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			peer := &tc.peer
			peer.svc = w.svc
			client := w.svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithMaxRetries(0),
				mintlify.WithHTTPClient(&http.Client{Transport: peer}))
			r := w.runner(client)
			w.add(task)

			start := time.Now()
			require.NoError(t, r.Resume(t.Context()))
			assert.Equal(t, once.Done, w.get(key).State, name)
			assert.GreaterOrEqual(t, peer.sent.Sub(start), tc.held, name)
			assert.Less(t, peer.sent.Sub(start), tc.held+6*time.Second, name)
		})
	}
}

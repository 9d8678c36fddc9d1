package transport

import (
	"cmp"
	"net/http"
	"sync"
	"time"
)

const maxHeaderBytes = 256 << 10 // of a response; net/http's own limit, 10 MiB, costs 100 MiB of memory

// Pool is the SDK's own transport, made when it is first needed. The zero Pool is
// ready to use.
type Pool struct {
	mu       sync.Mutex
	standard *http.Transport // what own is a clone of
	own      *http.Transport
}

// New returns a clone of http.DefaultTransport, or a transport like it if the program has
// replaced it, with room for many idle connections.
func New() *http.Transport {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		standard = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			ForceAttemptHTTP2:     true,
			TLSHandshakeTimeout:   10 * time.Second,
			ExpectContinueTimeout: time.Second,
		}
	}
	return roomy(standard)
}

// roomy returns a clone of standard that keeps many idle connections and bounds a response's
// header. It closes idle connections before a server is likely to: a request written to a
// connection that closes has an unknown outcome. Over HTTP/2 it pings a connection that has
// gone silent: net/http would use it for every request until the system gives it up. It names a
// proxy that refuses a tunnel.
func roomy(standard *http.Transport) *http.Transport {
	own := standard.Clone()
	own.MaxIdleConns = 0 // no limit but the host's
	own.MaxIdleConnsPerHost = 100
	own.IdleConnTimeout = 30 * time.Second
	if own.OnProxyConnectResponse == nil {
		own.OnProxyConnectResponse = checkTunnel
	}
	own.MaxResponseHeaderBytes = cmp.Or(own.MaxResponseHeaderBytes, maxHeaderBytes)
	own.HTTP2 = cmp.Or(own.HTTP2, new(http.HTTP2Config)) // Clone has copied it; Go 1.27 sets an empty one
	own.HTTP2.SendPingTimeout = cmp.Or(own.HTTP2.SendPingTimeout, 15*time.Second)
	own.HTTP2.PingTimeout = cmp.Or(own.HTTP2.PingTimeout, 10*time.Second)
	return own
}

// roundTripper returns http.DefaultTransport itself if the program has replaced it, as
// httpmock and telemetry do, else the clone of it.
func (p *Pool) roundTripper() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own == nil {
		p.standard = standard
		p.own = roomy(standard)
	}
	if standard != p.standard {
		return standard
	}
	return p.own
}

// CloseIdleConnections closes the idle connections of the SDK's own transport.
func (p *Pool) CloseIdleConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own != nil {
		p.own.CloseIdleConnections()
	}
}

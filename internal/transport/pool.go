package transport

import (
	"net/http"
	"sync"
	"time"
)

// Pool is the SDK's own transport, made when it is first needed. The zero Pool is
// ready to use.
type Pool struct {
	mu       sync.Mutex
	standard *http.Transport // what own is a clone of
	own      *http.Transport
}

// New returns a clone of standard with room to keep a connection for each of many
// waits. Idle ones are closed before a server is likely to: a request written to a
// connection that closes has an unknown outcome.
func New(standard *http.Transport) *http.Transport {
	own := standard.Clone()
	own.MaxIdleConns = 0 // no limit but the host's
	own.MaxIdleConnsPerHost = 1024
	own.IdleConnTimeout = 30 * time.Second
	return own
}

// roundTripper returns http.DefaultTransport itself where the program has replaced
// it, as httpmock and telemetry do, else the clone of it.
func (p *Pool) roundTripper() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own == nil {
		p.standard, p.own = standard, New(standard)
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

package mintlify_test

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const streams = 100 // at once on an HTTP/2 connection, which net/http expects until it is told

// pipeNetwork connects the SDK's own transport to a handler by pipes, so that it works in a bubble.
type pipeNetwork struct {
	transport *http.Transport

	mu    sync.Mutex
	conns []*silenced
}

func newPipeNetwork(t *testing.T, handler http.Handler, isHTTP2 bool) *pipeNetwork {
	if isHTTP2 && strings.HasPrefix(runtime.Version(), "go1.25") {
		t.Skip("Go 1.25's HTTP/2 server shares channels between bubbles")
	}

	protocols := new(http.Protocols)
	protocols.SetHTTP1(!isHTTP2)
	protocols.SetUnencryptedHTTP2(isHTTP2)

	dialed := make(chan net.Conn)
	server := &http.Server{
		Handler:   handler,
		Protocols: protocols,
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: streams},
	}
	go server.Serve(pipes(dialed))

	n := &pipeNetwork{transport: mintlify.NewTransport()}
	n.transport.Proxy = nil
	n.transport.Protocols = protocols
	n.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		dialed <- theirs
		return n.add(ours), nil
	}

	t.Cleanup(func() {
		n.transport.CloseIdleConnections()
		server.Close()
	})
	return n
}

func (n *pipeNetwork) add(conn net.Conn) net.Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	added := &silenced{Conn: conn}
	n.conns = append(n.conns, added)
	return added
}

// dialed returns how many connections there have been.
func (n *pipeNetwork) dialed() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// silence silences the connections that are open: from then on nothing comes through, and
// nobody is told.
func (n *pipeNetwork) silence() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.conns {
		conn.silent.Store(true)
	}
}

// silenced is a connection that loses everything once it is silent.
type silenced struct {
	net.Conn
	silent atomic.Bool
}

func (c *silenced) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.silent.Load() {
			return n, err
		}
	}
}

func (c *silenced) Write(p []byte) (int, error) {
	if c.silent.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// pipes is a listener of the connections that it receives.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p pipes) Close() error {
	close(p)
	return nil
}

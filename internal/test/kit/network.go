package kit

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

// Streams is how many streams an HTTP/2 connection has at once; net/http expects it until it is told.
const Streams = 100

// PipeNetwork connects the SDK's own transport to a handler by pipes, so that it works in a bubble.
type PipeNetwork struct {
	// Transport is the SDK's own, with connections of the network.
	Transport *http.Transport

	mu    sync.Mutex
	conns []*silenced
}

// NewPipeNetwork returns a network to handler that closes at the end of the test.
func NewPipeNetwork(t *testing.T, handler http.Handler, isHTTP2 bool) *PipeNetwork {
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
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: Streams},
	}
	go server.Serve(pipes(dialed))

	n := &PipeNetwork{Transport: mintlify.NewTransport()}
	n.Transport.Proxy = nil
	n.Transport.Protocols = protocols
	n.Transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		dialed <- theirs
		return n.add(ours), nil
	}

	t.Cleanup(func() {
		n.Transport.CloseIdleConnections()
		server.Close()
	})
	return n
}

func (n *PipeNetwork) add(conn net.Conn) net.Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	added := &silenced{Conn: conn}
	n.conns = append(n.conns, added)
	return added
}

// Dialed returns how many connections there have been.
func (n *PipeNetwork) Dialed() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// Silence silences the connections that are open: from then on nothing comes through, and
// nobody is told.
func (n *PipeNetwork) Silence() {
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

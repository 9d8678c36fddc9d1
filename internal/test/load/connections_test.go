package load

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// unencryptedHTTP2 saves the handshakes: a burst makes thousands of connections.
func unencryptedHTTP2() *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return protocols
}

// h2Setup starts a server and has a transport speak HTTP/2 with it.
type h2Setup func(*httptest.Server, *http.Transport)

func withoutTLS(server *httptest.Server, transport *http.Transport) {
	server.Config.Protocols = unencryptedHTTP2()
	transport.Protocols = unencryptedHTTP2()
	server.Start()
}

func overFewTLSConnections(server *httptest.Server, transport *http.Transport) {
	server.EnableHTTP2 = true
	server.StartTLS()
	transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	transport.MaxConnsPerHost = 20
}

// The server allows 100 streams a connection, as most do, and takes 100 ms for a response.
func TestBurstOverHTTP2(t *testing.T) {
	for name, start := range map[string]h2Setup{
		"without TLS":                      withoutTLS,
		"over TLS, 20 connections at most": overFewTLSConnections,
	} {
		t.Run(name, func(t *testing.T) {
			const calls = 1000 // of each kind
			svc := mintlifytest.NewService()
			svc.AddJob("j")
			svc.FailNext(mintlify.OpCreateJob, calls, mintlifytest.Fault{Delay: 100 * time.Millisecond})
			svc.FailNext(mintlify.OpGetJob, calls, mintlifytest.Fault{Delay: 100 * time.Millisecond})

			server := httptest.NewUnstartedServer(svc)
			server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100}
			// net/http closes connections that it has no more use for.
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			transport := mintlify.NewTransport()
			start(server, transport)

			client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID,
				mintlify.WithBaseURL(server.URL), mintlify.WithHTTPClient(&http.Client{Transport: transport}),
				mintlify.WithMaxRetries(0))
			require.NoError(t, err)

			var all sync.WaitGroup
			for i := range calls {
				all.Go(func() {
					_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: strconv.Itoa(i)})
					assert.NoError(t, err)
				})
				all.Go(func() {
					_, err := client.Jobs.Get(t.Context(), "j")
					assert.NoError(t, err)
				})
			}
			all.Wait()

			transport.CloseIdleConnections()
			server.Close()

			times := acted(svc)
			for i := range calls {
				assert.Equal(t, 1, times[strconv.Itoa(i)], "prompt %d", i)
			}
			assert.Equal(t, calls, times[""], "Gets")
			goleak.VerifyNone(t)
		})
	}
}

// A laptop changes its network, or a NAT forgets a flow: all connections go silent at once,
// and new ones work.
func TestWaitsOutliveSilentConnections(t *testing.T) {
	for name, protocols := range map[string]*http.Protocols{"HTTP/1": nil, "HTTP/2": unencryptedHTTP2()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testSilentConnections(t, protocols) })
		})
	}
}

func testSilentConnections(t *testing.T, protocols *http.Protocols) {
	const waits = 10
	svc := mintlifytest.NewService()
	network := &network{made: make(chan net.Conn)}
	server := &http.Server{Handler: svc, Protocols: protocols}
	go server.Serve(network)

	transport := mintlify.NewTransport()
	transport.Protocols = protocols
	transport.DialContext = network.dial
	client := svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithBaseURL("http://127.0.0.1"),
		mintlify.WithHTTPClient(&http.Client{Transport: transport}))

	var failed atomic.Int32
	countFailed := mintlify.WithOnPoll(func(p mintlify.Poll) {
		if p.Err != nil {
			failed.Add(1)
		}
	})
	var all sync.WaitGroup
	for i := range waits {
		svc.AddJob(strconv.Itoa(i), script(30)...)
		all.Go(func() {
			_, err := client.Jobs.WaitUntilDone(t.Context(), strconv.Itoa(i), countFailed)
			assert.NoError(t, err)
		})
	}

	time.Sleep(time.Minute)
	network.silence()
	all.Wait()
	t.Logf("%d polls failed", failed.Load())
	assert.NotZero(t, failed.Load())
	assert.LessOrEqual(t, failed.Load(), int32(waits), "one a wait at most")

	transport.CloseIdleConnections()
	server.Close()
}

// network makes connections in memory, and accepts them at their other end.
type network struct {
	made     chan net.Conn
	silences atomic.Int32 // so far
}

// silence loses all that is written from now on to the connections made so far.
func (n *network) silence() { n.silences.Add(1) }

func (n *network) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	n.made <- server
	return &networkConn{client, n, n.silences.Load()}, nil
}

func (n *network) Accept() (net.Conn, error) {
	conn, ok := <-n.made
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (n *network) Close() error {
	close(n.made)
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

type networkConn struct {
	net.Conn
	network *network
	since   int32 // how many silences there were before
}

func (c *networkConn) Write(b []byte) (int, error) {
	if c.since < c.network.silences.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

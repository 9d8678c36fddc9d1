package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/test/http2server"
)

// onSockets serves the handler on real sockets, and returns a Sender over a transport that wrap
// has wrapped, if it is not nil, and the base URL.
func onSockets(t *testing.T, handle func(http2server.Event, *http2server.Stream), wrap wrapper) (*Sender, string) {
	t.Helper()
	server := &http2server.Server{Handle: handle}
	baseURL, base, err := server.Listen()
	require.NoError(t, err)
	t.Cleanup(func() {
		base.CloseIdleConnections()
		server.Close()
	})

	if wrap == nil {
		return newSender(t.Context(), base), baseURL
	}
	return newSender(t.Context(), wrap(base)), baseURL
}

type wrapper func(http.RoundTripper) http.RoundTripper

// at has a server do something to each request that has got so far.
func at(when http2server.Event, do func(*http2server.Stream)) func(http2server.Event, *http2server.Stream) {
	return func(event http2server.Event, stream *http2server.Stream) {
		if event == when {
			do(stream)
		}
	}
}

func goAwayBelow(s *http2server.Stream) { s.GoAway(true) }

// This test notices if a release of Go changes the text.
func TestGoAwayBelowTheStreamIsProof(t *testing.T) {
	for name, when := range map[string]http2server.Event{
		"as the request begins": http2server.Begun,
		"in its body":           http2server.Body,
		"after it":              http2server.Whole,
	} {
		b, baseURL := onSockets(t, at(when, goAwayBelow), nil)
		_, err := send(b, newRequest(t, http.MethodPost, baseURL, "prompt"))
		require.EqualError(t, err, "the peer refused the request before it acted", name)
		assert.ErrorIs(t, err, ErrRepeatable, name)
		assert.True(t, b.Attempt.NeverSent(), name)
		assert.EqualError(t, errors.Unwrap(err), goAway, name)
	}
}

func TestGoAwayOnAConnectionInUseIsProof(t *testing.T) {
	served := 0
	b, baseURL := onSockets(t, at(http2server.Whole, func(s *http2server.Stream) {
		served++
		if served < 3 {
			s.Respond("200", "done")
			return
		}
		s.GoAway(true)
	}), nil)

	for range 2 {
		_, err := send(b, newRequest(t, http.MethodPost, baseURL, "prompt"))
		require.NoError(t, err)
	}
	_, err := send(b, newRequest(t, http.MethodPost, baseURL, "prompt"))
	assert.ErrorIs(t, err, ErrRepeatable)
	assert.True(t, b.Attempt.NeverSent())
}

// buffering keeps the body before it sends it, as transports that sign or resend requests do. It
// may have sent it elsewhere before.
func buffering(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		return base.RoundTrip(r)
	})
}

// fetching makes a request of its own under the context of each, as transports that need a token
// do.
func fetching(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		fetchToken(r)
		return base.RoundTrip(r)
	})
}

func wrapping(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := base.RoundTrip(r)
		if err != nil {
			err = fmt.Errorf("gateway: %w", err)
		}
		return resp, err
	})
}

// withoutTrace hides the request from its trace.
func withoutTrace(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return base.RoundTrip(r.WithContext(context.Background()))
	})
}

func TestGoAwayIsNoProof(t *testing.T) {
	quote := func(s *http2server.Stream) {
		s.GoAwayQuoting(http2server.ProtocolError, goAway)
		s.CloseConn()
	}
	informed := func(s *http2server.Stream) {
		s.Respond("103", "")
		s.GoAway(true)
	}
	above := func(s *http2server.Stream) {
		s.GoAway(false)
		s.CloseConn()
	}
	refuse := func(s *http2server.Stream) { s.Reset(http2server.RefusedStream) }

	for name, tc := range map[string]struct {
		do   func(*http2server.Stream)
		wrap wrapper
	}{
		"quoted in the debug data":        {quote, nil},
		"above the stream":                {above, nil},
		"after a 103":                     {informed, nil},
		"reset with REFUSED_STREAM":       {refuse, nil},
		"a wrapper that buffers the body": {goAwayBelow, buffering},
		"a token's request":               {goAwayBelow, fetching},
		"a wrapper that words the error":  {goAwayBelow, wrapping},
		"a request without a trace":       {goAwayBelow, withoutTrace},
		"a wrapper that mirrors requests": {goAwayBelow, mirroring},
	} {
		b, baseURL := onSockets(t, at(http2server.Whole, tc.do), tc.wrap)
		_, err := send(b, newRequest(t, http.MethodPost, baseURL, "prompt"))
		require.Error(t, err, name)
		assert.NotErrorIs(t, err, ErrRepeatable, name)
		assert.False(t, b.Attempt.NeverSent(), "%s: %v", name, err)
	}
}

// mirroring writes a header of its own first, as a transport that mirrors requests does.
func mirroring(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		traceOf(r).WroteHeaders()
		return base.RoundTrip(r)
	})
}

func TestErrorsOfAStreamComeWithoutAdvice(t *testing.T) {
	refuse := func(s *http2server.Stream) { s.Reset(http2server.RefusedStream) }
	b, baseURL := onSockets(t, at(http2server.Whole, refuse), nil)
	_, err := send(b, newRequest(t, http.MethodPost, baseURL, "prompt"))
	assert.EqualError(t, err, "http2: stream error: stream ID 1; REFUSED_STREAM; received from peer")
	assert.ErrorContains(t, errors.Unwrap(err), "define Request.GetBody")
}

// A POST without a body has no proof: net/http itself sends it again after a GOAWAY.
func TestGoAwayIsNoProofForAPostWithoutABody(t *testing.T) {
	b, baseURL := onSockets(t, at(http2server.Whole, goAwayBelow), nil)
	_, err := send(b, newRequest(t, http.MethodPost, baseURL, ""))
	require.Error(t, err)
	assert.NotErrorIs(t, err, ErrRepeatable)
	assert.False(t, b.Attempt.NeverSent())
}

func TestRefusalSealsTheBody(t *testing.T) {
	var given *http.Request
	keep := func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			given = r
			return base.RoundTrip(r)
		})
	}
	b, baseURL := onSockets(t, at(http2server.Begun, goAwayBelow), keep)
	_, err := send(b, newRequest(t, http.MethodPost, baseURL, "prompt"))
	require.Error(t, err)
	require.True(t, b.Attempt.NeverSent())

	_, err = given.Body.Read(make([]byte, 1))
	assert.ErrorIs(t, err, errSealed)
}

// refusingCertificates is a TLS service that refuses every client's certificate, and every client
// without one.
func refusingCertificates(t *testing.T, version uint16, protocol string) (string, *http.Transport) {
	t.Helper()
	standard := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	standard.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })

	config := &tls.Config{
		Certificates: standard.TLS.Certificates,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		MaxVersion:   version,
		NextProtos:   []string{protocol},
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go refuseCertificate(conn, config)
		}
	}()

	base := &http.Transport{
		TLSClientConfig:   standard.Client().Transport.(*http.Transport).TLSClientConfig,
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(base.CloseIdleConnections)
	return "https://" + listener.Addr().String(), base
}

// refuseCertificate reads on after its alert: a connection that closes at once may lose it.
func refuseCertificate(conn net.Conn, config *tls.Config) {
	defer conn.Close()
	if err := tls.Server(conn, config).Handshake(); err == nil {
		return
	}
	_, _ = io.Copy(io.Discard, conn)
}

func TestRefusedClientCertificateIsProof(t *testing.T) {
	for _, tc := range []struct {
		version        uint16
		hasCertificate bool
	}{
		{tls.VersionTLS12, true},
		{tls.VersionTLS13, true},
		{tls.VersionTLS13, false},
	} {
		for _, protocol := range []string{"http/1.1", "h2"} {
			for _, body := range []string{"", "prompt"} {
				name := fmt.Sprint(protocol, tls.VersionName(tc.version), tc.hasCertificate, body)
				baseURL, base := refusingCertificates(t, tc.version, protocol)
				if tc.hasCertificate {
					base.TLSClientConfig.GetClientCertificate = anyCertificate
				}

				b := newSender(t.Context(), writeFirst(base))
				_, err := send(b, newRequest(t, http.MethodPost, baseURL, body))
				require.ErrorContains(t, err, "the peer refused the client certificate: remote error: tls: ", name)
				assert.ErrorIs(t, err, ErrClientCertificate, name)
				assert.ErrorAs(t, err, new(*net.OpError), name)
				assert.True(t, b.Attempt.NeverSent(), name)
			}
		}
	}
}

// writeFirst has base read from a connection only once the request was written. Otherwise base may
// close the connection for the alert while it writes the request, and return the error of that.
func writeFirst(base *http.Transport) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		conn := &writtenConn{written: make(chan struct{})}
		base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialed, err := new(net.Dialer).DialContext(ctx, network, address)
			conn.Conn = dialed
			return conn, err
		}

		ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			TLSHandshakeDone: func(tls.ConnectionState, error) { conn.handshaken.Store(true) },
			WroteRequest:     func(httptrace.WroteRequestInfo) { close(conn.written) },
		})
		return base.RoundTrip(r.WithContext(ctx))
	})
}

// writtenConn is a connection that is read for the handshake, and then once the request was
// written.
type writtenConn struct {
	net.Conn
	handshaken atomic.Bool
	written    chan struct{}
}

func (c *writtenConn) Read(p []byte) (int, error) {
	if c.handshaken.Load() {
		<-c.written
	}
	return c.Conn.Read(p)
}

// anyCertificate returns a certificate that no service expects.
func anyCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	standard := httptest.NewTLSServer(http.NotFoundHandler())
	defer standard.Close()
	return &standard.TLS.Certificates[0], nil
}

// alert is the error of an alert that came from the peer.
func alert(text string) error {
	return fmt.Errorf("net/http: connection broken: %w", &net.OpError{Op: "remote error", Err: errors.New(text)})
}

func TestAlertsAboutTheClientsCertificate(t *testing.T) {
	dialing := &net.OpError{Op: "dial", Err: errors.New("tls: bad certificate")}

	for name, tc := range map[string]struct {
		err     error
		isProof bool
	}{
		"bad":               {alert("tls: bad certificate"), true},
		"unsupported":       {alert("tls: unsupported certificate"), true},
		"revoked":           {alert("tls: revoked certificate"), true},
		"expired":           {alert("tls: expired certificate"), true},
		"unknown":           {alert("tls: unknown certificate"), true},
		"unknown authority": {alert("tls: unknown certificate authority"), true},
		"required":          {alert("tls: certificate required"), true},

		"another alert":     {alert("tls: internal error"), false},
		"a longer text":     {alert("tls: bad certificate status response"), false},
		"another operation": {dialing, false},
		"text alone":        {errors.New("remote error: tls: bad certificate"), false},
	} {
		b := newSender(t.Context(), losing(tc.err, connect, writeHeader, readBody))
		_, err := send(b, newRequest(t, http.MethodPost, "http://127.0.0.1", "prompt"))
		require.Error(t, err, name)
		assert.Equal(t, tc.isProof, errors.Is(err, ErrClientCertificate), name)
		assert.Equal(t, tc.isProof, b.Attempt.NeverSent(), name)
	}
}

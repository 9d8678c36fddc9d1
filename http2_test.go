package mintlify_test

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// What an HTTP/2 server of the standard library cannot be made to do is written
// frame by frame (RFC 9113, section 6).
const (
	http2Data, http2Headers, http2RSTStream = 0x0, 0x1, 0x3
	http2Settings, http2GoAway              = 0x4, 0x7

	http2EndStream, http2Ack = 0x1, 0x1

	http2ProtocolError, http2RefusedStream = 0x1, 0x7
)

func writeHTTP2Frame(conn net.Conn, kind, flags byte, stream uint32, payload []byte) {
	frame := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	frame = binary.BigEndian.AppendUint32(frame, stream)
	conn.Write(append(frame, payload...))
}

func writeHTTP2RSTStream(conn net.Conn, stream, code uint32) {
	writeHTTP2Frame(conn, http2RSTStream, 0, stream, binary.BigEndian.AppendUint32(nil, code))
}

// writeHTTP2GoAway says that no stream after last was acted on.
func writeHTTP2GoAway(conn net.Conn, last uint32) {
	writeHTTP2Frame(conn, http2GoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), 0))
}

// newHTTP2Server calls onRequest for each request that is whole, until the test ends.
func newHTTP2Server(t *testing.T, onRequest func(conn net.Conn, stream uint32)) (hc *http.Client, baseURL string) {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(certified.Close)
	config := certified.TLS.Clone()
	config.NextProtos = []string{"h2"}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveHTTP2(conn, onRequest)
		}
	}()
	rt := certified.Client().Transport.(*http.Transport)
	rt.ForceAttemptHTTP2 = true
	t.Cleanup(rt.CloseIdleConnections)
	return certified.Client(), "https://" + listener.Addr().String()
}

func serveHTTP2(conn net.Conn, onRequest func(conn net.Conn, stream uint32)) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	writeHTTP2Frame(conn, http2Settings, 0, 0, nil)
	for {
		header := make([]byte, 9)
		if _, err := io.ReadFull(conn, header); err != nil {
			return
		}
		length := int64(header[0])<<16 | int64(header[1])<<8 | int64(header[2])
		if _, err := io.CopyN(io.Discard, conn, length); err != nil {
			return
		}
		kind, flags, stream := header[3], header[4], binary.BigEndian.Uint32(header[5:])
		switch {
		case kind == http2Settings && flags&http2Ack == 0:
			writeHTTP2Frame(conn, http2Settings, http2Ack, 0, nil)
		case (kind == http2Data || kind == http2Headers) && flags&http2EndStream != 0:
			onRequest(conn, stream)
		}
	}
}

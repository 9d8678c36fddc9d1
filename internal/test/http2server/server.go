// Package http2server is an HTTP/2 server in memory that speaks frame by frame, for tests
// that need what a server of the standard library cannot do. It needs no socket, so it also
// runs in virtual time; Listen has it serve real ones.
package http2server

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Types of frames of RFC 9113.
const (
	frameData      = 0x0
	frameHeaders   = 0x1
	frameRSTStream = 0x3
	frameSettings  = 0x4
	framePing      = 0x6
	frameGoAway    = 0x7
)

// Flags and other values in frames.
const (
	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4

	statusField = 0x08 // :status by its index, the value literal
)

// jsonField is content-type by its index, the value literal.
const jsonField = "\x0f\x10\x10application/json"

// Error codes of RFC 9113.
const (
	NoError       = 0x0 // NO_ERROR
	ProtocolError = 0x1 // PROTOCOL_ERROR
	RefusedStream = 0x7 // REFUSED_STREAM
	Cancel        = 0x8 // CANCEL
)

// Event is how far a request has got.
type Event int

// The events of a request, in order.
const (
	Begun Event = iota // its header is there
	Body               // part of its body is there
	Whole              // all of it is there
)

// Server calls Handle for what happens to requests, and counts it.
type Server struct {
	// Handle is called for each event of a request. With nil the server never
	// responds.
	Handle func(Event, *Stream)

	// Conns, Begun and Whole count the connections, the requests whose header has come, and
	// those that have come whole.
	Conns, Begun, Whole atomic.Int64

	mu     sync.Mutex
	open   []io.Closer // connections, and the listener of Listen
	closed bool
}

// Transport returns an HTTP/2 transport whose connections lead to the server, whatever
// the address.
func (s *Server) Transport() *http.Transport {
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go s.Serve(server)
		return client, nil
	}
	return &http.Transport{Protocols: unencrypted(), DialContext: dial}
}

// Listen serves sockets on an address of this machine until Close. It returns the base URL, and
// an HTTP/2 transport for it.
func (s *Server) Listen() (string, *http.Transport, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}

	s.mu.Lock()
	s.open = append(s.open, listener)
	s.mu.Unlock()

	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.Serve(conn)
		}
	}()
	return "http://" + listener.Addr().String(), &http.Transport{Protocols: unencrypted()}, nil
}

func unencrypted() *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return protocols
}

// Close closes all connections, and each that is opened later.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, open := range s.open {
		open.Close()
	}
}

// Serve serves a connection until either side closes it.
func (s *Server) Serve(conn net.Conn) {
	defer conn.Close()
	if !s.accept(conn) {
		return
	}

	out := newWriter(conn)
	defer close(out.frames)
	if _, err := io.ReadFull(conn, make([]byte, len(preface))); err != nil {
		return
	}
	out.frame(frame{kind: frameSettings})

	streams := map[uint32]*Stream{}
	for {
		f, err := readFrame(conn)
		if err != nil {
			return
		}

		switch f.kind {
		case frameSettings, framePing:
			acknowledge(f, out)
		case frameHeaders, frameData:
			if streams[f.stream] == nil {
				streams[f.stream] = &Stream{out: out, id: f.stream}
			}
			s.receive(streams[f.stream], f)
		}
	}
}

// acknowledge responds to settings and pings, but not to acknowledgements.
func acknowledge(f frame, out writer) {
	switch {
	case f.flags&flagAck != 0:
	case f.kind == frameSettings:
		out.frame(frame{kind: frameSettings, flags: flagAck})
	default:
		out.frame(frame{kind: framePing, flags: flagAck, payload: f.payload})
	}
}

func (s *Server) accept(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, conn)
	s.Conns.Add(1)
	return !s.closed
}

// receive counts a frame of a request, and tells Handle of it.
func (s *Server) receive(stream *Stream, f frame) {
	event := Body
	if f.kind == frameHeaders {
		event = Begun
		s.Begun.Add(1)
	}
	s.tell(event, stream)

	if f.flags&flagEndStream != 0 {
		s.Whole.Add(1)
		s.tell(Whole, stream)
	}
}

func (s *Server) tell(event Event, stream *Stream) {
	if s.Handle != nil && !stream.over {
		s.Handle(event, stream)
	}
}

// Stream is a request and its response.
type Stream struct {
	out  writer
	id   uint32
	over bool
}

// Reset ends the stream without a response.
func (s *Stream) Reset(code uint32) {
	s.over = true
	s.out.frame(frame{kind: frameRSTStream, stream: s.id, payload: binary.BigEndian.AppendUint32(nil, code)})
}

// GoAway says that the server acted on no stream of the connection, or, unless fromTheFirst is
// set, on none after this one.
func (s *Stream) GoAway(fromTheFirst bool) {
	last := s.id
	if fromTheFirst {
		last = 0
	}
	s.goAway(last, NoError, "")
}

// GoAwayQuoting says that the server may have acted on the stream, and why it goes away.
func (s *Stream) GoAwayQuoting(code uint32, debugData string) { s.goAway(s.id, code, debugData) }

func (s *Stream) goAway(last, code uint32, debugData string) {
	s.over = true

	payload := binary.BigEndian.AppendUint32(nil, last)
	payload = binary.BigEndian.AppendUint32(payload, code)
	payload = append(payload, debugData...)
	s.out.frame(frame{kind: frameGoAway, payload: payload})
}

// CloseConn closes the connection of the stream once everything is written.
func (s *Stream) CloseConn() {
	s.over = true
	s.out.frames <- nil
}

// Respond responds with a status of three digits, which may be a 1xx, and with body, as JSON, if it
// is not "".
func (s *Stream) Respond(status, body string) {
	header := append([]byte{statusField, byte(len(status))}, status...)
	if body != "" {
		header = append(header, jsonField...)
	}
	flags := byte(flagEndHeaders)
	if body == "" && status[0] != '1' {
		flags |= flagEndStream
	}
	s.out.frame(frame{kind: frameHeaders, flags: flags, stream: s.id, payload: header})

	if body != "" {
		s.out.frame(frame{kind: frameData, flags: flagEndStream, stream: s.id, payload: []byte(body)})
	}
}

// frame is a frame of RFC 9113.
type frame struct {
	kind    byte
	flags   byte
	stream  uint32 // 0: of the connection
	payload []byte
}

func readFrame(conn net.Conn) (frame, error) {
	header := make([]byte, 9)
	if _, err := io.ReadFull(conn, header); err != nil {
		return frame{}, err
	}

	length := int(header[0])<<16 | int(header[1])<<8 | int(header[2])
	payload := make([]byte, length)
	if _, err := io.ReadFull(conn, payload); err != nil {
		return frame{}, err
	}

	return frame{
		kind:    header[3],
		flags:   header[4],
		stream:  binary.BigEndian.Uint32(header[5:]),
		payload: payload,
	}, nil
}

// writer takes what a goroutine of its own writes to a connection; nil closes it. The other
// side may be writing at the same time.
type writer struct{ frames chan []byte }

func newWriter(conn net.Conn) writer {
	w := writer{frames: make(chan []byte, 1000)}
	go func() {
		for frame := range w.frames {
			if frame == nil {
				conn.Close()
			}
			_, _ = conn.Write(frame) // the reading side notices that a connection is gone
		}
	}()
	return w
}

func (w writer) frame(f frame) {
	length := len(f.payload)
	header := []byte{byte(length >> 16), byte(length >> 8), byte(length), f.kind, f.flags}
	header = binary.BigEndian.AppendUint32(header, f.stream)
	w.frames <- append(header, f.payload...)
}

// Package http2server is an HTTP/2 server in memory that speaks frame by frame, for tests
// of what a server of the standard library cannot be made to do. It needs no socket, so
// that it runs in virtual time too.
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

// Types of frames, and flags, of RFC 9113.
const (
	frameData, frameHeaders, frameRSTStream = 0x0, 0x1, 0x3
	frameSettings, framePing                = 0x4, 0x6
	frameGoAway, frameWindowUpdate          = 0x7, 0x8
	maxStreamsSetting                       = 0x3
	flagEndStream, flagAck, flagEndHeaders  = 0x1, 0x1, 0x4
	statusField                             = 0x08 // :status by its index, the value literal
	maxWindow                               = 1<<31 - 1
	preface                                 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// Error codes of RFC 9113.
const (
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
	Handle     func(Event, *Stream)
	MaxStreams uint32      // at once on a connection, as the server announces; 0: no limit
	Silent     atomic.Bool // it does not respond to pings

	Conns, Begun, Whole atomic.Int64

	mu     sync.Mutex
	conns  []net.Conn
	closed bool
}

// Transport returns an HTTP/2 transport whose connections lead to the server, whatever
// the address.
func (s *Server) Transport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go s.Serve(server)
		return client, nil
	}}
}

// Close closes all connections, those that are yet to come too.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, conn := range s.conns {
		conn.Close()
	}
}

// Serve serves a connection until either side closes it.
func (s *Server) Serve(conn net.Conn) {
	defer conn.Close()
	if !s.accept(conn) {
		return
	}
	out := newWriter(conn)
	defer close(out)
	if _, err := io.ReadFull(conn, make([]byte, len(preface))); err != nil {
		return
	}
	var settings []byte
	if s.MaxStreams > 0 {
		settings = binary.BigEndian.AppendUint32([]byte{0, maxStreamsSetting}, s.MaxStreams)
	}
	out.frame(frameSettings, 0, 0, settings)
	streams := map[uint32]*Stream{}
	for {
		kind, flags, id, payload, err := readFrame(conn)
		if err != nil {
			return
		}
		if kind == frameSettings && flags&flagAck == 0 {
			out.frame(frameSettings, flagAck, 0, nil)
		}
		if kind == framePing && flags&flagAck == 0 && !s.Silent.Load() {
			out.frame(framePing, flagAck, 0, payload)
		}
		if kind != frameHeaders && kind != frameData {
			continue
		}
		if streams[id] == nil {
			streams[id] = &Stream{out: out, id: id}
		}
		s.receive(streams[id], kind, flags, len(payload))
	}
}

func (s *Server) accept(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, conn)
	s.Conns.Add(1)
	return !s.closed
}

func (s *Server) receive(stream *Stream, kind, flags byte, size int) {
	event := Body
	if kind == frameHeaders {
		event = Begun
		s.Begun.Add(1)
	}
	stream.Received += size
	s.tell(event, stream)
	if flags&flagEndStream != 0 {
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
	Received int // bytes of header and body

	out  writer
	id   uint32
	over bool
}

// Reset ends the stream without a response.
func (s *Stream) Reset(code uint32) {
	s.over = true
	s.out.frame(frameRSTStream, 0, s.id, binary.BigEndian.AppendUint32(nil, code))
}

// GoAway says that no stream of the connection from the first one on was acted on, or
// else none after this one.
func (s *Stream) GoAway(fromTheFirst bool) {
	last := s.id
	if fromTheFirst {
		last = 0
	}
	s.over = true
	s.out.frame(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), 0))
}

// CloseConn closes the connection of the stream, once all is written.
func (s *Stream) CloseConn() {
	s.over = true
	s.out <- nil
}

// Respond responds with a status of three digits, 1xx too, and with a body unless that
// is "".
func (s *Stream) Respond(status, body string) {
	header := append([]byte{statusField, byte(len(status))}, status...)
	flags := byte(flagEndHeaders)
	if body == "" && status[0] != '1' {
		flags |= flagEndStream
	}
	s.out.frame(frameHeaders, flags, s.id, header)
	if body != "" {
		s.out.frame(frameData, flagEndStream, s.id, []byte(body))
	}
}

// OverflowWindow breaks the stream's flow control.
func (s *Stream) OverflowWindow() {
	s.out.frame(frameWindowUpdate, 0, s.id, binary.BigEndian.AppendUint32(nil, maxWindow))
}

func readFrame(conn net.Conn) (kind, flags byte, stream uint32, payload []byte, err error) {
	header := make([]byte, 9)
	if _, err = io.ReadFull(conn, header); err != nil {
		return 0, 0, 0, nil, err
	}
	payload = make([]byte, int(header[0])<<16|int(header[1])<<8|int(header[2]))
	_, err = io.ReadFull(conn, payload)
	return header[3], header[4], binary.BigEndian.Uint32(header[5:]), payload, err
}

// writer is what is to be written to a connection; nil closes it. It is a goroutine's own,
// since the other side may be writing too.
type writer chan []byte

func newWriter(conn net.Conn) writer {
	w := make(writer, 1000)
	go func() {
		for frame := range w {
			if frame == nil {
				conn.Close()
			}
			_, _ = conn.Write(frame) // the reading side notices that a connection is gone
		}
	}()
	return w
}

func (w writer) frame(kind, flags byte, stream uint32, payload []byte) {
	frame := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	frame = binary.BigEndian.AppendUint32(frame, stream)
	w <- append(frame, payload...)
}

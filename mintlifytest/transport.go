package mintlifytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
	"syscall"
	"time"
)

const maxRequestBody = 10 << 20

// RoundTrip implements [http.RoundTripper]: it answers in memory.
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a := s.answer(r, body)
	if err := wait(ctx, a.fault.Delay); err != nil {
		return nil, err
	}
	switch {
	case a.fault.Refuse:
		return nil, refuse(ctx, r.URL.Host)
	case a.fault.Drop:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)),
		StatusCode: a.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        a.header,
		ContentLength: int64(len(a.body)),
		Body:          io.NopCloser(a.reader()),
		Request:       r,
	}, nil
}

// ServeHTTP implements [http.Handler].
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		panic(http.ErrAbortHandler) // how net/http is told to close a connection without an answer
	}
	a := s.answer(r, body)
	if err := wait(r.Context(), a.fault.Delay); err != nil || a.fault.Refuse || a.fault.Drop {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	if _, err := io.Copy(w, a.reader()); err != nil {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// reader reads the body, to its middle if it is cut off there.
func (a answer) reader() io.Reader {
	if !a.fault.Truncate {
		return bytes.NewReader(a.body)
	}
	return io.MultiReader(bytes.NewReader(a.body[:len(a.body)/2]), cutOff{})
}

type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequestBody+1))
	if err == nil && len(body) > maxRequestBody {
		err = errors.New("mintlifytest: the request's body is larger than 10 MiB")
	}
	return body, err
}

// refuse is a connection refused, with the trace event of a real transport.
func refuse(ctx context.Context, host string) error {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GetConn != nil {
		trace.GetConn(host)
	}
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
